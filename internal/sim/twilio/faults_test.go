package twilio

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCarrierFaultHTTP(t *testing.T) {
	for _, tc := range []struct {
		name         string
		fault        map[string]any
		status, code int
		retryAfter   string
	}{
		{"too many", map[string]any{"status": 429, "code": 20429, "retry_after": 7}, 429, 20429, "7"},
		{"too many without code", map[string]any{"status": 429}, 429, 20429, ""},
		{"named code", map[string]any{"code": 30007}, 400, 30007, ""},
		{"nothing named", map[string]any{}, 503, 20500, ""},
		{"bad gateway", map[string]any{"status": 502}, 502, 20500, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := start(t, config(nil))
			tc.fault["target"], tc.fault["kind"] = "carrier", "http"
			b.arm(t, tc.fault)
			resp, err := http.DefaultClient.Do(b.sendRequest(t, url.Values{"To": {ada}, "From": {coachPhone}, "Body": {"x"}}))
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, tc.retryAfter, resp.Header.Get("Retry-After"))
			require.Equal(t, tc.status, resp.StatusCode)
			require.Empty(t, b.list(t, ""), "nothing was taken")

			code, _ := b.send(t, ada, "again")
			require.Equal(t, http.StatusCreated, code, "one call was to fail")
		})
	}
}

func TestCarrierFaultsThatCutTheCall(t *testing.T) {
	for _, tc := range []struct {
		kind  string
		taken int
		reset bool
	}{
		{"timeout_after_accept", 1, false},
		{"timeout", 0, false},
		{"hang", 0, false},
		{"reset", 0, true},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			b := start(t, config(nil))
			b.arm(t, map[string]any{"target": "carrier", "kind": tc.kind, "delay_ms": 1})
			resp, err := http.DefaultClient.Do(b.sendRequest(t, url.Values{"To": {ada}, "From": {coachPhone}, "Body": {"x"}}))
			if err == nil {
				resp.Body.Close()
			}
			require.Error(t, err)
			require.Equal(t, tc.reset, errors.Is(err, syscall.ECONNRESET), "%v", err)
			require.Len(t, b.list(t, ""), tc.taken)
		})
	}
}

func TestHangEndsWithTheCallerOrTheServer(t *testing.T) {
	for _, byCaller := range []bool{true, false} {
		b := start(t, config(nil))
		b.arm(t, map[string]any{"target": "carrier", "kind": "hang"})
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		ended := make(chan error)
		req := b.sendRequest(t, url.Values{"To": {ada}}).WithContext(ctx)
		go func() {
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			ended <- err
		}()
		require.Eventually(t, func() bool {
			_, answer := b.do(t, http.MethodGet, "/sim/faults", nil)
			return len(answer["fired"].([]any)) == 1
		}, waiting, time.Millisecond)
		if byCaller {
			cancel()
		} else {
			require.NoError(t, b.sim.Close())
		}
		require.Error(t, <-ended)
	}
}

func TestCarrierFaultMalformedAndLate(t *testing.T) {
	b := start(t, config(nil))
	b.arm(t, map[string]any{"target": "carrier", "kind": "malformed"})
	resp, err := http.DefaultClient.Do(b.sendRequest(t, url.Values{"To": {ada}, "From": {coachPhone}, "Body": {"x"}}))
	require.NoError(t, err)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusBadGateway, resp.StatusCode)
	require.Contains(t, string(raw), "<html>")
	require.Len(t, b.list(t, ""), 1, "it was taken all the same")

	b.arm(t, map[string]any{"target": "carrier", "kind": "late", "delay_ms": 30})
	began := time.Now()
	code, _ := b.send(t, ada, "y")
	require.Equal(t, http.StatusCreated, code)
	require.GreaterOrEqual(t, time.Since(began), 30*time.Millisecond)
}

func TestLookupFault(t *testing.T) {
	b := start(t, config(nil))
	b.arm(t, map[string]any{"target": "lookup", "kind": "http", "status": 500})
	code, _ := b.send(t, ada, "sending is not looking up")
	require.Equal(t, http.StatusCreated, code)
	req, err := http.NewRequest(http.MethodGet, b.URL+messagesPath+".json", nil)
	require.NoError(t, err)
	req.SetBasicAuth(testSID, testToken)
	code, _ = answered(t, req)
	require.Equal(t, http.StatusInternalServerError, code)
	require.Len(t, b.list(t, ""), 1)
}

func TestFaultOfOnePhone(t *testing.T) {
	b := start(t, config(nil))
	b.arm(t, map[string]any{"target": "carrier", "kind": "http", "status": 500, "to": ben, "count": 2})
	code, _ := b.send(t, ada, "x")
	require.Equal(t, http.StatusCreated, code)
	for range 2 {
		code, _ = b.send(t, ben, "x")
		require.Equal(t, http.StatusInternalServerError, code)
	}
	code, _ = b.send(t, ben, "x")
	require.Equal(t, http.StatusCreated, code)
}

func TestModelFaults(t *testing.T) {
	b := start(t, config(nil))
	b.arm(t, map[string]any{"target": "model", "kind": "http", "status": 429, "retry_after": 3})
	code, answer := b.do(t, http.MethodPost, "/v1/chat/completions", chat("hi"))
	require.Equal(t, http.StatusTooManyRequests, code)
	require.Equal(t, "rate_limit_exceeded", answer["error"].(map[string]any)["code"])

	for _, kind := range []string{"timeout", "timeout_after_accept", "hang", "reset"} {
		b.arm(t, map[string]any{"target": "model", "kind": kind, "delay_ms": 1})
		req, err := http.NewRequest(http.MethodPost, b.URL+"/v1/chat/completions", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer key")
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		require.Error(t, err, kind)
	}

	b.arm(t, map[string]any{"target": "model", "kind": "malformed"})
	req, err := http.NewRequest(http.MethodPost, b.URL+"/v1/chat/completions", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer key")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, "text/html", resp.Header.Get("Content-Type"))

	code, _ = b.do(t, http.MethodPost, "/v1/chat/completions", chat("hi"))
	require.Equal(t, http.StatusOK, code)
}

func TestCallbackFaults(t *testing.T) {
	for _, tc := range []struct {
		kind   string
		want   []string
		signed bool
	}{
		{"twice", []string{"queued", "queued", "sent", "sent", "delivered", "delivered"}, true},
		{"out_of_order", []string{"delivered", "sent", "queued"}, true},
		{"late", []string{"queued", "sent", "delivered"}, true},
		{"malformed", []string{"queued", "sent", "delivered"}, false},
		{"reset", nil, true},
		{"undelivered", []string{"queued", "sent", "undelivered"}, true},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			a := newApp(t, nil)
			b := start(t, config(a))
			b.arm(t, map[string]any{"target": "callback", "kind": tc.kind, "delay_ms": 20})
			began := time.Now()
			b.send(t, ada, "x")
			if tc.kind == "undelivered" {
				b.settled(t, ada, tc.kind)
				require.Equal(t, "30003", a.wait(t, len(tc.want))[2].form.Get("ErrorCode"))
			} else {
				b.settled(t, ada, "delivered")
			}
			hooks := a.wait(t, len(tc.want))
			require.Equal(t, tc.want, states(hooks))
			for _, h := range hooks {
				require.Equal(t, tc.signed, h.signed)
			}
			if tc.kind == "late" {
				require.GreaterOrEqual(t, time.Since(began), 20*time.Millisecond)
			}
		})
	}
}

func TestInboundFaults(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	b.arm(t, map[string]any{"target": "inbound", "kind": "twice", "to": ada})
	b.arm(t, map[string]any{"target": "inbound", "kind": "late", "delay_ms": 10})
	b.arm(t, map[string]any{"target": "inbound", "kind": "malformed"})
	for _, body := range []string{"doubled", "late", "forged"} {
		b.text(t, ada, body)
	}
	hooks := a.wait(t, 4)
	require.Equal(t, hooks[0], hooks[1], "same id, same token")
	require.Equal(t, "late", hooks[2].form.Get("Body"))
	require.False(t, hooks[3].signed)
}

func TestFaultsAreListedAndCleared(t *testing.T) {
	at := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
	cfg := config(nil)
	cfg.Now = func() time.Time { return at }
	b := start(t, cfg)
	b.arm(t, map[string]any{"target": "carrier", "kind": "http", "count": 3})
	b.send(t, ada, "x")
	_, answer := b.do(t, http.MethodGet, "/sim/faults", nil)
	require.Equal(t, map[string]any{
		"armed": []any{map[string]any{"target": "carrier", "kind": "http", "count": 2.0, "status": 503.0}},
		"fired": []any{map[string]any{"target": "carrier", "kind": "http", "phone": ada, "at": "2026-11-24T13:00:00Z"}},
	}, answer)
	code, _ := b.do(t, http.MethodDelete, "/sim/faults", nil)
	require.Equal(t, http.StatusNoContent, code)
	_, answer = b.do(t, http.MethodGet, "/sim/faults", nil)
	require.Equal(t, map[string]any{"armed": []any{}, "fired": []any{}}, answer)
}

func TestFaultsRefuse(t *testing.T) {
	b := start(t, config(nil))
	for _, tc := range []struct {
		name  string
		in    map[string]any
		field string
	}{
		{"unknown field", map[string]any{"target": "carrier", "kind": "http", "colour": "red"}, "colour"},
		{"unknown target", map[string]any{"target": "moon", "kind": "http"}, "target"},
		{"no target", map[string]any{"kind": "http"}, "target"},
		{"unknown kind", map[string]any{"target": "carrier", "kind": "explode"}, "kind"},
		{"kind of another target", map[string]any{"target": "model", "kind": "twice"}, "kind"},
		{"negative count", map[string]any{"target": "model", "kind": "http", "count": -1}, "count"},
		{"count of another type", map[string]any{"target": "model", "kind": "http", "count": "1"}, "count"},
		{"status of a success", map[string]any{"target": "carrier", "kind": "http", "status": 200}, "status"},
		{"negative delay", map[string]any{"target": "carrier", "kind": "late", "delay_ms": -1}, "delay_ms"},
		{"negative wait", map[string]any{"target": "carrier", "kind": "http", "retry_after": -1}, "retry_after"},
		{"phone of a model call", map[string]any{"target": "model", "kind": "http", "to": ada}, "to"},
		{"bad phone", map[string]any{"target": "carrier", "kind": "http", "to": "ada"}, "to"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, answer := b.do(t, http.MethodPost, "/sim/faults", tc.in)
			require.Equal(t, http.StatusBadRequest, code)
			require.Equal(t, tc.field, answer["field"])
		})
	}
}
