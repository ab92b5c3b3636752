package twilio

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/internal/coach"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// participant is one in a test: the product's own composing, tools and
// rules around the scripted model over HTTP, without a workflow or a database.
type participant struct {
	t        *testing.T
	bench    *bench
	lib      *prompts.Library
	registry *tools.Registry
	zone     *time.Location
	ctx      models.TurnContext
	state    wire.ParticipantState
	now      time.Time
	// names are the tools that ran in the last turn.
	names []string
	// protocol is how tools are offered; "" is native.
	protocol models.Protocol
}

func newParticipant(t *testing.T) *participant {
	t.Helper()
	lib, err := prompts.Load("")
	require.NoError(t, err)
	registry, err := tools.New()
	require.NoError(t, err)
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	l := &participant{
		t: t, bench: start(t, config(nil)), lib: lib, registry: registry, zone: zone,
		now: time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC),
	}
	l.ctx.Participant = models.Participant{ID: "conv_1", PersonTexts: models.PersonTexts[string]{Name: "Ada"}, Timezone: zone.String()}
	l.state = wire.ParticipantState{ParticipantID: "conv_1", Zone: zone.String(), Status: wire.StatusActive, Mode: wire.ModeIntake}
	return l
}

// post asks the script over HTTP.
func (l *participant) post(request models.ChatRequest) (string, []models.ToolCall) {
	l.t.Helper()
	messages := []any{}
	for _, m := range request.Messages {
		message := map[string]any{"role": m.Role, "content": m.Content}
		calls := []any{}
		for _, c := range m.ToolCalls {
			calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
		}
		if len(calls) > 0 {
			message["tool_calls"] = calls
		}
		if m.ToolCallID != "" {
			message["tool_call_id"] = m.ToolCallID
		}
		messages = append(messages, message)
	}
	offered := []any{}
	for _, spec := range request.Tools {
		offered = append(offered, map[string]any{"type": "function", "function": map[string]any{"name": spec.Name, "parameters": spec.Schema}})
	}
	code, answer := l.bench.do(l.t, http.MethodPost, "/v1/chat/completions", map[string]any{"model": "m", "messages": messages, "tools": offered})
	require.Equal(l.t, http.StatusOK, code, "%v", answer)
	message := objects(l.t, answer["choices"])[0]["message"].(map[string]any)
	text, _ := message["content"].(string)
	var calls []models.ToolCall
	if message["tool_calls"] != nil {
		for _, c := range objects(l.t, message["tool_calls"]) {
			function := c["function"].(map[string]any)
			calls = append(calls, models.ToolCall{ID: c["id"].(string), Name: function["name"].(string), Arguments: function["arguments"].(string)})
		}
	}
	return text, calls
}

// turn answers in at most 8 steps; the last one has no tools.
func (l *participant) turn(kind wire.TurnKind) string {
	l.t.Helper()
	l.ctx.Steps, l.ctx.Runs, l.names = nil, nil, nil
	for step := range 8 {
		in := agent.Input{
			Context: l.ctx, Mode: l.state.Mode, Kind: kind, Now: l.now, Zone: l.zone, HistoryLimit: 30, Model: "m",
		}
		if step < 7 {
			in.Tools = l.registry.For(l.state.Mode)
		}
		request, err := agent.Compose(l.lib, in)
		require.NoError(l.t, err)
		text, calls := l.ask(request)
		if len(calls) == 0 {
			l.remember(models.RoleAssistant, models.EntryOf(kind), text)
			l.between()
			return text
		}
		l.run(step, text, calls)
	}
	l.t.Fatal("the script never came to words")
	return ""
}

// between applies what waited for the end of the turn.
func (l *participant) between() {
	for _, due := range l.state.Due {
		if due.Kind == wire.DueDelayedTransition && !due.At.After(l.now) {
			l.state.Mode = wire.Mode(due.Ref)
		}
	}
}

func (l *participant) remember(role models.Role, kind models.EntryKind, text string) {
	l.ctx.Window = append(l.ctx.Window, models.Message{
		ID: int64(len(l.ctx.Window) + 1), Role: role, Kind: kind, Text: text, At: l.now,
	})
}

func (l *participant) run(step int, text string, calls []models.ToolCall) {
	l.t.Helper()
	raw, err := json.Marshal(calls)
	require.NoError(l.t, err)
	l.ctx.Steps = append(l.ctx.Steps, models.Step{Number: step, AfterMessage: int64(len(l.ctx.Window)), Text: text, Calls: string(raw)})
	for i, c := range calls {
		result := l.tool(c)
		encoded, err := json.Marshal(result)
		require.NoError(l.t, err)
		l.ctx.Runs = append(l.ctx.Runs, models.ToolRun{Step: step, Call: i, Name: c.Name, Result: string(encoded), Failed: result.Failed})
		l.names = append(l.names, c.Name)
	}
}

func (l *participant) tool(c models.ToolCall) models.ToolResult {
	l.t.Helper()
	tool, known := l.registry.Lookup(c.Name)
	if !known || !tool.InWorkflow() {
		out, err := l.registry.Run(context.Background(), tools.RunInput{Call: c, Profile: l.ctx.Profile, Now: l.now, Writer: l})
		require.NoError(l.t, err)
		if out.Profile != nil {
			l.ctx.Profile = *out.Profile
		}
		return out.Result
	}
	event, err := l.registry.Event(c, "s1")
	if field := (*models.FieldError)(nil); errors.As(err, &field) {
		return tools.Failure(c, field)
	}
	require.NoError(l.t, err)
	decision, err := coach.Decide(coach.Input{
		State: l.state, Now: l.now, Rules: coach.Rules{PrepTime: 10 * time.Minute}, Zones: time.LoadLocation,
	}, event)
	require.NoError(l.t, err)
	if decision.Refused != "" {
		return tools.Failure(c, errors.New(decision.Refused))
	}
	l.apply(decision.Effects)
	return models.ToolResult{CallID: c.ID, Name: c.Name, Content: decision.Note}
}

func (l *participant) apply(effects []wire.Effect) {
	for _, e := range effects {
		switch e.Kind { // What the tools of this test lead to.
		case wire.EffectPutSchedule:
			l.state.Schedules = append(l.state.Schedules, *e.Schedule)
		case wire.EffectDropSchedule:
			l.state.Schedules = slices.DeleteFunc(l.state.Schedules, func(s wire.Schedule) bool { return s.ID == e.Schedule.ID })
		case wire.EffectSetDue:
			l.state.Due = append(l.state.Due, e.Due)
		}
	}
	l.ctx.Schedules = nil
	for _, s := range l.state.Schedules {
		l.ctx.Schedules = append(l.ctx.Schedules, models.ScheduleRow{ID: s.ID, Type: s.Type, At: s.At, FromTime: s.From, ToTime: s.To, Zone: s.Zone})
	}
}

// HabitPrompt has the script write a prompt, as the product does.
func (l *participant) HabitPrompt(_ context.Context, p models.Profile, notes string) (string, error) {
	request, err := agent.ComposeHabitPrompt(l.lib, agent.HabitInput{Person: models.Participant{PersonTexts: models.PersonTexts[string]{Name: "Ada"}}, Profile: p, Notes: notes, Zone: l.zone, Now: l.now, Model: "m"})
	if err != nil {
		return "", err
	}
	text, _ := l.ask(request)
	return text, nil
}

func (l *participant) say(text string) string {
	l.t.Helper()
	l.now = l.now.Add(time.Minute)
	l.remember(models.RoleUser, models.KindMessage, text)
	return l.turn(wire.TurnReply)
}

// prompt sends the daily prompt, which waits for an answer then.
func (l *participant) prompt() string {
	l.t.Helper()
	text, err := l.HabitPrompt(context.Background(), l.ctx.Profile, "")
	require.NoError(l.t, err)
	l.ctx.Profile.LastHabitPrompt = text
	l.remember(models.RoleAssistant, models.KindPrompt, text)
	at := l.now
	l.ctx.Outstanding = &models.Prompt{ID: "p", State: models.PromptPending, SentAt: &at}
	return text
}

func (l *participant) intake() {
	l.t.Helper()
	for _, text := range []string{"hi", "a short walk", "more energy for my kids", "8am", "after my morning coffee", "yes"} {
		l.say(text)
	}
	require.Len(l.t, l.state.Schedules, 1)
}

func TestIntakeInSixTurns(t *testing.T) {
	l := newParticipant(t)
	require.Equal(t, "Hi Ada! I am your automated habit coach. We start with a short chat, then you get about one text a day. Are you ready to start?",
		l.turn(wire.TurnGreeting))
	for _, tc := range []struct{ said, want string }{
		{"hi", "What small habit would you like to start with?"},
		{"A short walk.", "Got it. Why does that matter to you?"},
		{"more energy for my kids", "Got it. What time of day suits you best, for example 8:00 am, or between 9 and 11?"},
		{"about 8 in the morning", "Got it. What do you already do every day that the habit can follow, for example your morning coffee?"},
		{"my morning coffee", "Got it. Here is the plan: after your morning coffee, a short walk. Shall I text you every day at 08:00? Say yes, or another time."},
		{"Yes!", "Done. You get a text every day at 08:00 (America/New_York). The first is for Wednesday 2026-11-25 08:00."},
	} {
		require.Equal(t, tc.want, l.say(tc.said))
	}
	require.Equal(t, "A short walk.", l.ctx.Profile.HabitDomain)
	require.Equal(t, "more energy for my kids", l.ctx.Profile.MotivationalFrame)
	require.Equal(t, "08:00", l.ctx.Profile.PreferredTime)
	require.Equal(t, "my morning coffee", l.ctx.Profile.PromptAnchor)
	require.Equal(t, wire.ScheduleFixed, l.state.Schedules[0].Type)
	require.Equal(t, "08:00", l.state.Schedules[0].At)
	require.Equal(t, "Thanks for your message. I am here when you want to talk about your habit.", l.say("my secret is safe"))
}

func TestIntakeWithAWindowAndAChangeOfMind(t *testing.T) {
	l := newParticipant(t)
	for _, text := range []string{"hi", "water", "health", "whenever", "lunch"} {
		l.say(text)
	}
	require.Equal(t, "whenever", l.ctx.Profile.PreferredTime)
	require.Contains(t, l.say("not sure"), "At what clock time")
	require.Contains(t, l.say("at 7"), "Shall I text you every day at 07:00?")
	require.Contains(t, l.say("rather between 9 and 11"), "Shall I text you every day between 09:00 and 11:00?")
	require.Contains(t, l.say("ok"), "You get a text every day between 09:00 and 11:00 (America/New_York).")
	require.Equal(t, wire.ScheduleRandom, l.state.Schedules[0].Type)
	require.Equal(t, "11:00", l.state.Schedules[0].To)
}

func TestIntakeAfterAFixedGreeting(t *testing.T) {
	l := newParticipant(t)
	l.remember(models.RoleAssistant, models.KindGreeting, "Hi Ada, this is Coachline. What small habit would you like to start with?")
	require.Contains(t, l.say("hello"), "What small habit", "a greeting is no habit")
	require.Contains(t, l.say("stretching"), "Why does that matter")
	require.Equal(t, "stretching", l.ctx.Profile.HabitDomain)
}

func TestSchedulesByText(t *testing.T) {
	l := newParticipant(t)
	require.Equal(t, "You have no schedules.", l.say("List my schedules"))
	l = newParticipant(t)
	l.intake()
	require.Equal(t, "You have 1: s1 at 08:00 (America/New_York), next 2026-11-25 08:00.", l.say("list my schedules please"))
	require.Contains(t, l.say("delete the one at 9:00"), "Which one shall I delete?")
	require.Equal(t, "Done. I deleted the schedule at 08:00 (America/New_York).", l.say("the 8:00 one"))
	require.Empty(t, l.state.Schedules)
	require.Contains(t, l.say("cancel my prompts"), "nothing to delete")
}

func TestFeedbackByText(t *testing.T) {
	for _, tc := range []struct {
		name, said string
		mode       wire.Mode
		tools      []string
		worked     bool
		want       string
	}{
		{"done in intake", "Done!", wire.ModeIntake, []string{"save_user_profile"}, true, "Well done!"},
		{"did it in feedback", "did it :)", wire.ModeFeedback, []string{"save_user_profile", "transition_state"}, true, "Well done!"},
		{"yes", "YES", wire.ModeFeedback, []string{"save_user_profile", "transition_state"}, true, "Well done!"},
		{"no", "no", wire.ModeIntake, []string{"save_user_profile"}, false, "What would make it easier"},
		{"busy", "I was too busy, sorry", wire.ModeFeedback, []string{"save_user_profile", "transition_state"}, false, "What would make it easier"},
		{"could not get it done", "Couldn't get it done", wire.ModeFeedback, []string{"save_user_profile", "transition_state"}, false, "What would make it easier"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newParticipant(t)
			l.intake()
			prompt := l.prompt()
			l.state.Mode = tc.mode
			answer := l.say(tc.said)
			require.Contains(t, answer, tc.want)
			require.Equal(t, tc.tools, l.names)
			require.Equal(t, wire.ModeIntake, l.state.Mode)
			if tc.worked {
				require.Equal(t, prompt, l.ctx.Profile.LastSuccessfulPrompt)
				require.Contains(t, answer, prompt)
			} else {
				require.Equal(t, tc.said, l.ctx.Profile.LastBarrier)
				require.Empty(t, l.ctx.Profile.LastSuccessfulPrompt)
			}
		})
	}
}

func TestCommandsByText(t *testing.T) {
	l := newParticipant(t)
	require.Contains(t, l.say("give me a prompt"), "That did not work: prompt_anchor, preferred_time: missing from the profile")
	l = newParticipant(t)
	l.intake()
	prompt := l.say("Give me a prompt!")
	require.Equal(t, "After your morning coffee, take two minutes for a short walk: more energy for your kids.", prompt)
	require.Less(t, len(strings.Fields(prompt)), 30)
	again := l.say("give me a prompt")
	require.NotEqual(t, prompt, again, "it differs from the last one")

	require.Contains(t, l.say("what do you know about me?"), "your reason is more energy for my kids")
	require.Equal(t, "Your local time is Tuesday 2026-11-24 08:10 (America/New_York).", l.say("what time is it?"))
	require.Equal(t, "OK. I will ask you how it went in 0.5 minutes.", l.say("talk later in 0.5 minutes"))
	due := l.state.Due[len(l.state.Due)-1]
	require.Equal(t, wire.DueDelayedTransition, due.Kind)
	require.Equal(t, l.now.Add(30*time.Second), due.At)
	l.say("feedback now")
	require.Equal(t, wire.ModeFeedback, l.state.Mode)
}

func TestWordsForTests(t *testing.T) {
	for _, tc := range []struct {
		said  string
		tools []string
		want  string
	}{
		{"call two tools", []string{"scheduler", "save_user_profile"}, "Both are done"},
		{"loop tools", slices.Repeat([]string{"scheduler"}, 7), "I can only write now"},
		{"say nothing", nil, ""},
		{"say nothing once", nil, ""},
		{"bad arguments", []string{"scheduler"}, "That did not work: "},
		{"text and tool", []string{"scheduler"}, `That did not work: there is no schedule "no-such-schedule"`},
		{"unknown tool", []string{"no_such_tool"}, "That did not work: tool: there is no tool"},
	} {
		t.Run(tc.said, func(t *testing.T) {
			l := newParticipant(t)
			answer := l.say("please " + strings.ToUpper(tc.said) + "!")
			require.Equal(t, tc.tools, l.names)
			if tc.want == "" {
				require.Empty(t, answer)
			}
			require.Contains(t, answer, tc.want)
		})
	}
}
