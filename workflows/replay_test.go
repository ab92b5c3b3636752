package workflows_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"coachline/internal/seal"
	"coachline/models/wire"
	"coachline/workflows"
)

// kinds are the kinds of workflow of which a history is kept, with what each
// one must show: types of events, or parts of recorded decisions. `make
// record-history` records them anew, from the table in dev/record_test.go.
var kinds = map[string][]string{
	"plain-reply":          {`"kind":"reply"`},
	"one-tool":             {`"ActivityType":"DecideTool"`},
	"one-tool-activity":    {`RunTool`},
	"intake":               {`RunTool`, `"ActivityType":"DecideTool"`, `"kind":"put_schedule"`},
	"prompt-reminder":      {`"kind":"prompt"`, `"kind":"reminder"`, `TimerFired`},
	"prompt-decided":       {`"kind":"prompt"`, `"decided":{`, `TimerFired`},
	"prompt-with-round":    {`prompt-decided-with-round`, `"due":{"state"`, `"planned":{`, `TimerFired`},
	"prompt-answered":      {`"kind":"prompt"`, `"kind":"clear_pending"`, `TimerCanceled`},
	"feedback-silence":     {`"mode":"FEEDBACK"`, `"kind":"feedback_question"`, `"kind":"feedback_followup"`, `TimerFired`},
	"saved-with-turn":      {`"saved":true`, `"kind":"put_schedule"`},
	"pause-resume":         {`"status":"paused"`, `"status":"active"`, `"kind":"message"`},
	"pause-until":          {`"kind":"pause_end"`, `EndPause`, `pause-ends-in-tables`, `"status":"active"`, `"kind":"reply"`},
	"zone-change":          {`"kind":"set_zone"`, `"kind":"put_schedule"`},
	"operator":             {`"kind":"operator"`, `"kind":"set_mode"`, `WorkflowExecutionUpdateCompleted`},
	"transition-replaced":  {`"kind":"delayed_transition"`, `TimerCanceled`, `TimerFired`},
	"taken-over":           {`ActivityTaskCancelRequested`, `"kind":"take_over"`, `"kind":"operator"`, `"answer":true,"items":`, `TimerFired`, `"ActivityType":"EndTakeOver"`},
	"leaves-in-turn":       {`ActivityTaskCancelRequested`, `"kind":"end"`, `WorkflowExecutionCompleted`},
	"cancel-requested":     {`WorkflowExecutionCancelRequested`, `RemoveParticipant`, `"kind":"delayed_transition"`, `"kind":"end"`, `WorkflowExecutionCompleted`},
	"cancel-in-turn":       {`WorkflowExecutionCancelRequested`, `RemoveParticipant`, `ActivityTaskCancelRequested`, `WorkflowExecutionCompleted`},
	"tool-decided":         {`tool-decided-in-activity`, `DecideTool`, `ActivityTaskScheduled`},
	"tool-with-round":      {`"in_workflow":true`, `"decided":{}`},
	"opt-out-and-back":     {`"status":"opted_out"`, `"status":"active"`, `"kind":"consent"`},
	"opt-out-in-turn":      {`"status":"opted_out"`, `"kind":"consent"`, `ActivityTaskCancelRequested`},
	"opt-out-returns-text": {`cut-turn-returns-texts`, `"status":"active"`, `"items":`, `"kind":"reply"`},
	"help":                 {`"kind":"help"`},
	"help-in-turn":         {`"kind":"help"`, `"kind":"reply"`, `"ActivityType":"Decide"`},
	"burst-and-late-text":  {`"kind":"debounce"`, `TimerFired`},
	"model-failure":        {`ActivityTaskFailed`},
	"text-after-command":   {`texts-and-commands-in-order`, `"kind":"set_zone"`},
	"text-told-twice":      {`repeated-numbers-checked`, `CheckNumbers`},
	"attention":            {`flags-as-search-attributes`, `"attention":["refusal"]`, `["refusal"]`},
	"greeting-later":       {`TimerFired`, `"due":{"kind":"greeting"`, `"turn":{"kind":"greeting"`},
	"text-before-greeting": {`TimerStarted`, `"due":{"kind":"greeting"`, `"introduce":true`},
	"study":                {`"study":"walking"`, `"status":"completed"`, `"kind":"operator"`},
	"attributes-shown":     {`"attributes_shown":true`, `WorkflowExecutionContinuedAsNew`},
	"continue-as-new":      {`WorkflowExecutionContinuedAsNew`},
}

// file is one recorded run: NAME.N.json is the Nth of the workflow NAME.
type file struct {
	path, kind string
	history    *history.History
	// shown is everything in it that can be read: event types, activity types
	// and the insides of payloads.
	shown string
}

func recorded(t *testing.T) []file {
	t.Helper()
	paths, err := filepath.Glob("testdata/histories/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths, "nothing is recorded: make record-history")
	files := make([]file, len(paths))
	for i, path := range paths {
		kind, _, _ := strings.Cut(filepath.Base(path), ".")
		files[i] = file{path: path, kind: kind}
		files[i].read(t)
	}
	return files
}

func (f *file) read(t *testing.T) {
	t.Helper()
	raw, err := os.Open(f.path)
	require.NoError(t, err)
	defer raw.Close()
	f.history, err = client.HistoryFromJSON(raw, client.HistoryJSONOptions{})
	require.NoError(t, err, f.path)
	var shown strings.Builder
	for _, event := range f.history.GetEvents() {
		shown.WriteString(event.GetEventType().String() + " " + event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() + "\n")
		require.NoError(t, proxy.VisitPayloads(context.Background(), event, proxy.VisitPayloadsOptions{
			Visitor: func(_ *proxy.VisitPayloadsContext, all []*common.Payload) ([]*common.Payload, error) {
				for _, payload := range all {
					shown.Write(append(payload.GetData(), '\n'))
				}
				return all, nil
			},
		}))
	}
	f.shown = shown.String()
}

func TestEveryKindOfHistoryIsRecorded(t *testing.T) {
	found := map[string]string{}
	for _, f := range recorded(t) {
		require.Contains(t, kinds, f.kind, "%s is of no kind that the list knows", f.path)
		found[f.kind] += f.shown
	}
	for kind, wants := range kinds {
		if found[kind] == "" {
			t.Errorf("no history of the kind %s: make record-history HISTORY=%s", kind, kind)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(found[kind], want) { // without printing the whole history
				t.Errorf("the recorded %s does not show %s", kind, want)
			}
		}
	}
}

// TestRecordedHistoriesReplay is the gate for changes of workflow code: what
// was recorded must lead to the same commands. A change that alters them needs
// workflow.GetVersion; see docs/operations.md, "Rolling out a workflow change".
func TestRecordedHistoriesReplay(t *testing.T) {
	key, err := seal.Generate()
	require.NoError(t, err)
	ring, err := seal.Parse(key)
	require.NoError(t, err)
	for _, f := range recorded(t) {
		t.Run(filepath.Base(f.path), func(t *testing.T) {
			t.Parallel()
			// Recorded payloads are open; the workers' converter lets them pass.
			replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
				DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), ring.Codec()),
			})
			require.NoError(t, err)
			replayer.RegisterWorkflowWithOptions(workflows.Participant, workflow.RegisterOptions{Name: wire.WorkflowType})
			quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler))
			require.NoError(t, replayer.ReplayWorkflowHistory(quiet, f.history))
		})
	}
}

// TestContinuedRunsFollowEachOther: what one run passes on is what the next one
// begins with, and the person is the same.
func TestContinuedRunsFollowEachOther(t *testing.T) {
	var runs []file
	for _, f := range recorded(t) {
		if f.kind == "continue-as-new" {
			runs = append(runs, f)
		}
	}
	require.GreaterOrEqual(t, len(runs), 2)
	for i, f := range runs[1:] {
		events := runs[i].history.GetEvents()
		last := events[len(events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes()
		require.NotNil(t, last, runs[i].path)
		next := f.history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
		require.Equal(t, last.GetNewExecutionRunId(), next.GetOriginalExecutionRunId())
		require.JSONEq(t, string(last.GetInput().GetPayloads()[0].GetData()), string(next.GetInput().GetPayloads()[0].GetData()))
	}
}

// shortest is the length from which words are looked for inside others.
const shortest = 8

// TestHistoriesHoldNothingPersonal looks for every name, number and text of
// the recorded conversations: histories hold ids, codes and instants.
func TestHistoriesHoldNothingPersonal(t *testing.T) {
	text, err := os.ReadFile("testdata/words.json")
	require.NoError(t, err)
	said := map[string][]string{}
	require.NoError(t, json.Unmarshal(text, &said))
	for _, f := range recorded(t) {
		require.NotEmpty(t, said[f.kind], "the words of %s were not recorded", f.kind)
		raw, err := os.ReadFile(f.path)
		require.NoError(t, err)
		for _, word := range slices.Concat(said[f.kind], []string{"identity"}) {
			quoted, err := json.Marshal(word)
			require.NoError(t, err)
			forms := []string{word, strings.Trim(string(quoted), `"`)}
			if len(word) < shortest {
				forms = []string{string(quoted)} // A key word is a part of many others.
			}
			for _, form := range forms {
				require.False(t, strings.Contains(f.shown, form) || strings.Contains(string(raw), form), "%s holds %q", f.path, word)
			}
		}
	}
}

// TestCostOfATurn holds the rule on the cost of a turn: at most 20 events for a
// plain reply, 23 with one tool that rules decide and 30 with another, from the
// text's signal to the last task, without a debounce. Events are what a turn costs
// in time, in storage and on Temporal Cloud in money. Rules decide the first call
// of a step in its activity; another tool costs an activity of its own and the
// task after it.
func TestCostOfATurn(t *testing.T) {
	most := map[string]int{"plain-reply": 20, "one-tool": 30, "tool-decided": 30, "one-tool-activity": 30, "tool-with-round": 23}
	for _, f := range recorded(t) {
		limit, bounded := most[f.kind]
		if !bounded {
			continue
		}
		events := f.history.GetEvents()
		first := len(events) - 1
		for events[first].GetEventType() != enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
			first--
		}
		cost := len(events) - first
		t.Logf("%s: %d events", f.kind, cost)
		require.LessOrEqual(t, cost, limit, f.kind)
		delete(most, f.kind)
	}
	require.Empty(t, most, "not recorded")
}

// TestCostOfAPrompt: from the timer that fires to the timer of the next due time
// a prompt is 17 events: two of timers, nine of three workflow tasks, six of the
// model call, which decides that it is due, and the send.
func TestCostOfAPrompt(t *testing.T) {
	const most = 17
	for _, f := range recorded(t) {
		if f.kind != "prompt-with-round" {
			continue
		}
		events := f.history.GetEvents()
		first := len(events) - 1
		for events[first].GetEventType() != enums.EVENT_TYPE_TIMER_FIRED {
			first--
		}
		cost := len(events) - first
		require.Equal(t, enums.EVENT_TYPE_TIMER_STARTED, events[len(events)-1].GetEventType())
		require.LessOrEqual(t, cost, most)
		return
	}
	t.Error("not recorded")
}
