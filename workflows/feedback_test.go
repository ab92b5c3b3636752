package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// TestFeedbackIsFollowed: the state says how far the feedback on a prompt is, and the model
// is told.
func TestFeedbackIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven))
	save := func(field, words string) models.ChatResponse {
		return asks(call("save_user_profile", map[string]any{field: words}))
	}
	var told []string
	answer := steps(
		say("Time to walk."),
		save("last_successful_prompt", "walk after coffee"), say("Well done."),
		save("last_barrier", "rain"), asks(call("transition_state", map[string]any{"target_state": "INTAKE"})), say("Noted."),
		say("Of course."), say("Time to walk again."),
	)
	w.model.answer = func(req models.ChatRequest) (models.ChatResponse, error) {
		line := ""
		for _, m := range req.Messages {
			if _, after, ok := strings.Cut(m.Content, "# Feedback\n"); ok {
				line, _, _ = strings.Cut(after, "\n")
			}
		}
		told = append(told, line)
		return answer(req)
	}
	var seen []wire.FeedbackStage
	look := func(after time.Duration) { w.at(after, func() { seen = append(seen, w.status().Feedback) }) }
	look(time.Minute)
	look(58 * time.Minute)
	w.text(90*time.Minute, "I did it")
	look(92 * time.Minute)
	w.text(95*time.Minute, "but the rain nearly stopped me")
	look(97 * time.Minute)
	w.text(100*time.Minute, "can we talk about sleep?")
	look(102 * time.Minute)
	look(24*time.Hour + 52*time.Minute)
	w.run(24*time.Hour + 53*time.Minute)
	require.Equal(t, []wire.FeedbackStage{
		wire.FeedbackNone, wire.FeedbackAsked, wire.FeedbackOutcome, wire.FeedbackDone, wire.FeedbackDone, wire.FeedbackNone,
	}, seen, "a new prompt begins anew")
	const unknown, done, known, over = "How it went is not known yet.", "They did it; that is saved. Ask at most what helped.", "How it went and what got in the way are saved. Ask for neither again.", "Collected for this prompt. Ask no more about it."
	require.Equal(t, []string{"", unknown, done, done, known, known, over}, told[:7], "a mode changes at the end of its turn")
}
