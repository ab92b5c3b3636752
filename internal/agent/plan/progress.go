package plan

import (
	"fmt"
	"strings"

	"coachline/internal/agent/marks"
	"coachline/models"
)

// What the notes to the model say again and again; they name no language, so
// that the answer keeps the person's.
const (
	answerPerson = "Answer the person now from the results above, in their language; do not describe the results themselves."
	substitute   = "Put what the results above say in place of anything in angle brackets."
)

// openSteps lists the tool steps that no successful call has done yet, in
// order. A failed call does not do a step.
func (p Plan) openSteps(past []Past) []Step {
	left := p.toolSteps()
	for _, one := range past {
		if one.Result.Failed {
			continue
		}
		for i, step := range left {
			if step.Tool == one.Call.Name {
				left = append(left[:i:i], left[i+1:]...)
				break
			}
		}
	}
	return left
}

// Next returns the tool step to execute directly: the first one that is open.
// ok is false when none is left, and when the newest call failed, since only
// the chat model can fix that or tell the person.
func Next(p Plan, past []Past) (step Step, ok bool) {
	left := p.openSteps(past)
	if len(left) == 0 || len(past) > 0 && past[len(past)-1].Result.Failed {
		return Step{}, false
	}
	return left[0], true
}

// GuidanceInput is what the note after a result depends on. Parts are the
// clauses of the person's text as Split makes them.
type GuidanceInput struct {
	Plan     Plan
	Parts    []string
	Past     []Past // with the newest result last
	Protocol models.Protocol
}

// Guidance returns the note that follows the newest tool result and travels
// with it, never as a system message. A plan with tool steps names what is
// next. Without one, a text protocol is reminded of the clauses that are open.
// Empty otherwise, and before the first result.
func Guidance(in GuidanceInput) string {
	if len(in.Past) == 0 {
		return ""
	}
	if len(in.Plan.toolSteps()) > 0 {
		return planNote(in.Plan, in.Past)
	}
	switch in.Protocol {
	case models.ProtocolText:
		return clauseHint(in.Parts, in.Past)
	case models.ProtocolNative, models.ProtocolTwoPhase:
	}
	return ""
}

// planNote returns the note on a plan after the newest result: what is done,
// what failed and what is next.
func planNote(p Plan, past []Past) string {
	all, left := p.toolSteps(), p.openSteps(past)
	if len(left) == 0 {
		return fmt.Sprintf(marks.Plan+"All %s done.%s %s", formatSteps(len(all)), lastWords(p), answerPerson)
	}
	newest := past[len(past)-1]
	if newest.Result.Failed {
		return fmt.Sprintf(marks.Plan+"%s failed. Still open: %s. Fix the arguments, ask the person for what is missing, or say that it could not be done.",
			newest.Call.Name, trimSentence(openOf(left, newest.Call.Name).Text))
	}
	return fmt.Sprintf(marks.Plan+"%d of %s done. Next: %s. %s", len(all)-len(left), formatSteps(len(all)), trimSentence(left[0].Text), substitute)
}

// openOf returns the open step of a tool, or the first open one.
func openOf(left []Step, tool string) Step {
	for _, step := range left {
		if step.Tool == tool {
			return step
		}
	}
	return left[0]
}

// lastWords returns the closing step of a plan, where it uses no tool.
func lastWords(p Plan) string {
	last := p.Steps[len(p.Steps)-1]
	if last.Tool != "" || isReplyOnly(last.Text) {
		return ""
	}
	return " Last step: " + trimSentence(last.Text) + "."
}

// formatSteps writes a number of tool steps.
func formatSteps(n int) string {
	if n == 1 {
		return "1 tool step"
	}
	return fmt.Sprintf("%d tool steps", n)
}

// trimSentence takes full stops and blanks off the end of a sentence.
func trimSentence(text string) string { return strings.TrimRight(text, ". ") }
