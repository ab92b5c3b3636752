package cases

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"coachline/internal/tools"
	"coachline/models"
)

// breakable lists the tools that reach outside the workflow. The others are decided
// by rules, and their results are stored however long that takes.
var breakable = sync.OnceValues(func() ([]string, error) {
	registry, err := tools.New()
	if err != nil {
		return nil, fmt.Errorf("listing tools: %w", err)
	}
	return registry.Breakable(), nil
})

var (
	slot = regexp.MustCompile(`^\d\d:\d\d(-\d\d:\d\d)?$`)
	// id is an acceptance case, a rule or a decision of the design.
	id = regexp.MustCompile(`^[ACDHJOPW]\d+$`)
)

// check finds what would make a case mean something else than it says.
func (c Case) check() error {
	if c.About == "" || len(c.Steps) == 0 {
		return errors.New("about and steps are required")
	}
	problems := []error{c.labels()}
	if _, err := c.Begins(); err != nil {
		problems = append(problems, err)
	}
	for _, p := range append([]Person{c.Person}, c.Others...) {
		problems = append(problems, p.check())
	}
	for i, step := range c.Steps {
		if err := step.check(); err != nil {
			problems = append(problems, fmt.Errorf("step %d: %w", i+1, err))
		}
	}
	if greets := c.Steps[0].Text == "" && c.Steps[0].Wait == 0; c.Person.New != greets {
		problems = append(problems, errors.New("the first step has neither text nor wait exactly when the person is new"))
	}
	return errors.Join(problems...)
}

func (c Case) labels() error {
	for _, one := range c.Shows {
		if !id.MatchString(one) {
			return fmt.Errorf("shows: %q is no id", one)
		}
	}
	for _, p := range c.Protocols {
		if p != models.ProtocolText && p != models.ProtocolTwoPhase {
			return fmt.Errorf("protocols: %q: want text or two_phase", p)
		}
	}
	return nil
}

func (p Person) check() error {
	if p.Name == "" {
		return errors.New("person: name is required")
	}
	if p.Mode != "" && !p.Mode.Known() {
		return fmt.Errorf("mode %q: want INTAKE or FEEDBACK", p.Mode)
	}
	for _, f := range p.Facts {
		if f.Text == "" || f.DaysAgo < 1 || !slices.Contains(models.FactKinds(), f.Kind) {
			return fmt.Errorf("fact %q: want a kind, a text and days_ago of 1 or more", f.Text)
		}
	}
	return slots(p.Schedules)
}

func slots(times []string) error {
	for _, one := range times {
		if !slot.MatchString(one) {
			return fmt.Errorf("schedule %q: want HH:MM or HH:MM-HH:MM", one)
		}
	}
	return nil
}

func (s Step) check() error {
	if s.Wait < 0 || s.Wait > 366*24*time.Hour {
		return errors.New("wait: want 0 to a year")
	}
	names, err := breakable()
	if err != nil {
		return err
	}
	for _, tool := range s.Broken {
		if !slices.Contains(names, tool) {
			return fmt.Errorf("broken: %q cannot break; want one of %v", tool, names)
		}
	}
	return errors.Join(s.Must.check(), s.Should.check(), s.Model.check())
}

func (w Wants) check() error {
	patterns := slices.Concat(w.Says, w.Avoids, w.Remembers, w.Forgets)
	for _, pattern := range w.Profile {
		patterns = append(patterns, pattern)
	}
	for _, call := range slices.Concat(w.AllOf, w.AnyOf, w.NoneOf, w.InOrder) {
		if call.Tool == "" {
			return errors.New("a call needs a tool")
		}
		for _, pattern := range call.Args {
			patterns = append(patterns, pattern)
		}
	}
	for _, pattern := range patterns {
		if _, err := Pattern(pattern); err != nil {
			return err
		}
	}
	if w.Schedules != nil {
		return slots(*w.Schedules)
	}
	return nil
}

// Pattern compiles an expectation; it ignores case, and a dot matches line ends.
func Pattern(text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile("(?is)" + text)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	return re, nil
}
