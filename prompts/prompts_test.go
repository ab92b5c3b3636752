package prompts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach/tone"
	"coachline/internal/tools"
	"coachline/models/wire"
	"coachline/prompts"
)

func load(t *testing.T, dir string) *prompts.Library {
	t.Helper()
	lib, err := prompts.Load(dir)
	require.NoError(t, err)
	return lib
}

// folder writes one override file and returns its folder.
func folder(t *testing.T, file, text string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	return dir
}

func offers(t *testing.T) map[wire.Mode]prompts.Offer {
	t.Helper()
	registry, err := tools.New()
	require.NoError(t, err)
	all := map[wire.Mode]prompts.Offer{}
	for _, mode := range []wire.Mode{wire.ModeIntake, wire.ModeFeedback} {
		offer := prompts.Offer{Words: registry.Vocabulary(mode)}
		for _, spec := range slices.Concat(registry.For(mode), registry.Controls(0)) {
			offer.Tools = append(offer.Tools, spec.Name)
		}
		all[mode] = offer
	}
	return all
}

func TestEmbeddedTextsNameOfferedToolsOnly(t *testing.T) {
	require.NoError(t, load(t, "").CheckTools(offers(t)))
}

// TestToolsOfOneWordMayBeSaid: "message" is a tool and a word of texts for people.
func TestToolsOfOneWordMayBeSaid(t *testing.T) {
	given := offers(t)
	for mode, offer := range given {
		offer.Tools = append(slices.Clone(offer.Tools), "message")
		given[mode] = offer
	}
	require.NoError(t, load(t, "").CheckTools(given))
}

func TestCheckToolsFindsWhatIsNotOffered(t *testing.T) {
	full := offers(t)
	narrow := offers(t)
	feedback := narrow[wire.ModeFeedback]
	feedback.Tools = []string{"transition_state", "save_user_profile", "scheduler", "report_concern", "ask_for_person"}
	narrow[wire.ModeFeedback] = feedback

	tests := []struct {
		name, file, text string
		offers           map[wire.Mode]prompts.Offer
		want             string
	}{
		{"tool the mode lacks", "feedback.md", "Call generate_habit_prompt.", narrow, `feedback.md names "generate_habit_prompt"`},
		{"same tool where it is offered", "intake.md", "Call generate_habit_prompt.", narrow, ""},
		{"invented tool", "intake.md", "Call `delete_memory` now.", full, `intake.md names "delete_memory"`},
		{"tool behind a condition", "profile_missing.md", "{{if eq .Mode \"x\"}}`web_search`{{end}}ask", full, "web_search"},
		{"tool in a text without tools", "habit_prompt.md", "Write it, then call scheduler.", full, `habit_prompt.md names "scheduler"`},
		{"tool in a text for people", "reminder.md", "Use save_user_profile", full, "reminder.md"},
		{"field of a tool", "feedback.md", "Save `last_barrier`.", full, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := load(t, folder(t, tt.file, tt.text)).CheckTools(tt.offers)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestLoadRefusesBadFiles(t *testing.T) {
	tests := []struct {
		name, file, text, want string
	}{
		{"unknown name", "coordinator.md", "hello", "coordinator.md is not a prompt file"},
		{"wrong ending", "persona.txt", "hello", "persona.txt is not a prompt file"},
		{"syntax", "intake.md", "{{if}}", "prompt intake.md"},
		{"unknown field", "reminder.md", "Hi {{.Phone}}", "prompt reminder.md"},
		{"unknown field in an untaken branch", "greeting_fallback.md", "Hi{{if .Name}} {{.Surname}}{{end}}", "prompt greeting_fallback.md"},
		{"unknown field in the other branch", "tone.md", "{{range .Tags}}{{.}}{{else}}{{$.Colour}}{{end}}", "prompt tone.md"},
		{"empty", "persona.md", "  \n", "prompt persona.md: text is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := prompts.Load(folder(t, tt.file, tt.text))
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := prompts.Load(filepath.Join(t.TempDir(), "missing"))
	require.ErrorContains(t, err, "missing")
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "persona.md"), 0o700))
	_, err = prompts.Load(dir)
	require.ErrorContains(t, err, "persona.md")
}

func TestOverrideReplacesOneTextAndChangesTheVersion(t *testing.T) {
	base := load(t, "")
	require.Regexp(t, `^[0-9a-f]{12}$`, base.Version())
	require.Equal(t, base.Version(), load(t, "").Version())

	dir := folder(t, "reminder.md", "# Oi\r\nThink of {{.Programme}}.")
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".hidden"), []byte("x"), 0o600))
	own := load(t, dir)
	require.NotEqual(t, base.Version(), own.Version())
	text, err := own.Fixed(prompts.Reminder, "", prompts.FixedData{})
	require.NoError(t, err)
	require.Equal(t, "## Oi\nThink of Coachline.", text)
	same, err := own.Fixed(prompts.FeedbackQuestion, "", prompts.FixedData{})
	require.NoError(t, err)
	want, err := base.Fixed(prompts.FeedbackQuestion, "", prompts.FixedData{})
	require.NoError(t, err)
	require.Equal(t, want, same)
}

func TestRenderChecksNameAndData(t *testing.T) {
	lib := load(t, "")
	_, err := lib.Render("nothing", prompts.PersonaData{})
	require.ErrorContains(t, err, "no prompt is called nothing")
	_, err = lib.Render(prompts.Persona, prompts.ToneData{})
	require.ErrorContains(t, err, "takes prompts.PersonaData")
	_, err = lib.Fixed(prompts.Persona, "", prompts.FixedData{})
	require.ErrorContains(t, err, "not a fixed text")
}

// gsm7 is the part of the GSM 7-bit alphabet that our own texts use: anything
// else would more than halve what fits a segment.
var gsm7 = regexp.MustCompile(`^[A-Za-z0-9 \n.,:;!?'"&%()/+*=@#-]*$`)

func TestFixedTextsFitTwoSegments(t *testing.T) {
	lib := load(t, "")
	for _, name := range []prompts.Name{
		prompts.GreetingFallback, prompts.GreetingFooter, prompts.ReplyFallback, prompts.Reminder,
		prompts.FeedbackQuestion, prompts.FeedbackFollowup, prompts.AskLess, prompts.UnenrolledNotice,
		prompts.OptOutConfirmation, prompts.OptInConfirmation, prompts.Help,
	} {
		for _, person := range []string{"", "Maximiliana-Josephine"} {
			text, err := lib.Fixed(name, "", prompts.FixedData{Programme: "Coachline", Name: person})
			require.NoError(t, err)
			require.Regexp(t, gsm7, text, name)
			require.LessOrEqual(t, utf8.RuneCountInString(text), 300, name)
			require.NotContains(t, text, "  ", name)
		}
	}
}

func TestFirstTextNamesProgrammeAutomationFrequencyStopAndHelp(t *testing.T) {
	lib := load(t, "").WithMaxPerDay(3)
	for _, name := range []prompts.Name{prompts.GreetingFallback, prompts.GreetingFooter} {
		text, err := lib.Fixed(name, "", prompts.FixedData{Programme: "Steps", Name: "Ada"})
		require.NoError(t, err)
		for _, part := range []string{"Steps", "automated", "p to 3", "day", "STOP", "HELP", "data rates"} {
			require.Contains(t, text, part, name)
		}
	}
	// The footer is added to what a model writes, so a model must not repeat it.
	instructions, err := lib.Render(prompts.Greeting, prompts.PersonaData{Programme: "Steps"})
	require.NoError(t, err)
	for _, part := range []string{"this is Steps", "automated coach", "added below"} {
		require.Contains(t, instructions, part)
	}
}

// One sentence, no marketing, and the way back (47 CFR 64.1200(a)(12)).
func TestConsentTexts(t *testing.T) {
	lib := load(t, "").WithMaxPerDay(3)
	for name, parts := range map[prompts.Name][]string{
		prompts.OptOutConfirmation: {"Steps", "opted out", "no more texts", "START"},
		prompts.OptInConfirmation:  {"Steps", "automated", "up to 3 a day", "data rates", "STOP", "HELP"},
		prompts.Help:               {"Steps", "automated", "up to 3 texts a day", "data rates", "STOP"},
	} {
		text, err := lib.Fixed(name, "", prompts.FixedData{Programme: "Steps", Name: "Ada"})
		require.NoError(t, err)
		for _, part := range parts {
			require.Contains(t, text, part, name)
		}
	}
	text, err := lib.Fixed(prompts.OptOutConfirmation, "", prompts.FixedData{Programme: "Steps"})
	require.NoError(t, err)
	require.Regexp(t, `^[^.!?]+\.$`, text)
	require.LessOrEqual(t, utf8.RuneCountInString(text), 160, "one segment")
}

// TestTextsStateTheRealMaximum: footer, help and consent texts of every language say how
// many texts a day the programme starts at most, and no number without a limit.
func TestTextsStateTheRealMaximum(t *testing.T) {
	for _, locale := range []string{"en", "de", "es", "fr", "pt"} {
		for _, name := range []prompts.Name{
			prompts.GreetingFallback, prompts.GreetingFooter, prompts.OptInConfirmation, prompts.Help, prompts.JoinRequest,
		} {
			for _, most := range []int{0, 1, 7} {
				text, err := load(t, "").WithMaxPerDay(most).Fixed(name, locale, prompts.FixedData{})
				require.NoError(t, err)
				numbers := regexp.MustCompile(`\b[0-9]\b`).FindAllString(text, -1)
				if most == 0 {
					require.Empty(t, numbers, "%s in %s: %s", name, locale, text)
					continue
				}
				require.Equal(t, []string{strconv.Itoa(most)}, numbers, "%s in %s: %s", name, locale, text)
			}
		}
	}
}

func TestToneHasWordsForEveryTag(t *testing.T) {
	lib := load(t, "")
	text, err := lib.Render(prompts.Tone, prompts.ToneData{Tags: tone.Tags()})
	require.NoError(t, err)
	lines := strings.Split(text, "\n")
	require.Len(t, lines, len(tone.Tags()))
	for i, tag := range tone.Tags() {
		require.Regexp(t, "^- "+tag+": .+", lines[i])
	}
	none, err := lib.Render(prompts.Tone, prompts.ToneData{})
	require.NoError(t, err)
	require.Contains(t, none, "Nothing known yet")
}

func TestStatusTextsFollowTheMode(t *testing.T) {
	lib := load(t, "")
	tests := []struct {
		name prompts.Name
		mode wire.Mode
		want string
	}{
		{prompts.ProfileMissing, wire.ModeIntake, "Ask for `preferred_time` next"},
		{prompts.ProfileMissing, wire.ModeFeedback, "feedback first"},
		{prompts.ProfileComplete, wire.ModeIntake, "offer a daily text"},
		{prompts.ProfileComplete, wire.ModeFeedback, "Do not ask for what is there."},
	}
	for _, tt := range tests {
		t.Run(string(tt.name)+" "+string(tt.mode), func(t *testing.T) {
			text, err := lib.Render(tt.name, prompts.StatusData{Mode: tt.mode, Missing: []string{"preferred_time"}, Tools: prompts.ToolNames{"scheduler", "save_user_profile"}})
			require.NoError(t, err)
			require.Contains(t, text, tt.want)
		})
	}
}
