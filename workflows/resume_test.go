package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// resume has an operator resume the participant at an offset, as the starter and
// its relay do.
func (w *world) resume(offset time.Duration) *updated {
	u := &updated{}
	w.at(offset, func() {
		ctx, active := context.Background(), wire.StatusActive
		_, err := w.store.People.UpdateParticipant(ctx, models.ParticipantUpdate{
			ID: "conv_1", Patch: models.ParticipantPatch{Status: &active}, Waiting: models.WaitingAnswer, Now: w.env.Now().UTC()})
		require.NoError(w.t, err)
		_, notices, err := w.store.Notices.Untold(ctx, "conv_1")
		require.NoError(w.t, err)
		items, err := w.store.Notices.ResumedMessages(ctx, notices[len(notices)-1].ID)
		require.NoError(w.t, err)
		w.env.UpdateWorkflow(wire.UpdateResume, "n9", u, wire.ResumeRequest{Items: items})
	})
	return u
}

// A resumption that names texts has them answered, in one turn and once.
func TestResumeAnswersTheTextsOfThePause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.update(10*time.Minute, wire.UpdatePause)
	w.text(20*time.Minute, "are you there?")
	w.text(21*time.Minute, "hello?")
	resumed := w.resume(time.Hour)
	w.text(2*time.Hour, "and now?")
	w.run(3 * time.Hour)
	require.True(t, resumed.done)
	replies := w.carrier.of(models.KindReply)
	require.Len(t, replies, 2)
	require.WithinDuration(t, monday.Add(time.Hour), replies[0].At, 2*time.Second)
	asked := w.model.requests[0].Messages
	require.Equal(t, "are you there?\n\nhello?", withoutTimes(asked[len(asked)-1].Content))
	history, err := w.store.People.History(context.Background(), "conv_1", 10, time.Time{})
	require.NoError(t, err)
	require.Len(t, history, 5, "two texts, reply, text, reply")
}

// In quiet hours the answer waits for the morning, and goes along with what the
// person writes meanwhile.
func TestResumeInQuietHours(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *world, rules *coach.Rules) {
		quiet, err := coach.ParseQuietHours("21:00-08:00")
		require.NoError(t, err)
		rules.Quiet = quiet
	})
	w.update(10*time.Minute, wire.UpdatePause)
	w.text(20*time.Minute, "are you there?")
	w.resume(12 * time.Hour) // 22:00
	w.run(30 * time.Hour)
	replies := w.carrier.of(models.KindReply)
	require.Len(t, replies, 1)
	require.WithinDuration(t, monday.Add(22*time.Hour), replies[0].At, 2*time.Second, "08:00")
}
