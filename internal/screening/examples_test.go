package screening_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/internal/screening"
	"coachline/models"
)

// namedExamples are texts that were handled wrongly, with what was done about them.
var namedExamples = []struct{ body, before string }{
	{"hj", "page"},
	{"wie hoch ist der Preis", "alert"},
	{"was ist mit meinen Konten", "alert"},
	{"had to catch the bus", "alert"},
	{"took all my pills", "page"},
	{"me tomé las pastillas", "page"},
	{"took all my pills today, 7 day streak", "page"},
	{"my doctor asked whether I wanted to hurt myself, I said no", "alert"},
	{"I can't stop thinking about food", "alert"},
	{"No more thoughts of ending my life", "alert"},
	{"I jump in front of the mirror every morning", "alert"},
	{"I only smoked two today instead of eight, chewing gum helped and I kept my hands busy with knitting like you suggested", "page"},
	{"I don't want to live any more", "page"},
	{"ich will nicht mehr leben", "nothing"},
	{"ya no quiero vivir", "nothing"},
	{"je ne veux plus vivre", "nothing"},
	{"não quero mais viver", "page"},
	{"why get up tomorrow", "nothing"},
	{"He got angry about the texts", "nothing"},
	{"I don't want to unsubscribe", "ended"},
	{"bitte nicht abmelden", "ended"},
	{"no quiero darme de baja", "ended"},
	{"não cancelem minha inscrição", "ended"},
	{"did you receive my message?", "ended"},
	{"how do I unsubscribe", "ended"},
	{"what happens if I unsubscribe?", "ended"},
	{"can you delete my data", "ended"},
	{"ruh mich aus", "ended"},
	{"renuncié al trabajo", "ended"},
	{"stop sending me recipes", "ended"},
	{"no me escribas de noche por favor", "ended"},
	{"stop calling me Bob", "ended"},
	{"I don't know", "paused"},
	{"this is not a good time", "paused"},
	{"I just got on the train", "paused"},
	{"stpo", "nothing"}, //nolint:misspell // a slip of typing
	{"sotp", "nothing"},
	{"Stop2quit", "nothing"},
	{"\U0001f6d1", "nothing"},
	{"Side effects may include suicidal thoughts, says the leaflet", "page"},
	{"I won't be here at Christmas", "nothing"},
	{"Friday it will be over", "nothing"},
	{"pills counted out on the table", "nothing"},
	{"thank you for everything, you were always kind to me", "nothing"},
	{"taking laxatives every day", "nothing"},
	{"haven't eaten in four days", "nothing"},
	{"I want to d\u0456e", "nothing"},
	{"idontwanttoliveanymore", "nothing"},
	{"ate the whole box of cookies", "page"},
	{"comi a caixa inteira de biscoito", "page"},
	{"did 20 km on an empty stomach as usual", "second look"},
	{"purged my wardrobe", "second look"},
	{"I plan to run through the pain in my knee", "second look"},
	{"yes I cooked, leave me alone", "ended"},
}

// describeResult says in a few words what becomes of a text.
func describeResult(found screening.Result) string {
	switch found.Tier {
	case models.TierA:
		return "page"
	case models.TierB:
		return "second look"
	}
	switch found.Intent {
	case models.IntentStop:
		return "ended"
	case models.IntentUnclear:
		return "asked"
	case models.IntentWrongNumber:
		return "paused, asked"
	case models.IntentNone, models.IntentStart, models.IntentHelp, models.IntentYes:
	}
	return "the coach answers"
}

// The page has what becomes of texts that were handled wrongly. Written with the figures.
func TestFiguresOfExamples(t *testing.T) {
	var out strings.Builder
	out.WriteString("| text | before | now |\n|---|---|---|\n")
	for _, one := range namedExamples {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", one.body, one.before, describeResult(screening.Screen(screening.Message{Body: one.body})))
	}
	raw, err := os.ReadFile(figuresPage)
	require.NoError(t, err)
	before, written, after, ok := block(string(raw), "examples")
	require.True(t, ok)
	if goldens.ShouldRecord() {
		require.NoError(t, os.WriteFile(figuresPage, []byte(before+out.String()+after), 0o600))
		return
	}
	require.Equal(t, out.String(), written, "write the figures anew: go test ./internal/screening -run TestFigures -record")
}
