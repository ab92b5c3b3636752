package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// writer is a habit writer that says what it was asked.
type writer struct {
	text, notes string
	err         error
	calls       int
}

func (w *writer) HabitPrompt(_ context.Context, _ models.Profile, notes string) (string, error) {
	w.calls++
	w.notes = notes
	return w.text, w.err
}

func run(t *testing.T, tool, args string, p models.Profile) Execution {
	t.Helper()
	out, err := newRegistry(t).Run(t.Context(), RunInput{
		Call:    models.ToolCall{ID: "c1", Name: tool, Arguments: args},
		Profile: p, Now: noon, Writer: &writer{text: "After coffee, walk."},
	})
	require.NoError(t, err)
	require.Equal(t, "c1", out.Result.CallID)
	require.Equal(t, tool, out.Result.Name)
	return out
}

func TestSaveUserProfile(t *testing.T) {
	known := models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking", LastBarrier: "rain"}, Version: 3}
	tests := []struct {
		name, args string
		changed    []string
		missing    []string
		want       models.Profile
	}{
		{
			"new fields", `{"motivational_frame":" more energy ","preferred_time":"8am"}`,
			[]string{"motivational_frame", "preferred_time"}, []string{"prompt_anchor"},
			models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking", LastBarrier: "rain", MotivationalFrame: "more energy", PreferredTime: "8am"}, UpdatedAt: noon, Version: 3},
		},
		{
			"old name of the barrier", `{"last_blocker":"no time"}`,
			[]string{"last_barrier"}, []string{"motivational_frame", "preferred_time", "prompt_anchor"},
			models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking", LastBarrier: "no time"}, UpdatedAt: noon, Version: 3},
		},
		{
			"both names", `{"last_blocker":"no time","last_barrier":"snow"}`,
			[]string{"last_barrier"}, []string{"motivational_frame", "preferred_time", "prompt_anchor"},
			models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking", LastBarrier: "snow"}, UpdatedAt: noon, Version: 3},
		},
		{
			"null clears", `{"habit_domain":null}`,
			[]string{"habit_domain"}, []string{"habit_domain", "motivational_frame", "preferred_time", "prompt_anchor"},
			models.Profile{HabitTexts: models.HabitTexts{LastBarrier: "rain"}, UpdatedAt: noon, Version: 3},
		},
		{
			"explicit tone", `{"tone_tags":["concise"],"tone_update_source":"explicit"}`,
			[]string{"tone_tags"}, []string{"motivational_frame", "preferred_time", "prompt_anchor"},
			models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking", LastBarrier: "rain"}, Tone: models.Tone{Tags: []string{"concise"}}, UpdatedAt: noon, Version: 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := run(t, "save_user_profile", tt.args, known)
			require.False(t, out.Result.Failed)
			require.NotNil(t, out.Profile)
			require.Equal(t, tt.want, *out.Profile)
			require.NotEqual(t, models.OutcomeDone, out.Outcome)
			var answer saveAnswer
			require.NoError(t, json.Unmarshal([]byte(out.Result.Content), &answer))
			require.True(t, answer.OK)
			require.Equal(t, tt.changed, answer.Changed)
			require.Equal(t, tt.missing, answer.Missing)
			require.Equal(t, tt.want.HabitDomain, answer.Profile.HabitDomain)
		})
	}
}

func TestSaveResultAsTheModelReadsIt(t *testing.T) {
	out := run(t, "save_user_profile", `{"prompt_anchor":"after coffee & tea"}`, models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking"}})
	// Compared as text: the model reads bytes, and & must not be escaped.
	//nolint:testifylint // see above
	require.Equal(t, `{"ok":true,"changed":["prompt_anchor"],"profile":{"habit_domain":"walking","prompt_anchor":"after coffee & tea"},`+
		`"missing":["motivational_frame","preferred_time"]}`, out.Result.Content)
}

func TestSaveWithoutChange(t *testing.T) {
	known := models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking"}}
	for _, args := range []string{``, `{}`, `{"habit_domain":"walking"}`, `{"habit_domain":" walking "}`, `{"habit_domain":""}`,
		`{"habit_domain":"  "}`, `{"last_barrier":null}`, `{"tone_tags":[]}`, `{"tone_tags":null,"tone_update_source":""}`} {
		t.Run(args, func(t *testing.T) {
			out := run(t, "save_user_profile", args, known)
			require.False(t, out.Result.Failed)
			require.Nil(t, out.Profile)
			require.Contains(t, out.Result.Content, `"note":"no change","changed":[]`)
		})
	}
}

func TestImplicitToneIsKeptButNamesNoChange(t *testing.T) {
	out := run(t, "save_user_profile", `{"tone_tags":["casual"]}`, models.Profile{})
	require.NotNil(t, out.Profile)
	require.Empty(t, out.Profile.Tone.Tags)
	require.NotZero(t, out.Profile.Tone.Scores["casual"])
	require.Contains(t, out.Result.Content, `"note":"no change"`)
}

func TestSuccessIsReportedEvenForTheSameText(t *testing.T) {
	out := run(t, "save_user_profile", `{"last_successful_prompt":"After coffee, walk."}`, models.Profile{HabitTexts: models.HabitTexts{LastSuccessfulPrompt: "After coffee, walk."}})
	require.Equal(t, models.OutcomeDone, out.Outcome)
	require.Nil(t, out.Profile)
	out = run(t, "save_user_profile", `{"last_successful_prompt":null}`, models.Profile{HabitTexts: models.HabitTexts{LastSuccessfulPrompt: "x"}})
	require.NotEqual(t, models.OutcomeDone, out.Outcome)
}

func TestOutcomeOfAPrompt(t *testing.T) {
	for args, want := range map[string]models.PromptOutcome{
		`{"last_successful_prompt":"walk"}`:                       models.OutcomeDone,
		`{"last_successful_prompt":"walk","last_barrier":"rain"}`: models.OutcomePartly,
		`{"last_barrier":"rain"}`:                                 models.OutcomeNotDone,
		`{"last_barrier":null}`:                                   "",
		`{"habit_domain":"walking"}`:                              "",
	} {
		require.Equal(t, want, run(t, "save_user_profile", args, models.Profile{}).Outcome, args)
	}
}

func TestSaveRefusals(t *testing.T) {
	long := strings.Repeat("ä", 121)
	tests := []struct {
		name, args, want string
	}{
		{"counter", `{"success_count":9}`, "success_count: is not an argument of save_user_profile; allowed are additional_info, habit_domain, "},
		{"too long", `{"habit_domain":"` + long + `"}`, "habit_domain: is too long (121 characters); at most 120 are allowed"},
		{"number", `{"habit_domain":7}`, "habit_domain: must be text or null"},
		{"object", `{"habit_domain":{"a":1}}`, "habit_domain: must be text or null"},
		{"quoted null", `{"habit_domain":"null","prompt_anchor":"tea"}`, "habit_domain: holds the word null in quotes; use null without quotes to erase the field"},
		{"unknown tone", `{"tone_tags":["sarcastic"]}`, "tone_tags: must be one of concise, detailed, formal, casual"},
		{"tone as text", `{"tone_tags":"concise"}`, "tone_tags: must be a list"},
		{"unknown source", `{"tone_tags":["concise"],"tone_update_source":"guess"}`, "tone_update_source: must be one of explicit, implicit"},
		{"array", `[]`, "arguments: must be one JSON object with named fields"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := run(t, "save_user_profile", tt.args, models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking"}})
			require.True(t, out.Result.Failed)
			require.Nil(t, out.Profile)
			require.NotEqual(t, models.OutcomeDone, out.Outcome)
			var answer struct {
				OK    bool
				Error string
			}
			require.NoError(t, json.Unmarshal([]byte(out.Result.Content), &answer))
			require.False(t, answer.OK)
			require.True(t, strings.HasPrefix(answer.Error, tt.want), answer.Error)
		})
	}
	out := run(t, "save_user_profile", `{"habit_domain":"`+long[2:]+`"}`, models.Profile{})
	require.False(t, out.Result.Failed, "120 characters are allowed, whatever their bytes")
}

func TestGenerateHabitPrompt(t *testing.T) {
	ready := models.Profile{HabitTexts: models.HabitTexts{PromptAnchor: "coffee", PreferredTime: "8am"}, PreparedPrompt: "old"}
	now := run(t, "generate_habit_prompt", `{"delivery_mode":"immediate"}`, ready)
	require.False(t, now.Result.Failed)
	require.Equal(t, "After coffee, walk.", now.Profile.LastHabitPrompt)
	require.Equal(t, "old", now.Profile.PreparedPrompt)
	require.Contains(t, now.Result.Content, `"prompt":"After coffee, walk."`)
	require.Contains(t, now.Result.Content, "Not sent yet")

	later := run(t, "generate_habit_prompt", `{"delivery_mode":"scheduled"}`, ready)
	require.Equal(t, "After coffee, walk.", later.Profile.LastHabitPrompt)
	require.Equal(t, "After coffee, walk.", later.Profile.PreparedPrompt)
	require.Contains(t, later.Result.Content, "Nothing is sent now")
}

func TestGenerateHabitPromptNeedsAnchorAndTime(t *testing.T) {
	tests := []struct {
		name string
		p    models.Profile
		want string
	}{
		{"nothing", models.Profile{}, "prompt_anchor, preferred_time: missing from the profile"},
		{"no time", models.Profile{HabitTexts: models.HabitTexts{PromptAnchor: "tea"}}, "preferred_time: missing"},
		{"no anchor", models.Profile{HabitTexts: models.HabitTexts{PreferredTime: "8am"}}, "prompt_anchor: missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := run(t, "generate_habit_prompt", `{"delivery_mode":"immediate"}`, tt.p)
			require.True(t, out.Result.Failed)
			require.Nil(t, out.Profile)
			require.Contains(t, out.Result.Content, tt.want)
		})
	}
}

func TestGenerateHabitPromptPassesNotesAndErrors(t *testing.T) {
	ready := models.Profile{HabitTexts: models.HabitTexts{PromptAnchor: "coffee", PreferredTime: "8am"}}
	w := &writer{text: "x"}
	in := RunInput{
		Call:    models.ToolCall{Name: "generate_habit_prompt", Arguments: `{"delivery_mode":"immediate","personalization_notes":" tired "}`},
		Profile: ready, Now: noon, Writer: w,
	}
	_, err := newRegistry(t).Run(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, "tired", w.notes)

	busy := &models.ModelError{Class: models.ModelBusy}
	in.Writer = &writer{err: busy}
	out, err := newRegistry(t).Run(t.Context(), in)
	require.ErrorIs(t, err, busy)
	require.Nil(t, out.Profile)

	in.Call.Arguments = `{"delivery_mode":"now"}`
	in.Writer = w
	out, err = newRegistry(t).Run(t.Context(), in)
	require.NoError(t, err)
	require.True(t, out.Result.Failed)
	require.Equal(t, 1, w.calls)
}

func TestRunOfOtherTools(t *testing.T) {
	out := run(t, "send_sms", `{}`, models.Profile{})
	require.True(t, out.Result.Failed)
	require.Contains(t, out.Result.Content, "there is no tool called send_sms")
	_, err := newRegistry(t).Run(t.Context(), RunInput{Call: models.ToolCall{Name: "scheduler"}})
	require.ErrorContains(t, err, "is decided, not run")
}

// FuzzArguments: with any arguments no tool panics, a failed call leaves
// profile and memory alone, and a refusal is an error that names a field.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{}`, `null`, `[]`, `"{}"`, `{"action":"create","type":"fixed","fixed_time":"08:00"}`,
		`{"target_state":"INTAKE","delay_minutes":0.5}`, `{"habit_domain":null,"last_blocker":"x"}`, `{"delivery_mode":"immediate"}`,
		`{"tone_tags":["concise",null]}`, `{"delay_minutes":1e400}`,
		`{"query":"knee"}`, `{"topic":"knee"}`, `{"topic":"F1 \u0000"}`, `{"id":"(f1)"}`, `{"all":true,"confirmed":true}`, `{"all":"true"}`, `{"": ""}`, "\xff", `"\"\""`, `{"habit_domain":"\ud800"}`} {
		f.Add(seed)
	}
	registry := newRegistry(f)
	profile := models.Profile{HabitTexts: models.HabitTexts{HabitDomain: "walking", PromptAnchor: "coffee", PreferredTime: "8am"}}
	f.Fuzz(func(t *testing.T, args string) {
		for _, name := range registry.current.Load().order {
			call := models.ToolCall{ID: "c", Name: name, Arguments: args}
			if tool, _ := registry.Lookup(name); tool.InWorkflow() {
				event, err := registry.Event(call, "n1")
				if err != nil {
					field := (*models.FieldError)(nil)
					require.ErrorAs(t, err, &field)
					require.NotEmpty(t, field.Field)
					require.Empty(t, event.Kind)
					continue
				}
				require.GreaterOrEqual(t, event.Delay, time.Duration(0))
				continue
			}
			memory := ada()
			out, err := registry.Run(t.Context(), RunInput{
				Call: call, Profile: profile, Now: noon, Writer: &writer{text: "After coffee, walk."}, Memory: memory, Finder: echo("{}"),
			})
			require.NoError(t, err)
			require.True(t, json.Valid([]byte(out.Result.Content)))
			if out.Result.Failed {
				require.Nil(t, out.Profile)
				require.NotEqual(t, models.OutcomeDone, out.Outcome)
				require.Empty(t, memory.erased)
			}
			require.True(t, len(memory.erased) == 0 || name == "forget_memory")
			require.NotContains(t, memory.erased, "f9", "somebody else's")
		}
	})
}

// TestReported: what a call of the profile's tool makes known of a prompt.
func TestReported(t *testing.T) {
	registry := newRegistry(t)
	for arguments, want := range map[string]wire.FeedbackStage{
		`{"last_successful_prompt":"walk after coffee"}`:          wire.FeedbackOutcome,
		`{"last_barrier":"rain"}`:                                 wire.FeedbackBarrier,
		`{"last_barrier":"rain","last_successful_prompt":"walk"}`: wire.FeedbackBarrier,
		`{"last_barrier":null}`:                                   wire.FeedbackNone,
		`{"habit_domain":"walking"}`:                              wire.FeedbackNone,
		`{"last_barrier":7}`:                                      wire.FeedbackNone,
	} {
		require.Equal(t, want, registry.Reported(models.ToolCall{Name: SaveTool, Arguments: arguments}), arguments)
	}
}
