package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func cutOff(text string) said { return said{text: text, finish: "length"} }

// An answer that its limit cut off is not sent as if it were whole.
func TestAnswerThatWasCutOff(t *testing.T) {
	long := "You walked far today. Tomorrow we could"
	t.Run("asked again", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff(long), said{text: "You walked far today."})
		step := w.says("how was that?").respond()
		require.Equal(t, "You walked far today.", step.Text)
		require.Equal(t, 2, w.model.count(chat))
		require.Contains(t, fmt.Sprint(w.last(chat).Messages), "was cut off")
		require.Contains(t, strings.Join(decisions(t, step), ";"), "guard cut off")
	})
	t.Run("cut off twice", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff(long))
		require.Equal(t, "You walked far today.", w.says("how was that?").respond().Text)
		require.Equal(t, 2, w.model.count(chat))
	})
	t.Run("no whole sentence", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff("Tomorrow we could"))
		step := w.says("how was that?").respond()
		require.Empty(t, step.Text)
		require.Contains(t, decisions(t, step), "guard malformed", "the operator sees why there is none")
	})
	t.Run("a second answer without a full stop is whole", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff(long), said{text: "You walked far today. More tomorrow"})
		require.Equal(t, "You walked far today. More tomorrow", w.says("how was that?").respond().Text)
	})
	t.Run("a second answer that calls", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff(long), calling("search_memory", `{"query":"walks"}`))
		step := w.says("how was that?").respond()
		require.Len(t, calls(t, step), 1)
		require.Empty(t, step.Text)
	})
	t.Run("the second try fails", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, cutOff(long), busy())
		require.Equal(t, "You walked far today.", w.says("how was that?").respond().Text)
	})
	t.Run("nothing but thoughts", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, said{thinking: "hm", finish: "length"}, said{text: "Fine."})
		require.Equal(t, "Fine.", w.says("how was that?").respond().Text)
		require.Equal(t, 4*w.model.asked[chat][0].MaxTokens, w.model.asked[chat][1].MaxTokens)
	})
	t.Run("a habit prompt", func(t *testing.T) {
		w := newWorld(t)
		w.kind = models.KindPrompt
		w.begin(ann)
		w.model.on(chat, cutOff("After coffee, walk five minutes. It gives you"), said{text: "After coffee, walk."})
		require.Equal(t, "After coffee, walk.", w.respond().Text)
	})
}

// Every request bounds its answer.
func TestRequestsAreSized(t *testing.T) {
	w := newWorld(t).small()
	w.model.on(planner, texts("Reply to the user.")...)
	w.says("what did I say about my knee and the stairs?").respond()
	for purpose, requests := range w.model.asked {
		for _, request := range requests {
			require.Positive(t, request.MaxTokens, purpose)
		}
	}
}
