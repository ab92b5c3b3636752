package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

func cutOff(text string) said { return said{text: text, finish: "length"} }

// An answer that its limit cut off is not sent as if it were whole.
func TestAnswerThatWasCutOff(t *testing.T) {
	long := "You walked far today. Tomorrow we could"
	t.Run("cut at a sentence", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff(long))
		step := w.addText("how was that?").runStep()
		require.Equal(t, "You walked far today.", step.Text)
		require.Equal(t, 1, w.model.count(chat))
		require.Contains(t, strings.Join(stageDecisions(t, step), ";"), "guard cut at a sentence")
	})
	t.Run("asked again without a whole sentence", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff("Tomorrow we could"), said{text: "You walked far today."})
		step := w.addText("how was that?").runStep()
		require.Equal(t, "You walked far today.", step.Text)
		require.Equal(t, 2, w.model.count(chat))
		require.Contains(t, fmt.Sprint(w.lastRequest(chat).Messages), "was cut off")
		require.Contains(t, strings.Join(stageDecisions(t, step), ";"), "guard cut off")
	})
	t.Run("no whole sentence", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff("Tomorrow we could"))
		step := w.addText("how was that?").runStep()
		require.Empty(t, step.Text)
		require.Contains(t, stageDecisions(t, step), "guard malformed", "the operator sees why there is none")
	})
	t.Run("a second answer without a full stop is whole", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff("Tomorrow we could"), said{text: "You walked far today. More tomorrow"})
		require.Equal(t, "You walked far today. More tomorrow", w.addText("how was that?").runStep().Text)
	})
	t.Run("ended by the model without a full stop", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, said{text: "yes it's me and I still have your walk after coffee in mind", finish: "stop"})
		require.Equal(t, "yes it's me and I still have your walk after coffee in mind", w.addText("still you?").runStep().Text)
	})
	t.Run("a second answer that calls", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff("Tomorrow we could"), callAnswer("search_memory", `{"query":"walks"}`))
		step := w.addText("how was that?").runStep()
		require.Len(t, calls(t, step), 1)
		require.Empty(t, step.Text)
	})
	t.Run("the second try fails", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff(long), busyAnswer())
		require.Equal(t, "You walked far today.", w.addText("how was that?").runStep().Text)
	})
	t.Run("nothing but thoughts", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, said{thinking: "hm", finish: "length"}, said{text: "Fine."})
		require.Equal(t, "Fine.", w.addText("how was that?").runStep().Text)
		require.Equal(t, []int{400, 4096}, []int{w.model.asked[chat][0].MaxTokens, w.model.asked[chat][1].MaxTokens})
	})
	t.Run("a habit prompt", func(t *testing.T) {
		w := newWorld(t)
		w.kind = wire.TurnPrompt
		w.beginTurn(ann)
		w.model.on(chat, cutOff("After coffee, walk five minutes and it gives you"), said{text: "After coffee, walk."})
		require.Equal(t, "After coffee, walk.", w.runStep().Text)
	})
}

// Every request bounds its answer.
func TestRequestsAreSized(t *testing.T) {
	w := newWorld(t).useSmallModel()
	w.model.on(planner, textAnswers("Reply to the user.")...)
	w.addText("what did I say about my knee and the stairs?").runStep()
	for purpose, requests := range w.model.asked {
		for _, request := range requests {
			require.Positive(t, request.MaxTokens, purpose)
		}
	}
}
