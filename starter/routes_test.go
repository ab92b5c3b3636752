package starter

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"coachline/internal/store"

	"github.com/stretchr/testify/require"
)

func TestLimitsOfARequest(t *testing.T) {
	h := start(t, nil)
	h.requireRefused(h.call(call{method: "POST", path: participantsPath, body: `{"name":"` + strings.Repeat("x", maxAPIBody) + `"}`}),
		http.StatusRequestEntityTooLarge, "body: larger than 1048576 bytes")
	h.refused(call{method: "POST", path: participantsPath, body: `phone_number=1`, header: map[string]string{"Content-Type": "text/plain"}},
		http.StatusUnsupportedMediaType, "body: unknown content type")
	got := h.refused(call{method: "PATCH", path: participantsPath}, http.StatusMethodNotAllowed, "method not allowed")
	require.Equal(t, "GET, HEAD, POST", got.header.Get("Allow"))
	h.refused(call{method: "GET", path: "/nowhere"}, http.StatusNotFound, "no such route")
	h.refused(call{method: "GET", path: "/docs"}, http.StatusNotFound, "no such route")
	h.refused(call{method: "GET", path: "/openapi.yaml"}, http.StatusNotFound, "no such route")
	h.faults.fail(errDown)
	got = h.refused(call{method: "GET", path: participantsPath}, http.StatusServiceUnavailable, "try again later")
	require.NotContains(t, got.raw, errDown.Error())
}

func TestGuard(t *testing.T) {
	h := start(t, nil)
	for _, value := range []string{"", "Bearer", "Bearer wrong", "Basic " + testToken, testToken} {
		got := h.refused(call{method: "GET", path: participantsPath, header: map[string]string{"Authorization": value}},
			http.StatusUnauthorized, "bearer token")
		require.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"))
	}
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: participantsPath, header: map[string]string{"Authorization": "bearer " + testToken}}).status)
	for _, open := range []string{"/livez", "/readyz", "/version", "/openapi.json"} {
		require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: open, header: map[string]string{"Authorization": ""}}).status, open)
	}
}

func TestGuardWithoutToken(t *testing.T) {
	h := start(t, func(c *Config) { c.HTTP.APIToken = "" })
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: participantsPath, header: map[string]string{"Authorization": ""}}).status)
	h.refused(call{method: "POST", path: participantsPath, body: `{"phone_number":"+15558675310"}`,
		header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, http.StatusForbidden, "local requests")

	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+h.server.Addr()+participantsPath, http.NoBody)
	require.NoError(t, err)
	req.Host = "rebound.example.org"
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusForbidden, res.StatusCode)
}

func TestNewRefuses(t *testing.T) {
	cfg := Config{HTTP: HTTPConfig{Addr: "0.0.0.0:0"}, Store: openStore(t, &faults{}, store.InboundLimits{}), Temporal: &fakeTemporal{}, Carrier: CarrierConfig{Verifier: signed{}}}
	_, err := New(context.Background(), cfg)
	require.ErrorContains(t, err, "COACH_API_TOKEN")
	cfg.Carrier.Verifier = nil
	_, err = New(context.Background(), cfg)
	require.ErrorContains(t, err, "signature verifier")
}

func TestGivenListener(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := start(t, func(c *Config) { c.HTTP.Listener = listener })
	require.Equal(t, listener.Addr().String(), h.server.Addr())
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: "/livez"}).status)
}
