package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

const threeSteps = "scheduler action='list'\nsave note='walks at <time>'\nTell Ann when she walks."

func TestNext(t *testing.T) {
	tests := []struct {
		name, plan string
		past       []Past
		want       string
	}{
		{"the first", threeSteps, nil, "scheduler action='list'"},
		{"the second", threeSteps, []Past{done("scheduler", "{}")}, "save note='walks at <time>'"},
		{"words are left to the chat model", threeSteps, []Past{done("scheduler", "{}"), done("save", "{}")}, ""},
		{"a failed call is no step done", threeSteps, []Past{failing("scheduler", "{}", "no"), done("clock", "{}")}, "scheduler action='list'"},
		{"the chat model mends a failure", threeSteps, []Past{failing("scheduler", "{}", "no")}, ""},
		{"done in another order", threeSteps, []Past{done("save", "{}")}, "scheduler action='list'"},
		{"one step with a tool", "clock", nil, "clock"},
		{"the same tool twice", "save note='a'\nsave note='b'", []Past{done("save", "{}")}, "save note='b'"},
		{"no known tool", "calendar day='x'\nTell them", nil, ""},
		{"no plan", "", nil, ""},
		{"reply only", "Reply to the user.", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			step, ok := Next(parsed(tt.plan), tt.past)
			require.Equal(t, tt.want != "", ok)
			require.Equal(t, tt.want, step.Text)
		})
	}
}

func TestGuidance(t *testing.T) {
	first, second := done("scheduler", "{}"), done("save", "{}")
	no := failing("save", "{}", "no")
	a37 := Split("What is my goal and when is my next reminder", "en")
	cases := []struct {
		name string
		in   GuidanceInput
	}{
		{"the next step", GuidanceInput{Plan: parsed(threeSteps), Past: []Past{first}, Protocol: models.ProtocolNative}},
		{"after the last step", GuidanceInput{Plan: parsed(threeSteps), Past: []Past{first, second}, Protocol: models.ProtocolText}},
		{"replaces the hint", GuidanceInput{Plan: parsed("clock"), Parts: a37, Past: []Past{done("clock", "{}")}, Protocol: models.ProtocolText}},
		{"a failed step", GuidanceInput{Plan: parsed(threeSteps), Past: []Past{first, no}, Protocol: models.ProtocolTwoPhase}},
		{"another tool failed", GuidanceInput{Plan: parsed(threeSteps), Past: []Past{failing("clock", "{}", "no")}, Protocol: models.ProtocolNative}},
		{"a tool fails after the last step", GuidanceInput{Plan: parsed(threeSteps), Past: []Past{first, second, failing("clock", "{}", "no")}, Protocol: models.ProtocolNative}},
		{"one of two", GuidanceInput{Parts: a37, Past: []Past{first}, Protocol: models.ProtocolText}},
		{"two of two", GuidanceInput{Parts: a37, Past: []Past{first, second}, Protocol: models.ProtocolText}},
		{"failed results answer nothing", GuidanceInput{Parts: a37, Past: []Past{no}, Protocol: models.ProtocolText}},
		{"no clauses", GuidanceInput{Past: []Past{first}, Protocol: models.ProtocolText}},
		{"a plan without tools leaves the hint", GuidanceInput{Plan: parsed("Tell them\nThat is all"), Parts: a37, Past: []Past{first}, Protocol: models.ProtocolText}},
		{"native stays untouched", GuidanceInput{Parts: a37, Past: []Past{first}, Protocol: models.ProtocolNative}},
		{"two phases stay untouched", GuidanceInput{Parts: a37, Past: []Past{first}, Protocol: models.ProtocolTwoPhase}},
		{"before the first result", GuidanceInput{Plan: parsed(threeSteps), Parts: a37, Protocol: models.ProtocolText}},
	}
	var out []string
	for _, one := range cases {
		out = append(out, one.name+"\n    "+Guidance(one.in))
	}
	golden(t, "guidance", strings.Join(out, "\n"))
	require.Contains(t, Guidance(cases[6].in), "still open: when is my next reminder", "A37")
	require.Contains(t, Guidance(cases[0].in), "Next: save note='walks at <time>'", "J38")
	require.Contains(t, Guidance(cases[8].in), "0 of 2 answered", "W6")
	require.Empty(t, Guidance(cases[11].in), "J74")
	require.Empty(t, Guidance(cases[13].in))
}

func TestSplit(t *testing.T) {
	tests := []struct {
		name, in, locale string
		want             []string
	}{
		{"two questions", "What is my step goal and when is my next reminder", "en", []string{"What is my step goal", "when is my next reminder"}},
		{"rock and roll", "rock and roll music today", "en", nil},
		{"nine and eight", "abcdefghi and abcdefgh", "en", nil},
		{"eight and nine", "abcdefgh and abcdefghi", "en", nil},
		{"nine and nine", "abcdefghi and abcdefghi", "en", []string{"abcdefghi", "abcdefghi"}},
		{"three ands", "tell me about dogs and about cats and about birds and fish", "en", []string{"tell me about dogs", "about cats and about birds and fish"}},
		{"comma", "Tell me about dogs, and about cats", "en", []string{"Tell me about dogs", "about cats"}},
		{"newline", "Tell me about dogs\nand about cats", "en", []string{"Tell me about dogs", "about cats"}},
		{"no question", "I walked to work and I feel great", "en", []string{"I walked to work", "I feel great"}},
		{"Japanese", "What is my goal and when is my next reminder", "ja", nil},
		{"Korean", "What is my goal and when is my next reminder", "ko-KR", nil},
		{"Arabic", "What is my goal and when is my next reminder", "ar", nil},
		{"Russian", "Какая у меня цель и когда напоминание", "ru", nil},
		{"pt-BR is pt", "qual é a minha meta e quando é o lembrete", "pt-BR", []string{"qual é a minha meta", "quando é o lembrete"}},
		{"x is English", "What is my goal and when is my next reminder", "x", []string{"What is my goal", "when is my next reminder"}},
		{"unknown is English", "What is my goal and when is my next reminder", "", []string{"What is my goal", "when is my next reminder"}},
		{"undetermined is English", "What is my goal and when is my next reminder", "und", []string{"What is my goal", "when is my next reminder"}},
		{"underscore and capitals", "Was ist mein Ziel UND wann kommt es", "DE_ch", []string{"Was ist mein Ziel", "wann kommt es"}},
		{"Spanish y", "cuál es mi meta y cuándo me escribes", "es", []string{"cuál es mi meta", "cuándo me escribes"}},
		{"Spanish e", "cuál es mi meta e incluso la de ayer", "es-MX", []string{"cuál es mi meta", "incluso la de ayer"}},
		{"French", "quel est mon but et quand viens-tu demain", "fr", []string{"quel est mon but", "quand viens-tu demain"}},
		{"Italian e", "qual è la mia meta e quando mi scrivi", "it", []string{"qual è la mia meta", "quando mi scrivi"}},
		{"Italian ed", "qual è la mia meta ed è già passata", "it", []string{"qual è la mia meta", "è già passata"}},
		{"Dutch", "wat is mijn doel en wanneer schrijf je", "nl", []string{"wat is mijn doel", "wanneer schrijf je"}},
		{"Turkish", "hedefim nedir ve ne zaman yazarsın", "tr", []string{"hedefim nedir", "ne zaman yazarsın"}},
		{"another language's word", "What is my goal und when is my next reminder", "en", nil},
		{"inside a word", "my understanding of grandmothers", "en", nil},
		{"characters, not bytes", "ééééééééé and éééééééé", "en", nil},
		{"nothing", "", "en", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, Split(tt.in, tt.locale)) })
	}
}
