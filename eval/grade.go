package main

import (
	"fmt"
	"slices"
	"strings"

	"coachline/eval/cases"
	"coachline/models"
	"coachline/models/wire"
)

// Level says what an expectation that is not met does.
type Level string

const (
	// Must fails the run.
	Must Level = "must"
	// Should counts.
	Should Level = "should"
)

// Verdict is one expectation and how it fared.
type Verdict struct {
	Level Level
	// Rule names the expectation; Why says what is wrong, empty when it is met.
	Rule, Why string
}

// Met reports whether nothing is wrong.
func (v Verdict) Met() bool { return v.Why == "" }

// mostSegments is what one reply may cost (the persona asks for shorter ones).
const mostSegments = 3

// Grade grades one step. A model that is not scripted is held to Model as to
// Must.
func Grade(step cases.Step, e Exchange, scripted bool) []Verdict {
	out := gradeAlways(step, e)
	out = append(out, gradeWants(Must, step.Must, e)...)
	if !scripted {
		out = append(out, gradeWants(Must, step.Model, e)...)
	}
	return append(out, gradeWants(Should, step.Should, e)...)
}

// judgeAlways are the rules that hold for every reply.
func gradeAlways(step cases.Step, e Exchange) []Verdict {
	out := []Verdict{
		{Must, "no false claim", falseClaim(e)},
		{Must, "instructions kept", findLeak(e)},
	}
	if len(e.Sent) > 0 {
		out = append(out, Verdict{Must, "length", when(e.segments() > mostSegments*answers(e), "%d segments", e.segments())})
	}
	if step.Text != "" {
		out = append(out, Verdict{Must, "answered", checkAnswered(e)})
	}
	return out
}

// answers is how many texts of their own went out, at least 1: a wait may see
// several.
func answers(e Exchange) int {
	n := 0
	for i, s := range e.Sent {
		if i == 0 || s.Kind != e.Sent[i-1].Kind {
			n++
		}
	}
	return max(n, 1)
}

func checkAnswered(e Exchange) string {
	if !slices.ContainsFunc(e.Sent, func(s Sent) bool { return s.Kind == models.KindReply }) {
		return "no reply went out"
	}
	return when(e.Outcome == string(wire.SourceFallback), "the fixed text stood in for the model")
}

func when(holds bool, format string, args ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func gradeWants(level Level, w cases.Wants, e Exchange) []Verdict {
	out := gradeTools(level, w, e)
	add := func(rule, why string) { out = append(out, Verdict{level, rule, why}) }
	if w.Calls > 0 {
		add("model calls", when(e.Cost.Calls > w.Calls, "%d, at most %d", e.Cost.Calls, w.Calls))
	}
	reply := e.Reply()
	for _, pattern := range w.Says {
		add("says "+pattern, when(!matches(pattern, reply), "the reply is %q", reply))
	}
	for _, pattern := range w.Avoids {
		add("avoids "+pattern, when(matches(pattern, reply), "the reply is %q", reply))
	}
	if w.Language != "" {
		add("language "+w.Language, otherLanguage(reply, w.Language))
	}
	for _, text := range w.Sees {
		add("model sees "+text, when(!wasSent(e, text), "no request holds it"))
	}
	for _, text := range w.Hidden {
		add("hidden "+text, when(wasSent(e, text), "a request holds it"))
	}
	if w.Sends != nil {
		add("sends", when(!slices.Equal(kinds(e), w.Sends), "%v", kinds(e)))
	}
	return append(out, gradeStored(level, w, e)...)
}

func gradeStored(level Level, w cases.Wants, e Exchange) []Verdict {
	var out []Verdict
	add := func(rule, why string) { out = append(out, Verdict{level, rule, why}) }
	fact := func(pattern string) bool {
		return slices.ContainsFunc(e.After.Facts, func(text string) bool { return matches(pattern, text) })
	}
	for _, pattern := range w.Remembers {
		add("remembers "+pattern, when(!fact(pattern), "the facts are %q", e.After.Facts))
	}
	for _, pattern := range w.Forgets {
		add("forgets "+pattern, when(fact(pattern), "the facts are %q", e.After.Facts))
	}
	for _, field := range sortedKeys(w.Profile) {
		add("profile "+field, when(!matches(w.Profile[field], e.After.Profile[field]), "it is %q", e.After.Profile[field]))
	}
	if w.Schedules != nil {
		add("schedules", when(!slices.Equal(e.After.Schedules, *w.Schedules), "%q", e.After.Schedules))
	}
	return out
}

func kinds(e Exchange) []models.EntryKind {
	var out []models.EntryKind
	for _, s := range e.Sent {
		if len(out) == 0 || out[len(out)-1] != s.Kind {
			out = append(out, s.Kind)
		}
	}
	return out
}

func wasSent(e Exchange, text string) bool {
	for _, request := range e.Requests {
		for _, m := range request.Messages {
			if strings.Contains(m.Content, text) || slices.ContainsFunc(m.ToolCalls, func(c models.ToolCall) bool {
				return strings.Contains(c.Arguments, text)
			}) {
				return true
			}
		}
	}
	return false
}
