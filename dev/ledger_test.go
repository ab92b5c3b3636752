package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

// charged is what the stand-ins of model and carrier counted.
type charged struct {
	Calls       []struct{ Prompt, Cached, Completion int64 } `json:"calls"`
	SegmentsOut int64                                        `json:"segments_out"`
	SegmentsIn  int64                                        `json:"segments_in"`
}

func (r *running) charged(t *testing.T) (out charged) {
	t.Helper()
	require.Equal(t, http.StatusOK, getJSON(t, strings.TrimSuffix(r.table["Phones"], "/")+"/usage", &out))
	return out
}

func (r *running) ledger(t *testing.T) models.CostRow {
	t.Helper()
	var out struct{ Result api.Costs }
	require.Equal(t, http.StatusOK, getJSON(t, r.table["API"]+"/costs?by=kind", &out))
	return out.Result.Total
}

// sumOf is the row of the ledger that the stand-ins' counts come to, without the
// calls whose answer was lost.
func (c charged) sumOf(lost charged, unknown int64) models.CostRow {
	out := models.CostRow{SegmentsOut: c.SegmentsOut, SegmentsIn: c.SegmentsIn, LostCalls: unknown}
	for _, call := range c.Calls {
		out.InputTokens, out.CachedTokens, out.OutputTokens = out.InputTokens+call.Prompt, out.CachedTokens+call.Cached, out.OutputTokens+call.Completion
	}
	for _, call := range lost.Calls {
		out.InputTokens, out.CachedTokens, out.OutputTokens = out.InputTokens-call.Prompt, out.CachedTokens-call.Cached, out.OutputTokens-call.Completion
	}
	return out
}

// TestLedgerEqualsTheStandIns has conversations on the whole system, whose worker is
// killed while the model works: what is answered is in the ledger to the token, and
// what is lost is there as a call of unknown outcome.
func TestLedgerEqualsTheStandIns(t *testing.T) {
	t.Parallel()
	settings := []string{"COACH_DEBOUNCE=0"}
	r := launchIn(t, settings, "--ephemeral", "--no-worker")
	kill := r.spawn(t, settings...)
	p := &person{t: t, r: r, number: ada}
	require.Equal(t, http.StatusCreated, p.enroll("Ada", "UTC"))
	p.next(soon)
	for _, text := range []string{"hello there, I want to move more", "what time is it for me? \U0001F600", "list my schedules please"} {
		p.says(text)
	}
	// What is remembered after a reply is asked of the model too; the ledger is swept
	// every ten seconds.
	settled := func(lost charged, unknown int64) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			got, want := r.ledger(t), r.charged(t).sumOf(lost, unknown)
			want.Calls, want.Unpriced = got.Calls, got.Unpriced
			assert.Equal(c, want, got)
		}, 2*soon, 500*time.Millisecond)
	}
	settled(charged{}, 0)
	before := r.charged(t)
	require.NotEmpty(t, before.Calls)

	faults := strings.TrimSuffix(r.table["Phones"], "/") + "/faults"
	fail := func(kind, text string) {
		t.Helper()
		status, body := send(t, http.MethodDelete, faults, nil)
		require.Less(t, status, 300, body)
		status, body = send(t, http.MethodPost, faults, map[string]any{"target": "model", "kind": kind, "count": 1, "delay_ms": 60_000})
		require.Less(t, status, 300, body)
		p.text(text)
		require.Eventually(t, func() bool {
			var list struct {
				Fired []struct{ Target, Kind string } `json:"fired"`
			}
			return getJSON(t, faults, &list) == http.StatusOK && len(list.Fired) > 0 && list.Fired[len(list.Fired)-1].Kind == kind
		}, soon, 20*time.Millisecond, "the fault strikes")
		kill()
		kill = r.spawn(t, settings...)
		p.next(soon)
	}
	fail("hang", "are you there?")
	settled(charged{}, 1)

	// The model answers, and its answer finds no worker.
	answered := len(r.charged(t).Calls)
	fail("late", "and are you there?")
	settled(charged{Calls: r.charged(t).Calls[answered : answered+1]}, 2)
	kill()
}
