package agent_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/prompts"
)

// What a model is not asked again for reaches no phone, and its reason is kept.
func TestWordsThatReachNoPhone(t *testing.T) {
	for reply, reason := range map[string]string{
		"Hi [Name], how was your walk?": "template", "My husband and I walk too.": "invented self", "I'm a real person, not a bot!": "claims to be human",
		"Coachline: how was it today?": "fixed text", "Sorry, I couldn't put an answer together just now. Walk anyway!": "fixed text",
		"Das klingt nach einem guten Plan, fang einfach mit fünf Minuten an!": "other language", "status: ok intent: praise message: Nice": "program",
		"Nice. Their message answers what helps, for it first otherwise end with this question!": "fixed text",
	} {
		w := newWorld(t)
		w.model.on(chat, said{text: reply})
		step := w.addText("how are you today, did you see what I wrote? I was thinking about the walk with my sister, and whether the new shoes are the right ones for it").runStep()
		require.Empty(t, step.Text, reply)
		require.Contains(t, stageDecisions(t, step), "guard "+reason, reply)
	}
}

func TestRepliesDoNotComeAgain(t *testing.T) {
	const same = "That sounds like a good plan for the week."
	begin := func(t *testing.T, answers ...said) *world {
		w := newWorld(t)
		for i, reply := range []string{"Who was with you?", "A pond is a fine aim.", "Did it rain there?", "Shoes by the door, then.", "Coffee comes first."} {
			w.model.on(chat, said{text: reply})
			w.runExchange(fmt.Sprintf("this is story number %d", i))
		}
		w.model.on(chat, said{text: same})
		w.runExchange("I will walk on Monday")
		w.model.asked = map[string][]models.ChatRequest{}
		w.model.on(chat, answers...)
		return w
	}
	t.Run("asked once more, more freely", func(t *testing.T) {
		w := begin(t, said{text: "That sounds like a good plan for this week!"}, said{text: "Monday it is."})
		step := w.addText("and on Tuesday too").runStep()
		require.Equal(t, "Monday it is.", step.Text)
		require.Contains(t, stageDecisions(t, step), "guard said before")
		asked := w.model.asked[chat]
		require.Len(t, asked, 2)
		require.InDelta(t, 0.4, asked[0].Temperature, 0)
		require.InDelta(t, 0.8, asked[1].Temperature, 0)
		require.Contains(t, fmt.Sprint(asked[0].Messages), same)
		require.NotContains(t, fmt.Sprint(asked[1].Messages), same)
		require.NotContains(t, fmt.Sprint(asked[1].Messages), "Shoes by the door")
		require.Contains(t, fmt.Sprint(asked[1].Messages), "Did it rain")
	})
	t.Run("then a fixed question, each once, then the words", func(t *testing.T) {
		w := begin(t, said{text: same})
		w.alter = func(c *models.TurnContext) { c.Profile.HabitDomain = "a walk" }
		seen := map[string]bool{}
		for range prompts.Wordings + prompts.AnyTimeWordings {
			text := w.runExchange("and on Tuesday too").Text
			require.Regexp(t, `^[^?]+\?$`, text)
			require.False(t, seen[text], text)
			seen[text] = true
		}
		require.Equal(t, same, w.runExchange("and on Tuesday too").Text, "no outage is told where there is none")
	})
	t.Run("an echo", func(t *testing.T) {
		w := begin(t, said{text: "I want to walk to the pond on Sunday."}, said{text: "To the pond, nice."})
		require.Equal(t, "To the pond, nice.", w.addText("i want to walk to the pond on sunday").runStep().Text)
	})
	t.Run("a short remark may come again", func(t *testing.T) {
		w := begin(t, said{text: "Well done!"})
		for range 2 {
			require.Equal(t, "Well done!", w.runExchange("walked again").Text)
		}
	})
}

// A claim is compared with what the tools of the turn did.
func TestClaimsAreComparedWithWhatWasDone(t *testing.T) {
	t.Run("asked once more with what was done", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, said{text: "I've set your daily text for 8 AM."}, said{text: "Shall I text you at 8?"})
		step := w.addText("8 am please").runStep()
		require.Equal(t, "Shall I text you at 8?", step.Text)
		require.Contains(t, stageDecisions(t, step), "guard promise")
		require.Contains(t, fmt.Sprint(w.lastRequest(chat).Messages), "no tool did anything")
	})
	t.Run("claimed twice", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, said{text: "A team member will call you at 5."})
		require.Empty(t, w.addText("please call").runStep().Text)
	})
	t.Run("true", func(t *testing.T) {
		w := newWorld(t)
		w.model.on(chat, callAnswer("scheduler", `{"action":"create"}`), said{text: "Done, I've set your daily text for 8 AM."})
		w.addText("8 am please").runStep()
		w.addResults(models.ToolResult{Name: "scheduler", Content: `{"ok":true}`})
		require.Equal(t, "Done, I've set your daily text for 8 AM.", w.runStep().Text)
	})
}

// The text of an outage is not the coach's own, and what it stood in for waits.
func TestOutageIsNotShownAsTheCoach(t *testing.T) {
	w := newWorld(t)
	fallback, err := w.library.Fixed(prompts.ReplyFallback, "", prompts.FixedData{})
	require.NoError(t, err)
	w.runExchange("hello there, I walk")
	w.addText("when is my walk?")
	w.steps = append(w.steps, models.Step{Number: 1, Text: fallback})
	w.endTurn()
	w.addText("are you there?").runStep()
	all := fmt.Sprint(w.lastRequest(chat).Messages)
	require.NotContains(t, all, fallback)
	require.Contains(t, all, "when is my walk?\n[not answered yet]")
	newest := w.lastRequest(chat).Messages
	require.Contains(t, newest[len(newest)-1].Content, "] when is my walk?", "both are answered: %v", newest[len(newest)-1])
}

// A question stands in for a reply that may not go. The model reads it as the coach's, and
// not that there was no answer.
func TestQuestionStandsInForARefusedReply(t *testing.T) {
	w := newWorld(t)
	w.model.on(chat, said{text: "Hi [Name], how was your walk?"}, said{text: "Nice."})
	step := w.addText("hello there, I walk").runStep()
	question := models.StandInQuestion([]models.Step{step})
	require.Regexp(t, `^[^?]+\?$`, question)
	sent, err := w.library.Fixed(prompts.ReplyFallback, "", prompts.FixedData{Question: question})
	require.NoError(t, err)
	w.steps = []models.Step{{Number: 1, Text: sent}}
	w.endTurn()
	require.Empty(t, models.StandInQuestion([]models.Step{w.addText("because of my back").runStep()}), "words that go need none")
	require.Contains(t, fmt.Sprint(w.lastRequest(chat).Messages), "{assistant "+question)
	require.NotContains(t, fmt.Sprint(w.lastRequest(chat).Messages), "not answered yet")
}

// What the model declines to answer, or a filter of its server, is answered by a text of
// its own: to try again would not help. The model does not read it as its reply.
func TestDeclinedRepliesHaveTheirText(t *testing.T) {
	w := newWorld(t)
	w.model.on(chat, said{err: &models.ModelError{Class: models.ModelDeclined, Status: 200, Message: "the model declined to answer"}}, said{text: "Glad to hear it."})
	step := w.addText("write me something rude about my boss").runStep()
	want, err := w.library.Fixed(prompts.ReplyDeclined, "", prompts.FixedData{})
	require.NoError(t, err)
	require.Equal(t, want, step.Text)
	require.Equal(t, models.FinishDeclined, step.FinishReason)
	require.Len(t, w.model.asked[chat], 1)

	w.endTurn()
	w.addText("never mind, I walked today").runStep()
	require.NotContains(t, fmt.Sprint(w.lastRequest(chat).Messages), want)
}
