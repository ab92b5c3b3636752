package rehearsal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// Persona is a rule by which simulated people behave.
type Persona string

const (
	// PersonaDiligent answers most prompts, within the hour.
	PersonaDiligent Persona = "diligent"
	// PersonaOrdinary answers about half of them.
	PersonaOrdinary Persona = "ordinary"
	// PersonaSilent never writes.
	PersonaSilent Persona = "silent"
	// PersonaNightOwl asks for prompts late in the evening and answers at night.
	PersonaNightOwl Persona = "night_owl"
	// PersonaChatty writes more than was asked.
	PersonaChatty Persona = "chatty"
	// PersonaWrongWords writes words that look like keywords and are none.
	PersonaWrongWords Persona = "wrong_words"
	// PersonaStops opts out on day 12; half of them come back later.
	PersonaStops Persona = "stops"
	// PersonaNewNumber changes the phone number.
	PersonaNewNumber Persona = "new_number"
	// PersonaNewZone moves to another time zone.
	PersonaNewZone Persona = "new_zone"
	// PersonaCrisis writes once of harming themselves.
	PersonaCrisis Persona = "crisis"
	// PersonaAbroad lives in another country with another language.
	PersonaAbroad Persona = "abroad"
	// PersonaBlocked is a person whose carrier blocks the programme's texts from
	// some day on.
	PersonaBlocked Persona = "blocked"
)

// Personas lists every persona, the frequent ones more than once: people are drawn
// from it in turn, so that a study of 20 has each of them.
func Personas() []Persona {
	return []Persona{
		PersonaDiligent, PersonaStops, PersonaNightOwl, PersonaCrisis, PersonaChatty, PersonaSilent, PersonaWrongWords,
		PersonaAbroad, PersonaNewZone, PersonaNewNumber, PersonaBlocked, PersonaOrdinary, PersonaOrdinary, PersonaDiligent,
		PersonaOrdinary, PersonaOrdinary, PersonaChatty, PersonaOrdinary, PersonaDiligent, PersonaOrdinary,
	}
}

// stillThere is the share of people who still answer at the end of a study.
const stillThere = 1.0 / 3

// stopDay is the day on which PersonaStops opts out.
const stopDay = 12

// habits are how one person behaves.
type habits struct {
	persona Persona
	zone    string
	locale  string
	// chosen is what the person answers when asked for a time.
	chosen string
	// answer is the probability that a prompt is answered within outcomeWindow while
	// the person still takes part; leaves is when that ends.
	answer float64
	leaves time.Time
	// delay is the median time to an answer, chatty the probability of a text more,
	// typos that of a mistake in a text.
	delay  time.Duration
	chatty float64
	typos  float64
	// events are what happens on a day, independent of what is sent.
	events []event
}

// event is something that a person does of their own accord.
type event struct {
	day  int
	hour int
	kind eventKind
}

type eventKind int

const (
	eventStop eventKind = iota + 1
	eventStart
	eventNumber
	eventZone
	eventCrisis
	eventBlock
)

// zonesAtHome are where people live who are not abroad.
var zonesAtHome = []string{"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Phoenix"}

// drawHabits draws how a person behaves in a study of some days.
func drawHabits(draw *rand.Rand, persona Persona, from time.Time, days int) habits {
	h := habits{
		persona: persona, zone: zonesAtHome[draw.IntN(len(zonesAtHome))], locale: "en-US",
		chosen: fmt.Sprintf("%02d:%02d", 8+draw.IntN(10), 5*draw.IntN(12)),
		answer: 0.5 + 0.2*draw.Float64(), delay: time.Duration(10+draw.IntN(50)) * time.Minute, typos: 0.1,
		leaves: from.Add(time.Duration(lifetime(draw, days) * 24 * float64(time.Hour))),
	}
	if draw.IntN(3) == 0 {
		hour := 8 + draw.IntN(9)
		h.chosen = fmt.Sprintf("between %02d:00 and %02d:00", hour, hour+2)
	}
	h.applyPersona(draw, from, days)
	return h
}

// applyPersona sets what the persona does otherwise than most people.
func (h *habits) applyPersona(draw *rand.Rand, from time.Time, days int) {
	third := max(days/3, 1)
	switch h.persona {
	case PersonaOrdinary:
	case PersonaDiligent:
		h.answer, h.delay = 0.85, 15*time.Minute
	case PersonaSilent:
		h.answer, h.leaves = 0, from
	case PersonaNightOwl:
		h.chosen, h.delay = "22:30", 90*time.Minute
	case PersonaChatty:
		h.chatty = 0.5
	case PersonaWrongWords:
		h.typos = 0.5
	case PersonaStops:
		h.does(eventStop, min(stopDay, days-1), 12)
		if draw.IntN(2) == 0 {
			h.does(eventStart, stopDay+third, 13)
		}
	case PersonaNewNumber:
		h.does(eventNumber, third, 15)
	case PersonaNewZone:
		h.does(eventZone, third, 16)
	case PersonaCrisis:
		h.does(eventCrisis, third+draw.IntN(third), 20)
	case PersonaAbroad:
		h.zone, h.locale = "Europe/Berlin", "de-DE"
		if draw.IntN(2) == 0 {
			h.zone, h.locale = "America/Mexico_City", "es-MX"
		}
	case PersonaBlocked:
		h.does(eventBlock, third, 10)
	}
}

// does adds an event on a day, some hours after the time at which days begin.
func (h *habits) does(kind eventKind, day, hour int) {
	h.events = append(h.events, event{day: day, hour: hour, kind: kind})
}

// lifetime draws after how many days a person stops to answer: the hazard is the
// same on every day, and stillThere of all people are left at the end.
func lifetime(draw *rand.Rand, days int) float64 {
	return -math.Log(1-draw.Float64()) * float64(days) / -math.Log(stillThere)
}

// chance is the probability that the person answers a prompt in time, with what
// the treatment adds.
func (h habits) chance(at time.Time, lift float64) float64 {
	if h.answer == 0 || !at.Before(h.leaves) {
		return 0
	}
	return min(max(h.answer+lift, 0), 1)
}

// answers draws whether the person answers a prompt in time.
func (h habits) answers(draw *rand.Rand, at time.Time, lift float64) bool {
	return draw.Float64() < h.chance(at, lift)
}

// chanceAdded returns what the treatment adds to the probability of an answer.
func (h habits) chanceAdded(at time.Time, lift float64) float64 {
	return h.chance(at, lift) - h.chance(at, 0)
}

// pause draws how long a person takes for an answer, inside of the window in which
// it counts.
func (h habits) pause(draw *rand.Rand) time.Duration {
	drawn := time.Duration(float64(h.delay) * math.Exp(0.7*draw.NormFloat64()))
	return min(max(drawn, 20*time.Second), outcomeWindow-5*time.Minute)
}

// phrases are what people of a language write.
type phrases struct {
	yes, habit, why, anchor, done, missed, more []string
}

// inLanguages are the phrases by language; others write English.
var inLanguages = map[string]phrases{
	"en": {
		yes: []string{"yes", "Yes, ready", "ok"}, habit: []string{"a short walk", "reading ten pages", "drinking more water", "stretching"},
		why: []string{"I want to feel better", "for my health", "I want to sleep well"}, anchor: []string{"my morning coffee", "lunch", "brushing my teeth"},
		done:   []string{"done", "did it", "yes, done", "I did it and it felt good"},
		missed: []string{"no time today", "not today, I was too busy", "I forgot"},
		more:   []string{"my neighbour came along", "the weather was lovely", "tell me what time it is", "I slept badly", "work is a lot right now"},
	},
	"es": {
		yes: []string{"si", "Sí, listo"}, habit: []string{"caminar un poco", "leer diez páginas"}, why: []string{"por mi salud"}, anchor: []string{"el café de la mañana"},
		done: []string{"hecho", "sí, lo hice"}, missed: []string{"hoy no tuve tiempo", "se me olvidó"}, more: []string{"hace mucho calor", "dormí mal"},
	},
	"de": {
		yes: []string{"ja", "Ja, bereit"}, habit: []string{"ein kurzer Spaziergang", "zehn Seiten lesen"}, why: []string{"für meine Gesundheit"}, anchor: []string{"der Kaffee am Morgen"},
		done: []string{"erledigt", "ja, gemacht"}, missed: []string{"heute keine Zeit", "vergessen"}, more: []string{"es regnet den ganzen Tag", "ich habe schlecht geschlafen"},
	},
}

// lookalikes hold words that opt out or call for help in other sentences.
var lookalikes = []string{
	"I will stop by the park first", "I want to quit smoking one day", "the end of the day works for me", "please cancel my doubts, ha",
	"this walk is killing me", "help my sister moved house", "unstoppable today",
}

func (h habits) words() phrases {
	tag, err := language.Parse(h.locale)
	if err == nil {
		base, _ := tag.Base()
		if found, ok := inLanguages[base.String()]; ok {
			return found
		}
	}
	return inLanguages["en"]
}

func pick(draw *rand.Rand, list []string) string { return list[draw.IntN(len(list))] }

// misspell exchanges two letters of a text, now and then.
func (h habits) misspell(draw *rand.Rand, text string) string {
	letters := []rune(text)
	if len(letters) < 5 || draw.Float64() >= h.typos {
		return text
	}
	at := 1 + draw.IntN(len(letters)-2)
	if letters[at] == ' ' || letters[at+1] == ' ' {
		return text
	}
	letters[at], letters[at+1] = letters[at+1], letters[at]
	return string(letters)
}

// answerIntake returns what the person answers to a question of the coach; empty
// where none was asked.
func (h habits) answerIntake(draw *rand.Rand, asked string) string {
	words := h.words()
	for _, one := range []struct {
		asks   string
		answer []string
	}{
		{"Shall I text you every day", inLanguages["en"].yes}, {"What small habit", words.habit}, {"Why does that matter", words.why},
		{"What do you already do every day", words.anchor}, {"What time of day", []string{h.chosen}}, {"At what clock time", []string{h.chosen}},
	} {
		if strings.Contains(asked, one.asks) {
			return pick(draw, one.answer)
		}
	}
	return ""
}
