package main

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

var record = flag.Bool("record", false, "record the histories that package workflows replays (make record-history)")

const (
	histories = "../workflows/testdata/histories"
	wordsFile = "../workflows/testdata/words.json"
)

// historyKind is one kind of history to record. play walks the participant through it
// on a system of its own with these settings.
type historyKind struct {
	name     string
	settings []string
	play     func(*subject)
}

// historyKinds: one line records one more kind of history; its name also goes into the
// list in workflows/replay_test.go, whose test fails without it.
var historyKinds = []historyKind{
	{"plain-reply", calm, func(s *subject) { s.joins(); s.says("what time is it for me") }},
	{"one-tool", calm, func(s *subject) { s.joins(); s.says("list my schedules please") }},
	{"one-tool-activity", calm, func(s *subject) { s.joins(); s.says("hello there"); s.since = time.Now(); s.says(habit) }},
	{"intake", withRunsOf("110"), (*subject).intake},
	{"prompt-reminder", promptIn("20s", "COACH_AUTO_FEEDBACK_DELAY=0", "COACH_REMINDER_DELAY=2s"), (*subject).silent},
	{"prompt-decided", withReminderOnly, (*subject).waits},
	{"prompt-with-round", withReminderOnly, (*subject).waits},
	{"prompt-answered", promptIn("20s", "COACH_AUTO_FEEDBACK_DELAY=0", "COACH_REMINDER_DELAY=1h"), (*subject).answers},
	{"feedback-silence", promptIn("20s", "COACH_AUTO_FEEDBACK_DELAY=1s", "COACH_FEEDBACK_TIMEOUT=1s",
		"COACH_FEEDBACK_FOLLOWUP=1s", "COACH_REMINDER_DELAY=0"), (*subject).asked},
	{"saved-with-turn", withRunsOf("110"), (*subject).intake},
	{"pause-resume", calm, (*subject).pauses},
	{"pause-until", calm, (*subject).pausesUntil},
	{"zone-change", withRunsOf("60"), (*subject).moves},
	{"operator", calm, (*subject).isSteered},
	{"transition-replaced", calm, (*subject).changesPlans},
	{"taken-over", calm, (*subject).isTakenOver},
	{"leaves-in-turn", calm, (*subject).leavesInTurn},
	{"cancel-requested", calm, func(s *subject) { s.joins(); s.says("talk later in 30 minutes please"); s.cancels() }},
	{"cancel-in-turn", calm, (*subject).isCanceledInTurn},
	{"tool-decided", calm, func(s *subject) { s.joins(); s.says("hello there"); s.says("list my schedules please") }},
	{"tool-with-round", calm, func(s *subject) { s.joins(); s.says("list my schedules") }},
	{"opt-out-and-back", calm, (*subject).optsOut},
	{"opt-out-in-turn", calm, (*subject).optsOutInTurn},
	{"opt-out-returns-text", calm, (*subject).optsOutInTurnAndReturns},
	{"help", calm, func(s *subject) { s.joins(); s.says("HELP") }},
	{"help-in-turn", calm, (*subject).asksHelpInTurn},
	{"burst-and-late-text", burst, (*subject).keepsTyping},
	{"model-failure", calm, (*subject).getsFallback},
	{"text-after-command", calm, (*subject).writesAfterCommand},
	{"text-told-twice", calm, (*subject).isToldTwice},
	{"attention", calm, (*subject).needsAttention},
	{"greeting-later", append([]string{"COACH_PREP_TIME=6s", "COACH_PROMPT_SPREAD=6s"}, calm...), func(s *subject) { s.isEnrolled(); s.next(soon); s.says("hello there") }},
	{"text-before-greeting", calm, func(s *subject) { s.isEnrolled(); s.says("hello there"); s.says("list my schedules please") }},
	{"study", calm, (*subject).isInAStudy},
	{"attributes-shown", withRunsOf("30"), (*subject).livesOn},
	{"continue-as-new", withRunsOf("30"), (*subject).livesOn},
}

var (
	calm             = []string{"COACH_DEBOUNCE=0", "COACH_QUIET_HOURS=", "COACH_MAX_INITIATED_PER_DAY=0"}
	withReminderOnly = append([]string{"COACH_AUTO_FEEDBACK_DELAY=0", "COACH_PROMPT_SPREAD=0", "COACH_REMINDER_DELAY=1h", promptSpan + "20s"}, calm...)

	burst = []string{"COACH_DEBOUNCE=700ms", "COACH_DEBOUNCE_MAX=5s", "COACH_QUIET_HOURS=", "COACH_MAX_INITIATED_PER_DAY=0"}
)

// promptSpan is how far ahead of the schedule's minute a recorded prompt may
// go out: it falls due soon, while the minute named is some minutes away.
const promptSpan = "prompt-in="

// promptIn lets the daily prompt fall due a while after the start, in a run of
// the workflow that began after most of the intake.
func promptIn(after string, settings ...string) []string {
	return append(append(settings, promptSpan+after), withRunsOf("60")...)
}

// withRunsOf keeps runs, and so files, short.
func withRunsOf(events string) []string {
	return append([]string{"COACH_CONTINUE_AS_NEW_EVENTS=" + events}, calm...)
}

const habit = "a slow walk around the pond"

// subject is the person whose workflow is recorded.
type subject struct {
	*person
	name   string
	target time.Time // the minute of the daily prompt
	since  time.Time // runs that ended before it are not kept
}

// TestRecordHistories writes the histories of every kind, decoded, and beside
// them every word that was said, so that the replay test can tell that none of
// them is in a history.
func TestRecordHistories(t *testing.T) {
	if !*record {
		t.Skip("records only with -record")
	}
	said := &spoken{words: map[string][]string{}}
	require.NoError(t, said.read())
	t.Cleanup(func() { require.NoError(t, said.write()) })
	for i, l := range historyKinds {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			s := &subject{name: "Wilhelmina", target: time.Now().Add(4 * time.Minute).Truncate(time.Minute)}
			s.person = &person{t: t, number: "+120255501" + string(rune('0'+i/10)) + string(rune('0'+i%10))}
			s.r = launchIn(t, s.environ(l.settings), "--ephemeral")
			l.play(s)
			s.save(l.name)
			said.add(l.name, s)
		})
	}
}

// environ turns promptIn's span into the preparation time that leads to it.
func (s *subject) environ(settings []string) []string {
	var out []string
	for _, line := range settings {
		if span, is := strings.CutPrefix(line, promptSpan); is {
			after, err := time.ParseDuration(span)
			require.NoError(s.t, err)
			line = "COACH_PREP_TIME=" + time.Until(s.target.Add(-after)).Truncate(time.Second).String()
		}
		out = append(out, line)
	}
	return out
}

func (s *subject) joins() {
	require.Equal(s.t, http.StatusCreated, s.enroll(s.name, "America/New_York"))
	s.next(soon)
}

// isEnrolled by an operator, so the greeting comes at the person's share of the
// spread.
func (s *subject) isEnrolled() {
	require.Equal(s.t, http.StatusCreated, s.enrollAs(map[string]any{"name": s.name, "timezone": "America/New_York"}))
	s.becomes("waiting for the greeting", func(now state) bool { return len(now.Due) == 1 })
}

// intake is six turns: an opening, four answers that are saved, and a yes that
// makes the schedule.
func (s *subject) intake() {
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(s.t, err)
	s.joins()
	s.says("hello there")
	s.says(habit)
	s.says("because my knees feel better")
	s.says(s.target.In(zone).Format("15:04") + " works best for me")
	s.says("pouring my first coffee")
	s.says("yes please do that")
	s.becomes("a schedule", func(st state) bool { return len(st.Schedules) == 1 })
}

// prompted waits for the daily prompt.
func (s *subject) prompted() {
	s.intake()
	s.since = time.Now()
	require.Contains(s.t, s.next(2*soon), "coffee")
}

func (s *subject) waits() {
	s.prompted()
	s.becomes("tomorrow's prompt and a reminder", func(st state) bool { return len(st.Due) == 2 })
}

func (s *subject) silent() {
	s.prompted()
	s.next(soon)
	s.becomes("nothing but tomorrow's prompt", func(st state) bool { return len(st.Due) == 1 })
}

func (s *subject) answers() {
	s.prompted()
	s.says("done it with pleasure today")
	s.becomes("a success", func(st state) bool { return st.Counters.SuccessCount == 1 })
}

func (s *subject) asked() {
	s.prompted()
	s.next(soon) // the question
	s.next(soon) // and the follow-up
	s.says("done it although I was late")
	s.becomes("intake again", func(st state) bool { return st.Mode == "INTAKE" })
}

func (s *subject) operator(method, path string, body any) {
	s.t.Helper()
	status, answer := send(s.t, method, s.api(path), body)
	require.Less(s.t, status, 300, answer)
}

func (s *subject) pauses() {
	s.joins()
	s.operator(http.MethodPut, "", map[string]any{"status": "paused"})
	s.becomes("paused", func(state) bool { return s.asks().Status == wire.StatusPaused })
	s.text("is anybody reading this now")
	s.becomes("the text kept and not answered", func(state) bool { v := s.asks(); return v.LastSeq == 1 && v.Waiting == 0 && !v.InTurn })
	s.operator(http.MethodPut, "", map[string]any{"status": "active"})
	s.becomes("active", func(state) bool { return s.asks().Status == wire.StatusActive })
	s.says("what time is it for me")
}

// pausesUntil is resumed by the workflow, and answered what came meanwhile.
func (s *subject) pausesUntil() {
	s.joins()
	s.operator(http.MethodPut, "", map[string]any{"status": "paused", "paused_until": time.Now().Add(4 * time.Second)})
	s.becomes("paused", func(now state) bool { return s.asks().Status == wire.StatusPaused && len(now.Due) == 1 })
	s.text("is anybody reading this now")
	s.next(soon)
	s.becomes("active", func(now state) bool { return s.asks().Status == wire.StatusActive && len(now.Due) == 0 })
}

func (s *subject) moves() {
	s.intake()
	s.since = time.Now()
	s.operator(http.MethodPut, "", map[string]any{"timezone": "Asia/Kathmandu"})
	s.becomes("moved", func(state) bool { return s.asks().Zone == "Asia/Kathmandu" })
}

func (s *subject) isSteered() {
	s.joins()
	s.operator(http.MethodPost, "/messages", map[string]any{"body": "See you on Tuesday at the pond."})
	s.next(soon)
	s.operator(http.MethodPost, "/mode", map[string]any{"target_state": "FEEDBACK"})
	s.becomes("feedback", func(st state) bool { return st.Mode == "FEEDBACK" })
	s.operator(http.MethodPost, "/mode", map[string]any{"target_state": "INTAKE"})
	s.becomes("intake", func(st state) bool { return st.Mode == "INTAKE" })
}

// isTakenOver has an operator take over in the middle of a turn, write, and hand
// back what waits; then a take-over that ends by itself.
func (s *subject) isTakenOver() {
	s.joins()
	s.becomes("greeted", func(state) bool { return !s.asks().InTurn })
	s.slowModel()
	s.text("what time is it for me")
	s.inTurn()
	s.operator(http.MethodPost, "/takeover", map[string]any{"note": "I call her this afternoon."})
	s.becomes("silent", func(state) bool { v := s.asks(); return !v.InTurn && !v.TakenOverUntil.IsZero() })
	s.text("is anybody reading this now")
	s.operator(http.MethodPost, "/messages", map[string]any{"body": "This is Dana of the team."})
	require.Equal(s.t, "This is Dana of the team.", s.next(soon))
	s.becomes("the second text heard", func(state) bool { return s.asks().LastSeq == 2 })
	s.operator(http.MethodDelete, "/takeover", map[string]any{"waiting_messages": "answer", "note": "She has moved to Rome."})
	s.next(soon)
	s.operator(http.MethodPost, "/takeover", map[string]any{"until": time.Now().Add(4 * time.Second).UTC().Truncate(time.Second)})
	s.becomes("silent again", func(state) bool { return !s.asks().TakenOverUntil.IsZero() })
	s.says("list my schedules please")
	s.becomes("given back", func(state) bool { return s.asks().TakenOverUntil.IsZero() })
}

func (s *subject) changesPlans() {
	s.joins()
	s.says("talk later in 30 minutes please")
	s.says("rather talk later in 2 s please")
	s.becomes("the second plan", func(st state) bool { return st.Mode == "FEEDBACK" })
	require.Len(s.t, s.asks().Due, 1, "the first plan is gone; the feedback question waits")
}

func (s *subject) fault(order map[string]any) {
	s.t.Helper()
	status, answer := send(s.t, http.MethodPost, strings.TrimSuffix(s.r.table["Phones"], "/")+"/faults", order)
	require.Less(s.t, status, 300, answer)
}

func (s *subject) slowModel() {
	s.fault(map[string]any{"target": "model", "kind": "late", "delay_ms": 3000})
}

func (s *subject) inTurn() {
	require.Eventually(s.t, func() bool { return s.asks().InTurn }, soon, 20*time.Millisecond)
}

func (s *subject) leavesInTurn() {
	s.joins()
	s.slowModel()
	s.text("what time is it for me")
	s.inTurn()
	s.leaves()
}

func (s *subject) isCanceledInTurn() {
	s.joins()
	s.slowModel()
	s.text("what time is it for me")
	s.inTurn()
	s.cancels()
}

func (s *subject) optsOut() {
	s.joins()
	s.says("please stop texting me")
	s.becomes("opted out", func(st state) bool { return st.Status == string(wire.StatusOptedOut) })
	s.says("START")
	s.becomes("back", func(st state) bool { return st.Status == string(wire.StatusActive) })
	s.says("what time is it for me")
}

func (s *subject) optsOutInTurn() {
	s.joins()
	s.slowModel()
	s.text("what time is it for me")
	s.inTurn()
	s.says("please stop texting me")
	s.becomes("opted out", func(st state) bool { return st.Status == string(wire.StatusOptedOut) })
	require.Len(s.t, s.received(), s.seen, "the confirmation and no reply")
}

// optsOutInTurnAndReturns has the text of the turn that was cut answered after START.
func (s *subject) optsOutInTurnAndReturns() {
	s.optsOutInTurn()
	s.says("START")
	s.next(soon)
}

func (s *subject) asksHelpInTurn() {
	s.joins()
	s.slowModel()
	s.text("what time is it for me")
	s.inTurn()
	s.says("HELP")
	require.True(s.t, s.asks().InTurn, "help came before the reply")
	s.next(soon)
}

// writesAfterCommand has a text come behind a command, both during a turn: it is no
// part of that turn.
func (s *subject) writesAfterCommand() {
	s.joins()
	s.slowModel()
	s.text("what time is it for me")
	s.inTurn()
	s.operator(http.MethodPut, "", map[string]any{"timezone": "Asia/Kathmandu"})
	s.becomes("the command waiting", func(state) bool { return s.asks().Commands == 1 })
	s.text("list my schedules please")
	s.next(soon)
	s.next(soon)
	require.Equal(s.t, "Asia/Kathmandu", s.asks().Zone)
}

// isToldTwice has the workflow told of a text once more.
func (s *subject) isToldTwice() {
	s.joins()
	s.says("what time is it for me")
	c := dialTemporal(s.t, s.r)
	again := wire.InboxItem{MessageID: 1, Seq: 1, ReceivedAt: time.Now().UTC()}
	require.NoError(s.t, c.SignalWorkflow(s.t.Context(), models.WorkflowID(s.id), "", wire.SignalMessageReceived, again))
	s.says("list my schedules please")
}

func (s *subject) keepsTyping() {
	s.joins()
	s.slowModel()
	s.text("first of all a question")
	s.text("what time is it for me")
	s.inTurn()
	s.text("and another thing entirely")
	s.next(soon)
	require.Len(s.t, s.received(), s.seen, "one answer to everything")
}

func (s *subject) getsFallback() {
	s.joins()
	s.fault(map[string]any{"target": "model", "kind": "http", "status": 400})
	s.says("what time is it for me")
}

func (s *subject) needsAttention() {
	s.getsFallback()
	s.becomes("shown", func(state) bool { return len(s.asks().Flags.Attention) == 1 })
	s.operator(http.MethodPost, "/attention", map[string]any{"clear": true})
	s.becomes("ended", func(state) bool { return len(s.asks().Flags.Attention) == 0 })
}

func (s *subject) livesOn() {
	s.joins()
	s.says("hello there")
	s.says(habit)
	s.says("because my knees feel better")
}

// isInAStudy joins a study of its own that is closed after an exchange, with a last
// text.
func (s *subject) isInAStudy() {
	studies := s.r.table["API"] + "/studies"
	change := func(method, address string, body any) {
		status, answer := send(s.t, method, address, body)
		require.Less(s.t, status, 300, answer)
	}
	change(http.MethodPost, studies, map[string]any{"id": "walking", "name": "Walking", "settings": map[string]any{"programme": "Walk Well", "close_out": "Thank you for walking with us."}})
	change(http.MethodPut, studies+"/walking", map[string]any{"state": "recruiting"})
	require.Equal(s.t, http.StatusCreated, s.enrollAs(map[string]any{"name": s.name, "timezone": "America/New_York", "signup": true, "study": "walking"}))
	require.Contains(s.t, s.next(soon), "Walk Well")
	s.says("what time is it for me")
	change(http.MethodPut, studies+"/walking", map[string]any{"state": "closed"})
	require.Equal(s.t, "Thank you for walking with us.", s.next(soon))
	s.becomes("completed", func(st state) bool { return st.Status == string(wire.StatusCompleted) })
}

// spoken is every word of the recorded histories: names, numbers and texts, by
// history.
type spoken struct {
	mu    sync.Mutex
	words map[string][]string
}

func (w *spoken) add(name string, s *subject) {
	var page struct {
		Messages []shown `json:"messages"`
	}
	require.Equal(s.t, http.StatusOK, getJSON(s.t, s.sim("/messages"), &page))
	words := []string{s.name, s.number}
	for _, m := range page.Messages {
		words = append(words, m.Body)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.words[name] = words
}

func (w *spoken) read() error {
	text, err := os.ReadFile(wordsFile)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &w.words)
}

func (w *spoken) write() error {
	text, err := json.MarshalIndent(w.words, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(wordsFile, append(text, '\n'), 0o644)
}

// save writes one file for each run that was open since the recording began:
// NAME.1.json, NAME.2.json and so on.
func (s *subject) save(name string) {
	s.t.Helper()
	tape := openTape(s.t, s.r)
	require.Eventually(s.t, func() bool { return tape.quiet(s.id) }, soon, 300*time.Millisecond)
	old, err := filepath.Glob(filepath.Join(histories, name+".*.json"))
	require.NoError(s.t, err)
	for _, path := range old {
		require.NoError(s.t, os.Remove(path))
	}
	require.NoError(s.t, os.MkdirAll(histories, 0o755))
	for i, run := range tape.runs(s.id, s.since) {
		path := filepath.Join(histories, name+"."+string(rune('1'+i))+".json")
		require.NoError(s.t, os.WriteFile(path, run, 0o644))
	}
}
