package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// numbers says of a number whether it has gone to another person, and counts.
type numbers struct {
	answer bool
	err    error
	since  []time.Time
}

func (n *numbers) IsReassigned(_ context.Context, _ string, since time.Time) (bool, error) {
	n.since = append(n.since, since)
	return n.answer, n.err
}

// remindAt sends a text of a turn to ann at an instant, and returns what became of it.
func (w *storeFixture) remindAt(at time.Time, kind wire.TurnKind) wire.SendSMSResult {
	w.t.Helper()
	w.number++
	turn, plan := models.TurnID(ann, w.number), wire.TurnPlan{Kind: kind}
	_, err := w.people.Turns.BeginTurn(w.t.Context(), wire.PrepareTurnInput{ParticipantID: ann, TurnID: turn, Number: w.number, Mode: wire.ModeIntake, Plan: plan, Now: at})
	require.NoError(w.t, err)
	w.closing.Posts.Now = func() time.Time { return at.Add(time.Second) }
	value, err := w.env.ExecuteActivity(w.closing.SendTurn, wire.SendTurnInput{End: wire.PersistTurnInput{
		ParticipantID: ann, TurnID: turn, Mode: wire.ModeIntake, Plan: plan, Source: wire.SourceFixed, Now: at,
	}})
	require.NoError(w.t, err)
	var out wire.SendTurnResult
	require.NoError(w.t, value.Get(&out))
	return out.First
}

// TestReassignedNumberStops: after 90 days of silence the carrier is asked with the date of
// the consent before what we start; a yes fails the text, pauses the person and tells an
// operator, a no is good for as long again, and no answer stops nothing.
func TestReassignedNumberStops(t *testing.T) {
	const day = 24 * time.Hour
	w := newStoreFixture(t)
	asked := &numbers{}
	w.closing.Posts.Numbers, w.closing.Posts.ReassignedAfter = asked, 90*day
	for _, step := range []struct {
		after  time.Duration
		kind   wire.TurnKind
		answer bool
		err    error
		asked  int
		status wire.OutboxStatus
	}{
		{89 * day, wire.TurnAskLess, true, nil, 0, wire.OutboxQueued},
		{91 * day, wire.TurnHelp, true, nil, 0, wire.OutboxQueued},
		{91 * day, wire.TurnAskLess, false, errors.New("not approved"), 1, wire.OutboxQueued},
		{92 * day, wire.TurnAskLess, false, nil, 2, wire.OutboxQueued},
		{93 * day, wire.TurnAskLess, true, nil, 2, wire.OutboxQueued},
		{183 * day, wire.TurnAskLess, true, nil, 3, wire.OutboxFailed},
	} {
		asked.answer, asked.err = step.answer, step.err
		require.Equal(t, step.status, w.remindAt(now.Add(step.after), step.kind).Status, step.after)
		require.Len(t, asked.since, step.asked, step.after)
	}
	require.Equal(t, now, asked.since[0].UTC())
	p, err := w.people.People.Participant(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, wire.StatusPaused, p.Status)
	require.Equal(t, wire.AttentionWrongNumber, p.Attention)
	row, err := w.people.Outbox.Row(t.Context(), models.OutboxID(models.TurnID(ann, w.number), 1))
	require.NoError(t, err)
	require.Equal(t, models.CodeReassigned, row.ErrorCode)
}
