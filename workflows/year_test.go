package workflows_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"coachline/activities"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
	"coachline/workflows"
)

// The year of 30 zones is lived by the rules alone, in the order in which the
// workflow asks them: in the workflow environment a zone's year takes a second of a
// core or two, and ten with store, tools and turns, most of them in SQLite. Three
// zones live their year in the workflow too, and the full world of the other tests
// runs the days around every clock change of every zone; both must agree with the
// rules text by text.

const (
	// The ids that the setting-up turn's two scheduler calls get.
	fixedID  = "sch-t1-s1c0"
	randomID = "sch-t1-s1c1"
	day      = 24 * time.Hour
)

// yearParticipant is a participant with a fixed schedule and a random window,
// somewhere.
type yearParticipant struct {
	zone  string
	year  int
	fixed string
	// opens and closes are the ends of the random window; quiet hours take a
	// part of it everywhere.
	opens, closes string
	silent        bool // never answers anything
}

// residents live where clocks change at every hour of the night, by 30, 60 and
// 120 minutes, at midnight, in Ramadan, across the date line, and not at all.
func residents() []yearParticipant {
	return []yearParticipant{
		{zone: "America/New_York", year: 2026, fixed: "07:30", opens: "19:00", closes: "23:00", silent: true},
		{zone: "America/Los_Angeles", year: 2026, fixed: "02:30", opens: "06:00", closes: "09:30"},
		{zone: "America/St_Johns", year: 2026, fixed: "22:15", opens: "20:30", closes: "08:45"},
		{zone: "America/Phoenix", year: 2026, fixed: "08:00", opens: "07:00", closes: "08:30", silent: true},
		{zone: "America/Havana", year: 2026, fixed: "00:30", opens: "20:00", closes: "22:00"},
		{zone: "America/Santiago", year: 2026, fixed: "23:30", opens: "07:45", closes: "12:00"},
		{zone: "America/Asuncion", year: 2023, fixed: "00:10", opens: "18:00", closes: "23:30", silent: true},
		{zone: "America/Sao_Paulo", year: 2018, fixed: "00:00", opens: "20:59", closes: "00:30"},
		{zone: "America/Nuuk", year: 2026, fixed: "23:15", opens: "05:00", closes: "10:00"},
		{zone: "Atlantic/Azores", year: 2026, fixed: "00:15", opens: "19:30", closes: "01:30", silent: true},
		{zone: "Europe/London", year: 2026, fixed: "01:30", opens: "06:30", closes: "08:20"},
		{zone: "Europe/Berlin", year: 2026, fixed: "12:00", opens: "20:00", closes: "22:30", silent: true},
		{zone: "Europe/Chisinau", year: 2026, fixed: "21:00", opens: "07:59", closes: "09:00"},
		{zone: "Africa/Casablanca", year: 2026, fixed: "02:30", opens: "01:00", closes: "09:00"},
		{zone: "Africa/Cairo", year: 2026, fixed: "00:30", opens: "20:15", closes: "00:15", silent: true},
		{zone: "Africa/Lagos", year: 2026, fixed: "06:00", opens: "19:00", closes: "21:30"},
		{zone: "Asia/Beirut", year: 2026, fixed: "00:10", opens: "00:00", closes: "10:00"},
		{zone: "Asia/Jerusalem", year: 2026, fixed: "02:15", opens: "18:30", closes: "02:30", silent: true},
		{zone: "Asia/Gaza", year: 2026, fixed: "02:45", opens: "07:00", closes: "11:00"},
		{zone: "Asia/Tehran", year: 2021, fixed: "00:05", opens: "20:00", closes: "23:59"},
		{zone: "Asia/Kolkata", year: 2026, fixed: "20:55", opens: "20:00", closes: "21:10", silent: true},
		{zone: "Asia/Kathmandu", year: 2026, fixed: "08:05", opens: "22:00", closes: "09:15"},
		{zone: "Asia/Tokyo", year: 2026, fixed: "23:59", opens: "06:00", closes: "08:30"},
		{zone: "Australia/Lord_Howe", year: 2026, fixed: "02:15", opens: "20:45", closes: "02:15"},
		{zone: "Australia/Adelaide", year: 2026, fixed: "02:30", opens: "07:30", closes: "08:30", silent: true},
		{zone: "Pacific/Auckland", year: 2026, fixed: "18:00", opens: "19:45", closes: "22:00"},
		{zone: "Pacific/Chatham", year: 2026, fixed: "03:00", opens: "06:15", closes: "09:00"},
		{zone: "Pacific/Apia", year: 2011, fixed: "07:00", opens: "20:00", closes: "03:00"},
		{zone: "Pacific/Kiritimati", year: 2026, fixed: "13:00", opens: "05:30", closes: "08:10", silent: true},
		{zone: "Antarctica/Troll", year: 2026, fixed: "02:00", opens: "00:30", closes: "08:40"},
	}
}

// stretch is a part of a resident's history; told is what reached the phone,
// and answers counts the texts that came back.
type stretch struct {
	yearParticipant
	t           *testing.T
	place       *time.Location
	rules       coach.Rules
	from, until time.Time
	told        []told
	answers     int
}

// told is one text to the phone; due is the prompt that it belongs to, empty
// for a reply.
type told struct {
	At   time.Time
	Kind models.EntryKind
	Due  string
}

func (r yearParticipant) stretch(t *testing.T, place *time.Location, from, until time.Time) *stretch {
	return &stretch{yearParticipant: r, t: t, place: place, rules: rulesOfTheYear(t), from: from.UTC(), until: until.UTC()}
}

func (r yearParticipant) location(t *testing.T) *time.Location {
	t.Helper()
	place, err := time.LoadLocation(r.zone)
	require.NoError(t, err)
	return place
}

// wholeYear begins in the afternoon, where no fixed time is near.
func (r yearParticipant) wholeYear(t *testing.T) *stretch {
	place := r.location(t)
	from := time.Date(r.year, 1, 1, 15, 20, 0, 0, place)
	return r.stretch(t, place, from, from.AddDate(1, 0, 0))
}

// weeks are those around the clock changes of the year; one of June where
// there is none.
func (r yearParticipant) weeks(t *testing.T) []*stretch {
	place := r.location(t)
	var out []*stretch
	for at := time.Date(r.year, 1, 8, 0, 0, 0, 0, place); ; {
		_, change := at.ZoneBounds()
		if change.IsZero() || change.In(place).Year() > r.year {
			break
		}
		from := change.AddDate(0, 0, -3)
		from = time.Date(from.Year(), from.Month(), from.Day(), 15, 20, 0, 0, place)
		out = append(out, r.stretch(t, place, from, from.Add(6*day)))
		at = change
	}
	if len(out) == 0 {
		from := time.Date(r.year, 6, 1, 15, 20, 0, 0, place)
		out = append(out, r.stretch(t, place, from, from.Add(6*day)))
	}
	return out
}

// setUp are the calls of the scheduler tool in the first turn; a person without a
// window has the fixed prompt alone.
func (s *stretch) setUp() []wire.Event {
	calls := []wire.Event{{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
		Action: wire.ScheduleCreate, NewID: fixedID, Type: wire.ScheduleFixed, At: s.fixed}}}
	if s.opens == "" {
		return calls
	}
	return append(calls, wire.Event{Kind: wire.EventScheduleTool, Schedule: &wire.ScheduleAsk{
		Action: wire.ScheduleCreate, NewID: randomID, Type: wire.ScheduleRandom, From: s.opens, To: s.closes}})
}

// rulesOfTheYear are the programme's defaults without a limit on what we start, so that
// every follow-up goes out.
func rulesOfTheYear(t *testing.T) coach.Rules {
	quiet, err := coach.ParseQuietHours("21:00-08:00")
	require.NoError(t, err)
	return coach.Rules{
		PrepTime: 10 * time.Minute, PromptSpread: 10 * time.Minute, PromptGrace: 2 * time.Hour,
		ReminderDelay: 5 * time.Hour, AutoFeedbackDelay: 5 * time.Minute,
		FeedbackTimeout: 15 * time.Minute, FeedbackFollowup: 3 * time.Hour,
		Debounce: 2 * time.Second, DebounceMax: 15 * time.Second, Quiet: quiet,
	}
}

// hears notes a text and says when the person answers it: before the switch to
// feedback, before the question, after it, after the follow-up, after the
// reminder, in the night, or never. Each is as likely as any other.
func (s *stretch) hears(text told) (time.Duration, bool) {
	s.told = append(s.told, text)
	if text.Kind != models.KindPrompt || s.silent {
		return 0, false
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(s.zone + text.Due))
	delays := []time.Duration{0, 2 * time.Minute, 11 * time.Minute, 70 * time.Minute, 4 * time.Hour, 5*time.Hour + 40*time.Minute, 9 * time.Hour}
	delay := delays[hash.Sum64()%uint64(len(delays))]
	if delay == 0 || text.At.Add(delay+time.Minute).After(s.until) {
		return 0, false
	}
	s.answers++
	return delay + 7*time.Second, true
}

// TestYearOfThirtyZones runs every zone's whole year.
func TestYearOfThirtyZones(t *testing.T) {
	t.Parallel()
	require.Len(t, residents(), 30)
	for _, r := range residents() {
		t.Run(strings.ReplaceAll(r.zone, "/", "_"), func(t *testing.T) {
			t.Parallel()
			s := r.wholeYear(t)
			newWalk(s).run()
			s.check()
			s.sawEverything()
			if slices.Contains(livedInWorkflow, r.zone) {
				lived := r.wholeYear(t)
				newBare(lived).run()
				lived.check()
				lived.agrees(s)
			}
		})
	}
}

// livedInWorkflow are a zone of a person who answers nothing, one whose clock changes
// by half an hour, and one that skips a date.
var livedInWorkflow = []string{"Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"}

// TestClockChangesInTheFullWorld runs the days around every change of every
// zone's clock.
func TestClockChangesInTheFullWorld(t *testing.T) {
	t.Parallel()
	for _, r := range residents() {
		t.Run(strings.ReplaceAll(r.zone, "/", "_"), func(t *testing.T) {
			t.Parallel()
			walked := r.weeks(t)
			for i, s := range r.weeks(t) {
				s.play()
				s.check()
				newWalk(walked[i]).run()
				s.agrees(walked[i])
			}
		})
	}
}

// play runs the stretch in the workflow environment.
func (s *stretch) play() {
	s.t.Helper()
	w := newWorld(s.t, func(w *world, rules *coach.Rules) {
		w.env.SetStartTime(s.from)
		w.env.SetTestTimeout(5 * time.Minute)
		*rules = s.rules
		w.state.Zone = s.zone
		_, err := w.store.People.UpdateParticipant(context.Background(), models.ParticipantUpdate{
			ID: "conv_1", Patch: models.ParticipantPatch{Timezone: &s.zone}, Actor: "test", Now: s.from,
		})
		require.NoError(w.t, err)
	})
	w.model.answer = scripted(map[string][]models.ToolCall{
		"set me up at " + s.fixed: {
			call("scheduler", map[string]any{"action": "create", "type": "fixed", "fixed_time": s.fixed}),
			call("scheduler", map[string]any{"action": "create", "type": "random", "random_start_time": s.opens, "random_end_time": s.closes}),
		},
		"done": {call("transition_state", map[string]any{"target_state": "INTAKE"})},
	})
	w.carrier.refuse = func(sms models.SMS) error {
		row, err := w.store.Outbox.Row(context.Background(), sms.OutboxID)
		if err != nil {
			return fmt.Errorf("reading what is sent: %w", err)
		}
		if delay, answered := s.hears(told{At: w.env.Now().UTC(), Kind: row.Kind, Due: row.PromptID}); answered {
			w.at(delay, func() { w.env.SignalWorkflow(wire.SignalMessageReceived, w.accept("done")) })
		}
		return nil
	}
	s.answers++
	w.text(0, "set me up at "+s.fixed)
	w.run(s.until.Sub(s.from))
}

// stubActivities is the workflow with the real rules and, in place of the other
// activities, ones that keep nothing.
type stubActivities struct {
	activities.DecisionActivities
	s     *stretch
	env   *testsuite.TestWorkflowEnvironment
	ended map[string]bool // turns
	texts int64
}

func newBare(s *stretch) *stubActivities {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	b := &stubActivities{s: s, env: suite.NewTestWorkflowEnvironment(), ended: map[string]bool{}}
	b.Rules = s.rules
	b.Zones = func(string) (*time.Location, error) { return s.place, nil }
	b.env.SetStartTime(s.from)
	b.env.SetTestTimeout(5 * time.Minute)
	b.env.SetWorkerOptions(workerOptions)
	b.env.RegisterActivity(b)
	b.env.RegisterWorkflow(workflows.Participant)
	return b
}

func (b *stubActivities) run() {
	b.s.t.Helper()
	b.s.answers++
	b.texted(0)
	b.env.SetWorkflowRunTimeout(b.s.until.Sub(b.s.from))
	b.env.ExecuteWorkflow(workflows.Participant, wire.ParticipantState{
		ParticipantID: "conv_1", Zone: b.s.zone, Status: wire.StatusActive, Mode: wire.ModeIntake, Greeted: true,
	})
	require.True(b.s.t, b.env.IsWorkflowCompleted())
}

// texted lets a text arrive after a delay.
func (b *stubActivities) texted(delay time.Duration) {
	b.env.RegisterDelayedCallback(func() {
		b.texts++
		b.env.SignalWorkflow(wire.SignalMessageReceived,
			wire.InboxItem{MessageID: b.texts, Seq: b.texts, ReceivedAt: b.env.Now().UTC()})
	}, delay)
}

// CallModel is an activity: a reply calls its tools first.
func (b *stubActivities) CallModel(_ context.Context, in wire.CallModelInput) (wire.CallModelResult, error) {
	var out wire.CallModelResult
	if in.Begin != nil {
		out.Begun = &wire.PrepareTurnResult{Limits: wire.Limits{Steps: 8, ToolCalls: 5}}
	}
	own := wire.CallRef{Name: "own", InWorkflow: true}
	switch {
	case in.Kind != wire.TurnReply || in.Step > 1:
		out.HasText = true
	case in.TurnID == models.TurnID("conv_1", 1):
		out.Calls = slices.Repeat([]wire.CallRef{own}, len(b.s.setUp()))
	default:
		out.Calls = []wire.CallRef{own}
	}
	return out, nil
}

// DecideTool is an activity.
func (b *stubActivities) DecideTool(_ context.Context, in wire.DecideToolInput) (wire.Decision, error) {
	ev := wire.Event{Kind: wire.EventTransitionAsk, Mode: wire.ModeIntake}
	if in.Tool.TurnID == models.TurnID("conv_1", 1) {
		ev = b.s.setUp()[in.Tool.Call]
	}
	return coach.Decide(coach.Input{State: in.State, Now: in.Now, Rules: b.Rules, Zones: b.Zones}, ev)
}

// SendTurn is an activity.
func (b *stubActivities) SendTurn(_ context.Context, in wire.SendTurnInput) (wire.SendTurnResult, error) {
	if b.ended[in.End.TurnID] {
		return wire.SendTurnResult{}, fmt.Errorf("turn %s ended twice", in.End.TurnID)
	}
	b.ended[in.End.TurnID] = true
	now, plan := b.env.Now().UTC(), in.End.Plan
	if delay, answered := b.s.hears(told{At: now, Kind: models.EntryOf(plan.Kind), Due: plan.PromptID}); answered {
		b.texted(delay)
	}
	return wire.SendTurnResult{First: wire.SendSMSResult{Status: wire.OutboxQueued, AcceptedAt: now}}, nil
}

// SaveState is an activity.
func (b *stubActivities) SaveState(context.Context, wire.SaveStateInput) error { return nil }

// walk is a stretch by the rules alone: what is decided holds at once, and a text is
// sent when its turn is decided.
type walk struct {
	s        *stretch
	rules    coach.Rules
	now      time.Time
	state    wire.ParticipantState
	arrivals []time.Time // of the person's next texts
	texts    int64
	plans    []wire.TurnPlan
	left     map[string]int // reasons of what was left out
}

func newWalk(s *stretch) *walk {
	return &walk{s: s, left: map[string]int{}, rules: s.rules, now: s.from, state: wire.ParticipantState{
		ParticipantID: "conv_1", Zone: s.zone, Status: wire.StatusActive, Mode: wire.ModeIntake, Greeted: true,
	}}
}

// run acts on one thing at a time: texts before turns before due times.
func (w *walk) run() {
	w.s.t.Helper()
	w.s.answers++
	w.arrivals = append([]time.Time{w.now}, w.arrivals...)
	for w.now.Before(w.s.until) {
		due := w.earliestDue()
		switch {
		case len(w.arrivals) > 0 && !w.arrivals[0].After(w.now):
			w.arrivals = w.arrivals[1:]
			w.texts++
			w.state.Inbox.Take(wire.InboxItem{MessageID: w.texts, Seq: w.texts, ReceivedAt: w.now})
			w.decide(wire.Event{Kind: wire.EventTexts, At: w.now})
		case len(w.plans) > 0:
			plan := w.plans[0]
			w.plans = w.plans[1:]
			w.runTurn(plan)
		case due != nil && !due.At.After(w.now):
			fired := *due
			w.clearDue(fired)
			w.decide(wire.Event{Kind: wire.EventDue, Due: fired})
		default:
			next := w.s.until
			if due != nil && due.At.Before(next) {
				next = due.At
			}
			if len(w.arrivals) > 0 && w.arrivals[0].Before(next) {
				next = w.arrivals[0]
			}
			w.now = next
		}
	}
}

// runTurn calls the tools of a reply and sends the text of any turn.
func (w *walk) runTurn(plan wire.TurnPlan) {
	if plan.Kind == wire.TurnReply {
		if len(w.state.Inbox.Items) == 0 {
			return
		}
		w.state.Inbox.Items = nil
		w.clearDue(wire.Due{Kind: wire.DueDebounce})
	}
	w.state.Turn++
	switch {
	case plan.Kind == wire.TurnReply && w.state.Turn == 1:
		for _, ev := range w.s.setUp() {
			w.decide(ev)
		}
	case plan.Kind == wire.TurnReply:
		w.decide(wire.Event{Kind: wire.EventTransitionAsk, Mode: wire.ModeIntake})
	}
	if delay, answered := w.s.hears(told{At: w.now, Kind: models.EntryOf(plan.Kind), Due: plan.PromptID}); answered {
		w.arrivals = append(w.arrivals, w.now.Add(delay))
		slices.SortFunc(w.arrivals, time.Time.Compare)
	}
	if kind := models.TurnSpecOf(plan.Kind).Sent; kind != "" {
		w.decide(wire.Event{Kind: kind, Plan: plan, At: w.now})
	}
}

func (w *walk) earliestDue() *wire.Due {
	if len(w.state.Due) == 0 {
		return nil
	}
	first := slices.MinFunc(w.state.Due, func(x, y wire.Due) int { return x.At.Compare(y.At) })
	return &first
}

// clearDue removes the due time of a kind and reference, or all of the kind.
func (w *walk) clearDue(due wire.Due) {
	w.state.Due = slices.DeleteFunc(w.state.Due, func(d wire.Due) bool { return d.Kind == due.Kind && (due.Ref == "" || d.Ref == due.Ref) })
}

func (w *walk) decide(ev wire.Event) {
	w.s.t.Helper()
	input := coach.Input{State: w.state.Clone(), Now: w.now, Rules: w.rules, Zones: func(string) (*time.Location, error) { return w.s.place, nil }}
	decision, err := coach.Decide(input, ev)
	require.NoError(w.s.t, err)
	require.Empty(w.s.t, decision.Refused)
	for _, effect := range decision.Effects {
		w.apply(effect)
	}
}

func (w *walk) apply(e wire.Effect) {
	switch e.Kind {
	case wire.EffectSetDue, wire.EffectClearDue:
		w.clearDue(e.Due)
		if e.Kind == wire.EffectSetDue {
			w.state.Due = append(w.state.Due, e.Due)
		}
	case wire.EffectSetMode:
		w.state.Mode = e.Mode
	case wire.EffectPutSchedule:
		w.state.Schedules = append(slices.DeleteFunc(w.state.Schedules, func(x wire.Schedule) bool { return x.ID == e.Schedule.ID }), *e.Schedule)
	case wire.EffectSetPending, wire.EffectClearPending:
		w.state.Pending = e.Pending
	case wire.EffectStartTurn:
		w.plans = append(w.plans, *e.Turn)
	case wire.EffectCountInitiated:
		w.state.Initiated = e.Initiated
	case wire.EffectMissPrompt:
		w.left[e.Missed.Reason]++
	case wire.EffectLeaveOut:
		w.left[e.LeftOut.Reason]++
	default:
		require.FailNow(w.s.t, "no such effect in this story", e.Kind)
	}
}

// agrees: the same texts at the same times.
func (s *stretch) agrees(other *stretch) {
	s.t.Helper()
	require.Len(s.t, s.told, len(other.told))
	for i, want := range other.told {
		got := s.told[i]
		require.Equal(s.t, []string{string(want.Kind), want.Due}, []string{string(got.Kind), got.Due}, "text %d, at %s", i, got.At)
		require.WithinDuration(s.t, want.At, got.At, time.Second, "text %d, %s", i, got.Kind)
	}
}

// check holds what must be true of every stretch.
func (s *stretch) check() {
	s.t.Helper()
	once := map[told]bool{}
	replies := 0
	prompts := map[string][]time.Time{fixedID: nil, randomID: nil}
	dates := map[string][]string{}
	for _, text := range s.told {
		if text.Kind == models.KindReply {
			replies++
			continue
		}
		require.Contains(s.t, []models.EntryKind{models.KindPrompt, models.KindReminder, models.KindFeedbackQuestion, models.KindFeedbackFollowup}, text.Kind)
		key := told{Kind: text.Kind, Due: text.Due}
		require.False(s.t, once[key], "doubled: %s of %s", text.Kind, text.Due)
		once[key] = true
		schedule, date := s.slot(text.Due)
		if text.Kind != models.KindPrompt || schedule != fixedID {
			local := text.At.In(s.place)
			require.True(s.t, local.Hour() >= 8 && local.Hour() < 21, "%s of %s at %s", text.Kind, text.Due, local)
		}
		if text.Kind == models.KindPrompt {
			prompts[schedule] = append(prompts[schedule], text.At)
			dates[schedule] = append(dates[schedule], date)
			continue
		}
		require.True(s.t, once[told{Kind: models.KindPrompt, Due: text.Due}], "%s of a prompt that was not sent", text.Kind)
	}
	require.Equal(s.t, s.answers, replies, "one reply to each text")
	s.checkFixed(dates[fixedID], prompts[fixedID])
	s.checkRandom(dates[randomID], prompts[randomID])
}

// slot is the schedule and the local date that a prompt belongs to.
func (s *stretch) slot(promptID string) (schedule, date string) {
	s.t.Helper()
	for _, id := range []string{fixedID, randomID} {
		if rest, found := strings.CutPrefix(promptID, "conv_1-"+id+"-"); found {
			return id, rest
		}
	}
	require.FailNow(s.t, "no schedule", promptID)
	return "", ""
}

// checkFixed: one prompt on every local date, by the same lead before the
// chosen time, which the clock shows unless it skips it on that date.
func (s *stretch) checkFixed(dates []string, at []time.Time) {
	s.t.Helper()
	require.NotEmpty(s.t, at)
	lead := s.target(dates[len(dates)/2], s.fixed).Sub(at[len(dates)/2])
	require.True(s.t, lead > 0 && lead <= 10*time.Minute, "the preparation time less the person's own share of the spread: %s", lead)
	var want []string
	for _, date := range s.calendar() {
		if send := s.target(date, s.fixed).Add(-lead); send.After(s.from) && send.Before(s.until) {
			want = append(want, date)
		}
	}
	require.Equal(s.t, want, dates, "one prompt for each local date, in order")
	for i, date := range dates {
		target := s.target(date, s.fixed)
		send := target.Add(-lead)
		if i > 0 && s.dateOf(send) == s.dateOf(at[i-1]) {
			// The clock passes over the beginning of the date, and the date before
			// has had its prompt.
			send = s.target(date, "00:00")
		}
		require.WithinDuration(s.t, send, at[i], time.Second, date)
		// The chosen time is in a gap only where the clock passes over it.
		if shown := target.In(s.place).Format("2006-01-02 15:04"); shown != date+" "+s.fixed {
			before := target.Add(-time.Minute).In(s.place).Format("2006-01-02 15:04")
			require.True(s.t, before < date+" "+s.fixed && shown > date+" "+s.fixed, "%s: %s is no gap", date, shown)
		}
	}
}

// checkRandom: one prompt in the window of every local date, from the first
// one that is not over.
func (s *stretch) checkRandom(dates []string, at []time.Time) {
	s.t.Helper()
	require.NotEmpty(s.t, at)
	calendar := s.calendar()
	first := slices.Index(calendar, dates[0])
	require.GreaterOrEqual(s.t, first, 0)
	require.LessOrEqual(s.t, dates[0], s.from.In(s.place).AddDate(0, 0, 1).Format(time.DateOnly), "today or tomorrow is the first")
	require.GreaterOrEqual(s.t, dates[len(dates)-1], s.until.In(s.place).AddDate(0, 0, -2).Format(time.DateOnly), "to the end")
	require.Equal(s.t, calendar[first:first+len(dates)], dates, "one prompt for each local date, in order")
	for i, date := range dates {
		require.Equal(s.t, date, s.dateOf(at[i]))
		before, after := at[i].Before(s.target(date, s.opens)), at[i].After(s.target(date, s.closes))
		if s.closes <= s.opens {
			require.False(s.t, before && after, "%s: %s is on no side of midnight in the window", date, at[i].In(s.place))
			continue
		}
		require.False(s.t, before, "%s: %s is before the window", date, at[i].In(s.place))
		require.False(s.t, after, "%s: %s is after the window", date, at[i].In(s.place))
	}
}

func (s *stretch) dateOf(at time.Time) string { return at.In(s.place).Format(time.DateOnly) }

// calendar lists the local dates that the place has, from the day before the
// stretch to two days after it.
func (s *stretch) calendar() []string {
	var dates []string
	for at := s.from.Add(-day); at.Before(s.until.Add(2 * day)); at = at.Add(time.Hour) {
		if date := at.In(s.place).Format(time.DateOnly); len(dates) == 0 || dates[len(dates)-1] != date {
			dates = append(dates, date)
		}
	}
	return dates
}

// target is the first minute at which the wall clock shows the date and time
// or a later one. It goes through the minutes one by one and shares nothing
// with the rules.
func (s *stretch) target(date, clock string) time.Time {
	s.t.Helper()
	near, err := time.ParseInLocation("2006-01-02 15:04", date+" "+clock, s.place)
	require.NoError(s.t, err)
	for at := near.Add(-3 * time.Hour); ; at = at.Add(time.Minute) {
		if at.In(s.place).Format("2006-01-02 15:04") >= date+" "+clock {
			return at.UTC()
		}
	}
}

// sawEverything: the year was not empty. Those who never answer get every
// step; those who do answer get replies.
func (s *stretch) sawEverything() {
	s.t.Helper()
	count := map[models.EntryKind]int{}
	for _, text := range s.told {
		count[text.Kind]++
	}
	require.GreaterOrEqual(s.t, count[models.KindPrompt], 2*363)
	for _, kind := range []models.EntryKind{models.KindReminder, models.KindFeedbackQuestion, models.KindFeedbackFollowup} {
		require.Positive(s.t, count[kind], kind)
	}
	if !s.silent {
		require.Greater(s.t, count[models.KindReply], 300)
	}
}
