package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/internal/dbtest"
	"coachline/internal/seal"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

var lateBegin = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func lateAt(minutes int) time.Time { return lateBegin.Add(time.Duration(minutes) * time.Minute) }

// lateWorld is a store with one participant, ann.
type lateWorld struct {
	*store.Store
	t   *testing.T
	ctx context.Context
	url string
	n   int
}

func lateOnSQLite(t *testing.T) *lateWorld {
	t.Helper()
	return newLateWorld(t, dbtest.SQLite(t))
}

func lateOnBoth(t *testing.T, test func(w *lateWorld)) {
	t.Helper()
	onEachDatabase(t, func(t *testing.T, url string) { test(newLateWorld(t, url)) })
}

func newLateWorld(t *testing.T, url string) *lateWorld {
	t.Helper()
	w := &lateWorld{t: t, ctx: t.Context(), url: url}
	w.Store = w.open(30 * time.Minute)
	_, err := w.People.Enroll(w.ctx, models.Participant{ID: "ann", Phone: phone, Timezone: "America/New_York", EnrolledAt: lateBegin}, "operator")
	require.NoError(t, err)
	return w
}

// open is a process on the same rows.
func (w *lateWorld) open(delay time.Duration) *store.Store {
	w.t.Helper()
	ring, err := seal.Parse(testKeys)
	require.NoError(w.t, err)
	s, err := store.Open(w.ctx, store.Config{URL: w.url, Sealer: ring, LateTry: delay})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, s.Close()) })
	return s
}

// queue writes a text of ann's, in parts, that no worker has claimed.
func (w *lateWorld) queue(kind wire.TurnKind, minutes, parts int) []string {
	w.t.Helper()
	w.n++
	turn := models.TurnID("ann", w.n)
	plan := wire.TurnPlan{Kind: kind}
	if kind == wire.TurnPrompt {
		plan.PromptID, plan.ScheduleID, plan.Slot.Date = "prompt-"+turn, "s1", fmt.Sprintf("2026-03-%02d", w.n)
	}
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "ann", TurnID: turn, Number: w.n, Mode: wire.ModeIntake, Plan: plan, Now: lateAt(minutes)})
	require.NoError(w.t, err)
	_, err = w.Turns.FinishTurn(w.ctx, w.outcome(turn, plan, minutes, parts))
	require.NoError(w.t, err)
	var ids []string
	for part := range parts {
		ids = append(ids, models.OutboxID(turn, part+1))
	}
	return ids
}

func (w *lateWorld) outcome(turn string, plan wire.TurnPlan, minutes, parts int) models.TurnOutcome {
	out := models.TurnOutcome{TurnID: turn, ParticipantID: "ann", Outcome: "step", At: lateAt(minutes), Entries: []models.Message{
		{Key: turn, Role: models.RoleAssistant, Kind: models.EntryKind(plan.Kind), Text: "hello", OutboxID: models.OutboxID(turn, 1), At: lateAt(minutes)},
	}}
	for part := range parts {
		out.Outbox = append(out.Outbox, models.Outbox{ID: models.OutboxID(turn, part+1), Part: part + 1, Kind: models.EntryKind(plan.Kind), PromptID: plan.PromptID, Body: "hello"})
	}
	return out
}

// sent is a text, or all its parts, that the carrier took.
func (w *lateWorld) sent(kind wire.TurnKind, minutes, parts int) []string {
	w.t.Helper()
	ids := w.queue(kind, minutes, parts)
	for part, id := range ids {
		w.take(id, minutes+part)
	}
	return ids
}

func (w *lateWorld) take(id string, minutes int) {
	w.t.Helper()
	require.True(w.t, w.claim(id, minutes).Post, id)
	require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(id), models.Receipt{ProviderSID: "SM-" + id, Status: wire.OutboxQueued}, lateAt(minutes)))
}

func (w *lateWorld) claim(id string, minutes int) models.SendClaim {
	w.t.Helper()
	claim, err := w.Outbox.ClaimSend(w.ctx, id, lateAt(minutes))
	require.NoError(w.t, err)
	if claim.Post && !claim.Resumed {
		row, err := w.Outbox.StartPost(w.ctx, claim, lateAt(minutes))
		require.NoError(w.t, err)
		require.Equal(w.t, wire.OutboxSending, row.Status)
	}
	return claim
}

func (w *lateWorld) report(id string, status wire.OutboxStatus, code string, minutes int) {
	w.t.Helper()
	found, err := w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, ProviderSID: "SM-" + id, Status: status, ErrorCode: code, Class: sms.Class(code), At: lateAt(minutes)})
	require.NoError(w.t, err)
	require.True(w.t, found)
}

// lost is a text that the carrier took and lost.
func (w *lateWorld) lost(kind wire.TurnKind, minutes int) (late string) {
	w.t.Helper()
	id := w.sent(kind, minutes, 1)[0]
	w.report(id, wire.OutboxUndelivered, "30003", minutes)
	return models.LateID(id)
}

// owed are the later tries that the relay is to have started, each once.
func (w *lateWorld) owed() []string {
	w.t.Helper()
	_, notices, err := w.Notices.Untold(w.ctx, "ann")
	require.NoError(w.t, err)
	ids := []string{}
	for _, n := range notices {
		if n.Kind == models.NoticeLate {
			ids = append(ids, n.Ref)
		}
	}
	return ids
}

func (w *lateWorld) text(body string, minutes int, intent models.Intent) {
	w.t.Helper()
	_, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{
		ProviderSID: "SM-in-" + body, From: phone, Body: body, Intent: intent, IntentMethod: models.MethodKeyword, ReceivedAt: lateAt(minutes),
	})
	require.NoError(w.t, err)
}

// TestEachCode: of all that a report may say, the faults that pass give a try.
func TestEachCode(t *testing.T) {
	again := []string{"30003", "30008"}
	for _, code := range []string{
		"", "20429", "14107", "21611", "30001", "30017", "30022", "63017", "63018", "30410", "30047", "30023", "30027", "63038",
		"30003", "30008", "21610", "21211", "21614", "21635", "30005", "30006", "21612", "30011", "30004", "30007", "30032", "30034",
		"30024", "30018", "21617", "21620", "21623", "30019", "30010", "20003", "21212", "21408", "21603", "21606", "21608", "21703",
		"21704", "21705", "30002", "30036", "39999",
	} {
		t.Run("code "+code, func(t *testing.T) {
			w := lateOnSQLite(t)
			var want []string
			for i, status := range []wire.OutboxStatus{wire.OutboxUndelivered, wire.OutboxFailed} {
				id := w.queue(wire.TurnOperator, i, 1)[0]
				require.NoError(t, w.Outbox.RecordAccepted(w.ctx, w.ref(id), models.Receipt{ProviderSID: "SM-" + id, Status: wire.OutboxSent}, lateAt(i)))
				w.report(id, status, code, i)
				if slices.Contains(again, code) {
					want = append(want, models.LateID(id))
				}
				first, err := w.Outbox.Row(w.ctx, id)
				require.NoError(t, err)
				require.Equal(t, status, first.Status, "the first row keeps its end")
			}
			require.ElementsMatch(t, want, w.owed())
		})
	}
}

func TestEachKind(t *testing.T) {
	for kind, want := range map[models.EntryKind]bool{
		models.KindReply: true, models.KindGreeting: true, models.KindPrompt: true, models.KindOperator: true, models.KindHelp: true,
		models.KindReminder: false, models.KindFeedbackQuestion: false, models.KindFeedbackFollowup: false, models.KindDebug: false,
		models.KindNotice: false,
	} {
		t.Run(string(kind), func(t *testing.T) {
			w := lateOnSQLite(t)
			id := w.queue(wire.TurnKind(kind), 0, 1)[0]
			w.report(id, wire.OutboxUndelivered, "30008", 3)
			if !want {
				require.Empty(t, w.owed())
				return
			}
			require.Equal(t, []string{id + "-r1"}, w.owed())
			try, err := w.Outbox.LateTry(w.ctx, id+"-r1")
			require.NoError(t, err)
			require.Equal(t, id, try.First.ID)
			require.Equal(t, "ann", try.Participant.ID)
			require.Equal(t, "hello", try.Row.Body)
			require.Equal(t, []any{kind, wire.OutboxReady, 1, id}, []any{try.Row.Kind, try.Row.Status, try.Row.LateTries, try.Row.LateOf})
			wait := try.Row.DueAt.Sub(lateAt(3))
			require.True(t, wait >= 30*time.Minute && wait < time.Hour, wait)
			require.Equal(t, kind == models.KindPrompt, try.LocalDate == "2026-03-01" && try.Zone == "America/New_York")
		})
	}
}

// TestReportsInAnyOrder: in every number and order of the reports, there is one
// try.
func TestReportsInAnyOrder(t *testing.T) {
	w := lateOnSQLite(t)
	reports := []models.StatusCallback{
		{Status: wire.OutboxQueued}, {Status: wire.OutboxSent},
		{Status: wire.OutboxUndelivered, ErrorCode: "30003"}, {Status: wire.OutboxUndelivered},
	}
	n := 0
	var next func(order []int)
	next = func(order []int) {
		if len(order) < len(reports) {
			for i := range reports {
				if !slices.Contains(order, i) {
					next(append(slices.Clone(order), i))
				}
			}
			return
		}
		n++
		id := w.queue(wire.TurnOperator, n, 1)[0]
		require.True(t, w.claim(id, n).Post)
		for _, i := range append(order, order...) {
			for range 2 {
				w.report(id, reports[i].Status, reports[i].ErrorCode, n)
			}
		}
		require.Len(t, w.owed(), n, order)
	}
	next(nil)
	require.Equal(t, 24, n)
}

// TestFirstEndStays: a text that arrived, or was lost for good, is not tried
// again for what a later report says.
func TestFirstEndStays(t *testing.T) {
	w := lateOnSQLite(t)
	delivered, gone := w.sent(wire.TurnOperator, 0, 1)[0], w.sent(wire.TurnOperator, 1, 1)[0]
	w.report(delivered, wire.OutboxDelivered, "", 2)
	w.report(delivered, wire.OutboxUndelivered, "30003", 3)
	w.report(gone, wire.OutboxUndelivered, "30007", 2)
	w.report(gone, wire.OutboxUndelivered, "30003", 3)
	require.Empty(t, w.owed())
}

// TestSecondFailureIsFinal: neither the try's own report nor a text that was put
// off by the create call gives another.
func TestSecondFailureIsFinal(t *testing.T) {
	lateOnBoth(t, func(w *lateWorld) {
		late := w.lost(wire.TurnOperator, 0)
		w.take(late, 45)
		w.report(late, wire.OutboxUndelivered, "30003", 46)
		require.Equal(w.t, []string{late}, w.owed())
		row, err := w.Outbox.Row(w.ctx, late)
		require.NoError(w.t, err)
		require.Equal(w.t, []any{wire.OutboxUndelivered, "30003", "SM-" + late}, []any{row.Status, row.ErrorCode, row.ProviderSID})

		put := w.queue(wire.TurnOperator, 50, 1)[0]
		require.True(w.t, w.claim(put, 50).Post)
		require.NoError(w.t, w.Outbox.PostponeSend(w.ctx, w.ref(put), lateAt(50)))
		w.take(put, 80)
		w.report(put, wire.OutboxUndelivered, "30003", 81)
		require.Equal(w.t, []string{late}, w.owed())
	})
}

func TestReportsAtOnce(t *testing.T) {
	lateOnBoth(t, func(w *lateWorld) {
		id := w.sent(wire.TurnReply, 0, 1)[0]
		starters := []*store.Store{w.Store, w.open(30 * time.Minute)}
		var group sync.WaitGroup
		failed := make(chan error, 12)
		for i := range cap(failed) {
			group.Go(func() {
				_, err := starters[i%2].Outbox.AcceptStatus(w.ctx, models.StatusCallback{
					OutboxID: id, Status: wire.OutboxUndelivered, ErrorCode: "30003", Class: models.CarrierRetryOnce, At: lateAt(1)})
				failed <- err
			})
		}
		group.Wait()
		for range cap(failed) {
			require.NoError(w.t, <-failed)
		}
		require.Equal(w.t, []string{id + "-r1"}, w.owed())
	})
}

func TestOffAndUnknown(t *testing.T) {
	lateOnBoth(t, func(w *lateWorld) {
		id := w.sent(wire.TurnReply, 0, 1)[0]
		off := w.open(0)
		_, err := off.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, Status: wire.OutboxUndelivered, ErrorCode: "30003", Class: models.CarrierRetryOnce, At: lateAt(1)})
		require.NoError(w.t, err)
		require.Empty(w.t, w.owed())
		_, err = w.Outbox.LateTry(w.ctx, id)
		require.ErrorIs(w.t, err, models.ErrNotFound, "a row that is no later try")
		_, err = w.Outbox.LateTry(w.ctx, id+"-r1")
		require.ErrorIs(w.t, err, models.ErrNotFound)
	})
}

// TestUse: what makes a try pointless or forbidden before it goes out.
func TestUse(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind wire.TurnKind
		then func(w *lateWorld, id string)
		want string // the refusal; empty: it goes out
	}{
		{"reply", wire.TurnReply, func(*lateWorld, string) {}, ""},
		{"reply, prompt since", wire.TurnReply, func(w *lateWorld, _ string) { w.sent(wire.TurnPrompt, 9, 1) }, ""},
		{"reply, newer reply", wire.TurnReply, func(w *lateWorld, _ string) { w.sent(wire.TurnReply, 9, 1) }, "superseded"},
		{"reply, newer reply lost too", wire.TurnReply, func(w *lateWorld, _ string) { w.lost(wire.TurnReply, 9) }, "superseded"},
		{"reply, newer reply not out", wire.TurnReply, func(w *lateWorld, _ string) { w.queue(wire.TurnReply, 9, 1) }, ""},
		{"reply, arrived", wire.TurnReply, func(w *lateWorld, id string) { w.report(id, wire.OutboxRead, "", 9) }, "arrived"},
		{"reply, opted out", wire.TurnReply, func(w *lateWorld, _ string) { w.text("STOP", 9, models.IntentStop) }, "opted_out"},
		{"reply, paused", wire.TurnReply, (*lateWorld).pause, "paused"},
		{"reply, removed", wire.TurnReply, (*lateWorld).remove, "removed"},
		{"reply, unreachable", wire.TurnReply, (*lateWorld).unreachable, ""},
		{"greeting, newer reply", wire.TurnGreeting, func(w *lateWorld, _ string) { w.sent(wire.TurnReply, 9, 1) }, "superseded"},
		{"operator, newer reply", wire.TurnOperator, func(w *lateWorld, _ string) { w.sent(wire.TurnReply, 9, 1) }, ""},
		{"operator, paused", wire.TurnOperator, (*lateWorld).pause, ""},
		{"help, newer reply", wire.TurnHelp, func(w *lateWorld, _ string) { w.sent(wire.TurnReply, 9, 1) }, ""},
		{"prompt", wire.TurnPrompt, func(*lateWorld, string) {}, ""},
		{"prompt, answered", wire.TurnPrompt, func(w *lateWorld, _ string) { w.text("done", 9, models.IntentNone) }, "answered"},
		{"prompt, newer prompt", wire.TurnPrompt, func(w *lateWorld, _ string) { w.sent(wire.TurnPrompt, 9, 1) }, "voided"},
		{"prompt, unreachable", wire.TurnPrompt, (*lateWorld).unreachable, "unreachable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lateOnBoth(t, func(w *lateWorld) {
				late := w.lost(tt.kind, 0)
				before, err := w.People.Profile(w.ctx, "ann")
				require.NoError(w.t, err)
				tt.then(w, late[:len(late)-len("-r1")])
				claim := w.claim(late, 45)
				if tt.want != "" {
					require.False(w.t, claim.Post)
					require.Equal(w.t, []any{wire.OutboxCanceled, tt.want}, []any{claim.Outbox.Status, claim.Outbox.ErrorCode})
					return
				}
				require.True(w.t, claim.Post)
				require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(late), models.Receipt{ProviderSID: "SM9", Status: wire.OutboxQueued}, lateAt(45)))
				after, err := w.People.Profile(w.ctx, "ann")
				require.NoError(w.t, err)
				if tt.name == "prompt" {
					require.Equal(w.t, before, after, "a prompt is counted once")
				}
			})
		})
	}
}

func (w *lateWorld) pause(string) {
	status := wire.StatusPaused
	_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "ann", Patch: models.ParticipantPatch{Status: &status}, Actor: "operator", Now: lateAt(9)})
	require.NoError(w.t, err)
}

func (w *lateWorld) remove(string) {
	require.NoError(w.t, w.People.RemoveParticipant(w.ctx, "ann", "operator", lateAt(9)))
}

func (w *lateWorld) unreachable(string) {
	id := w.sent(wire.TurnOperator, 9, 1)[0]
	w.report(id, wire.OutboxUndelivered, "30005", 10)
}

// TestWhoeverLeftGetsNone: a report that comes after a STOP or a removal.
func TestWhoeverLeftGetsNone(t *testing.T) {
	lateOnBoth(t, func(w *lateWorld) {
		id := w.sent(wire.TurnOperator, 0, 1)[0]
		w.text("STOP", 1, models.IntentStop)
		w.report(id, wire.OutboxUndelivered, "30003", 2)
		confirmation := w.queue(wire.TurnConsent, 3, 1)[0]
		w.take(confirmation, 3)
		w.report(confirmation, wire.OutboxUndelivered, "30003", 4)
		require.Empty(w.t, w.owed(), "the one confirmation is not repeated either")

		w.text("START", 5, models.IntentStart)
		welcome := w.queue(wire.TurnConsent, 6, 1)[0]
		w.take(welcome, 6)
		w.report(welcome, wire.OutboxUndelivered, "30003", 7)
		require.Equal(w.t, []string{welcome + "-r1"}, w.owed())
		require.True(w.t, w.claim(welcome+"-r1", 45).Post)
	})
}

// TestParts: each part that was lost is tried again, after those before it, and
// a retry of the turn's end does not send them.
func TestParts(t *testing.T) {
	lateOnBoth(t, func(w *lateWorld) {
		ids := w.sent(wire.TurnReply, 0, 3)
		w.report(ids[1], wire.OutboxDelivered, "", 4)
		w.report(ids[2], wire.OutboxUndelivered, "30003", 5)
		w.report(ids[0], wire.OutboxUndelivered, "30003", 6)
		first, last := models.LateID(ids[0]), models.LateID(ids[2])
		require.ElementsMatch(w.t, []string{first, last}, w.owed())

		before := func(id string) (waits []string) {
			try, err := w.Outbox.LateTry(w.ctx, id)
			require.NoError(w.t, err)
			for _, row := range try.Before {
				waits = append(waits, row.ID)
			}
			return waits
		}
		require.Empty(w.t, before(first))
		require.Equal(w.t, []string{first}, before(last))
		w.take(first, 60)
		require.Empty(w.t, before(last))
		w.take(last, 61)

		turn := models.TurnID("ann", w.n)
		again, err := w.Turns.FinishTurn(w.ctx, w.outcome(turn, wire.TurnPlan{Kind: wire.TurnReply}, 0, 3))
		require.NoError(w.t, err)
		require.Equal(w.t, ids, again.OutboxIDs)
	})
}

// TestShown: the history tells of the try once the carrier has it.
func TestShown(t *testing.T) {
	lateOnBoth(t, func(w *lateWorld) {
		shows := func() wire.OutboxStatus {
			entries, err := w.People.History(w.ctx, "ann", 10, time.Time{})
			require.NoError(w.t, err)
			require.Len(w.t, entries, 1)
			return entries[0].Delivery
		}
		late := w.lost(wire.TurnReply, 0)
		require.Equal(w.t, wire.OutboxUndelivered, shows())
		w.take(late, 45)
		require.Equal(w.t, wire.OutboxQueued, shows())
		w.report(late, wire.OutboxDelivered, "", 46)
		require.Equal(w.t, wire.OutboxDelivered, shows())
	})
}

// fate is a carrier that is asked what became of a text.
type fate struct{ code string }

func (f fate) Fetch(_ context.Context, sid string) (models.StatusCallback, error) {
	return models.StatusCallback{ProviderSID: sid, Status: wire.OutboxUndelivered, ErrorCode: f.code, Class: sms.Class(f.code)}, nil
}

// TestReconciled: what no callback reported and the carrier says when it is
// asked gives a try too, and one however often it is asked.
func TestReconciled(t *testing.T) {
	lateOnBoth(t, func(w *lateWorld) {
		id := w.sent(wire.TurnReply, 0, 1)[0]
		checks := &activities.ReconcileActivities{Store: w.Outbox, Carrier: fate{"30008"}, Now: func() time.Time { return lateAt(90) }}
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivity(checks)
		for range 2 {
			_, err := env.ExecuteActivity(checks.Reconcile)
			require.NoError(w.t, err)
		}
		w.report(id, wire.OutboxUndelivered, "30008", 95)
		require.Equal(w.t, []string{id + "-r1"}, w.owed())
		try, err := w.Outbox.LateTry(w.ctx, id+"-r1")
		require.NoError(w.t, err)
		require.False(w.t, try.Row.DueAt.Before(lateAt(120)))
	})
}

// ref names the newest claim on a row.
func (w *lateWorld) ref(id string) models.ClaimRef {
	w.t.Helper()
	row, err := w.Outbox.Row(w.ctx, id)
	if errors.Is(err, models.ErrNotFound) {
		return models.ClaimRef{OutboxID: id}
	}
	require.NoError(w.t, err)
	return models.SendClaim{Outbox: row}.Ref()
}
