package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// permutations calls fn with every order of 0..n-1.
func permutations(n int, fn func(order []int)) {
	order := make([]int, 0, n)
	used := make([]bool, n)
	var next func()
	next = func() {
		if len(order) == n {
			fn(order)
			return
		}
		for i := range n {
			if used[i] {
				continue
			}
			used[i] = true
			order = append(order, i)
			next()
			order = order[:len(order)-1]
			used[i] = false
		}
	}
	next()
}

// The carrier's answer and its reports end in the same state in every order,
// and the prompt is counted once.
func TestStatusInAnyOrder(t *testing.T) {
	w := onSQLite(t)
	w.enrolled()
	reports := []models.StatusCallback{
		{Status: wire.OutboxQueued}, {Status: wire.OutboxSending}, {Status: wire.OutboxSent},
		{Status: wire.OutboxUndelivered, ErrorCode: "30003"},
	}
	n := 0
	permutations(len(reports)+1, func(order []int) {
		n++
		plan := promptPlan(fmt.Sprintf("day-%d", n))
		id := w.turn(n, plan, n)
		w.post(id, n)
		for _, i := range order {
			if i == len(reports) {
				w.accepted(id, n)
				continue
			}
			cb := reports[i]
			cb.OutboxID, cb.ProviderSID, cb.At = id, "SM-"+id, at(n)
			for range 2 {
				found, err := w.Outbox.AcceptStatus(w.ctx, cb)
				require.NoError(t, err)
				require.True(t, found)
			}
		}
		status, code := w.outbox(id)
		require.Equal(t, wire.OutboxUndelivered, status, order)
		require.Equal(t, "30003", code, order)
		require.Equal(t, models.PromptPending, w.promptState(plan.PromptID), order)
		profile, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, n, profile.TotalPrompts, order)
	})
	require.Equal(t, 120, n)
}

func TestAcceptStatus(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		report := func(cb models.StatusCallback) bool {
			t.Helper()
			cb.At = at(9)
			found, err := w.Outbox.AcceptStatus(w.ctx, cb)
			require.NoError(t, err)
			return found
		}
		require.False(t, report(models.StatusCallback{Status: wire.OutboxSent}))
		require.False(t, report(models.StatusCallback{ProviderSID: "SM404", Status: wire.OutboxSent}))
		require.False(t, report(models.StatusCallback{OutboxID: "p1-t9-p1", ProviderSID: "SM404", Status: wire.OutboxSent}))

		id := w.turn(1, replyPlan, 1)
		w.sent(id, 2)
		require.True(t, report(models.StatusCallback{ProviderSID: "SM-" + id, Status: wire.OutboxDelivered}), "found by the provider's id")
		require.True(t, report(models.StatusCallback{OutboxID: id, Status: wire.OutboxSent}))
		require.True(t, report(models.StatusCallback{OutboxID: id, Status: wire.OutboxUndelivered, ErrorCode: "30008"}))
		status, code := w.outbox(id)
		require.Equal(t, wire.OutboxDelivered, status, "of two final ones the first stays")
		require.Empty(t, code)
		require.True(t, report(models.StatusCallback{OutboxID: id, Status: wire.OutboxRead}))
		status, _ = w.outbox(id)
		require.Equal(t, wire.OutboxRead, status)

		id = w.turn(2, replyPlan, 3)
		w.sent(id, 4)
		for _, cb := range []models.StatusCallback{
			{OutboxID: id, Status: wire.OutboxFailed},
			{OutboxID: id, Status: wire.OutboxFailed, ErrorCode: "30007"},
			{OutboxID: id, Status: wire.OutboxFailed},
		} {
			require.True(t, report(cb))
		}
		_, code = w.outbox(id)
		require.Equal(t, "30007", code, "a code stays when a later report lacks it")
	})
}

// The worker dies between the carrier's acceptance and its record; the status
// callback settles the row, so the retry posts nothing.
func TestStatusSettlesLostAttempt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, replyPlan, 1)
		w.post(id, 2)
		found, err := w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, ProviderSID: "SM77", Status: wire.OutboxSending, At: at(3)})
		require.NoError(t, err)
		require.True(t, found)
		claim, err := w.Outbox.ClaimSend(w.ctx, id, at(4))
		require.NoError(t, err)
		require.False(t, claim.Post)
		require.Equal(t, wire.OutboxAccepted, claim.Outbox.Status)
		require.Equal(t, "SM77", claim.Outbox.ProviderSID)
		require.Equal(t, at(3), *claim.Outbox.AcceptedAt)
	})
}

// Everything about one participant at once: nothing fails, nothing deadlocks,
// nothing is lost.
func TestEverythingAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, promptPlan("2026-03-02"), 1)
		w.post(id, 2)
		for _, err := range together(60, func(i int) error {
			var err error
			switch i % 6 {
			case 0:
				_, err = w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: fmt.Sprintf("SM%d", i), From: phone, Body: "x", ReceivedAt: at(3)})
			case 1:
				_, err = w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, ProviderSID: "SMx", Status: wire.OutboxSent, At: at(4)})
			case 2:
				err = w.Outbox.RecordAccepted(w.ctx, w.ref(id), models.Receipt{ProviderSID: "SMx", Status: wire.OutboxQueued}, at(4))
			case 3:
				err = w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeFeedback, Now: at(5),
					Schedules: []wire.Schedule{{ID: "s1"}}})
			case 4:
				_, err = w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Now: at(5),
					Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Background: ptr(fmt.Sprint(i))}}})
			case 5:
				_, err = w.Turns.TurnContext(w.ctx, "p1-t1", 10)
			}
			return err
		}) {
			require.NoError(t, err)
		}
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, int64(11), p.NextSeq)
		tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 10)
		require.NoError(t, err)
		require.Equal(t, models.PromptResponded, tc.Outstanding.State)
		require.Equal(t, 1, tc.Profile.TotalPrompts)
	})
}

func TestUnsettledListsWhatTheCarrierNeverFinished(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		var ids []string
		for n, status := range []wire.OutboxStatus{wire.OutboxSent, wire.OutboxDelivered, wire.OutboxQueued, ""} {
			id := w.turn(n+1, wire.TurnPlan{Kind: wire.TurnReply}, 10*n)
			ids = append(ids, id)
			if status == "" {
				continue // Never posted.
			}
			w.post(id, 10*n)
			receipt := models.Receipt{ProviderSID: fmt.Sprintf("SM%d", n), Status: status}
			require.NoError(t, w.Outbox.RecordAccepted(w.ctx, w.ref(id), receipt, at(10*n)))
		}
		list := func(q models.UnsettledQuery) []string {
			rows, err := w.Outbox.Unsettled(w.ctx, q)
			require.NoError(t, err)
			var got []string
			for _, row := range rows {
				got = append(got, row.ID)
			}
			return got
		}
		all := models.UnsettledQuery{Before: at(60), After: at(-60), Limit: 10}
		require.Equal(t, []string{ids[0], ids[2]}, list(all))
		require.Equal(t, []string{ids[2]}, list(models.UnsettledQuery{Before: at(60), After: at(-60), AfterID: ids[0], Limit: 10}))
		require.Equal(t, []string{ids[0]}, list(models.UnsettledQuery{Before: at(60), After: at(-60), Limit: 1}))
		require.Equal(t, []string{ids[0]}, list(models.UnsettledQuery{Before: at(15), After: at(-60), Limit: 10}), "the young may still be reported")
		require.Empty(t, list(models.UnsettledQuery{Before: at(60), After: at(60), Limit: 10}), "of the old nothing is known any more")
	})
}

// A workflow that has not applied the newest change of status writes none; one that
// has, and one of an older build, does.
func TestOnlyTheNewestNoticeWritesAStatus(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.setStatus(wire.StatusPaused)
		newest := int64(w.count("SELECT max(id) FROM notices"))
		late := wire.SaveStateInput{ParticipantID: "p1", Mode: wire.ModeFeedback, Status: wire.StatusActive, Applied: newest - 1, Now: at(3)}
		require.NoError(t, w.Turns.SaveState(w.ctx, late))
		require.Equal(t, wire.StatusPaused, w.status())
		require.Equal(t, "FEEDBACK", w.text("SELECT mode FROM participants"), "the mode is the workflow's")
		w.inbound("SM1", 4, "a message is no change of status")
		late.Applied = newest
		require.NoError(t, w.Turns.SaveState(w.ctx, late))
		require.Equal(t, wire.StatusActive, w.status())
	})
}
