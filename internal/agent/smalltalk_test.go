package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// TestSmallTalkHasFixedTexts: greetings, thanks and the question what the coach is, in
// five languages, cost a small model nothing; everything else is the model's.
func TestSmallTalkHasFixedTexts(t *testing.T) {
	for _, tt := range []struct{ text, locale, want string }{
		{"Hi!", "en-US", "Hi! What small habit would you like to start with?"},
		{"thank you so much :)", "en", "You're welcome. Text me whenever you like."},
		{"Are you a real person?", "en", "I'm a program, the automated coach of Coachline, and not a person."},
		{"Guten Morgen", "de-AT", "Hallo! Mit welcher kleinen Gewohnheit"},
		{"bist du ein Mensch??", "en-US", "Ich bin ein Programm"},
		{"¡Hola!", "es", "¡Hola! ¿Con qué pequeña costumbre"}, {"mil gracias", "es-MX", "De nada."}, {"¿eres un robot?", "es", "Soy un programa"},
		{"coucou", "fr", "Bonjour! Par quelle petite habitude"}, {"merci beaucoup", "fr", "Avec plaisir."}, {"es-tu une vraie personne ?", "fr-CA", "Je suis un programme"},
		{"Oi", "pt-BR", "Oi! Que pequena rotina"}, {"obrigada!", "pt", "De nada."}, {"você é um robô?", "pt-BR", "Sou um programa"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			w := newWorld(t).useSmallModel()
			w.alter = func(c *models.TurnContext) { c.Participant.Locale = tt.locale }
			step := w.addText(tt.text).runStep()
			require.True(t, strings.HasPrefix(step.Text, tt.want), step.Text)
			require.Zero(t, w.model.total())
			w.endTurn()
			w.addText(tt.text).runStep()
			require.Equal(t, 1, w.model.count(chat), "not the same text again")
		})
	}
	for name, change := range map[string]func(w *world){
		"another text": func(w *world) { w.addText("hi, I walked today") },
		"a large model": func(w *world) {
			w.settings.ChatModel = largeName
			w.openAgent()
			w.addText("hi")
		},
		"an open crisis": func(w *world) {
			w.alter = func(c *models.TurnContext) { c.Participant.Attention = wire.AttentionCrisis }
			w.addText("thanks")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).useSmallModel()
			change(w)
			w.runStep()
			require.Equal(t, 1, w.model.count(chat))
		})
	}
}

// TestSmallModelHasItsOwnPrompt: three tools at most, by mode and by what is missing, and
// the next question as the last line.
func TestSmallModelHasItsOwnPrompt(t *testing.T) {
	registry, err := tools.New()
	require.NoError(t, err)
	full := models.HabitTexts{HabitDomain: "a walk", MotivationalFrame: "energy", PreferredTime: "8", PromptAnchor: "coffee"}
	for _, tt := range []struct {
		name, text string
		mode       wire.Mode
		profile    models.HabitTexts
		tools      []string
		last       string
	}{
		{"nothing is known", "I would like more energy, text me at 8", wire.ModeIntake, models.HabitTexts{}, []string{"save_user_profile", "report_concern"}, "What small habit would you like to start with?"},
		{"the reason is missing", "because of my children", wire.ModeIntake, models.HabitTexts{HabitDomain: "a walk"}, []string{"save_user_profile", "report_concern"}, "Why does it matter to you?"},
		{"all is known", "ok so", wire.ModeIntake, full, []string{"save_user_profile", "scheduler", "report_concern"}, "Shall I text you every day at your time?"},
		{"feedback", "not so well", wire.ModeFeedback, full, []string{"save_user_profile", "transition_state", "report_concern"}, "How did your last step go?"},
		{"asked for", "forget my sister", wire.ModeFeedback, full, []string{"save_user_profile", "forget_memory", "report_concern"}, "How did your last step go?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).useSmallModel()
			profile := models.Profile{HabitTexts: tt.profile}
			w.mode, w.offer = tt.mode, agent.NewOffer(registry, tt.mode, profile, models.Rights{})
			w.settings.Router, w.settings.Planner = "auto", new(bool)
			w.openAgent()
			w.alter = func(c *models.TurnContext) { c.Profile = profile }
			step := w.addText(tt.text).runStep()
			require.ElementsMatch(t, tt.tools, allowedTools(t, step))
			said := w.systemMessage()
			require.True(t, strings.HasSuffix(said, tt.last), said)
			require.Contains(t, said, "They: no, it rained.")
			require.NotContains(t, said, "How you coach")
		})
	}
	text, err := newWorld(t).library.Render(prompts.PersonaSmall, prompts.PersonaData{Tools: prompts.EveryTool()})
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), 4*250, "250 tokens")
	require.Equal(t, 3, strings.Count(text, "\nThey: "))
}
