package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// TestConsoleOutlivesItsServer stops the whole system while an operator writes, and
// starts it again on the same data: the page says that the connection is lost, keeps the
// draft, follows again by itself also behind a proxy, and sends the message once.
func TestConsoleOutlivesItsServer(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	environ := []string{"COACH_QUIET_HOURS=", "COACH_DEBOUNCE=0"}
	data := filepath.Join(t.TempDir(), "data")
	r := launchIn(t, environ, "--data", data)
	var server atomic.Pointer[url.URL] // a new one has another port
	var refused atomic.Int64
	forward := func() {
		address, err := url.Parse(r.table["API"])
		require.NoError(t, err)
		server.Store(address)
	}
	forward()
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(server.Load())
			request.Out.Host = request.In.Host
		},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway)
			if strings.HasPrefix(r.URL.Path, "/console/live") {
				refused.Add(1)
			}
		},
	})
	t.Cleanup(proxy.Close)

	person := &person{t: t, number: ada, r: r}
	require.Equal(t, http.StatusCreated, person.enroll("Ada", "UTC"))
	person.next(soon)
	p := browser.Open(t, proxy.URL+"/console/people/"+person.id, browsertest.View{})
	p.ExpectText("Are you ready to start?")
	p.Fill("textbox", "Message", "I will call you")
	require.NoError(t, r.stop())
	p.ExpectText("connection lost, trying again")
	p.ExpectValue("textbox", "Message", "I will call you")
	// A browser does not try again by itself what was answered with 502.
	require.Eventually(t, func() bool { return refused.Load() > 0 }, soon, 50*time.Millisecond)

	r = launchIn(t, environ, "--data", data)
	person.r = r
	forward()
	person.text("are you there?")
	p.ExpectText("are you there?")
	p.ExpectValue("textbox", "Message", "I will call you")
	p.ExpectAccessible()
	p.ExpectNoText("connection lost")
	person.next(soon)
	p.Click("button", "Send")
	p.ExpectText("Message queued")
	require.Equal(t, "I will call you", person.next(soon))
}
