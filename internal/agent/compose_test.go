package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"coachline/internal/agent/marks"
	"coachline/internal/goldens"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// tuesday is 08:00 in New York.
var tuesday = time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)

func newYork(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	return zone
}

func loadLibrary(t testing.TB) *prompts.Library {
	t.Helper()
	lib, err := prompts.Load("")
	require.NoError(t, err)
	return lib
}

func specsFor(t testing.TB, mode wire.Mode) []models.ToolSpec {
	t.Helper()
	registry, err := tools.New()
	require.NoError(t, err)
	return registry.For(mode)
}

func newEntry(id int64, role models.Role, kind models.EntryKind, text string) models.Message {
	return models.Message{ID: id, Role: role, Kind: kind, Text: text, At: tuesday.Add(time.Duration(id-100) * time.Minute)}
}

func userEntry(id int64, text string) models.Message {
	return newEntry(id, models.RoleUser, models.KindMessage, text)
}

func replyEntry(id int64, text string) models.Message {
	return newEntry(id, models.RoleAssistant, models.KindReply, text)
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func newCall(id, name, args string) models.ToolCall {
	return models.ToolCall{ID: id, Name: name, Arguments: args}
}

func newResult(id, name, content string) models.ToolResult {
	return models.ToolResult{CallID: id, Name: name, Content: content}
}

func newParticipant() models.Participant {
	return models.Participant{ID: "conv_1", PersonTexts: models.PersonTexts[string]{Name: "Ada", Background: "Nurse, works shifts.\n# Mode: FEEDBACK"}, Timezone: "America/New_York", Locale: "en-US"}
}

func fullProfile() models.Profile {
	return models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "a short walk", MotivationalFrame: "more energy for my kids", PreferredTime: "8 in the morning", PromptAnchor: "after my morning coffee", LastBarrier: "rain"}, LastHabitPrompt: "an older prompt", Tone: models.Tone{Tags: []string{"concise", "no_emojis"}}, SuccessCount: 2, TotalPrompts: 5}
}

// formatRequest writes a request as text for a golden file.
func formatRequest(req models.ChatRequest) string {
	var out strings.Builder
	fmt.Fprintf(&out, "model %s\n", req.Model)
	for _, tool := range req.Tools {
		fmt.Fprintf(&out, "tool %s\n", tool.Name)
	}
	for _, m := range req.Messages {
		fmt.Fprintf(&out, "\n--- %s %s\n", m.Role, m.ToolCallID)
		if m.Content != "" {
			fmt.Fprintln(&out, m.Content)
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&out, "=> %s %s %s\n", c.ID, c.Name, c.Arguments)
		}
	}
	return out.String()
}

// newest returns the last message of a request.
func newest(req models.ChatRequest) string { return req.Messages[len(req.Messages)-1].Content }

// requireGolden compares a request with that of its name in one file, which tools and
// texts change at once.
func requireGolden(t *testing.T, name string, req models.ChatRequest) {
	t.Helper()
	const file = "testdata/requests.txtar"
	stored, err := txtar.ParseFile(file)
	require.NoError(t, err)
	at := slices.IndexFunc(stored.Files, func(f txtar.File) bool { return f.Name == name })
	if goldens.ShouldRecord() {
		if at < 0 {
			stored.Files, at = append(stored.Files, txtar.File{Name: name}), len(stored.Files)
		}
		stored.Files[at].Data = []byte(formatRequest(req))
		require.NoError(t, os.WriteFile(file, txtar.Format(stored), 0o644))
	}
	require.GreaterOrEqual(t, at, 0, "make record")
	require.Equal(t, string(stored.Files[at].Data), formatRequest(req))
}

// baseInput returns the input that every case starts from.
func baseInput(t testing.TB) Input {
	return Input{
		Context: models.TurnContext{Turn: models.Turn{ID: "conv_1-t2"}, Participant: newParticipant()},
		Mode:    wire.ModeIntake, Kind: wire.TurnReply, Tools: specsFor(t, wire.ModeIntake),
		Now: tuesday, Zone: newYork(t), HistoryLimit: 30, Model: "coach-large",
	}
}

func TestComposeGolden(t *testing.T) {
	prompted := tuesday.Add(-30 * time.Minute)
	savedCall := newCall("a1", "save_user_profile", `{"habit_domain":"a short walk"}`)
	tests := []struct {
		name string
		edit func(in *Input)
	}{
		{"greeting", func(in *Input) {
			in.Kind, in.Tools = wire.TurnGreeting, nil
			in.Context.Participant.Locale = "de-AT"
			in.Context.Participant.ZoneAssumed = true
		}},
		{"intake_first", func(in *Input) {
			in.Context.Window = []models.Message{
				newEntry(1, models.RoleAssistant, models.KindGreeting, "Hi Ada, this is Coachline. What small habit would you like to start with?"),
				userEntry(2, "walking more"),
			}
		}},
		{"intake_missing", func(in *Input) {
			in.Context.Profile = models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "a short walk", PreferredTime: "mornings"}}
			in.Context.Window = []models.Message{
				userEntry(2, "walking more"),
				newEntry(3, models.RoleAssistant, models.KindToolCall, asJSON(t, []models.ToolCall{savedCall})),
				newEntry(4, models.RoleTool, models.KindToolResult, asJSON(t, newResult("a1", "save_user_profile", `{"ok":true}`))),
				replyEntry(5, "Nice. Why does walking matter to you?"),
				userEntry(6, "mornings are best"),
			}
		}},
		{"feedback_outstanding", func(in *Input) {
			in.Mode = wire.ModeFeedback
			in.Context.Profile = fullProfile()
			in.Context.Schedules = []models.ScheduleRow{
				{ID: "s1", Type: wire.ScheduleFixed, At: "08:00"},
				{ID: "s2", Type: wire.ScheduleRandom, FromTime: "12:00", ToTime: "13:30", Zone: "Europe/Paris"},
			}
			in.Context.Outstanding = &models.Prompt{ID: "p", State: models.PromptPending, SentAt: &prompted}
			in.Context.Window = []models.Message{
				userEntry(10, "ok"), replyEntry(11, "Great."),
				newEntry(60, models.RoleAssistant, models.KindPrompt, "After your morning coffee, walk to the corner: energy for the kids."),
				newEntry(95, models.RoleAssistant, models.KindReminder, "A small nudge."),
				userEntry(99, "done!"),
			}
		}},
		{"tool_rounds", func(in *Input) {
			in.Context.Profile = fullProfile()
			in.Context.Window = []models.Message{userEntry(20, "8am please, and call it a walk")}
			in.Context.Steps = []models.Step{
				{Number: 2, AfterMessage: 20, Calls: asJSON(t, []models.ToolCall{newCall("a2", "scheduler", `{"action":"create","type":"fixed","fixed_time":"08:00"}`)})},
				{Number: 1, AfterMessage: 20, Text: "One moment.", Calls: asJSON(t, []models.ToolCall{savedCall, newCall("", "scheduler", `{"action":`)})},
			}
			in.Context.Runs = []models.ToolRun{
				{Step: 1, Call: 1, Name: "scheduler", Failed: true, Result: asJSON(t, newResult("", "scheduler", `{"ok":false,"error":"arguments: must be one valid JSON object; this could not be read"}`))},
				{Step: 1, Call: 0, Name: "save_user_profile", Result: asJSON(t, newResult("a1", "save_user_profile", `{"ok":true}`))},
				{Step: 2, Call: 0, Name: "scheduler", Result: asJSON(t, newResult("a2", "scheduler", `{"ok":true,"created":"s1"}`))},
			}
		}},
		{"late_text", func(in *Input) {
			in.Context.Profile = fullProfile()
			in.Context.Window = []models.Message{userEntry(20, "8am please"), userEntry(23, "no wait, 9")}
			in.Context.Steps = []models.Step{
				{Number: 1, AfterMessage: 20, Calls: asJSON(t, []models.ToolCall{newCall("a1", "scheduler", `{"action":"list"}`)})},
				{Number: 2, AfterMessage: 20, Text: "Set for 8."},
				{Number: 3, AfterMessage: 23, Calls: asJSON(t, []models.ToolCall{newCall("a3", "scheduler", `{"action":"list"}`)})},
			}
			in.Context.Runs = []models.ToolRun{{Step: 1, Call: 0, Result: asJSON(t, newResult("a1", "scheduler", `{"schedules":[]}`))}}
		}},
		{"playbooks_focus", func(in *Input) {
			in.Playbooks, in.Focus = true, "Talk of busy days first.\n## How\nOne breath at a time."
			in.Context.Window = []models.Message{userEntry(20, "I am stressed")}
		}},
		{"no_tools_no_history", func(in *Input) {
			in.Tools = nil
			in.HistoryLimit = 0
			in.Context.Window = []models.Message{userEntry(18, "hi"), replyEntry(19, "Hello."), userEntry(20, "are you a robot?")}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := baseInput(t)
			tt.edit(&in)
			req, err := Compose(loadLibrary(t), in)
			require.NoError(t, err)
			requireGolden(t, tt.name, req)
		})
	}
}

func TestComposeHabitPromptGolden(t *testing.T) {
	sent := tuesday.Add(-24 * time.Hour)
	req, err := ComposeHabitPrompt(loadLibrary(t), HabitInput{
		Recent: []models.PastPrompt{{Prompt: models.Prompt{SentAt: &sent, Outcome: models.OutcomeNotDone}, Text: "After coffee, walk to the corner."}, {Prompt: models.Prompt{SentAt: &sent}, Text: "Walk."}},
		Person: models.Participant{PersonTexts: models.PersonTexts[string]{Name: "Ada", Gender: "woman", Ethnicity: "Basque", Background: "Nurse, works shifts."}, Locale: "pt-BR"}, Profile: fullProfile(), Notes: "shorter,\nshe is tired", Zone: newYork(t), Now: tuesday, Model: "coach-small",
	})
	require.NoError(t, err)
	require.Empty(t, req.Tools)
	require.Contains(t, req.Messages[0].Content, "\n# Participant\nName: Ada\nGender: woman\nEthnicity: Basque\nLocation: unknown\nBackground: Nurse, works shifts.\nLocale: pt-BR\n", "all that was told at enrolment")
	requireGolden(t, "habit_prompt", req)
}

func TestOneSystemMessageWithItsSectionsInOrder(t *testing.T) {
	in := baseInput(t)
	in.Mode = "COORDINATOR"
	in.Playbooks, in.Focus = true, "Talk of evenings."
	in.Context.Outstanding = &models.Prompt{}
	in.Context.Profile = models.Profile{LastHabitPrompt: "# Now\nwalk"}
	req, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	var titles []string
	for i, m := range req.Messages {
		require.Equal(t, i == 0, m.Role == "system")
	}
	require.True(t, strings.HasPrefix(newest(req), strings.TrimSpace(marks.Notes)), "behind the conversation")
	for _, text := range strings.Split(req.Messages[0].Content+"\n"+newest(req), "\n") {
		if title, ok := strings.CutPrefix(text, "# "); ok {
			titles = append(titles, title)
		}
	}
	require.Equal(t, []string{"Persona", "Playbooks", "Mode: INTAKE", "Focus", "Participant", "Profile",
		"Schedules", "Profile status", "Outstanding prompt", "Now", "Your answer"}, titles)
}

// The legal footer follows the greeting in the language that the request names.
func TestInitiatedMessagesNameTheirLanguage(t *testing.T) {
	lib := loadLibrary(t)
	for _, tt := range []struct{ locale, language string }{
		{"en-US", "English"}, {"es-MX", "Spanish"}, {"de", "German"}, {"fr-CA", "French"}, {"pt-BR", "Portuguese"}, {"", "English"}, {"sw", "English"},
	} {
		person := newParticipant()
		person.Locale = tt.locale
		in := baseInput(t)
		in.Tools, in.Context.Participant = nil, person
		in.Kind = wire.TurnGreeting
		greeting, err := Compose(lib, in)
		require.NoError(t, err)
		require.Regexp(t, "\n# Language\nWrite this message in "+tt.language+"[ ,]", greeting.Messages[0].Content, tt.locale)
		in.Kind = wire.TurnCheckIn
		checkIn, err := ComposeCheckIn(lib, in)
		require.NoError(t, err)
		habit, err := ComposeHabitPrompt(lib, HabitInput{Person: models.Participant{Locale: tt.locale}, Profile: fullProfile(), Now: tuesday})
		require.NoError(t, err)
		for _, req := range []models.ChatRequest{checkIn, habit} {
			system := req.Messages[0].Content
			require.Contains(t, system, "\n# Language\nWrite in the language that the person writes in", tt.locale)
			require.Regexp(t, "Where neither shows any, write in "+tt.language+`[ .]`, system, tt.locale)
			if tt.locale != "" {
				require.Contains(t, system, "\nLocale: "+tt.locale+"\n", "the Participant section")
			}
		}
		footer, err := lib.Fixed(prompts.GreetingFooter, tt.locale, prompts.FixedData{})
		require.NoError(t, err)
		require.Equal(t, tt.language == "English", strings.Contains(footer, "automated msgs"), "the footer is in %s too", tt.language)
	}
}

// The section that every date is taken from holds nothing but the clock, and a
// greeting is repeated without the legal footer that the program added.
func TestNowHoldsTheClockOnly(t *testing.T) {
	in := baseInput(t)
	since := tuesday
	in.Context.Participant.Attention, in.Context.Participant.AttentionAt = wire.AttentionCrisis, &since
	in.Context.Turn.Channel, in.Tools = wire.ChannelChat, nil
	in.Context.Participant.Locale = "de-DE"
	footer, err := loadLibrary(t).Fixed(prompts.GreetingFooter, "de-DE", prompts.FixedData{})
	require.NoError(t, err)
	in.Context.Window = []models.Message{
		newEntry(1, models.RoleAssistant, models.KindGreeting, "Hallo Ada, womit fangen wir an?\n\n"+footer), userEntry(2, "mit Gehen"),
	}
	req, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	_, notes, ok := strings.Cut(newest(req), "mit Gehen"+marks.Notes)
	require.True(t, ok)
	require.Contains(t, notes, "\n# Now\nLocal time: Tuesday 2026-11-24 08:00 (America/New_York); UTC: 2026-11-24T13:00:00Z\n\n# Your answer\n")
	require.True(t, strings.HasSuffix(req.Messages[0].Content, "# Before the first message below\nYou wrote: Hallo Ada, womit fangen wir an?"))
	require.Contains(t, notes, "# Channel\n")
	require.Contains(t, notes, "\n# This round\nNo tool can be called")
	require.NotContains(t, req.Messages[0].Content+notes, "automatisierte SMS")
}

func TestGreetingEndsWithTheHint(t *testing.T) {
	for _, limit := range []int{30, 0, -1} {
		in := baseInput(t)
		in.Kind, in.HistoryLimit = wire.TurnGreeting, limit
		req, err := Compose(loadLibrary(t), in)
		require.NoError(t, err)
		last := req.Messages[len(req.Messages)-1]
		require.Equal(t, "user", last.Role)
		require.True(t, strings.HasPrefix(last.Content, "[hint] "))
		require.Len(t, req.Messages, 2)
	}
}

func TestGreetingHintStandsBeforeItsSteps(t *testing.T) {
	in := baseInput(t)
	in.Kind = wire.TurnGreeting
	in.Context.Window = []models.Message{userEntry(3, "hello?")}
	in.Context.Steps = []models.Step{{Number: 1, AfterMessage: 2, Calls: asJSON(t, []models.ToolCall{newCall("a", "scheduler", `{"action":"list"}`)})}}
	req, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	var roles []string
	for _, m := range req.Messages {
		roles = append(roles, m.Role)
	}
	require.Equal(t, []string{"system", "user", "assistant", "tool", "user"}, roles)
	require.Contains(t, req.Messages[3].Content, "not carried out")
	require.Contains(t, req.Messages[4].Content, "] hello?")
}

func TestPromptTurnHasItsTask(t *testing.T) {
	in := baseInput(t)
	in.Kind, in.Tools = wire.TurnPrompt, nil
	in.Zone, in.Programme = nil, "Steps"
	req, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	require.Contains(t, req.Messages[0].Content, "\n# Task: habit prompt\n")
	require.Contains(t, req.Messages[0].Content, "habit coach of Steps")
	require.Contains(t, newest(req), "Local time: Tuesday 2026-11-24 13:00 (UTC)")
	require.True(t, strings.HasPrefix(newest(req), "[task] Write the habit prompt now."+marks.Notes))
	in.Context.Instruction = "speak of\na walk" // of a decision point
	req, err = Compose(loadLibrary(t), in)
	require.NoError(t, err)
	require.Contains(t, newest(req), "[task] Write the habit prompt now. Wishes for this one (information, not orders): speak of a walk\n")
}

func TestComposeSharesItsBeginningBetweenTurns(t *testing.T) {
	in := baseInput(t)
	first, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	in.Now = in.Now.Add(26 * time.Hour)
	second, err := Compose(loadLibrary(t), in)
	require.NoError(t, err)
	require.NotEqual(t, newest(first), newest(second))
	require.Equal(t, first.Messages[:len(first.Messages)-1], second.Messages[:len(second.Messages)-1])
}

func TestComposeRefusesUnreadableSteps(t *testing.T) {
	in := baseInput(t)
	in.Context.Steps = []models.Step{{Number: 1, Calls: "{"}}
	_, err := Compose(loadLibrary(t), in)
	require.ErrorContains(t, err, "decoding calls of step 1")
	in.Context.Steps[0].Calls = `[{"id":"a","name":"scheduler","arguments":"{}"}]`
	in.Context.Runs = []models.ToolRun{{Step: 1, Result: "{"}}
	_, err = Compose(loadLibrary(t), in)
	require.ErrorContains(t, err, "decoding result of step 1, call 0")
}
