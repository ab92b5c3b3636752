package agent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// A day of a person who answers, in what they write.
func dayTexts() []string {
	return []string{
		"did it, ten minutes after breakfast", "not today, the meeting ran late", "my knee was sore so I went slower", "walked to the river with Petra",
		"should I go twice tomorrow?", "skipped it, too tired", "did it in the rain even", "what did I say about my old shoes?",
	}
}

// Model calls of a conversation, with everything that is kept of it: at most 1.2
// a reply where ten texts follow each other, 2.0 where one comes a day, one for a
// daily prompt.
func TestCallsAReply(t *testing.T) {
	open := func(t *testing.T) *world {
		w := newWorld(t)
		for i := range 30 {
			w.storeFacts(ann, models.FactEvent, fmt.Sprintf("Told story%d of holiday%d.", i, i))
		}
		w.model.on(closer, textAnswers(closedWith("", "Talked.", "They talk."))...)
		w.model.on(extractor, textAnswers(`{"keywords":["shoes","buy","old"]}`)...)
		return w
	}
	say := func(w *world, i int) {
		w.kind = wire.TurnReply
		w.runExchange(dayTexts()[i%len(dayTexts())])
		w.now = w.now.Add(2 * time.Minute)
	}
	rest := func(w *world) {
		w.now = w.now.Add(30 * time.Minute)
		require.NoError(w.t, w.pipe.Remember(w.t.Context(), w.turnContext()))
	}
	t.Run("ten texts", func(t *testing.T) {
		w := open(t)
		for i := range 10 {
			say(w, i)
		}
		rest(w)
		t.Logf("%.2f calls a reply", float64(w.model.total())/10)
		require.LessOrEqual(t, w.model.total(), 12)
	})
	t.Run("sixty days", func(t *testing.T) {
		const days = 60
		w := open(t)
		prompts := 0
		for day := range days {
			before := w.model.total()
			w.kind = wire.TurnPrompt
			w.addEntry(models.Message{TurnID: w.beginTurn(ann), Role: models.RoleAssistant, Kind: models.KindPrompt, Text: "After breakfast, walk for ten minutes."})
			w.steps = nil
			w.runStep()
			prompts += w.model.total() - before
			say(w, day)
			rest(w)
			w.now = w.now.Add(23 * time.Hour)
		}
		t.Logf("%.2f calls a text, of which %.2f for the prompt; closings %d, extractors %d",
			float64(w.model.total())/days, float64(prompts)/days, w.model.count(closer), w.model.count(extractor))
		require.Equal(t, days, prompts)
		require.Equal(t, days, w.model.count(closer), "no day is read twice")
		require.LessOrEqual(t, float64(w.model.total()), 3.2*days)
	})
}
