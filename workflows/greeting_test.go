package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// greetedLater is a person who was enrolled in quiet hours: the greeting is set
// for two hours later.
func greetedLater(w *world, rules *coach.Rules) {
	quiet, err := coach.ParseQuietHours("09:00-12:00")
	require.NoError(w.t, err)
	rules.Quiet = quiet
	w.state.Greeted, w.state.GreetingAt = false, monday.Add(2*time.Hour)
}

func TestGreetingWaitsForItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greetedLater)
	w.at(time.Hour, func() {
		require.Empty(t, w.carrier.sent)
		require.Equal(t, []wire.Due{{Kind: wire.DueGreeting, At: monday.Add(2 * time.Hour)}}, w.status().Due, "operators see when")
	})
	w.run(5 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindGreeting}, w.carrier.kinds())
	require.WithinDuration(t, monday.Add(2*time.Hour), w.carrier.sent[0].At, 5*time.Second)
	require.Empty(t, w.status().Due)
}

// TestSignUpIsGreetedInQuietHours: who has just signed up waits for the greeting.
func TestSignUpIsGreetedInQuietHours(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greetedLater, func(w *world, _ *coach.Rules) { w.state.GreetingAt, w.state.SignedUp = monday, true })
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindGreeting}, w.carrier.kinds())
	require.WithinDuration(t, monday, w.carrier.sent[0].At, 5*time.Second)
}

// TestReplyInPlaceOfTheGreeting: the person writes first. The reply says who
// writes and how to stop, and no greeting follows.
func TestReplyInPlaceOfTheGreeting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greetedLater)
	w.text(time.Hour, "hello, is this the walking thing?")
	w.text(4*time.Hour, "thanks")
	w.run(6 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindReply, models.KindReply}, w.carrier.kinds())
	first, second := wholeText(w.model.requests[0]), wholeText(w.model.requests[1])
	require.Contains(t, first, "The person has had no message from you yet.")
	require.NotContains(t, second, "The person has had no message from you yet.")
	require.Contains(t, w.carrier.sent[0].Body, "Reply STOP to end")
	require.NotContains(t, w.carrier.sent[1].Body, "Reply STOP to end")
}

// TestFallbackInPlaceOfTheGreeting: the model is down, and the first message says
// how to stop all the same.
func TestFallbackInPlaceOfTheGreeting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greetedLater)
	w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) {
		return models.ChatResponse{}, &models.ModelError{Class: models.ModelBusy, Message: "connection refused"}
	}
	w.text(time.Hour, "hello")
	w.run(6 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindReply}, w.carrier.kinds())
	require.Equal(t, 1, strings.Count(w.carrier.sent[0].Body, "Reply STOP to end"))
}

func TestNobodyIsGreetedWhoOptsOutBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greetedLater)
	w.at(time.Hour, func() { w.deliver("STOP", "") })
	w.run(6 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindConsent}, w.carrier.kinds())
	require.Empty(t, w.status().Due)
}

// TestPausedBeforeTheGreeting: the greeting goes out when the person is resumed.
func TestPausedBeforeTheGreeting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greetedLater)
	w.update(time.Hour, wire.UpdatePause)
	w.at(3*time.Hour, func() { require.Empty(t, w.carrier.sent) })
	w.at(4*time.Hour, func() {
		active := wire.StatusActive
		_, err := w.store.People.UpdateParticipant(context.Background(), models.ParticipantUpdate{
			ID: "conv_1", Patch: models.ParticipantPatch{Status: &active}, Now: w.env.Now().UTC()})
		require.NoError(t, err)
		w.env.UpdateWorkflow(wire.UpdateResume, "n9", &updated{}, wire.ResumeRequest{})
	})
	w.run(6 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindGreeting}, w.carrier.kinds())
	require.WithinDuration(t, monday.Add(4*time.Hour), w.carrier.sent[0].At, 5*time.Second)
}

// TestRestoredBeforeTheGreeting: the workflow was terminated before the greeting;
// the one that continues it knows from the tables that it is still to be sent.
func TestRestoredBeforeTheGreeting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, _ *coach.Rules) {
		at := monday.Add(2 * time.Hour)
		w.setGreetingAt(at)
		w.state.Restore, w.state.GreetingAt = true, at
	})
	w.run(5 * time.Hour)
	require.Equal(t, []models.EntryKind{models.KindGreeting}, w.carrier.kinds())
	require.WithinDuration(t, monday.Add(2*time.Hour), w.carrier.sent[0].At, 5*time.Second)
}

// setGreetingAt notes in the row when the greeting is set to go out.
func (w *world) setGreetingAt(at time.Time) {
	err := w.store.Database().Reader(context.Background()).Exec("UPDATE participants SET greeting_at = ? WHERE id = 'conv_1'", at).Error
	require.NoError(w.t, err)
}
