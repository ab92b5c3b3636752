package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"coachline/dev/temporal"
	"coachline/internal/sim/twilio"
	"coachline/models"
	"coachline/models/wire"
)

var (
	histories   = flag.Int("histories", 10, "short histories of one person each, checked for one order")
	historySeed = flag.Uint64("history-seed", 1, "what they are drawn from")
	historyFrom = flag.Int("history-from", 0, "the number of the first")
)

// personState is all that the model knows of a person.
type personState struct {
	status    wire.Status
	takenOver bool
}

// What is asked of the product, and what is seen of it.
const (
	askStop     = "stop"
	askStart    = "start"
	askText     = "text"
	askPause    = "pause"
	askResume   = "resume"
	askTakeOver = "take over"
	askHandBack = "hand back"
	askPrompt   = "prompt"
	askSend     = "send"
	seeState    = "state"
	seePosted   = "posted"
)

// answered is what came of an operation: done, refused, or unknown; the state that was
// read, or the kind of message that reached the carrier.
type answered struct {
	refused, unknown bool
	state            personState
	kind             models.EntryKind
}

// stepPerson is the model: in one order of all operations, each at an instant between its
// call and its return, what follows from an operation in a state. None: it cannot be.
func stepPerson(state personState, ask string, out answered) []personState {
	next, canBe := carryOut(state, ask, out)
	switch {
	case out.unknown:
		return []personState{state, next} // it may have been carried out, or not
	case !canBe:
		return nil
	}
	return []personState{next}
}

// carryOut returns the state after an operation, and whether it could have been answered
// as it was.
func carryOut(state personState, ask string, out answered) (next personState, canBe bool) {
	next = state
	isOut := state.status == wire.StatusOptedOut
	switch ask {
	case askStop:
		next.status = wire.StatusOptedOut
	case askStart:
		if isOut {
			next.status = wire.StatusActive
		}
	case askPause, askResume:
		// Only the person ends an opt-out.
		if out.refused || isOut {
			return state, out.refused && isOut
		}
		next.status = map[string]wire.Status{askPause: wire.StatusPaused, askResume: wire.StatusActive}[ask]
	case askTakeOver:
		if out.refused || isOut {
			return state, out.refused && isOut
		}
		next.takenOver = true
	case askHandBack:
		// There must be something to hand back.
		next.takenOver = false
		return next, out.refused == !state.takenOver
	case askSend:
		return state, out.refused == isOut
	case askText, askPrompt:
	case seeState:
		return state, out.state == state
	case seePosted:
		coaching := out.kind.Spec().Coaching
		return state, !coaching || state.status == wire.StatusActive && !state.takenOver
	}
	return next, true
}

func personModel() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{personState{status: wire.StatusActive}} },
		Step: func(state, ask, out any) []any {
			var next []any
			for _, s := range stepPerson(state.(personState), ask.(string), out.(answered)) {
				next = append(next, s)
			}
			return next
		},
		DescribeOperation: func(ask, out any) string { return fmt.Sprintf("%s: %+v", ask, out) },
	}
	return model.ToModel()
}

// TestPersonModel: the model takes what may be seen, and nothing else.
func TestPersonModel(t *testing.T) {
	op := func(call, end int64, ask string, out answered) porcupine.Operation {
		return porcupine.Operation{Input: ask, Call: call, Return: end, Output: out}
	}
	state := func(status wire.Status, takenOver bool) answered {
		return answered{state: personState{status, takenOver}}
	}
	reply, refused, unknown := answered{kind: models.KindReply}, answered{refused: true}, answered{unknown: true}
	for name, tt := range map[string]struct {
		ops []porcupine.Operation
		can bool
	}{
		"a reply beside a STOP":                 {[]porcupine.Operation{op(1, 5, askStop, answered{}), op(2, 6, seePosted, reply)}, true},
		"a reply after a STOP":                  {[]porcupine.Operation{op(1, 2, askStop, answered{}), op(3, 4, seePosted, reply)}, false},
		"its confirmation after a STOP":         {[]porcupine.Operation{op(1, 2, askStop, answered{}), op(3, 4, seePosted, answered{kind: models.KindConsent})}, true},
		"a reply after a pause":                 {[]porcupine.Operation{op(1, 2, askPause, answered{}), op(3, 4, seePosted, reply)}, false},
		"a reply after a pause without answer":  {[]porcupine.Operation{op(1, math.MaxInt64, askPause, unknown), op(3, 4, seePosted, reply)}, true},
		"a reply while taken over":              {[]porcupine.Operation{op(1, 2, askTakeOver, answered{}), op(3, 4, seePosted, reply)}, false},
		"an operator while taken over":          {[]porcupine.Operation{op(1, 2, askTakeOver, answered{}), op(3, 4, seePosted, answered{kind: models.KindOperator})}, true},
		"resumed by an operator after a STOP":   {[]porcupine.Operation{op(1, 2, askStop, answered{}), op(3, 4, askResume, answered{})}, false},
		"a resume that was refused":             {[]porcupine.Operation{op(1, 2, askStop, answered{}), op(3, 4, askResume, refused)}, true},
		"a state of before":                     {[]porcupine.Operation{op(1, 2, askPause, answered{}), op(3, 4, seeState, state(wire.StatusActive, false))}, false},
		"active again for an instant":           {[]porcupine.Operation{op(1, 2, askPause, answered{}), op(3, 4, seeState, state(wire.StatusActive, false)), op(5, 6, seeState, state(wire.StatusPaused, false))}, false},
		"handed back without a take-over":       {[]porcupine.Operation{op(1, 2, askHandBack, answered{})}, false},
		"START after a STOP":                    {[]porcupine.Operation{op(1, 2, askStop, answered{}), op(3, 4, askStart, answered{}), op(5, 6, seePosted, reply)}, true},
		"a message of an operator after a STOP": {[]porcupine.Operation{op(1, 2, askStop, answered{}), op(3, 4, askSend, answered{})}, false},
	} {
		require.Equal(t, tt.can, porcupine.CheckOperations(personModel(), tt.ops), name)
	}
}

// history is what happens to one person, and its record.
type history struct {
	*turn
	mu  sync.Mutex
	ops []porcupine.Operation
}

func (h *history) record(client int, ask string, called time.Time, out answered) {
	returned := time.Now().UnixNano()
	if out.unknown {
		returned = math.MaxInt64 // it may be carried out at any later time
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: ask, Call: called.UnixNano(), Output: out, Return: returned})
}

// say has the person text, until it was taken.
func (h *history) say(ask, body string, number int) error {
	called := time.Now()
	err := h.sendText(body, number)
	h.record(0, ask, called, answered{})
	return err
}

// operate has an operator do something, until it is answered. Each try is an
// operation of its own: one without an answer may have been carried out.
func (h *history) operate(client int, ask, key string) error {
	method, path, body := http.MethodPatch, "", any(map[string]any{"status": wire.StatusPaused})
	switch ask {
	case askResume:
		body = map[string]any{"status": wire.StatusActive}
	case askTakeOver:
		method, path, body = http.MethodPost, "/takeover", map[string]any{"force": true}
	case askHandBack:
		method, path, body = http.MethodDelete, "/takeover", map[string]any{"force": true}
	case askSend:
		method, path, body = http.MethodPost, "/messages", map[string]any{"body": "from the operator " + key}
	case askPrompt:
		method, path, body = http.MethodPost, "/schedules", map[string]any{"type": "fixed", "at": clockIn(5 * time.Minute), "first": "now"}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	changes, tried := ask != askSend && ask != askPrompt, false
	for range 300 {
		called := time.Now()
		answer, code, err := h.ask(method, path, key, raw)
		switch {
		case err != nil || code >= http.StatusInternalServerError:
			if tried = true; changes {
				h.record(client, ask, called, answered{unknown: true})
			}
			twilio.Pause(h.ctx, rest/5) // the starter is being restarted
			continue
		case code < http.StatusMultipleChoices || code == http.StatusConflict || code == http.StatusNotFound:
			// An earlier try may be the reason that this one is refused.
			isRefused := code >= http.StatusMultipleChoices
			if out := (answered{refused: isRefused, unknown: tried && isRefused}); changes || !out.unknown {
				h.record(client, ask, called, out)
			}
			return nil
		}
		return fmt.Errorf("%s: %d %s", ask, code, answer)
	}
	return fmt.Errorf("%s: no answer", ask)
}

// look reads the person's state once.
func (h *history) look() error {
	called := time.Now()
	raw, code, err := h.ask(http.MethodGet, "", "", nil)
	if err != nil || code != http.StatusOK {
		return nil //nolint:nilerr // a killed starter answers nothing, and nothing was seen
	}
	var view struct {
		Result struct {
			Status    wire.Status     `json:"status"`
			TakenOver json.RawMessage `json:"taken_over"`
		} `json:"result"`
	}
	if err := json.Unmarshal(raw, &view); err != nil {
		return err
	}
	h.record(3, seeState, called, answered{state: personState{view.Result.Status, len(view.Result.TakenOver) > 0}})
	return nil
}

func (h *history) ask(method, path, key string, body []byte) ([]byte, int, error) {
	return h.request(h.ctx, func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, method, publicURL+"/conversation/participants/"+h.id+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		if key != "" && method == http.MethodPost {
			req.Header.Set("Idempotency-Key", key)
		}
		return req, nil
	})
}

// run has a phone, two operators and a reader act at the same time, then waits until
// nothing is under way.
func (h *history) run(draw *rand.Rand, kill string) error {
	client := func(n int, acts []string, act func(ask string, i int) error) func() error {
		own := rand.New(rand.NewPCG(draw.Uint64(), uint64(n)))
		return func() error {
			for i := range 6 {
				twilio.Pause(h.ctx, time.Duration(own.IntN(250))*time.Millisecond)
				if err := act(acts[own.IntN(len(acts))], i); err != nil {
					return err
				}
			}
			return nil
		}
	}
	operator := func(n int) func(string, int) error {
		return func(ask string, i int) error { return h.operate(n, ask, fmt.Sprintf("%s-%d-%d", h.id, n, i)) }
	}
	clients := []func() error{
		client(0, []string{askStop, askStart, askStart, askText, askText}, func(ask string, i int) error {
			body := map[string]string{askStop: "STOP", askStart: "START", askText: fmt.Sprintf("m%04d hello", 5000+i)}[ask]
			return h.say(ask, body, 5000+i)
		}),
		client(1, []string{askPause, askResume, askResume, askPrompt, askSend}, operator(1)),
		client(2, []string{askTakeOver, askHandBack, askHandBack, askSend}, operator(2)),
		client(3, []string{seeState}, func(string, int) error { return h.look() }),
	}
	errs := make([]error, len(clients))
	var group sync.WaitGroup
	for i, act := range clients {
		group.Go(func() { errs[i] = act() })
	}
	if kill != "" {
		twilio.Pause(h.ctx, time.Duration(draw.IntN(1000))*time.Millisecond)
		h.current(kill).kill()
	}
	group.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	if err := h.await(h.isQuiet); err != nil {
		return err
	}
	if err := h.look(); err != nil {
		return err
	}
	return h.recordPosts()
}

// isQuiet fails while something is under way. Texts of a person who is paused or taken
// over wait, which is quiet.
func (h *history) isQuiet(ctx context.Context) error {
	for calm := 0; calm < 4; calm++ {
		for _, question := range unsettled[:2] { // notices not delivered, texts not sent
			var count int
			if err := h.scan(&count, question.query, h.id); err != nil || count > 0 {
				return fmt.Errorf("%d %s: %w", count, question.what, cmp.Or(err, errBusy))
			}
		}
		if !twilio.Pause(ctx, settleEvery) {
			return errBusy
		}
	}
	return nil
}

var errBusy = errors.New("still under way")

// recordPosts records what the carrier took: each was allowed at an instant between the
// beginning of its newest post and its coming to the carrier.
func (h *history) recordPosts() error {
	for _, sent := range h.sentTexts() {
		var kind models.EntryKind
		var began time.Time
		var posted sql.NullTime
		var attempts int
		err := h.db.QueryRowContext(h.ctx, `SELECT kind, attempts, attempted_at, created_at FROM outbox WHERE id = $1`, sent.Outbox).Scan(&kind, &attempts, &posted, &began)
		if attempts == 1 && posted.Valid {
			began = posted.Time
		}
		if err != nil {
			return fmt.Errorf("reading row %s: %w", sent.Outbox, err)
		}
		if kind == models.KindGreeting {
			continue // before the history began
		}
		// The row keeps milliseconds.
		op := porcupine.Operation{ClientId: 4, Input: seePosted, Call: began.Add(-time.Millisecond).UnixNano(), Output: answered{kind: kind}, Return: sent.At.UnixNano()}
		if op.Call > op.Return {
			return fmt.Errorf("row %s was posted before it was written", sent.Outbox)
		}
		h.ops = append(h.ops, op)
	}
	return nil
}

// TestHistoriesHaveOneOrder: what happens to a person at the same time from several
// sides, with a kill in every tenth history, can be put into one order in which each
// answer, each state that was read and each message that went out was right.
func TestHistoriesHaveOneOrder(t *testing.T) {
	keepLog(t)
	around, err := newSurroundings(t.Context(), temporal.Config{}, 1000)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, around.close()) })
	const sideBySide = 10
	numbers := make(chan int, *histories)
	for n := range *histories {
		numbers <- *historyFrom + n
	}
	close(numbers)
	var group sync.WaitGroup
	for range min(sideBySide, *histories) {
		group.Go(func() {
			l, err := newInstallation(t.Context(), around, &scenario{thinking: 100 * time.Millisecond})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				if err := l.close(); err != nil {
					t.Error(err)
				}
			}()
			for n := range numbers {
				checkHistory(t, l, n)
			}
		})
	}
	group.Wait()
}

// keepLog writes what the product logs as warnings to a file of the test.
func keepLog(t *testing.T) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.ArtifactDir(), "product.log"))
	require.NoError(t, err)
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: slog.LevelWarn})))
	t.Cleanup(func() { slog.SetDefault(old); require.NoError(t, file.Close()) })
}

func checkHistory(t *testing.T, l *installation, n int) {
	draw := rand.New(rand.NewPCG(*historySeed, uint64(n)))
	person, err := l.enrol()
	if err != nil {
		t.Errorf("history %d: %v", n, err)
		return
	}
	h := &history{turn: person}
	kill := ""
	if n%10 == 9 {
		kill = l.names[draw.IntN(len(l.names))]
	}
	if err := h.run(draw, kill); err != nil {
		t.Errorf("history %d: %v", n, err)
		return
	}
	model := personModel()
	switch found, info := porcupine.CheckOperationsVerbose(model, h.ops, time.Minute); found {
	case porcupine.Ok:
		t.Logf("history %d: %d operations, killed %q", n, len(h.ops), kill)
	case porcupine.Unknown:
		t.Errorf("history %d: no order was found in time", n)
	case porcupine.Illegal:
		path := filepath.Join(t.ArtifactDir(), fmt.Sprintf("history-%d.html", n))
		require.NoError(t, porcupine.VisualizePath(model, info, path))
		t.Errorf("history %d of seed %d has no order; see %s\n%s", n, *historySeed, path, h.describe())
	}
}

// describe lists the operations by their calls.
func (h *history) describe() string {
	ops := slices.SortedFunc(slices.Values(h.ops), func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var lines strings.Builder
	for _, op := range ops {
		since := func(at int64) string {
			if at == math.MaxInt64 {
				return "-"
			}
			return time.Duration(at - ops[0].Call).Round(time.Millisecond).String()
		}
		fmt.Fprintf(&lines, "%8s %8s  %d %-9s %+v\n", since(op.Call), since(op.Return), op.ClientId, op.Input, op.Output)
	}
	return lines.String()
}
