package agent

import (
	"slices"
	"strings"
	"time"

	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// nameQuestion names what a person is asked next in a mode, as prompts.Ask has it; empty for
// nothing in particular.
func nameQuestion(c models.TurnContext, mode wire.Mode) string {
	missing := coach.MissingFields(c.Profile)
	switch {
	case mode == wire.ModeFeedback && (c.Outstanding == nil || c.Outstanding.Outcome == ""):
		return prompts.QuestionOutcome
	case mode == wire.ModeFeedback && c.Outstanding.Outcome == models.OutcomeDone:
		return prompts.QuestionDone
	case mode == wire.ModeFeedback:
		return prompts.QuestionMissed
	case len(missing) > 0:
		return missing[0]
	case len(c.Schedules) == 0:
		return prompts.QuestionSchedule
	}
	return ""
}

// askFresh returns a question in the person's language and a wording that they did not read
// in the last days. isFresh is false where they read all; the last one is returned then.
func askFresh(lib *prompts.Library, c models.TurnContext, question, programme string, now time.Time) (words string, isFresh bool) {
	wordings := prompts.Wordings
	if question == "" {
		wordings = prompts.AnyTimeWordings
	}
	for number := range wordings {
		text, err := lib.Fixed(prompts.Ask, c.Participant.Locale, prompts.FixedData{Programme: programme, Question: question, Number: number})
		if err != nil {
			continue // Loading the library tried it out.
		}
		words = strings.TrimSpace(text)
		if !slices.ContainsFunc(c.Window, func(entry models.Message) bool {
			return entry.Role == models.RoleAssistant && now.Sub(entry.At) < saidWithin && strings.Contains(entry.Text, words)
		}) {
			return words, true
		}
	}
	return words, false
}

// nextQuestion is what a small model is told to ask, empty for nothing in particular.
func nextQuestion(lib *prompts.Library, c models.TurnContext, mode wire.Mode, programme string, now time.Time) string {
	question := nameQuestion(c, mode)
	if question == "" {
		return ""
	}
	words, _ := askFresh(lib, c, question, programme, now)
	return words
}

// standInQuestion returns the question that is asked in the place of a reply that may not
// go: an old one where the person read all of them in the last days.
func (r *runningStep) standInQuestion() string {
	if words := r.freshQuestion(); words != "" {
		return words
	}
	words, _ := askFresh(r.agent.Prompts, r.turn.context, nameQuestion(r.turn.context, r.turn.mode), r.agent.Settings.Programme, r.turn.now)
	return words
}

// freshQuestion returns a fixed question, empty where the person read all of them in the
// last days.
func (r *runningStep) freshQuestion() string {
	questions := []string{nameQuestion(r.turn.context, r.turn.mode)}
	if r.turn.context.Profile.HabitDomain != "" {
		questions = append(questions, "") // Those at any time are about a habit that is known.
	}
	for _, question := range questions {
		if words, isFresh := askFresh(r.agent.Prompts, r.turn.context, question, r.agent.Settings.Programme, r.turn.now); isFresh {
			return words
		}
	}
	return ""
}
