package starter

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

const hisNumber = "+15550002222"

// withStore runs the starter over a real store on SQLite.
func withStore(t *testing.T, rules store.InboundLimits, log io.Writer) (*harness, *store.Store) {
	t.Helper()
	h := startLimited(t, rules, func(c *Config) {
		c.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	return h, h.rows
}

func inboundForm(n int, from, body string) url.Values {
	return url.Values{
		"MessageSid": {fmt.Sprintf("SM%032x", n)}, "AccountSid": {testAccount}, "From": {from}, "To": {ourNumber},
		"Body": {body}, "NumMedia": {"0"},
	}
}

// One phone posts a thousand texts while another one is answered
// and signalled in between, and what is above the limit signals no workflow.
func TestFloodHoldsUpNobodyElse(t *testing.T) {
	const flood, limit = 1000, 30
	h, rows := withStore(t, store.InboundLimits{PerMinute: limit, PerDay: 300, Mute: time.Hour}, io.Discard)
	ann := h.ann()
	bob := h.enrol(`{"phone_number":"` + hisNumber + `"}`)

	var wait sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	next := make(chan int)
	half := make(chan struct{})
	for range 16 {
		wait.Go(func() {
			for n := range next {
				status := h.webhook(inboundPath, inboundForm(n, herNumber, fmt.Sprintf("text number %d", n))).status
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	wait.Go(func() {
		defer close(next)
		for n := range flood {
			if n == flood/2 {
				close(half)
			}
			next <- n
		}
	})
	<-half
	began := time.Now()
	require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(flood, hisNumber, "hello")).status)
	require.Less(t, time.Since(began), time.Second, "another sender waits behind no flood")
	require.Eventually(t, func() bool { return len(h.signalled(bob.ID)) == 1 }, 5*time.Second, 5*time.Millisecond)
	mu.Lock()
	require.Less(t, statuses[http.StatusOK], flood, "the flood goes on meanwhile")
	mu.Unlock()
	wait.Wait()
	require.Equal(t, map[int]int{http.StatusOK: flood}, statuses)

	h.stop()
	require.Len(t, h.signalled(ann.ID), limit)
	require.Equal(t, 1, h.started(wire.ActivitySendLimitNotice))
	history, err := rows.People.History(context.Background(), ann.ID, 2*flood, time.Time{})
	require.NoError(t, err)
	require.Len(t, history, flood, "what a person wrote is shown, whether or not the workflow was told of it")
}

// signalled are the texts that a participant's workflow was told of.
func (h *harness) signalled(id string) []wire.InboxItem {
	h.engine.mu.Lock()
	defer h.engine.mu.Unlock()
	var told []wire.InboxItem
	for i, of := range h.engine.signalled {
		if of == models.WorkflowID(id) {
			told = append(told, h.engine.signals[i])
		}
	}
	return told
}

func (h *harness) started(activity string) int {
	count := 0
	for _, one := range h.engine.seen() {
		if one == "activity:"+activity {
			count++
		}
	}
	return count
}

func TestMachineIsMutedAndReported(t *testing.T) {
	var log strings.Builder
	h, _ := withStore(t, store.InboundLimits{Mute: time.Hour}, &log)
	ann := h.ann()
	for n := range 6 {
		require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(n, herNumber, "I am out of the office")).status)
	}
	h.engine.status = wire.StatusView{Mode: wire.ModeIntake, Status: wire.StatusActive}
	view := result[api.State](t, h.do(call{method: "GET", path: participantsPath + "/" + ann.ID + "/state"}))
	require.Equal(t, testNow.Add(time.Hour), *view.MutedUntil)
	h.stop()
	require.Len(t, h.signalled(ann.ID), 4)
	require.Equal(t, 1, strings.Count(log.String(), "muted"), log.String())
	require.Contains(t, log.String(), ann.ID)
	require.NotContains(t, log.String(), "office")
	require.NotContains(t, log.String(), herNumber)
}

// No workflow starts for a stranger, and the hint is started once.
func TestA59UnknownSender(t *testing.T) {
	h, _ := withStore(t, store.InboundLimits{Hints: true}, io.Discard)
	for n := range 3 {
		require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(n, hisNumber, "who is this?")).status)
	}
	require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(9, herNumber, "STOP")).status)
	h.stop()
	require.Equal(t, []string{"activity:SendHint"}, h.engine.seen())
	require.NotContains(t, h.engine.activities[0].ID, hisNumber[1:])
}

// A picture message of 20,000 characters is taken whole.
func TestH17LongText(t *testing.T) {
	h, rows := withStore(t, store.InboundLimits{PerMinute: 1}, io.Discard)
	ann := h.ann()
	require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(1, herNumber, "first")).status)
	long := strings.Repeat("\U0001F600", 20_000)
	require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(2, herNumber, long)).status)
	history, err := rows.People.History(context.Background(), ann.ID, 10, time.Time{})
	require.NoError(t, err)
	require.Contains(t, history[1].Text, "its last 16000 characters are left out here]")
}

// A peer that sends its request a byte at a time, or none of its body, is cut
// off.
func TestSlowPeersAreCutOff(t *testing.T) {
	head := "POST " + inboundPath + " HTTP/1.1\r\nHost: coach\r\nX-Twilio-Signature: good\r\n" +
		"Content-Type: " + formType + "\r\nContent-Length: 100\r\n"
	for _, tc := range []struct{ name, sent string }{
		{"headers that never end", head},
		{"body that never comes", head + "\r\n"},
		{"body that stops", head + "\r\nMessageSid=SM"},
		{"nothing at all", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := start(t, func(c *Config) {
				c.HTTP.Limits = HTTPLimits{Header: 50 * time.Millisecond, Read: 100 * time.Millisecond, Idle: 50 * time.Millisecond}
			})
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", h.server.Addr())
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close()) }()
			_, err = io.WriteString(conn, tc.sent)
			require.NoError(t, err)
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
			answer, err := io.ReadAll(conn)
			require.NoError(t, err, "the server closes the connection")
			require.NotContains(t, string(answer), "200 OK")
			if strings.HasPrefix(tc.name, "body") {
				require.Contains(t, string(answer), "408 Request Timeout")
			}
			require.Empty(t, listRows[models.Inbound](h, "id"))
		})
	}
}

func TestLimitsOfConnectionsByDefault(t *testing.T) {
	server := newHTTPServer(http.NotFoundHandler(), HTTPLimits{}, slog.New(slog.DiscardHandler))
	require.Equal(t, []time.Duration{5 * time.Second, 15 * time.Second, 30 * time.Second, 2 * time.Minute},
		[]time.Duration{server.ReadHeaderTimeout, server.ReadTimeout, server.WriteTimeout, server.IdleTimeout})
	require.Equal(t, 16<<10, server.MaxHeaderBytes)
}

// Tokens are compared as digests of one length, so a wrong length is an
// ordinary wrong token.
func TestBearerTokensOfAnyLength(t *testing.T) {
	rows := openStore(t, &faults{}, store.InboundLimits{})
	g := newAccess(HTTPConfig{APIToken: testToken}, rows.Users)
	h := &admission{base: base{clock: time.Now}, tokens: rows.Tokens}
	for _, token := range []string{"", "t", testToken[:len(testToken)-1], testToken + "x", strings.Repeat("x", 10_000)} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://coach/", http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		_, refused := h.identify(g, r)
		require.NotNil(t, refused, len(token))
		require.Equal(t, http.StatusUnauthorized, refused.code, len(token))
	}
}

func TestUnreachableIsShown(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	route := participantsPath + "/" + ann.ID
	require.NotContains(t, h.do(call{method: "GET", path: route}).raw, "unreachable")
	h.change(ann.ID, map[string]any{"unreachable_at": testNow, "unreachable_code": "21614"})
	h.engine.status = wire.StatusView{Mode: wire.ModeIntake, Status: wire.StatusActive}
	person := result[api.Participant](t, h.do(call{method: "GET", path: route}))
	require.Equal(t, testNow, *person.UnreachableAt)
	require.Equal(t, "21614", person.UnreachableCode)
	state := result[api.State](t, h.do(call{method: "GET", path: route + "/state"}))
	require.Equal(t, testNow, *state.UnreachableAt)
	require.Equal(t, "21614", state.UnreachableCode)
}
