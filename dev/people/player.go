package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"coachline/models"
)

// player plays one persona by a seed.
type player struct {
	persona
	seed  uint64
	draw  *rand.Rand
	zone  *time.Location
	begun time.Time // local midnight of the first day
	id    string    // of the participant; empty until enrolled
	// agenda is what the person will do, the earliest first.
	agenda []deed
	// script is the rest of the intake.
	script []words
	// reported is the newest day on which the person said how it went.
	reported int
	turns    map[string]bool // turns that were reacted to
	said     map[string]int  // how often each text was written
	lines    []line
	due      time.Time // of the workflow, as last asked; zero for none
	moves    bool      // the workflow is to be moved whatever is due
}

// deed is something that a person does at an instant.
type deed struct {
	at         time.Time
	says, asks words        // asks stands behind what the person says; it may be empty
	do         func() error // in the place of a text
	// inDanger, isFixed are those of the event of life.
	inDanger, isFixed bool
}

// line is one text of the transcript.
type line struct {
	At       time.Time
	FromUs   bool
	Body     string
	Own      string // what the person's file says in its place
	Asks     string // the English of the question in it
	Kind     models.EntryKind
	TurnID   string
	InDanger bool
	IsFixed  bool
}

func newPlayer(p persona, seed uint64, begin time.Time) (*player, error) {
	zone, err := time.LoadLocation(p.Who.Zone)
	if err != nil {
		return nil, err //nolint:wrapcheck // the file was checked
	}
	own := seed
	for _, letter := range p.Key {
		own = own*31 + uint64(letter)
	}
	x := &player{
		persona: p, seed: own, draw: rand.New(rand.NewPCG(own, seed)), zone: zone, turns: map[string]bool{}, said: map[string]int{},
		begun: time.Date(begin.Year(), begin.Month(), begin.Day(), 0, 0, 0, 0, zone), script: slices.Clone(p.Intake), reported: -1,
	}
	for _, e := range p.Life {
		if e.Tells.text != "" {
			x.add(deed{at: x.instant(e.Day, e.At), says: e.Tells, inDanger: e.Danger, isFixed: e.Fixed})
		}
	}
	return x, nil
}

// instant is a wall time of a day of the play; day 0 is the first.
func (x *player) instant(day int, clock string) time.Time {
	at, err := time.Parse("15:04", cmp.Or(clock, "12:00"))
	if err != nil {
		panic(err) // a persona's file
	}
	return time.Date(x.begun.Year(), x.begun.Month(), x.begun.Day()+day, at.Hour(), at.Minute(), x.draw.IntN(50), 0, x.zone)
}

func (x *player) day(at time.Time) int {
	local := at.In(x.zone)
	days := time.Date(local.Year(), local.Month(), local.Day(), 12, 0, 0, 0, time.UTC).Sub(time.Date(x.begun.Year(), x.begun.Month(), x.begun.Day(), 12, 0, 0, 0, time.UTC))
	return int(days.Hours() / 24)
}

func (x *player) add(d deed) {
	at, _ := slices.BinarySearchFunc(x.agenda, d, func(a, b deed) int {
		if a.at.After(b.at) {
			return 1
		}
		return -1 // Those of one instant stay in order.
	})
	x.agenda = slices.Insert(x.agenda, at, d)
}

// planDay draws what the person does unasked on a day.
func (x *player) planDay(day int) {
	answers, _ := x.weight(day)
	if day > 0 && len(x.Says.More) > 0 && x.draw.Float64() < x.Writes*answers {
		at := x.instant(day, "09:00").Add(time.Duration(x.draw.IntN(11*60)) * time.Minute)
		x.add(x.ask(deed{at: at, says: x.pick(x.Says.More)}))
	}
}

// ask has a text end with a question, now and then.
func (x *player) ask(d deed) deed {
	if len(x.Says.Ask) > 0 && x.draw.Float64() < x.Asks {
		d.asks = x.pick(x.Says.Ask)
		x.said[d.asks.text]++
	}
	return d
}

// pick draws one of some words, rather one that was not written yet.
func (x *player) pick(list []words) words {
	one := list[x.draw.IntN(len(list))]
	for range 3 {
		if other := list[x.draw.IntN(len(list))]; x.said[other.text] < x.said[one.text] {
			one = other
		}
	}
	return one
}

// react decides what the person makes of a text of ours that came at an instant.
func (x *player) react(kind models.EntryKind, at time.Time) {
	day := x.day(at)
	answers, _ := x.weight(day)
	if len(x.script) > 0 && (kind == models.KindGreeting || kind == models.KindReply) {
		x.answer(at, x.script[0])
		x.script = x.script[1:]
		return
	}
	if x.draw.Float64() >= x.Answers[kind]*answers {
		return
	}
	switch kind { //nolint:exhaustive // the others are answered alike
	case models.KindHelp: // Is this still you?
		x.answer(at, words{text: "YES", means: "yes"})
	case models.KindPrompt, models.KindReminder, models.KindFeedbackQuestion, models.KindFeedbackFollowup:
		if x.reported == day {
			return
		}
		x.reported = day
		x.answer(at, x.report(day))
	case models.KindReply:
		list := x.Says.More
		if x.draw.Float64() < x.Push {
			list = x.Says.Push
		}
		if len(list) > 0 {
			x.answer(at, x.pick(list))
		}
	default:
		x.answer(at, x.pick(x.Says.Done))
	}
}

// report is what the person says of the habit on a day.
func (x *player) report(day int) words {
	switch isDone := x.isDone(x.seed, day, x.draw); {
	case x.stateOn(x.seed, day).mood < 3 && len(x.Says.Low) > 0:
		return x.pick(x.Says.Low)
	case isDone, x.draw.Float64() < x.Lies:
		return x.pick(x.Says.Done)
	}
	return x.pick(x.Says.Missed)
}

// answer plans a text after a pause, and now and then a second one right behind it.
func (x *player) answer(at time.Time, what words) {
	at = at.Add(x.pause(x.draw))
	d := deed{at: at, says: what}
	if x.reported >= 0 && what.text != "YES" { // Neither in the intake nor where a rule asks.
		d = x.ask(d)
	}
	x.add(d)
	if len(x.script) == 0 && len(x.Says.More) > 0 && x.draw.Float64() < x.Burst {
		x.add(deed{at: at.Add(20 * time.Second), says: x.pick(x.Says.More)})
	}
}
