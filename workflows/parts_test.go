package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/segments"
	"coachline/models"
	"coachline/models/wire"
)

// long is an answer with markdown that takes two parts.
const long = "## Your plan\n\n**Great start!** You’ve named a habit – here’s how it could look over the next weeks, step by step.\n\n" +
	"1. Walk for ten minutes right after your morning coffee, before you open the laptop or look at the phone.\n" +
	"2. On rainy days, climb the stairs at home instead; five minutes are plenty, and they count just the same.\n" +
	"3. Every Sunday evening, tell me which day felt best, e.g. the one at 8.30 a.m. before work, and what made it so.\n\n" +
	"Most people find the second week the hardest. That’s normal… it passes, and a missed day changes nothing at all. " +
	"What would get in your way tomorrow morning?" + link

// link ends the answer; the person gave it, or it would be refused.
const link = " https://example.org/plans/morning-walk"

// plain is long as it is read: without markdown, in characters of GSM-7.
const plain = "Your plan\n\nGreat start! You've named a habit - here's how it could look over the next weeks, step by step.\n\n" +
	"1) Walk for ten minutes right after your morning coffee, before you open the laptop or look at the phone.\n" +
	"2) On rainy days, climb the stairs at home instead; five minutes are plenty, and they count just the same.\n" +
	"3) Every Sunday evening, tell me which day felt best, e.g. the one at 8.30 a.m. before work, and what made it so.\n\n" +
	"Most people find the second week the hardest. That's normal... it passes, and a missed day changes nothing at all. " +
	"What would get in your way tomorrow morning?" + link

func answering(text string) option {
	return func(w *world, _ *coach.Rules) {
		w.model.answer = func(models.ChatRequest) (models.ChatResponse, error) { return say(text), nil }
	}
}

func (c *carrier) bodies() []string {
	var out []string
	for _, s := range c.sent {
		out = append(out, s.Body)
	}
	return out
}

func TestLongReplyArrivesInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(long))
	w.text(0, "what now?"+link)
	w.run(time.Minute)
	require.Equal(t, []models.EntryKind{models.KindReply, models.KindReply}, w.carrier.kinds())
	bodies := w.carrier.bodies()
	require.Equal(t, strings.Fields(plain), strings.Fields(strings.Join(bodies, " ")))
	for _, body := range bodies {
		size := segments.Count(body)
		require.Equal(t, segments.GSM7, size.Encoding)
		require.LessOrEqual(t, size.Segments, segments.FullSegments)
	}
	history, err := w.store.People.History(context.Background(), "conv_1", 10, time.Time{})
	require.NoError(t, err)
	require.Len(t, history, 2, "a text and one reply")
	require.Equal(t, plain, history[1].Text)
	require.Equal(t, wire.OutboxQueued, history[1].Delivery)
}

func TestPartThatFailsStopsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(long))
	w.carrier.refuse = func(sms models.SMS) error {
		if strings.HasSuffix(sms.OutboxID, "-p1") {
			return &models.CarrierError{Class: models.CarrierBlocked, Code: "30007"}
		}
		return nil
	}
	w.text(0, "what now?"+link)
	w.run(time.Hour)
	require.Empty(t, w.carrier.sent)
	for id, want := range map[string]models.Outbox{
		"conv_1-t1-p1": {Status: wire.OutboxFailed, ErrorCode: "30007"},
		"conv_1-t1-p2": {Status: wire.OutboxCanceled, ErrorCode: "earlier_part"},
	} {
		row, err := w.store.Outbox.Row(context.Background(), id)
		require.NoError(t, err)
		require.Equal(t, want.Status, row.Status, id)
		require.Equal(t, want.ErrorCode, row.ErrorCode, id)
	}
}

func TestPartsWaitForTheOneBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(long))
	busy := 3
	w.carrier.refuse = func(models.SMS) error {
		if busy--; busy >= 0 {
			return &models.CarrierError{Class: models.CarrierSlowDown, Code: "30001"}
		}
		return nil
	}
	w.text(0, "what now?"+link)
	w.run(time.Hour)
	require.Equal(t, strings.Fields(plain), strings.Fields(strings.Join(w.carrier.bodies(), " ")))
}

func TestTooLongReplyIsCutOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(prose(400)))
	w.text(0, "what now?")
	w.run(time.Minute)
	require.Len(t, w.carrier.sent, 2)
	whole, isCut := strings.CutSuffix(strings.Join(w.carrier.bodies(), " "), ". ...")
	require.True(t, isCut)
	require.True(t, strings.HasPrefix(prose(400), whole+". "), "at the end of a sentence")
	history, err := w.store.People.History(context.Background(), "conv_1", 10, time.Time{})
	require.NoError(t, err)
	require.Equal(t, strings.Join(w.carrier.bodies(), "\n"), history[1].Text, "the transcript says what was sent")
}

func TestLongGreetingKeepsItsFooter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, answering(prose(400)), func(w *world, _ *coach.Rules) { w.state.Greeted = false })
	w.run(time.Minute)
	bodies := w.carrier.bodies()
	require.Len(t, bodies, 2)
	require.True(t, strings.HasSuffix(bodies[0], "..."))
	require.True(t, strings.HasPrefix(bodies[1], "Test: automated msgs"))
	require.Contains(t, bodies[1], "STOP")
}

func TestPromptInPartsCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), answering(strings.TrimSuffix(long, link)))
	yes := true
	_, err := w.store.People.UpdateParticipant(context.Background(), models.ParticipantUpdate{
		ID: "conv_1", Patch: models.ParticipantPatch{Tester: &yes, Debug: &yes}, Actor: "test", Now: monday,
	})
	require.NoError(t, err)
	w.run(time.Hour)
	require.Equal(t, []models.EntryKind{models.KindPrompt, models.KindPrompt, models.KindDebug}, w.carrier.kinds()[:3],
		"the debug text comes behind the parts")
	profile, err := w.store.People.Profile(context.Background(), "conv_1")
	require.NoError(t, err)
	require.Equal(t, 1, profile.TotalPrompts)
	require.Equal(t, strings.TrimSuffix(plain, link), profile.LastHabitPrompt)
}

func TestNothingButMarksIsNoReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
		if len(req.Tools) == 0 {
			return say("**here**"), nil
		}
		return say("---\n\n***"), nil
	}
	w.text(0, "hm")
	w.run(time.Minute)
	require.Equal(t, []string{"here"}, w.carrier.bodies())
}
