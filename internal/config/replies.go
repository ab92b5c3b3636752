package config

import (
	"slices"
	"strings"
	"time"
)

// Replies says how a reply comes about.
type Replies struct {
	// MemoryStep is when what a person told is remembered: after the reply,
	// before it, or never (off).
	MemoryStep string `env:"COACH_MEMORY_STEP" envDefault:"after"`
	// HotWindow is how long a conversation goes on after its newest text.
	HotWindow time.Duration `env:"COACH_HOT_WINDOW" envDefault:"30m"`
	// Router picks the tools that a reply may use: all, by keyword, embedding or
	// model; auto is by words up to eight tools and by a model above.
	Router string `env:"COACH_ROUTER" envDefault:"auto"`
	// Planner and Digests are helps for small models; auto is by the model.
	Planner Switch `env:"COACH_PLANNER" envDefault:"auto"`
	Digests Switch `env:"COACH_DIGESTS" envDefault:"auto"`
	// Subagents lets the model give tasks away: on or off.
	Subagents Switch `env:"COACH_SUBAGENTS" envDefault:"off"`
}

// Switch is on, off, or left to the program.
type Switch string

const (
	SwitchAuto Switch = "auto"
	SwitchOn   Switch = "on"
	SwitchOff  Switch = "off"
)

// Forced is nil where the switch is left to the program.
func (s Switch) Forced() *bool {
	on := s == SwitchOn
	if s == SwitchAuto {
		return nil
	}
	return &on
}

func (c *Config) checkReplies(bad map[string]bool) []error {
	var problems []error
	for _, one := range []struct {
		name, value string
		known       []string
	}{
		{"COACH_MEMORY_STEP", c.Replies.MemoryStep, []string{"after", "before", "off"}},
		{"COACH_ROUTER", c.Replies.Router, []string{"auto", "all", "keyword", "embedding", "model"}},
		{"COACH_PLANNER", string(c.Replies.Planner), []string{"auto", "on", "off"}},
		{"COACH_DIGESTS", string(c.Replies.Digests), []string{"auto", "on", "off"}},
		{"COACH_SUBAGENTS", string(c.Replies.Subagents), []string{"on", "off"}},
	} {
		if !slices.Contains(one.known, one.value) {
			problems = append(problems, refuse(one.name, one.value, "one of "+strings.Join(one.known, ", ")))
		}
	}
	if !bad["COACH_HOT_WINDOW"] && c.Replies.HotWindow <= 0 {
		problems = append(problems, refuse("COACH_HOT_WINDOW", c.Replies.HotWindow.String(), "a positive duration such as 30m"))
	}
	return problems
}
