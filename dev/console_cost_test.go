package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/browsertest"
	"coachline/internal/segments"
)

// costLag is how long the ledger, and then the workers, may lag behind.
const costLag = 90 * time.Second

// total is what the ledger says of all days.
func (p *person) total(by string) api.Costs {
	p.t.Helper()
	var envelope api.Envelope[json.RawMessage]
	getJSON(p.t, p.r.table["API"]+"/costs?from=2000-01-01&until=2100-01-01&by="+by, &envelope)
	var costs api.Costs
	require.NoError(p.t, json.Unmarshal(envelope.Result, &costs))
	return costs
}

// tokens is what the client of the model counted in its answers.
func (p *person) tokens(kind string) int64 {
	p.t.Helper()
	text := string(fetch(p.t, p.r.table["API"]+"/metrics"))
	found := regexp.MustCompile(`(?m)^coachline_model_tokens_total\{type="` + kind + `"\} (\S+)$`).FindStringSubmatch(text)
	require.NotNil(p.t, found)
	count, err := strconv.ParseFloat(found[1], 64)
	require.NoError(p.t, err)
	return int64(count)
}

// TestConsoleCost: the ledger equals what the model's client and the phone counted,
// the screen shows it, and a spent budget has a fixed text stand in for the model.
func TestConsoleCost(t *testing.T) {
	t.Parallel()
	prices := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(prices, []byte(`{"currency": "USD", "destinations": {"+1": {"outbound": 0.01, "inbound": 0.02}}}`), 0o600))
	browser := browsertest.Start(t)
	r := launchIn(t, []string{"COACH_QUIET_HOURS=", "COACH_DEBOUNCE=0", "COACH_PRICES_FILE=" + prices}, "--ephemeral")
	ann := &person{t: t, number: ada, r: r}
	require.Equal(t, http.StatusCreated, ann.enroll("Ada", "UTC"))
	said, sent, received := []string{"hi", "a short walk", "after my morning coffee"}, 0, 0
	sent += segments.Count(ann.next(soon)).Segments
	for _, text := range said {
		sent += segments.Count(ann.says(text)).Segments
		received += segments.Count(text).Segments
	}
	var costs api.Costs
	equal := func() bool {
		costs = ann.total("day")
		return costs.Total.SegmentsOut == int64(sent) && costs.Total.InputTokens == ann.tokens("prompt") && costs.Total.OutputTokens == ann.tokens("completion")
	}
	if !waits(costLag, equal) {
		require.FailNow(t, "the ledger differs", "%+v, want %d segments, %d and %d tokens", costs.Total, sent, ann.tokens("prompt"), ann.tokens("completion"))
	}
	require.Positive(t, costs.Total.InputTokens)
	require.Equal(t, int64(received), costs.Total.SegmentsIn)
	require.Equal(t, int64(sent)*10_000+int64(received)*20_000, costs.Total.Micros)

	p := browser.Open(t, r.table["Console"], browsertest.View{})
	p.Click("link", "Cost")
	p.ExpectText("No budgets are set.")
	p.ExpectText(api.FormatMoney(costs.Total.Micros, "USD"))
	p.ExpectAccessible()
	p.Click("DisclosureTriangle", "Set a budget")
	p.Fill("textbox", "Amount in USD", "much")
	p.Fill("textbox", "Reason (kept in the audit)", "grant of spring")
	p.Click("button", "Set budget")
	p.ExpectText("Not done: Amount in USD: ")
	p.ExpectAccessible()
	p.Fill("textbox", "Amount in USD", "0.01")
	p.Fill("textbox", "Reason (kept in the audit)", "grant of spring")
	p.Click("button", "Set budget")
	p.ExpectText("it takes effect within a minute")
	p.ExpectText("The programme, each month")
	p.ExpectAccessible()
	csv := string(fetch(t, r.table["Console"]+"cost.csv?by=kind"))
	require.Contains(t, csv, fmt.Sprintf("outbound,4,0,0,0,0,0,%d,0,%d,USD,0", sent, sent*10_000))

	// The model is asked no more, and a fixed text stands in.
	var asked time.Time
	stopped := func() bool {
		if time.Since(asked) < 4*time.Second { // More would be a flood.
			return false
		}
		asked = time.Now()
		before := ann.tokens("prompt")
		ann.says("and now?")
		return ann.tokens("prompt") == before
	}
	require.True(t, waits(costLag, stopped))
	// The person's share of the budget is spent before the whole of it.
	require.True(t, waits(costLag, func() bool {
		p.Click("link", "Today")
		return strings.Contains(p.Text(), "Spent: the model is stopped")
	}))
	p.ExpectAccessible()
}
