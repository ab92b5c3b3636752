package rehearsal

import (
	"math/rand/v2"
	"strings"

	"golang.org/x/text/language"
)

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
