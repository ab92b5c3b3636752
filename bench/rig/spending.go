package rig

import (
	"context"
	"fmt"

	"coachline/internal/seal"
	"coachline/internal/store"
)

// Spending is what the product has spent so far, and the rows that it has.
type Spending struct {
	ModelCalls, Tokens, Texts, Segments, ToolCalls, Pages, Rows, Micros int64
}

// Minus returns what was spent since before.
func (s Spending) Minus(before Spending) Spending {
	return Spending{
		s.ModelCalls - before.ModelCalls, s.Tokens - before.Tokens, s.Texts - before.Texts, s.Segments - before.Segments,
		s.ToolCalls - before.ToolCalls, s.Pages - before.Pages, s.Rows - before.Rows, s.Micros - before.Micros,
	}
}

// spending reads the ledger of costs and counts what has no price.
const spending = `SELECT (SELECT count(*) FROM costs WHERE kind = 'model'), (SELECT COALESCE(sum(input_tokens + output_tokens), 0) FROM costs),
	(SELECT count(*) FROM costs WHERE kind = 'outbound'), (SELECT COALESCE(sum(segments), 0) FROM costs WHERE kind = 'outbound'),
	(SELECT count(*) FROM tool_runs), (SELECT count(*) FROM alarms WHERE pages AND folded_into = ''),
	(SELECT count(*) FROM inbound) + (SELECT count(*) FROM messages) + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM steps) +
	(SELECT count(*) FROM stages) + (SELECT count(*) FROM tool_runs) + (SELECT count(*) FROM turns) + (SELECT count(*) FROM notices) +
	(SELECT count(*) FROM hints) + (SELECT count(*) FROM alarms) + (SELECT count(*) FROM costs),
	(SELECT COALESCE(sum(micros), 0) FROM costs)`

// Spending waits until all that was spent stands in the ledger, and reads it.
func (p *Product) Spending(ctx context.Context) (Spending, error) {
	var out Spending
	ring, err := seal.Parse(p.settings.Payload.Keys.Reveal())
	if err != nil {
		return out, fmt.Errorf("reading the keys: %w", err)
	}
	rows, err := store.Open(ctx, store.Config{URL: p.settings.Database.URL.Reveal(), Sealer: ring})
	if err != nil {
		return out, fmt.Errorf("opening the product's database: %w", err)
	}
	defer func() { _ = rows.Close() }()
	if err := pollUntil(ctx, func(ctx context.Context) bool {
		var waiting int64
		return rows.Database().Reader(ctx).Raw("SELECT count(*) FROM cost_queue").Row().Scan(&waiting) == nil && waiting == 0
	}); err != nil {
		return out, fmt.Errorf("waiting for the ledger: %w", err)
	}
	err = rows.Database().Reader(ctx).Raw(spending).Row().
		Scan(&out.ModelCalls, &out.Tokens, &out.Texts, &out.Segments, &out.ToolCalls, &out.Pages, &out.Rows, &out.Micros)
	if err != nil {
		return out, fmt.Errorf("reading the ledger: %w", err)
	}
	return out, nil
}
