package harness

import (
	"context"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/command/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"
)

const soon = 10 * time.Second

// sleeper is a fleet of one process that would run for a minute.
func sleeper(t *testing.T) (*Fleet, *Board, string) {
	t.Helper()
	path, err := exec.LookPath("sh")
	require.NoError(t, err)
	dir := t.TempDir()
	trace := NewTrace()
	fleet := NewFleet(dir, trace)
	starts := filepath.Join(dir, "starts")
	require.NoError(t, fleet.Run(Program{Name: "worker1", Path: path, Args: []string{"-c", "echo x >>" + starts + "; exec sleep 60"}, Env: []string{"PATH=/usr/bin:/bin"}}))
	t.Cleanup(fleet.Stop)
	return fleet, NewBoard(fleet, trace), starts
}

func waitStarts(t *testing.T, starts string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(starts)
		return strings.Count(string(text), "x") == n
	}, soon, 10*time.Millisecond)
}

func TestFleetRestartsWhatWasKilled(t *testing.T) {
	fleet, board, starts := sleeper(t)
	waitStarts(t, starts, 1)
	require.True(t, board.Kill("worker1", "at random", 0))
	waitStarts(t, starts, 2)
	require.Empty(t, fleet.Restarts(), "a kill is not an end of its own")
	kills, _ := board.Counts()
	require.Equal(t, map[string]int{"worker: at random": 1}, kills)
	require.False(t, board.Kill("worker2", "at random", 0))
	require.Equal(t, 1, board.Total())
}

func TestTrapKillsAtItsPointOnce(t *testing.T) {
	fleet, board, starts := sleeper(t)
	waitStarts(t, starts, 1)
	require.Eventually(t, func() bool {
		p := fleet.processes["worker1"]
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.running != nil
	}, soon, time.Millisecond)
	board.Arm(Trap{Point: DuringModelCall})
	require.False(t, board.Pass(t.Context(), AfterAnswer, "worker1"), "another point")
	require.True(t, board.Pass(t.Context(), DuringModelCall, "worker1"))
	waitStarts(t, starts, 2)
	require.False(t, board.Pass(t.Context(), DuringModelCall, "worker1"), "it is used up")
	board.Arm(Trap{Point: BeforeSignal, Victim: "worker1"})
	require.False(t, board.Pass(t.Context(), BeforeSignal, "starter1"), "the caller starts on")
	require.Equal(t, map[Point]bool{DuringModelCall: true, BeforeSignal: true}, board.Reached())
}

func TestDisarm(t *testing.T) {
	_, board, _ := sleeper(t)
	board.Arm(Trap{Point: DuringModelCall})
	board.Spoil(TargetModel, FaultBusy)
	board.Disarm()
	require.False(t, board.Pass(t.Context(), DuringModelCall, "worker1"))
	_, spoilt := board.Take(TargetModel)
	require.False(t, spoilt)
	require.Zero(t, board.Total())
}

func framed(t *testing.T, m proto.Message) []byte {
	t.Helper()
	body, err := proto.Marshal(m)
	require.NoError(t, err)
	head := make([]byte, frameHead)
	binary.BigEndian.PutUint32(head[1:], uint32(len(body)))
	return append(head, body...)
}

func TestPassages(t *testing.T) {
	answered := func(kind enums.CommandType) []byte {
		return framed(t, &workflowservice.RespondWorkflowTaskCompletedRequest{Commands: []*command.Command{{CommandType: kind}}})
	}
	for _, tc := range []struct {
		method string
		body   []byte
		want   callPoints
	}{
		{"SignalWithStartWorkflowExecution", nil, callPoints{BeforeSignal, AfterSignal}},
		{"SignalWorkflowExecution", nil, callPoints{BeforeSignal, AfterSignal}},
		{"RespondWorkflowTaskCompleted", answered(enums.COMMAND_TYPE_START_TIMER), callPoints{BeforeTaskDone, AfterTaskDone}},
		{"RespondWorkflowTaskCompleted", answered(enums.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION), callPoints{BeforeContinue, AfterContinue}},
		{"RespondWorkflowTaskCompleted", []byte("cut"), callPoints{BeforeTaskDone, AfterTaskDone}},
		{"PollWorkflowTaskQueue", nil, callPoints{}},
	} {
		require.Equal(t, tc.want, passageOf(tc.method, tc.body), tc.method)
	}
}

// starter is one that takes webhooks after a few refusals.
func starter(t *testing.T, refusals int) (base string, taken func() []string) {
	t.Helper()
	states := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusals > 0 {
			refusals--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = r.ParseForm()
		states <- r.PostForm.Get("MessageStatus")
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		var out []string
		for len(states) > 0 {
			out = append(out, <-states)
		}
		return out
	}
}

func TestCarrierFaults(t *testing.T) {
	for _, tc := range []struct {
		name   string
		target Target
		fault  Fault
		status int // 0: the connection breaks
		taken  int
		states []string
	}{
		{"none", "", "", http.StatusCreated, 1, []string{"queued", "sent", "delivered"}},
		{"busy", TargetCarrier, FaultBusy, http.StatusTooManyRequests, 0, nil},
		{"gateway", TargetCarrier, FaultGateway, http.StatusBadGateway, 0, nil},
		{"reset", TargetCarrier, FaultReset, 0, 0, nil},
		{"reset after", TargetCarrier, FaultResetAfter, 0, 1, []string{"queued", "sent", "delivered"}},
		{"garbled after", TargetCarrier, FaultGarbledAfter, http.StatusOK, 1, []string{"queued", "sent", "delivered"}},
		{"out of order", TargetCallback, FaultReversed, http.StatusCreated, 1, []string{"delivered", "sent", "queued"}},
		{"twice", TargetCallback, FaultTwice, http.StatusCreated, 1, []string{"queued", "queued", "sent", "sent", "delivered", "delivered"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base, taken := starter(t, 2)
			trace := NewTrace()
			board := NewBoard(NewFleet(t.TempDir(), trace), trace)
			carrier, err := NewCarrier(board, trace, []string{base})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, carrier.Close()) })
			server := httptest.NewServer(carrier.Handler())
			t.Cleanup(server.Close)
			if tc.fault != "" {
				board.Spoil(tc.target, tc.fault)
			}
			require.Equal(t, tc.status, sendOne(t, server.URL+"/worker1/2010-04-01/Accounts/"+AccountSID+"/Messages.json"))
			require.Len(t, carrier.Sent(), tc.taken)
			require.Eventually(t, func() bool { return carrier.Reporting() == 0 }, soon, 10*time.Millisecond)
			require.Equal(t, tc.states, taken())
		})
	}
}

func sendOne(t *testing.T, address string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	form := url.Values{"To": {"+12025550101"}, "From": {OurNumber}, "Body": {"hello"}, "StatusCallback": {"http://coach.test/twilio/status?outbox=t1-p1"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(AccountSID, AuthToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}
