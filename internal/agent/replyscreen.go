package agent

import (
	"slices"
	"strings"

	"coachline/internal/agent/plan"
	"coachline/models"
)

// leastWords is how many words make an answer, where sentences were left out.
const leastWords = 3

// screenText returns what may be sent of a text that the model wrote in the
// step. What is left out is noted on the step; when only an acknowledgement
// is left, the step has no text and the workflow asks again.
func (r *runningStep) screenText(text string) string {
	text = Clean(text)
	screened := r.withoutPrivate(text)
	if len(screened.Dropped) == 0 {
		return text
	}
	r.trace.note(models.StageScreen, "screen dropped "+strings.Join(screened.Dropped, ","))
	if len(strings.Fields(screened.Text)) < leastWords || plan.Acknowledges(screened.Text) {
		return ""
	}
	return screened.Text
}

// withoutPrivate returns what is left of a text, in plain form, without the data of
// others.
func (r *runningStep) withoutPrivate(text string) Screened {
	plain := Words(text)
	if plain == "" {
		return Screened{}
	}
	return Screen(Outbound{Text: plain, Phone: r.turn.context.Participant.Phone, Known: r.knownTexts(), Instructions: r.agent.instructions})
}

// knownTexts are the texts whose contents a reply may repeat: the operator's and what
// the person wrote.
func (r *runningStep) knownTexts() []string {
	known := slices.Concat([]string{r.turn.focus.Body}, r.turn.lines.Numbers(), r.turn.written)
	if r.agent.instructions != nil {
		known = append(known, r.agent.instructions.Text)
	}
	return known
}

// participantTexts returns the messages of the participant in a window,
// unredacted.
func participantTexts(window []models.Message) []string {
	var out []string
	for _, entry := range window {
		if entry.Role == models.RoleUser {
			out = append(out, entry.Text)
		}
	}
	return out
}
