package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// What we start ourselves is written from what is known of the person, as
// replies are: from the same cache, without any further call.
func TestUnaskedTextsKnowThePerson(t *testing.T) {
	for _, kind := range []wire.TurnKind{wire.TurnGreeting, wire.TurnPrompt, wire.TurnCheckIn} {
		t.Run("J53 "+string(kind), func(t *testing.T) {
			w := newWorld(t)
			w.storeFacts(ann, models.FactGoal, "Wants to walk each day.")
			w.storeFacts(ann, models.FactEvent, "Ran the city race.")
			w.runExchange("hi")
			w.kind = kind
			w.steps, w.number = nil, w.number+1
			w.beginTurn(ann)
			before := w.model.total()
			w.runStep()
			require.Contains(t, w.systemMessage(), "# Memory")
			require.Contains(t, w.systemMessage(), "Wants to walk each day.")
			require.NotContains(t, w.systemMessage(), "Ran the city race.", "events come up by search only")
			require.Equal(t, 1, w.model.total()-before)
			require.Zero(t, w.vectors.calls)
			require.Equal(t, 1, w.rows.calls["recall"], "kept while nothing changes")
			trace, ok := w.steps[0].StepTrace()
			require.True(t, ok)
			require.Contains(t, trace.Prepared.Memory, "Wants to walk each day.", "the operator sees what it was written from")
		})
		t.Run("a text that waits is not searched for: "+string(kind), func(t *testing.T) {
			w := newWorld(t)
			w.storeFacts(ann, models.FactEvent, "Ran the city race.")
			w.addText("did I run a race in the city?")
			if kind == wire.TurnGreeting {
				w.window = nil
			}
			w.kind = kind
			w.beginTurn(ann)
			w.runStep()
			require.Zero(t, w.rows.calls["find"])
			require.Zero(t, w.vectors.calls)
		})
		t.Run("nobody's memory is read who has none: "+string(kind), func(t *testing.T) {
			w := newWorld(t)
			w.kind = kind
			w.beginTurn(ann)
			w.runStep()
			require.Empty(t, w.rows.calls["recall"])
			require.Empty(t, w.rows.calls["find"])
			require.NotContains(t, w.systemMessage(), "# Memory")
		})
	}
}

func TestCheckInAsksForADecision(t *testing.T) {
	w := newWorld(t)
	w.addText("My number is 555-867-5309, I want to walk more.")
	w.runStep()
	w.endTurn()
	w.addEntry(models.Message{Role: models.RoleAssistant, Kind: models.KindCheckIn, Text: "How is the walk?"})
	w.kind, w.steps = wire.TurnCheckIn, nil
	w.beginTurn(ann)
	w.model.on(chat, textAnswers(`{"send": true, "text": "Did you **walk** today?"}`)...)
	step := w.runStep()
	require.Equal(t, "Did you **walk** today?", step.Text, "markdown goes when it is sent")
	request := w.model.asked[chat][len(w.model.asked[chat])-1]
	require.True(t, request.JSON)
	require.Empty(t, request.Tools)
	require.NotContains(t, w.systemMessage(), "# Mode:")
	require.Contains(t, w.systemMessage(), "Check-ins since the person wrote: 1")
	require.Contains(t, w.systemMessage(), "The person wrote: Mon 2026-03-02 10:00")
	require.NotContains(t, w.model.everything(), "867-5309", "redacted as everything is")
	last := request.Messages[len(request.Messages)-1]
	require.Equal(t, "user", last.Role)
	require.Contains(t, last.Content, "[task] ")

	w.model.on(chat, busyAnswer())
	w.beginTurn(ann)
	_, err := w.callStep(wire.CallModelInput{})
	var failed *models.ModelError
	require.ErrorAs(t, err, &failed)
}

// Messages that answer no text are written in the language of the person's
// locale, which the request names; the greeting's in that of its footer.
func TestInitiatedMessagesNameTheirLanguage(t *testing.T) {
	for kind, want := range map[wire.TurnKind]string{
		wire.TurnGreeting: "Write this message in German (the person's locale is de-DE)",
		wire.TurnPrompt:   "write in German (their locale is de-DE)",
		wire.TurnCheckIn:  "write in German (their locale is de-DE)",
	} {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t)
			w.kind = kind
			w.alter = func(c *models.TurnContext) { c.Participant.Locale = "de-DE" }
			w.beginTurn(ann)
			w.runStep()
			require.Contains(t, w.systemMessage(), want)
			require.Contains(t, w.systemMessage(), "\nLocale: de-DE\n")
		})
	}
}
