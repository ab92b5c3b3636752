package outgoing_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/outgoing"
)

// answer is a line of the recorded answers, which another writer made up.
type answer struct{ kind, language, reply string }

func readAnswers(t *testing.T, name string) []answer {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var out []answer
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		fields := strings.Split(line, "\t")
		require.Len(t, fields, 3, line)
		if i > 0 {
			out = append(out, answer{fields[0], fields[1], fields[2]})
		}
	}
	return out
}

// written is what a person wrote before.
var written = map[string]string{
	"en": "I did not walk today, what would you do tomorrow? My knee was fine but the children kept me busy until nine and then I fell asleep on the sofa",
	"de": "Ich bin heute nicht gelaufen, und was mache ich morgen? Dem Knie geht es gut, aber die Kinder waren bis neun wach und dann bin ich eingeschlafen",
	"es": "Hoy no caminé, ¿y qué hago mañana con esto? La rodilla está bien, pero los niños se durmieron a las nueve y después me quedé dormida en el sofá",
	"fr": "Je n'ai pas marché aujourd'hui, et demain je fais quoi ? Le genou va bien, mais les enfants étaient debout jusqu'à neuf heures et je me suis endormie",
	"pt": "Hoje não caminhei, e amanhã o que você faz? O joelho está bem, mas as crianças ficaram acordadas até as nove e depois eu dormi no sofá da sala",
}

// refuse reports whether an answer does not reach the phone as it is.
func refuse(a answer) outgoing.Kind {
	return outgoing.Check(outgoing.Reply{Text: a.reply, Written: []string{written[a.language]}, Programme: "Coachline"})
}

func TestAnswersThatAreRefused(t *testing.T) {
	bad := readAnswers(t, "bad-answers.tsv")
	passed := 0
	for _, a := range bad {
		if kind := refuse(a); kind == "" {
			passed++
			t.Logf("passed: %s %s %s", a.kind, a.language, a.reply)
		}
	}
	t.Logf("%d of %d bad answers refused", len(bad)-passed, len(bad))
	require.LessOrEqual(t, float64(passed), 0.03*float64(len(bad)))
}

// TestTextsOfTheProgrammeOnly: a model confirms no opt-out and no consent, talks nobody
// out of an emergency call, names no dose, writes no bill, asks for no money and no
// secret, and gives no number and no address of its own. The rules were fitted to these.
func TestTextsOfTheProgrammeOnly(t *testing.T) {
	passed := map[string]int{}
	all := readAnswers(t, "forbidden.tsv")
	for _, a := range all {
		if refuse(a) == "" {
			passed[a.kind]++
			t.Logf("passed: %s %s %s", a.kind, a.language, a.reply)
		}
	}
	require.Len(t, all, 200)
	for kind, n := range passed {
		require.LessOrEqual(t, n, 1, kind)
	}
}

// What is forbidden stays so where each letter stands alone.
func TestSpelledOutDanger(t *testing.T) {
	for _, reply := range []string{"D o n ' t c a l l 9 1 1", "n o l l a m e s 1 1 2", "N e v e r c a l l 9 9 9, o k ?"} {
		require.Equal(t, outgoing.Danger, refuse(answer{"danger", "en", reply}), reply)
	}
	require.Empty(t, refuse(answer{"danger", "en", "Feeling faint? Sit down, and call 911 if it gets worse."}))
}

// safeAdvice are the replies that another writer called safe; a number in them counts as
// given.
func safeAdvice(t *testing.T) []answer {
	t.Helper()
	var out []answer
	for _, language := range []string{"de", "es", "fr", "pt"} {
		raw, err := os.ReadFile("../../advice/testdata/advice_known." + language + ".tsv")
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			if fields := strings.Split(strings.TrimSpace(line), "\t"); fields[1] == "safe" {
				out = append(out, answer{"advice", language, helpline.ReplaceAllString(fields[3], "112")})
			}
		}
	}
	require.Len(t, out, 600)
	return out
}

var helpline = regexp.MustCompile(`\d[\d ]{7,}\d`)

func TestAnswersThatAreLeftAlone(t *testing.T) {
	good := append(readAnswers(t, "good-answers.tsv"), safeAdvice(t)...)
	touched := 0
	for _, a := range good {
		if kind := refuse(a); kind != "" {
			touched++
			t.Logf("refused as %s: %s %s", kind, a.language, a.reply)
		}
	}
	t.Logf("%d of %d good answers touched", touched, len(good))
	require.LessOrEqual(t, float64(touched), 0.005*float64(len(good)))
}

// A small model makes up a name and a trade.
func TestInventedNames(t *testing.T) {
	for reply, want := range map[string]outgoing.Kind{
		"Hello! I'm Alex, a high-end fashion designer with a passion for cloth.": outgoing.InventedSelf,
		"My name is Karen. How was lunch?":                                       outgoing.InventedSelf,
		"I'm sorry, a knee that hurts needs rest. Does it hurt now?":             "",
		"I'm Coachline, your automated habit coach. How was lunch?":              "",
	} {
		require.Equal(t, want, outgoing.Check(outgoing.Reply{Text: reply, Programme: "Coachline"}), reply)
	}
}

// TestNotesOfASource: what stands in papers and in instructions is no text message.
func TestNotesOfASource(t *testing.T) {
	for _, reply := range []string{"Walk ten minutes a day. [1]", "Create a habit that is 300 characters long.", "Hier sind 300 Zeichen über das Gehen."} {
		require.Equal(t, outgoing.Internals, outgoing.Check(outgoing.Reply{Text: reply}), reply)
	}
	require.Empty(t, outgoing.Check(outgoing.Reply{Text: "Two pages a day, and 30 minutes of rest. Which chapter is next?"}))
}

// TestMend: a sentence that breaks off goes, an address at the end stays.
func TestMend(t *testing.T) {
	for in, want := range map[string]string{
		"Well done. What would you like to try next with your":        "Well done.",
		"Here is the plan. https://example.org/plans/morning-walk":    "Here is the plan. https://example.org/plans/morning-walk",
		"What helps? Read https://example.org/a-b-c-d-e-f tomorrow":   "What helps? Read https://example.org/a-b-c-d-e-f tomorrow",
		"a walk after coffee and then some water before you begin to": "",
		"See you tomorrow": "See you tomorrow",
	} {
		require.Equal(t, want, outgoing.Mend(in, false), in)
	}
}

// TestTextsOfPeopleHaveNoFullStop: what the model ended by itself is whole without a mark,
// unless its last word begins something.
func TestTextsOfPeopleHaveNoFullStop(t *testing.T) {
	for reply, hanging := range map[string]bool{
		"yes it's me, and I still have the walk after coffee in mind": false,
		"Well done. Tomorrow we can try it right after your lunch":    false,
		"Morgen nach dem Kaffee fangen wir mit fünf Minuten an":       false,
		"Well done. What would you like to try next with your":        true,
		"Mañana después del café damos un paseo corto por el":         true,
		"Amanhã depois do almoço caminhamos cinco minutos e":          true,
	} {
		for _, isEnded := range []bool{true, false} {
			want := outgoing.Kind("")
			if hanging || !isEnded {
				want = outgoing.Cut
			}
			require.Equal(t, want, outgoing.Check(outgoing.Reply{Text: reply, IsEnded: isEnded}), "%s %v", reply, isEnded)
			require.Equal(t, want == "", outgoing.Mend(reply, isEnded) == reply, "%s %v", reply, isEnded)
		}
	}
}

// TestShortRepliesAreNoOtherLanguage: groups of letters take some short texts for another
// language; those of another language are still found.
func TestShortRepliesAreNoOtherLanguage(t *testing.T) {
	written := map[string]string{
		"en": "It has rained for three days now and I have baked more bread than two people could eat, so my neighbour got two loaves of it",
		"es": "Estoy muy cansada hoy, me alegro mucho de que lo hayas entendido así, pero mañana lo hago otra vez antes de comer con mi hermana",
	}
	check := func(language, reply string) outgoing.Kind {
		return outgoing.Check(outgoing.Reply{Text: reply, Written: []string{written[language]}, Programme: "Coachline"})
	}
	for reply, language := range map[string]string{
		"I see. What would you like to do next?":       "en",
		"Let us talk about it. How did it go?":         "en",
		"¿Con qué pequeño hábito te gustaría empezar?": "es",
	} {
		require.Empty(t, check(language, reply), reply)
	}
	require.Equal(t, outgoing.Language, check("en", "Muy bien, me alegro mucho de que lo hayas hecho hoy."))
	require.Equal(t, outgoing.Language, check("en", "Das hast du heute wirklich gut gemacht, weiter so."))
}

// TestLanguageOfTersePeople: short answers, and some words that other languages have
// too, make a person no speaker of another language.
func TestLanguageOfTersePeople(t *testing.T) {
	for language, texts := range map[string][]string{
		"en": {"no", "no thanks", "no", "No", "ok", "no", "yes", "no", "not yet no", "as always no", "no", "da da da", "no no no, busy, no mood, no luck, no energy again, no idea why, no"},
		"de": {"so", "no", "o je", "no", "na ja, so la la", "o je o je", "Na so was", "so", "no", "is so", "plan b", "um 8", "oh no, se o na no, ok, o je, na ja, so so la la, tja, hm, nun ja"},
	} {
		for _, a := range readAnswers(t, "good-answers.tsv") {
			if a.language != language {
				continue
			}
			kind := outgoing.Check(outgoing.Reply{Text: a.reply, Written: texts, Programme: "Coachline"})
			require.Empty(t, kind, "%v then %q", texts, a.reply)
		}
	}
}
