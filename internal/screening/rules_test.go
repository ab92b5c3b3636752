package screening

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening/sheets"
)

func TestRuleFiles(t *testing.T) {
	for _, set := range ruleSets() {
		assert.NotEmpty(t, set.rules, set.language)
		for _, rule := range set.rules {
			assert.True(t, strings.HasPrefix(rule.id, set.language+"."), rule.id)
			assert.NotEmpty(t, rule.patterns, rule.id)
			for _, pattern := range rule.patterns {
				assert.NotNil(t, pattern.findAnchors(func(int32) int { return 1 }), "%s has a pattern without any word", rule.id)
			}
		}
	}
}

func TestRuleFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                 "no rules",
		"rule xx.a C passive\n\tword":                      "unknown tier",
		"rule xx.a A nothing\n\tword":                      "unknown kind",
		"rule xx.a A direct unless NONE\n\tw":              "no exception",
		"rule xx.a A direct\n\tNONE word":                  "no class",
		"rule xx.a A direct\n\t(word":                      "missing",
		"rule xx.a A direct\n\tword)":                      "unexpected",
		"rule xx.a A direct\n\tbefore word":                "an exception before the patterns",
		"rule xx.a A direct\n\t..99 word":                  "gap",
		"rule xx.a A direct\n\t~3":                         "repetition",
		"rule xx.a A direct\n\ta, , b":                     "empty sequence",
		"rule xx.a A":                                      "needs an id",
		"rule xx.a A direct\n\ta\nrule xx.a A direct\n\tb": "two rules",
		"except E\n\tword word":                            "an exception begins with",
		"class lower = a":                                  "a class needs",
		"nonsense":                                         "unknown statement",
		"map a":                                            "map",
		"sound =x":                                         "sound",
	} {
		_, err := parseRules("xx", text)
		require.ErrorContains(t, err, want, text)
	}
}

// findRule reads a text with rules of the test's own.
func findRule(t *testing.T, rules, text string) bool {
	t.Helper()
	set, err := parseRules("xx", rules)
	require.NoError(t, err)
	var s scanner
	s.tokens.readBody(text)
	s.versions = make([]version, 1)
	s.spellWords(set, &s.versions[0])
	s.matchAll(set, 0, nil)
	return len(s.findings) > 0
}

func TestPatterns(t *testing.T) {
	const rules = `
class VERB = go, run home
except NEVER
	before never [ever]
rule xx.a A direct unless NEVER
	i VERB [now, right away] (today, in # days)
rule xx.b A direct
	^ start ..2 stop $
rule xx.c A direct
	^^ only $$
rule xx.d A direct
	over ; there
rule xx.e A direct
	big*|huge [very]~2 house
	near haunted`
	for text, want := range map[string]bool{
		"I go today": true, "i run home in 3 days": true, "i go right away today": true, "i go": false, "i run today": false,
		"never i go today": false, "never ever i go today": false, "never mind i go today": true,
		"start stop": true, "well, start right here stop, ok": true, "start one two three stop": false, "we start stop": false, "start. stop": false,
		"only": true, "only this": false, "over. there": true, "over there": false,
		"bigger house": true, "huge very very house": true, "huge very very very house": false,
		"bigger house that is haunted": false, "bigger house that we all know as haunted": true, "haunted. one two three four five bigger house": true,
	} {
		assert.Equal(t, want, findRule(t, rules, text), text)
	}
}

func TestSpelling(t *testing.T) {
	const rules = `
sound qu=k z=s
words willow
stems pillow sleeping
map hw = how, wdy = what do you
join my self = myself
rule xx.a A direct
	pillow
rule xx.b A direct
	how|quiz
rule xx.c A direct
	what do you
rule xx.d A direct
	myself
rule xx.e A direct
	sleeping now`
	for text, want := range map[string]bool{
		"pillow": true, "PILLOW": true, "pillów": true, "piXlow": true, "pXXlow": false, "pilow": true, "pillowwww": true, "piilllow": true, "pill0w": true, "p1ll0w": true,
		"pi*low": true, "pilolw": true, "xillow": false, "willow": false, "p i l l o w": true, "p.i.l.l.o.w": true, "𝐩𝐢𝐥𝐥𝐨𝐰": true,
		"hw": true, "wdy": true, "kis": true, "quis": true, "my self": true, "my  selves": false, "sleepingnow": true, "sleepnow": false,
		"pil low": true, "pillowcase": false,
	} {
		assert.Equal(t, want, findRule(t, rules, text), text)
	}
}

func TestEmoji(t *testing.T) {
	var s tokens
	s.readBody("no 💊💊💊 more\u200d 🔫! 👍🏽")
	var words []string
	for i := range s.spans {
		words = append(words, string(s.textAt(i)))
	}
	assert.Equal(t, []string{"no", ":pills:", "more", ":gun:"}, words)
}

// workOf counts what a text costs: elements of patterns that were matched, words in
// all languages, and features of the classifier.
func (s *scanner) workOf(body string) float64 {
	s.scanBody(body)
	model().Alert.BestWindow(&s.features)
	work := s.window.work + len(s.features.all)
	for _, v := range s.versions {
		work += len(v.words)
	}
	return float64(work)
}

// Long texts cost in proportion to their length, with any content.
func TestWorkIsLinear(t *testing.T) {
	pieces := []string{
		"i want to kill myself and die ", "ich will mich umbringen nicht ", "kk ", "no quiero vivir nada mas q ",
		"want to, ", "k i l l ", "iwanttokillmyselfiwanttokillmyself ", "never i am going to want to be ", "💊🔫 ", "pilllls suicde mysellf ",
	}
	for _, language := range languages {
		texts, err := sheets.Read(os.DirFS("testdata/sheets"), language)
		require.NoError(t, err)
		for i := 0; i < len(texts); i += 100 {
			pieces = append(pieces, texts[i].Body+" ")
		}
	}
	var s scanner
	for _, piece := range pieces {
		short, long := s.workOf(strings.Repeat(piece, 100)), s.workOf(strings.Repeat(piece, 800))
		assert.LessOrEqual(t, long, 9*math.Max(short, 1000), piece)
	}
}

// Texts of the sheets in a row, as long as one message and as ten of them.
func BenchmarkScreenLength(b *testing.B) {
	Load()
	for _, language := range languages {
		texts, err := sheets.Read(os.DirFS("testdata/sheets"), language)
		require.NoError(b, err)
		var body strings.Builder
		for i := 0; body.Len() < 2000; i += 7 {
			body.WriteString(texts[i%len(texts)].Body + " ")
		}
		for _, length := range []int{160, 1600} {
			b.Run(fmt.Sprintf("%s/%d", language, length), func(b *testing.B) {
				text := string([]rune(body.String())[:length])
				b.ReportAllocs()
				for b.Loop() {
					Screen(Message{Body: text})
				}
			})
		}
	}
}

// A text of the sheets, as people write them.
func BenchmarkScreen(b *testing.B) {
	Load()
	for _, language := range languages {
		texts, err := sheets.Read(os.DirFS("testdata/sheets"), language)
		require.NoError(b, err)
		b.Run(language, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				Screen(Message{Body: texts[i%len(texts)].Body})
			}
		})
	}
}

func TestModelFile(t *testing.T) {
	_, err := DecodeModel(weightsFile)
	require.NoError(t, err)
	_, err = DecodeModel(weightsFile[1:])
	require.ErrorContains(t, err, "train it again")
	m := NewModel()
	m.Alert.Bias, m.Alert.Weights[7], m.Alert.Weights[8] = -1, 2, -1
	m.Stop.Weights[9], m.Stop.Bias = 3, 0.5
	for _, language := range languages {
		m.Thresholds[language] = Thresholds{Weak: [len(Knots)]float32{1, 2, 3, 4, 5, 6}, Asked: 7}
	}
	read, err := DecodeModel(m.Encode())
	require.NoError(t, err)
	assert.InDelta(t, 2, read.Alert.Weights[7], 0.01)
	assert.InDelta(t, -1, read.Alert.Weights[8], 0.01)
	assert.InDelta(t, 3, read.Stop.Weights[9], 0.03)
	assert.Equal(t, []float32{-1, 0.5}, []float32{read.Alert.Bias, read.Stop.Bias})
	assert.Equal(t, m.Thresholds, read.Thresholds)
}

// A stretch is scored as if it stood alone.
func TestBestStretch(t *testing.T) {
	m := model()
	whole := ReadFeatures("one two three four five six seven eight nine ten eleven twelve thirteen i want to die")
	best := m.Alert.Best(whole)
	words := strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen i want to die")
	alone := m.Alert.Best(ReadFeatures(strings.Join(words[best.From:best.To], " ")))
	assert.Equal(t, stretchWords, best.To-best.From)
	assert.LessOrEqual(t, m.Alert.Best(ReadFeatures("")).Score, m.Alert.Bias)
	assert.InDelta(t, alone.Score, best.Score, 0.6, "only the pairs at the beginning differ")
}

// What stands around a statement takes nothing from the score of its window.
func TestWindowKeepsItsScore(t *testing.T) {
	m := model()
	const statement = "there is nothing left that holds me"
	alone := m.Alert.BestWindow(ReadFeatures(statement))
	for _, body := range []string{"went to the gym today and " + statement, statement + " in the park with the kids", "lol ok so " + statement + " talk tomorrow after the long game"} {
		require.GreaterOrEqual(t, m.Alert.BestWindow(ReadFeatures(body)).Score, alone.Score-1e-4, body)
	}
	assert.InDelta(t, m.Alert.Bias, m.Alert.BestWindow(ReadFeatures("")).Score, 1e-6)
}
