// Package cases holds the conversations that replies are judged by: who the
// person is, what they text and when, and what is expected of each reply. One
// file is one case. Every name and fact in them is made up.
package cases

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"coachline/models"
	"coachline/models/wire"
)

// Files are the cases that the programme is judged by.
//
//go:embed *.yaml
var Files embed.FS

// Case is one conversation.
type Case struct {
	// Name is the file's name without its ending; unique.
	Name string `yaml:"-"`
	// Shows lists the ids of the acceptance cases and rules that it shows (the
	// programme's own cases have some), About says in one line what it is about.
	Shows []string `yaml:"shows"`
	About string   `yaml:"about"`
	// Protocols are the further protocols for tools that the scripted model is
	// judged with; every case runs with native tools.
	Protocols []models.Protocol `yaml:"protocols"`
	// Costed: one of the twenty conversations whose model calls and tokens are
	// compared from version to version. The set does not grow with the book.
	Costed bool `yaml:"costed"`
	// Clock is the local time at which the conversation begins, "2006-01-02
	// 15:04" in the person's zone.
	Clock  string `yaml:"clock"`
	Person Person `yaml:"person"`
	// Others are enrolled in the same programme; the coach may not mention them.
	Others []Person `yaml:"others"`
	// Focuses: the shipped focuses are on.
	Focuses bool   `yaml:"focuses"`
	Steps   []Step `yaml:"steps"`
}

// Person is who texts, and what the coach knows of them.
type Person struct {
	Name       string    `yaml:"name"`
	Zone       string    `yaml:"zone"`
	Locale     string    `yaml:"locale"`
	Background string    `yaml:"background"`
	Mode       wire.Mode `yaml:"mode"`
	// New: enrolled just now; the greeting is the first step's.
	New     bool    `yaml:"new"`
	Profile Profile `yaml:"profile"`
	Facts   []Fact  `yaml:"facts"`
	// Schedules are local times: "08:00", or a window "09:00-11:00".
	Schedules []string `yaml:"schedules"`
}

// Profile is the part of models.Profile that a case may set.
type Profile struct {
	HabitDomain       string `yaml:"habit_domain"`
	MotivationalFrame string `yaml:"motivational_frame"`
	PreferredTime     string `yaml:"preferred_time"`
	PromptAnchor      string `yaml:"prompt_anchor"`
	AdditionalInfo    string `yaml:"additional_info"`
}

// Fact is something that was remembered some days before the conversation.
type Fact struct {
	Kind    models.FactKind `yaml:"kind"`
	Text    string          `yaml:"text"`
	DaysAgo int             `yaml:"days_ago"`
}

// Step is one text of the person, or time that passes. Its expectations are
// about everything that the product did until the answer was out.
type Step struct {
	// Wait passes before the text; without a text the step is the wait.
	Wait time.Duration `yaml:"wait"`
	Text string        `yaml:"text"`
	// Broken are tools whose results cannot be stored from this step on.
	Broken []string `yaml:"broken"`
	// Must fails the run, Should counts. Model is a must that the scripted model
	// is not asked: it speaks English only and goes by words.
	Must   Wants `yaml:"must"`
	Should Wants `yaml:"should"`
	Model  Wants `yaml:"model"`
}

// Wants are expectations; those that are not given expect nothing. Patterns are
// regular expressions that ignore case.
type Wants struct {
	// AllOf are calls that are made, AnyOf of which one is, NoneOf that are not,
	// InOrder that are made in this order with others between.
	AllOf   []Call `yaml:"all_of"`
	AnyOf   []Call `yaml:"any_of"`
	NoneOf  []Call `yaml:"none_of"`
	InOrder []Call `yaml:"in_order"`
	// Calls bounds the chat calls of the step, those of stages among them; 0 is
	// no bound.
	Calls int `yaml:"calls"`
	// Says and Avoids are patterns of the reply.
	Says   []string `yaml:"says"`
	Avoids []string `yaml:"avoids"`
	// Language of the reply: en, es, de, fr, pt, it.
	Language string `yaml:"language"`
	// Sees are texts that a request to the model holds, Hidden texts that none
	// does, both word for word.
	Sees   []string `yaml:"sees"`
	Hidden []string `yaml:"hidden"`
	// Remembers are patterns of facts that are there afterwards, Forgets of
	// facts that are not.
	Remembers []string `yaml:"remembers"`
	Forgets   []string `yaml:"forgets"`
	// Profile holds patterns by field: habit_domain, last_barrier, ...
	Profile map[string]string `yaml:"profile"`
	// Schedules are all that exist afterwards, as Person.Schedules; an empty
	// list means none.
	Schedules *[]string `yaml:"schedules"`
	// Sends are the kinds of what went out, in order.
	Sends []models.EntryKind `yaml:"sends"`
}

// Call is a tool call to look for.
type Call struct {
	Tool string `yaml:"tool"`
	// Args are patterns by argument; an argument that is not given is "".
	Args map[string]string `yaml:"args"`
	// Failed, when given, says how the call ended.
	Failed *bool `yaml:"failed"`
}

// Load reads every *.yaml of a folder, in the order of their names. All
// problems are reported at once, each with its file.
func Load(files fs.FS) ([]Case, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing cases: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New("no cases: want at least one *.yaml")
	}
	var out []Case
	var problems []error
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading case: %w", err)
		}
		one, err := Parse(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
		one.Name = strings.TrimSuffix(name, ".yaml")
		out = append(out, one)
	}
	return out, errors.Join(problems...)
}

// Parse reads one case; unknown fields are refused. The name is the caller's.
func Parse(text []byte) (Case, error) {
	var one Case
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&one); err != nil {
		return Case{}, fmt.Errorf("reading case: %w", err)
	}
	return one, one.check()
}

// Begins is the instant of Clock.
func (c Case) Begins() (time.Time, error) {
	zone, err := time.LoadLocation(c.Person.Zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("zone: %w", err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", c.Clock, zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("clock: %w", err)
	}
	return at.UTC(), nil
}
