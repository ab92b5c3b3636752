package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// environ is that of a composition; the starter is at an address.
func environ(starter string) []string {
	return []string{
		"COACH_HTTP_ADDR=127.0.0.1:0", "COACH_PUBLIC_URL=" + starter, "TWILIO_ACCOUNT_SID=AC1", "TWILIO_AUTH_TOKEN=token", "TWILIO_FROM=+15005550006",
		"TWILIO_BASE_URL=http://Simulator:8090", "COACH_API_TOKEN=" + strings.Repeat("a", 32),
	}
}

// TestSimulatorServesPhonesAndModel: a phone's text reaches the starter signed, the
// model answers under the name of the service, and the end of the context ends all.
func TestSimulatorServesPhonesAndModel(t *testing.T) {
	told := make(chan *http.Request, 1)
	starter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ParseForm() == nil {
			told <- r
		}
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(starter.Close)
	ctx, cancel := context.WithCancel(t.Context())
	logged, to := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, environ(starter.URL), to)
		_ = to.CloseWithError(io.EOF)
		ended <- err
	}()
	line, err := bufio.NewReader(logged).ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, logged) }()
	address := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(line)
	require.NotNil(t, address, line)

	ask := func(method, path, host, body string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address[1]+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer script")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusOK, ask(http.MethodGet, "/version", "simulator:8090", ""))
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/v1/chat/completions", "simulator:8090", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	require.Equal(t, http.StatusForbidden, ask(http.MethodGet, "/sim/", "example.org", ""))
	require.Less(t, ask(http.MethodPost, "/sim/phones/+12125550101/messages", address[1], `{"body":"hi"}`), 300)
	got := <-told
	require.Equal(t, []string{"/twilio/inbound", "hi", "+15005550006"}, []string{got.URL.Path, got.PostForm.Get("Body"), got.PostForm.Get("To")})
	require.NotEmpty(t, got.Header.Get("X-Twilio-Signature"))
	cancel()
	require.NoError(t, <-ended)
}

func TestSimulatorNamesWhatIsMissing(t *testing.T) {
	for i, want := range map[int]string{1: "COACH_PUBLIC_URL is not set", 3: "TWILIO_AUTH_TOKEN is not set", 4: "setting From"} {
		given := environ("http://starter:8080")
		given[i] = "LANG=C"
		require.ErrorContains(t, run(t.Context(), given, io.Discard), want)
	}
}
