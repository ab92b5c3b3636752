package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// spending is another process on the same rows, with a limit of a person's day.
func (w *world) spending(micros int64) {
	w.t.Helper()
	s, err := store.Open(w.ctx, store.Config{
		URL: w.url, Sealer: newBox(w.t, "one"), PersonDayMicros: micros, Limits: store.InboundLimits{Prices: priceList(w.t)},
	})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, s.Close()) })
	w.Store = s
}

// TestSpentPersonGetsWhatIsOwed: after the limit of a day nothing that costs goes out but
// the answer to a text from before, what a person wrote, HELP, safety texts and the
// confirmation of STOP.
func TestSpentPersonGetsWhatIsOwed(t *testing.T) {
	owed := map[models.EntryKind]bool{
		models.KindReply: true, models.KindOperator: true, models.KindNotice: true, models.KindHelp: true, models.KindSafety: true,
	}
	onBoth(t, func(t *testing.T, w *world) {
		w.spending(40_000)
		w.enrolled()
		said := w.inbound("SM1", 0, "I walked today") // 20,000 millionths
		require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
		pending := promptPlan("2026-03-01")
		w.sent(w.turn(1, pending, 1), 1) // 10,000 millionths
		rows := map[models.EntryKind]string{}
		n := 1
		for _, kind := range models.EntriesWith(func(s models.KindSpec) bool { return s.UsefulFor > 0 && s.Entry != models.KindConsent }) {
			n++
			plan := wire.TurnPlan{Kind: wire.TurnKind(kind), PromptID: pending.PromptID}
			if kind == models.KindPrompt {
				plan = promptPlan("2026-03-02")
			}
			rows[kind] = w.turn(n, plan, 2)
		}
		w.sent(w.turn(n+1, wire.TurnPlan{Kind: wire.TurnCheckIn}, 2), 3)
		question, err := w.Hints.QueueAsk(w.ctx, models.Ask{InboundID: said.Inbound.ID, Body: "stop?", Now: at(3)})
		require.NoError(t, err)
		require.Equal(t, models.MissedSpent, w.claim(question, 4))
		for kind, id := range rows {
			want := models.MissedSpent
			if owed[kind] {
				want = "posted"
			}
			require.Equal(t, want, w.claim(id, 4), kind)
		}
		require.Equal(t, "missed spent", w.promptReason(2))
		w.stops(5)
		require.Equal(t, "posted", w.confirm(n+2, 5))
		w.says(6, models.IntentStart, models.MethodKeyword)
		require.Equal(t, models.MissedSpent, w.confirm(n+3, 6))
		require.Equal(t, "posted", w.claim(w.turn(n+4, wire.TurnPlan{Kind: wire.TurnCheckIn}, 24*60), 24*60), "another day")
	})
}

// TestFloodIsNotAheadOfTheLedger: the limit of a day counts what is not booked yet, and
// leaves a tenth for what is under way.
func TestFloodIsNotAheadOfTheLedger(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.spending(200_000)
		w.enrolled()
		let := 0
		for i := range 30 { // 20,000 millionths each
			if w.inbound("SM"+string(rune('a'+i)), 1, "I walked today "+string(rune('a'+i))).Inbound.Limit == models.LimitNone {
				let++
			}
			if i == 4 {
				require.NoError(t, w.Costs.RecordCosts(w.ctx, priceList(t)))
			}
		}
		require.Equal(t, 9, let)
	})
}
