package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"coachline/eval/cases"
	"coachline/models"
)

//go:embed personas/*.yaml
var personaFiles embed.FS

// persona is a person as a file describes one: what they are like, what happens to them and
// what they say of it. Nothing in it depends on what the coach writes.
type persona struct {
	// Key is the file's name without its ending.
	Key   string       `yaml:"-"`
	About string       `yaml:"about"`
	Who   cases.Person `yaml:"person"`
	Phone string       `yaml:"phone"`
	// Begins is the local time of the enrolment, on the first day.
	Begins string `yaml:"begins"`
	// Intake is what the person answers to the first questions, one after the other.
	Intake []words `yaml:"intake"`
	// Answers says how likely the person answers each kind of text, Delay is the median time
	// to it.
	Answers map[models.EntryKind]float64 `yaml:"answers"`
	Delay   time.Duration                `yaml:"delay"`
	// Does is how likely the habit is done on a day of middling state, Lies how often it is
	// said to be done when it was not.
	Does float64 `yaml:"does"`
	Lies float64 `yaml:"lies"`
	// Typos is the share of texts with a slip, Burst that of texts in two parts, Push that
	// of answers that push back, Writes that of days on which the person writes unasked,
	// Asks that of texts with a question.
	Typos  float64 `yaml:"typos"`
	Asks   float64 `yaml:"asks"`
	Burst  float64 `yaml:"burst"`
	Push   float64 `yaml:"push"`
	Writes float64 `yaml:"writes"`
	// Mood, Energy and Drive are the state that nobody tells the coach.
	Mood   course `yaml:"mood"`
	Energy course `yaml:"energy"`
	Drive  course `yaml:"drive"`
	Says   says   `yaml:"says"`
	Life   []life `yaml:"life"`
	// Keeps is what the person never says, for the reader of the file.
	Keeps string `yaml:"keeps"`
	// Forgotten and Known are patterns of facts that are gone and there at the end.
	Known     []string `yaml:"known"`
	Gone      []string `yaml:"gone"`
	Forgotten []string `yaml:"forgotten"`
	// Schedule is the time at the end, empty for none; Zone that of it where it is not the
	// person's first.
	Schedule string `yaml:"schedule"`
	Zone     string `yaml:"zone"`
}

// course is a part of a state by day, from 0 to 10: a start, what each day adds, and how far
// it swings from day to day.
type course struct {
	Start float64 `yaml:"start"`
	Trend float64 `yaml:"trend"`
	Swing float64 `yaml:"swing"`
}

func (c course) on(day int, draw *rand.Rand) float64 {
	return min(max(c.Start+c.Trend*float64(day)+c.Swing*draw.NormFloat64(), 0), 10)
}

// says are what the person writes, by occasion.
type says struct {
	Done   []words `yaml:"done"`
	Missed []words `yaml:"missed"`
	Low    []words `yaml:"low"`
	More   []words `yaml:"more"`
	Push   []words `yaml:"push"`
	// Ask are questions. Their English is one that speech.yaml answers.
	Ask []words `yaml:"ask"`
}

// life is something that happens on a day, and for the days until another one changes how
// the person answers.
type life struct {
	Day   int    `yaml:"day"`
	Until int    `yaml:"until"`
	At    string `yaml:"at"`
	What  string `yaml:"what"`
	// Tells is what the person writes at At; nothing where it is empty.
	Tells words `yaml:"tells"`
	// Answers multiplies how likely the person answers from Day until Until, Does how likely
	// the habit is done; left out, both stay.
	Answers *float64 `yaml:"answers"`
	Does    *float64 `yaml:"does"`
	// Holiday: the person wants no texts between Day and Until.
	Holiday bool `yaml:"holiday"`
	// Danger: the text speaks of it.
	Danger bool `yaml:"danger"`
	// Fixed: the text is one that a rule answers: STOP, a wish for a person.
	Fixed bool `yaml:"fixed"`
}

// words are what a person writes, and behind " = " what a reader of English takes it for. The
// scripted coach reads the latter: it knows English alone.
type words struct{ text, means string }

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *words) UnmarshalYAML(node *yaml.Node) error {
	var line string
	if err := node.Decode(&line); err != nil {
		return err //nolint:wrapcheck // the decoder names the line
	}
	text, means, found := strings.Cut(line, " = ")
	if w.text, w.means = text, means; !found {
		w.means = text
	}
	return nil
}

// loadPersonas reads the files whose names are wanted, all where none is named.
func loadPersonas(names []string) ([]persona, error) {
	files, err := fs.Glob(personaFiles, "personas/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing personas: %w", err)
	}
	var all []persona
	for _, file := range files {
		key := strings.TrimSuffix(strings.TrimPrefix(file, "personas/"), ".yaml")
		if len(names) > 0 && !slices.Contains(names, key) {
			continue
		}
		text, err := personaFiles.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a persona: %w", err)
		}
		p := persona{Key: key}
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		if err := decoder.Decode(&p); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, p)
	}
	if len(all) == 0 || len(names) > len(all) {
		return nil, fmt.Errorf("there are no personas of all the names %s", strings.Join(names, ", "))
	}
	return all, nil
}

func (p *persona) check() error {
	if _, err := time.LoadLocation(p.Who.Zone); err != nil {
		return fmt.Errorf("zone: %w", err)
	}
	if p.Phone == "" || p.Delay == 0 || len(p.Intake) == 0 || len(p.Says.Done) == 0 || len(p.Says.Missed) == 0 {
		return errors.New("want phone, delay, intake, and says with done and missed")
	}
	for _, asked := range p.Says.Ask {
		if _, isThere := question(asked.means); !isThere {
			return fmt.Errorf("speech.yaml answers no %q", asked.means)
		}
	}
	if p.Mood.Trend > 0 || p.Energy.Trend > 0 || p.Drive.Trend > 0 {
		return errors.New("nobody gets better by default: want trends of 0 or less")
	}
	return nil
}

// state is how the person is on a day.
type state struct{ mood, energy, drive float64 }

// stateOn is the same whenever it is asked for.
func (p *persona) stateOn(seed uint64, day int) state {
	draw := rand.New(rand.NewPCG(seed, uint64(day)<<8|uint64(len(p.Key))))
	return state{mood: p.Mood.on(day, draw), energy: p.Energy.on(day, draw), drive: p.Drive.on(day, draw)}
}

// weight is what the events of a day make of how likely the person answers, and of how
// likely the habit is done.
func (p *persona) weight(day int) (answers, does float64) {
	answers, does = 1, 1
	for _, e := range p.Life {
		if day < e.Day || day >= max(e.Until, e.Day+1) {
			continue
		}
		if e.Answers != nil {
			answers *= *e.Answers
		}
		if e.Does != nil {
			does *= *e.Does
		}
	}
	return answers, does
}

// isDone draws whether the habit is done on a day.
func (p *persona) isDone(seed uint64, day int, draw *rand.Rand) bool {
	s := p.stateOn(seed, day)
	_, does := p.weight(day)
	return draw.Float64() < p.Does*does*(s.mood+s.energy+s.drive)/15
}

// pause draws how long the person takes to answer.
func (p *persona) pause(draw *rand.Rand) time.Duration {
	d := time.Duration(float64(p.Delay) * math.Exp(0.8*draw.NormFloat64()))
	return min(max(d, 15*time.Second), 12*time.Hour)
}

// slip exchanges two letters or loses one, now and then.
func (p *persona) slip(draw *rand.Rand, text string) string {
	letters := []rune(text)
	if len(letters) < 6 || draw.Float64() >= p.Typos {
		return text
	}
	at := 1 + draw.IntN(len(letters)-3)
	if letters[at] == ' ' || letters[at+1] == ' ' || strings.ContainsAny(string(letters[at:at+2]), "0123456789:") {
		return text
	}
	if draw.IntN(3) == 0 {
		return string(append(letters[:at:at], letters[at+1:]...))
	}
	letters[at], letters[at+1] = letters[at+1], letters[at]
	return string(letters)
}
