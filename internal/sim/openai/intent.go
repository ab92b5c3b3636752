package openai

import (
	"regexp"
	"strings"
)

var statesSomething = regexp.MustCompile(`(?i)\b(?:i|i'm|my|me)\b`)

// intend lists the calls that the script would make, for the stages that see a
// text without the system message of the conversation. What the coach asked
// tells what must be missing.
func intend(asked, said string) []stageCall {
	sc := scene{
		sections: expectedSections(asked), asked: asked, said: said,
		tools: []string{toolSave, toolScheduler, toolTransition, toolPrompt, toolList, toolForget},
	}
	var out []stageCall
	for _, try := range []func() (saying, bool){sc.testWords, sc.memories, sc.command, sc.fieldAnswer} {
		reply, fits := try()
		for _, c := range reply.calls {
			out = append(out, stageCall{Name: c.name, Args: c.args})
		}
		if fits {
			return out
		}
	}
	report := plain(said)
	if success.MatchString(report) || setback.MatchString(report) {
		// What it answers stands in the conversation only.
		return append(out, stageCall{Name: toolSave}, stageCall{Name: toolTransition})
	}
	if statesSomething.MatchString(said) && !isQuestion(said) {
		out = append(out, stageCall{Name: toolSave})
	}
	return out
}

// expectedSections is what the sections of the system message must say for the
// coach to have asked what it did.
func expectedSections(asked string) map[string]string {
	sections := map[string]string{"Profile status": "Complete.", "Schedules": "None."}
	for _, field := range []string{"habit_domain", "motivational_frame", "preferred_time", "prompt_anchor"} {
		if strings.Contains(asked, question(field)) {
			sections["Profile status"] = "Missing: " + field
		}
	}
	if _, proposal, found := strings.Cut(asked, proposalMark); found {
		if from, to, timed := parseTimes(proposal); timed {
			sections["Profile"] = "preferred_time: " + timeText(from, to)
		}
	}
	return sections
}
