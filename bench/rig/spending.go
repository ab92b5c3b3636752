package rig

import (
	"context"
	"fmt"
	"strings"

	"coachline/internal/seal"
	"coachline/internal/store"
)

// Counted names what a Spending counts, in its order, with the query that counts it. Money
// is in millionths of the currency.
var Counted = []struct{ Name, query string }{
	{"model calls", "SELECT count(*) FROM costs WHERE kind = 'model'"},
	{"tokens", "SELECT COALESCE(sum(input_tokens + output_tokens), 0) FROM costs"},
	{"texts", "SELECT count(*) FROM costs WHERE kind = 'outbound'"},
	{"segments", "SELECT COALESCE(sum(segments), 0) FROM costs WHERE kind = 'outbound'"},
	{"tool calls", "SELECT count(*) FROM tool_runs"},
	{"web requests", "SELECT count(*) FROM tool_runs WHERE name IN ('web_search', 'web_fetch') AND NOT failed"},
	{"pages", "SELECT count(*) FROM alarms WHERE pages AND folded_into = ''"},
	{"rows", "SELECT " + countAll("inbound", "messages", "outbox", "steps", "stages", "tool_runs", "turns", "notices", "hints", "alarms", "costs")},
	{Money, "SELECT COALESCE(sum(micros), 0) FROM costs WHERE kind <> 'inbound'"},
	{MoneyIn, "SELECT COALESCE(sum(micros), 0) FROM costs WHERE kind = 'inbound'"},
}

// Money is what the product spends, MoneyIn what the carrier bills for texts that came in,
// answered or not.
const (
	Money   = "money"
	MoneyIn = "money of texts that came in"
)

func countAll(tables ...string) string {
	return "(SELECT count(*) FROM " + strings.Join(tables, ") + (SELECT count(*) FROM ") + ")"
}

// Spending is what the product has spent so far, and the rows that it has, as Counted has
// it.
type Spending []int64

// Minus returns what was spent since before.
func (s Spending) Minus(before Spending) Spending {
	out := make(Spending, len(s))
	for i := range s {
		out[i] = s[i] - before[i]
	}
	return out
}

// Spending waits until all that was spent stands in the ledger, and reads it.
func (p *Product) Spending(ctx context.Context) (Spending, error) {
	ring, err := seal.Parse(p.settings.Payload.Keys.Reveal())
	if err != nil {
		return nil, fmt.Errorf("reading the keys: %w", err)
	}
	rows, err := store.Open(ctx, store.Config{URL: p.settings.Database.URL.Reveal(), Sealer: ring})
	if err != nil {
		return nil, fmt.Errorf("opening the product's database: %w", err)
	}
	defer func() { _ = rows.Close() }()
	db := rows.Database().Reader(ctx)
	if err := pollUntil(ctx, func(context.Context) bool {
		var waiting int64
		return db.Raw("SELECT count(*) FROM cost_queue").Row().Scan(&waiting) == nil && waiting == 0
	}); err != nil {
		return nil, fmt.Errorf("waiting for the ledger: %w", err)
	}
	out := make(Spending, len(Counted))
	for i, one := range Counted {
		if err := db.Raw(one.query).Row().Scan(&out[i]); err != nil {
			return nil, fmt.Errorf("counting %s: %w", one.Name, err)
		}
	}
	return out, nil
}
