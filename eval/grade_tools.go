package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"coachline/eval/cases"
)

func gradeTools(level Level, w cases.Wants, e Exchange) []Verdict {
	var out []Verdict
	add := func(rule, why string) { out = append(out, Verdict{level, rule, why}) }
	for _, want := range w.AllOf {
		add("calls "+describeCall(want), when(!hasCall(e, want), "the calls were %s", listCalls(e)))
	}
	if len(w.AnyOf) > 0 {
		one := slices.ContainsFunc(w.AnyOf, func(want cases.Call) bool { return hasCall(e, want) })
		add("calls any of "+describeCalls(w.AnyOf), when(!one, "the calls were %s", listCalls(e)))
	}
	for _, want := range w.NoneOf {
		add("does not call "+describeCall(want), when(hasCall(e, want), "the calls were %s", listCalls(e)))
	}
	if len(w.InOrder) > 0 {
		add("calls in order "+describeCalls(w.InOrder), when(!inOrder(e, w.InOrder), "the calls were %s", listCalls(e)))
	}
	return out
}

func hasCall(e Exchange, want cases.Call) bool {
	return slices.ContainsFunc(e.Calls, func(c Call) bool { return c.is(want) })
}

func inOrder(e Exchange, want []cases.Call) bool {
	for _, c := range e.Calls {
		if len(want) > 0 && c.is(want[0]) {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func (c Call) is(want cases.Call) bool {
	if c.Tool != want.Tool || want.Failed != nil && c.Failed != *want.Failed {
		return false
	}
	for name, pattern := range want.Args {
		if !matches(pattern, c.arg(name)) {
			return false
		}
	}
	return true
}

// arg is an argument as text; empty where it is not given.
func (c Call) arg(name string) string {
	value, given := c.Args[name]
	if !given || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// matches is false for a pattern that does not compile; Load has refused it.
func matches(pattern, text string) bool {
	re, err := cases.Pattern(pattern)
	return err == nil && re.MatchString(text)
}

func describeCall(want cases.Call) string {
	text := want.Tool
	for _, name := range sortedKeys(want.Args) {
		text += " " + name + "=" + want.Args[name]
	}
	if want.Failed != nil {
		text += map[bool]string{true: " (failed)", false: " (done)"}[*want.Failed]
	}
	return text
}

func describeCalls(wants []cases.Call) string {
	parts := make([]string, len(wants))
	for i, want := range wants {
		parts[i] = describeCall(want)
	}
	return strings.Join(parts, ", ")
}

func listCalls(e Exchange) string {
	parts := []string{}
	for _, c := range e.Calls {
		text := fmt.Sprintf("%s %v", c.Tool, c.Args)
		if c.Failed {
			text += " failed: " + c.Result
		}
		parts = append(parts, text)
	}
	return "[" + strings.Join(parts, "; ") + "]"
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
