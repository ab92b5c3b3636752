package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLostTextIsTriedOnceMore: a text that the carrier took and lost comes a
// second time, though the worker is killed while the try waits, and no third.
func TestLostTextIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	settings := []string{"COACH_DEBOUNCE=0", "COACH_MEMORY_STEP=off", "COACH_QUIET_HOURS=", "COACH_LATE_TRY=4s"}
	r := launchIn(t, settings, "--ephemeral", "--no-worker")
	p := &person{t: t, r: r, number: "+12025550131"}
	kill := r.spawn(t, settings...)
	require.Equal(t, http.StatusCreated, p.enroll("", "UTC"))
	p.next(soon)

	p.loses(1)
	reply := p.says("hello")
	p.delivery(2, "undelivered 30003, ready ")
	kill()
	r.spawn(t, settings...)
	require.Equal(t, reply, p.next(soon))
	p.delivery(2, "undelivered 30003, delivered ")

	p.loses(2)
	reply = p.says("I want to walk every day")
	require.Equal(t, reply, p.next(soon))
	p.delivery(3, "undelivered 30003, undelivered 30003")

	// A second failure is final; a third row would have been there at once.
	p.loses(1)
	reply = p.says("for more energy")
	require.Equal(t, reply, p.next(soon))
	p.delivery(4, "undelivered 30003, delivered ")
	require.Len(t, p.received(), 7)
}

// loses has the network take the next texts to the phone and lose them.
func (p *person) loses(count int) {
	p.t.Helper()
	status, body := send(p.t, http.MethodPost, strings.TrimSuffix(p.r.table["Phones"], "/")+"/faults",
		map[string]any{"target": "callback", "kind": "undelivered", "count": count, "to": p.number})
	require.Equal(p.t, http.StatusCreated, status, body)
}

// delivery waits until the rows that a turn sent stand as they should, and looks
// at what the history says of them.
func (p *person) delivery(turn int, want string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		var out struct {
			Result struct {
				Sent []struct {
					Status string
					Code   string `json:"error_code"`
				}
			}
		}
		require.Equal(p.t, http.StatusOK, getJSON(p.t, p.api("/turns/"+strconv.Itoa(turn)), &out))
		var rows []string
		for _, row := range out.Result.Sent {
			rows = append(rows, row.Status+" "+row.Code)
		}
		return strings.Join(rows, ", ") == want
	}, soon, 50*time.Millisecond, want)
	_, expected, _ := strings.Cut(want, ", ")
	expected, _, _ = strings.Cut(expected, " ")
	if expected == "ready" {
		return
	}
	var history struct {
		Result []struct{ Role, Delivery string } `json:"result"`
	}
	require.Equal(p.t, http.StatusOK, getJSON(p.t, p.api("/history"), &history))
	newest := history.Result[len(history.Result)-1]
	require.Equal(p.t, []string{"assistant", expected}, []string{newest.Role, newest.Delivery})
}
