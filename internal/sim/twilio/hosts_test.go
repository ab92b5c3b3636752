package twilio

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForeignHostsAreRefused: a page whose name was rebound to this machine
// reads no phone and texts as none.
func TestForeignHostsAreRefused(t *testing.T) {
	server, err := New(Config{AccountSID: "AC1", AuthToken: "token", From: "+15005550006", Hosts: []string{"simulator"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	for host, want := range map[string]int{
		"127.0.0.1:8090": http.StatusOK, "localhost:8090": http.StatusOK, "LOCALHOST": http.StatusOK, "[::1]:8090": http.StatusOK,
		"127.8.9.1": http.StatusOK, "simulator:8090": http.StatusOK, "Simulator": http.StatusOK, "simulator.example.org": http.StatusForbidden, "rebound.example.org:8090": http.StatusForbidden, "rebound.example.org": http.StatusForbidden,
		"localhost.example.org": http.StatusForbidden, "192.0.2.7:8090": http.StatusForbidden, "": http.StatusForbidden,
	} {
		for _, path := range []string{"/sim/", "/sim/phones", "/version", "/v1/models"} {
			request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
			request.Host = host
			answer := httptest.NewRecorder()
			server.Handler().ServeHTTP(answer, request)
			require.Equal(t, want, answer.Code, "%s of %q", path, host)
		}
	}
}
