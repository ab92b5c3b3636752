package coach

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"coachline/models"
	"coachline/models/wire"

	"github.com/stretchr/testify/require"
)

const (
	person = "conv_0123456789abcdef0123"
	home   = "America/New_York"
)

// noon is a Thursday in New York without a clock change near.
const noon = "2026-01-15T12:00:00-05:00"

func instant(t require.TestingT, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at.UTC()
}

// at is the situation of an active participant in New York with the default
// settings.
func at(t require.TestingT, now string) Input {
	return Input{
		State: wire.ParticipantState{
			ParticipantID: person, Zone: home, Status: wire.StatusActive, Mode: wire.ModeIntake, Greeted: true,
		},
		Now: instant(t, now),
		Rules: Rules{
			PrepTime: 10 * time.Minute, PromptGrace: 2 * time.Hour, ReminderDelay: 5 * time.Hour,
			AutoFeedbackDelay: 5 * time.Minute, FeedbackTimeout: 15 * time.Minute, FeedbackFollowup: 3 * time.Hour,
			Debounce: 2 * time.Second, DebounceMax: 15 * time.Second, Quiet: quietHours(t, "21:00-08:00"),
		},
		Zones: time.LoadLocation,
	}
}

// decide runs a decision and holds that it neither changes its situation nor
// depends on anything else.
func decide(t require.TestingT, s Input, ev wire.Event) wire.Decision {
	before := s.State.Clone()
	got, err := Decide(s, ev)
	require.NoError(t, err)
	require.Equal(t, before, s.State)
	again, err := Decide(s, ev)
	require.NoError(t, err)
	require.Equal(t, got, again)
	turns := 0
	for i, effect := range got.Effects {
		if effect.Kind == wire.EffectStartTurn {
			turns++
			last := i == len(got.Effects)-1 || got.Effects[i+1].Kind == wire.EffectEnd
			require.True(t, last, "a turn comes after what must hold without it")
		}
	}
	require.LessOrEqual(t, turns, 1)
	return got
}

func dueEvent(kind wire.DueKind, ref string) wire.Event {
	return wire.Event{Kind: wire.EventDue, Due: wire.Due{Kind: kind, Ref: ref}}
}

func setDue(kind wire.DueKind, ref string, at time.Time) wire.Effect {
	return wire.Effect{Kind: wire.EffectSetDue, Due: wire.Due{Kind: kind, Ref: ref, At: at}}
}

func clearDue(kind wire.DueKind) wire.Effect {
	return wire.Effect{Kind: wire.EffectClearDue, Due: wire.Due{Kind: kind}}
}

func turn(plan wire.TurnPlan) wire.Effect {
	return wire.Effect{Kind: wire.EffectStartTurn, Turn: &plan}
}

func setMode(mode wire.Mode) wire.Effect {
	return wire.Effect{Kind: wire.EffectSetMode, Mode: mode}
}

func setStatus(status wire.Status) wire.Effect {
	return wire.Effect{Kind: wire.EffectSetStatus, Status: status}
}

var clearPending = wire.Effect{Kind: wire.EffectClearPending}

// everything gives a state with one due time of every kind and a pending
// prompt.
func everything(s Input) Input {
	for _, kind := range everyDue() {
		s.State.Due = append(s.State.Due, wire.Due{Kind: kind, Ref: "r", At: s.Now.Add(time.Hour)})
	}
	s.State.Pending = &wire.PendingPrompt{PromptID: "p1", SentAt: s.Now.Add(-time.Minute)}
	return s
}

func waiting(s Input, ages ...time.Duration) Input {
	for i, age := range ages {
		s.State.Inbox.Items = append(s.State.Inbox.Items, wire.InboxItem{MessageID: int64(i + 1), Seq: int64(i + 1), ReceivedAt: s.Now.Add(-age)})
	}
	return s
}

// noteOf reads a tool result.
func noteOf(t require.TestingT, d wire.Decision) map[string]any {
	require.Empty(t, d.Refused)
	var note map[string]any
	require.NoError(t, json.Unmarshal([]byte(d.Note), &note))
	return note
}

func TestDecideSimpleEvents(t *testing.T) {
	s := at(t, noon)
	require.Equal(t, []wire.Effect{turn(wire.TurnPlan{Kind: wire.TurnGreeting})},
		decide(t, s, wire.Event{Kind: wire.EventEnrolled}).Effects)
	require.Equal(t, []wire.Effect{turn(wire.TurnPlan{Kind: wire.TurnOperator, OutboxID: "o1"})},
		decide(t, s, wire.Event{Kind: wire.EventSend, OutboxID: "o1"}).Effects)
	require.Empty(t, decide(t, everything(s), wire.Event{Kind: wire.EventPromptFailed}).Effects)
}

func TestDecideRefusesUnknownKinds(t *testing.T) {
	_, err := Decide(at(t, noon), wire.Event{Kind: "tea"})
	require.ErrorContains(t, err, `unknown event "tea"`)
	_, err = Decide(at(t, noon), dueEvent("tea", ""))
	require.ErrorContains(t, err, `unknown due time "tea"`)
}

func TestDecideReportsABrokenState(t *testing.T) {
	s := at(t, noon)
	s.State.Zone = "Mars/Olympus"
	s.State.Mode = wire.ModeFeedback
	s.State.Pending = &wire.PendingPrompt{PromptID: "p1"}
	s.State.Schedules = []wire.Schedule{fixedAt("08:00")}
	for _, ev := range []wire.Event{
		dueEvent(wire.DueDailyPrompt, "s1"),
		dueEvent(wire.DueReminder, "p1"),
		dueEvent(wire.DueFeedbackTimeout, "p1"),
		{Kind: wire.EventTransitionAsk, Mode: wire.ModeIntake, Delay: time.Minute},
		{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{Action: wire.ScheduleList}},
	} {
		_, err := Decide(s, ev)
		require.ErrorContains(t, err, "Mars/Olympus")
	}
	for _, ev := range []wire.Event{
		{Kind: wire.EventScheduleTool},
		{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{Action: wire.ScheduleCreate}},
	} {
		_, err := Decide(at(t, noon), ev)
		require.Error(t, err)
	}
}

func TestDecideUnenrolled(t *testing.T) {
	got := decide(t, everything(at(t, noon)), wire.Event{Kind: wire.EventUnenrolled})
	var want []wire.Effect
	for _, kind := range everyDue() {
		want = append(want, clearDue(kind))
	}
	want = append(want, clearPending, setStatus(wire.StatusWithdrawn),
		turn(wire.TurnPlan{Kind: wire.TurnNotice}), wire.Effect{Kind: wire.EffectEnd})
	require.Equal(t, want, got.Effects)
}

func TestDecideNothingAfterTheEnd(t *testing.T) {
	s := waiting(everything(at(t, noon)), time.Second)
	s.State.Ended = true
	s.State.Schedules = []wire.Schedule{fixedAt("08:00")}
	for _, ev := range []wire.Event{
		{Kind: wire.EventEnrolled}, {Kind: wire.EventTexts}, {Kind: wire.EventUnenrolled}, {Kind: wire.EventSend},
		{Kind: wire.EventStatus, Status: wire.StatusPaused}, {Kind: wire.EventMode, Mode: wire.ModeFeedback},
		dueEvent(wire.DueDailyPrompt, "s1"), dueEvent(wire.DueDelayedTransition, string(wire.ModeFeedback)),
	} {
		require.Equal(t, wire.Decision{}, decide(t, s, ev), ev.Kind)
	}
	for _, ev := range []wire.Event{
		{Kind: wire.EventTransitionAsk, Mode: wire.ModeFeedback},
		{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{Action: wire.ScheduleList}},
	} {
		got := decide(t, s, ev)
		require.Contains(t, got.Refused, "left the programme")
		require.Empty(t, got.Effects)
	}
}

func TestDecideTexts(t *testing.T) {
	off := []wire.Effect{
		clearDue(wire.DueReminder), clearDue(wire.DueAutoFeedback),
		clearDue(wire.DueFeedbackTimeout), clearDue(wire.DueFeedbackFollowup), clearPending,
	}
	reply := turn(wire.TurnPlan{Kind: wire.TurnReply})
	store := turn(wire.TurnPlan{Kind: wire.TurnMessage})
	now := instant(t, noon)
	for _, c := range []struct {
		name   string
		s      Input
		change func(*Input)
		want   []wire.Effect
	}{
		{"one text waits for more", waiting(at(t, noon), 0), nil, []wire.Effect{setDue(wire.DueDebounce, "", now.Add(2*time.Second))}},
		{"more is likely", shaped(waiting(at(t, noon), 0), wire.ShapeOpen), nil, []wire.Effect{setDue(wire.DueDebounce, "", now.Add(5*time.Second))}},
		{"a question", shaped(waiting(at(t, noon), 0), wire.ShapeEnded), nil, []wire.Effect{setDue(wire.DueDebounce, "", now.Add(1500*time.Millisecond))}},
		{"silence is over", waiting(everything(at(t, noon)), 0), nil, append(off[:5:5], setDue(wire.DueDebounce, "", now.Add(2*time.Second)))},
		{"a long burst is cut", waiting(at(t, noon), 14*time.Second, 0), nil, []wire.Effect{setDue(wire.DueDebounce, "", now.Add(time.Second))}},
		{"a burst at its limit", waiting(at(t, noon), 15*time.Second, 0), nil, []wire.Effect{reply}},
		{"texts of an outage", waiting(everything(at(t, noon)), time.Hour), nil, append(off[:5:5], clearDue(wire.DueDebounce), clearDue(wire.DueGreeting), reply)},
		{"no limit", waiting(at(t, noon), time.Hour), func(s *Input) { s.Rules.DebounceMax = 0 },
			[]wire.Effect{setDue(wire.DueDebounce, "", now.Add(2*time.Second))}},
		{"debounce off", waiting(at(t, noon), 0), func(s *Input) { s.Rules.Debounce = 0 }, []wire.Effect{reply}},
		{"paused", waiting(at(t, noon), 0), func(s *Input) { s.State.Status = wire.StatusPaused }, []wire.Effect{store}},
		{"opted out", waiting(at(t, noon), 0), func(s *Input) { s.State.Status = wire.StatusOptedOut }, []wire.Effect{store}},
		{"nothing waits", at(t, noon), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change(&c.s)
			}
			require.Equal(t, c.want, decide(t, c.s, wire.Event{Kind: wire.EventTexts, At: now}).Effects)
		})
	}
}

// shaped gives the newest text a shape.
func shaped(s Input, shape wire.TextShape) Input {
	s.State.Inbox.Items[len(s.State.Inbox.Items)-1].Shape = shape
	return s
}

func TestDecideDebounce(t *testing.T) {
	require.Equal(t, []wire.Effect{turn(wire.TurnPlan{Kind: wire.TurnReply})},
		decide(t, waiting(at(t, noon), time.Second), dueEvent(wire.DueDebounce, "")).Effects)
	require.Empty(t, decide(t, at(t, noon), dueEvent(wire.DueDebounce, "")).Effects)
	paused := waiting(at(t, noon), time.Second)
	paused.State.Status = wire.StatusPaused
	require.Empty(t, decide(t, paused, dueEvent(wire.DueDebounce, "")).Effects)
}

// TestModelIsToldWhatBecomesOfASubagent: of a task that it does not wait for, that nothing
// is known yet, and who gets the result.
func TestModelIsToldWhatBecomesOfASubagent(t *testing.T) {
	note := func(wait, tell bool) string {
		sub := wire.Subagent{TurnID: models.SubagentTurnID(models.TurnID(person, 1), 1, 0), Wait: wait, Tell: tell}
		return decide(t, at(t, noon), wire.Event{Kind: wire.EventSubagentAsk, Plan: wire.TurnPlan{Subagent: sub}}).Note
	}
	require.Empty(t, note(true, true), "the subagent answers the call itself")
	require.Contains(t, note(false, true), "The result is texted to the person when it is ready. It is not known now")
	require.Contains(t, note(false, false), "The result is kept for the team and not sent. It is not known now")
}

// TestResultOfASubagentIsSent: to people in coaching, outside quiet hours and when no
// operator writes; otherwise later, or never.
func TestResultOfASubagentIsSent(t *testing.T) {
	sub := wire.Subagent{TurnID: models.SubagentTurnID(models.TurnID(person, 1), 1, 0), Tell: true}
	later := func(at string) []wire.Effect {
		return []wire.Effect{setDue(wire.DueResult, sub.TurnID, instant(t, at))}
	}
	sent := []wire.Effect{turn(wire.TurnPlan{Kind: wire.TurnResult, Subagent: wire.Subagent{TurnID: sub.TurnID}})}
	for _, c := range []struct {
		name, now string
		change    func(*Input, *wire.Subagent)
		want      []wire.Effect
	}{
		{"by day", noon, nil, sent},
		{"in quiet hours", "2026-01-15T22:00:00-05:00", nil, later("2026-01-16T08:00:00-05:00")},
		{"an operator writes", noon, func(s *Input, _ *wire.Subagent) { s.State.TakenOverUntil = s.Now.Add(time.Hour) }, later("2026-01-15T13:00:00-05:00")},
		{"paused", noon, func(s *Input, _ *wire.Subagent) { s.State.Status = wire.StatusPaused }, nil},
		{"failed", noon, func(_ *Input, sub *wire.Subagent) { sub.Failed = true }, nil},
		{"kept for the team", noon, func(_ *Input, sub *wire.Subagent) { sub.Tell = false }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, sub := at(t, c.now), sub
			if c.change != nil {
				c.change(&s, &sub)
			}
			require.Equal(t, c.want, decide(t, s, wire.Event{Kind: wire.EventSubagentDone, Plan: wire.TurnPlan{Subagent: sub}}).Effects)
		})
	}
}

// TestRefusalsQuoteLittle: of a value that came from outside a message shows the beginning.
func TestRefusalsQuoteLittle(t *testing.T) {
	require.Equal(t, strconv.Quote(strings.Repeat("é", 60)), quoteValue(strings.Repeat("é", 60)))
	require.Equal(t, strconv.Quote(strings.Repeat("é", 60)+"..."), quoteValue(strings.Repeat("é", 61)))
}

// TestSubagentsHaveLimits: two at a time and five a day.
func TestSubagentsHaveLimits(t *testing.T) {
	s := at(t, "2026-03-02T12:00:00Z")
	n := 0
	ask := func(wait bool) string {
		n++
		got := decide(t, s, wire.Event{Kind: wire.EventSubagentAsk, Plan: wire.TurnPlan{Subagent: wire.Subagent{TurnID: models.SubagentTurnID(models.TurnID(person, n), 1, 0), Wait: wait}}})
		started := false
		for _, effect := range got.Effects {
			started = started || effect.Kind == wire.EffectStartSubagent
			if effect.Kind == wire.EffectSetSubagents {
				s.State.Subagents = effect.Subagents
			}
		}
		require.Equal(t, started, got.Refused == "")
		return got.Refused
	}
	done := func(n int) {
		got := decide(t, s, wire.Event{Kind: wire.EventSubagentDone, Plan: wire.TurnPlan{Subagent: wire.Subagent{TurnID: models.SubagentTurnID(models.TurnID(person, n), 1, 0)}}})
		require.Len(t, got.Effects, 1)
		s.State.Subagents = got.Effects[0].Subagents
	}
	require.Empty(t, ask(false))
	require.Empty(t, ask(false))
	require.Contains(t, ask(false), "2 helpers are at work")
	require.Contains(t, ask(true), "2 helpers are at work")
	done(1)
	require.Empty(t, ask(true), "one that the turn waits for is over when another is asked for")
	require.Empty(t, ask(true))
	s.Now = s.Now.Add(21 * time.Minute)
	require.Empty(t, ask(false), "the lost one is over")
	require.Contains(t, ask(true), "5 helpers within a day")
	s.Now = s.Now.Add(23*time.Hour + 40*time.Minute)
	require.Empty(t, ask(true), "the next day")
	require.Len(t, s.State.Subagents, 2, "and no older one is kept")
}
