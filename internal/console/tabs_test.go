package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// TestManyTabsShareOneStream: a browser allows six connections to a server without HTTP/2,
// and nine tabs leave it free to follow and to act, with a shared worker and without one.
func TestManyTabsShareOneStream(t *testing.T) {
	browser := browsertest.Start(t)
	for name, before := range map[string]string{"shared worker": "", "none": "delete window.SharedWorker"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, address := serveThings(t, "Ann", "Ben")
			first := browser.Open(t, address+"settings", browsertest.View{})
			paths := []string{"", "agenda", "people", "people/ann", "import/job", "people/ann/erasure", "", "agenda"}
			tabs := []*browsertest.Page{first}
			for _, path := range paths {
				tab := first.Another("about:blank")
				tab.RunFirst(before)
				tab.Visit(address + path)
				tabs = append(tabs, tab)
			}
			last := tabs[len(tabs)-1]
			w.expectStreams(t, 1)
			w.set("Ben", "Cleo")
			last.ExpectText("strike of Cleo")
			for _, tab := range tabs[1 : len(tabs)-1] {
				tab.Front()
				tab.ExpectText("Cleo")
			}
			last.Front()
			w.expectStreams(t, 1)
			w.set("Ben", "Cleo", "Dora")
			last.ExpectText("strike of Dora")
			last.Eval(nil, `() => { document.getElementById("release-66").open = true }`)
			last.Fill("textbox", "Reason (kept in the audit)", "it is over")
			last.Click("button", "Release")
			last.ExpectText("Done")
			require.Equal(t, []string{"DELETE /holds/66"}, w.took())
		})
	}
}

// TestTabJoinsAnOpenStream: a tab that joins the stream of another is told to fetch its page
// anew: it may have been drawn before the change that the stream told last.
func TestTabJoinsAnOpenStream(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	w, address := serveThings(t, "Ann")
	first := browser.Open(t, address+"agenda", browsertest.View{})
	w.expectStreams(t, 1)
	first.Eval(nil, `async () => { while (!document.documentElement.dataset.redrawn) await new Promise((done) => setTimeout(done, 10)); }`)
	var says string
	first.Eval(&says, `() => new Promise((done) => {
		const port = new SharedWorker(document.body.dataset.live).port;
		port.onmessage = ({ data }) => done(data);
		port.postMessage(document.body.dataset.follow);
	})`)
	require.Equal(t, "change", says)
	w.expectStreams(t, 1)
}

// TestSilentStreamIsLost: a stream on which nothing comes for 30 seconds is said to be
// lost, and replaced, although its connection stands.
func TestSilentStreamIsLost(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	w, address := serveThings(t, "Ann")
	target, err := url.Parse(address)
	require.NoError(t, err)
	target.Path = ""
	pages, streams := httputil.NewSingleHostReverseProxy(target), make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/console/live") {
			pages.ServeHTTP(out, r)
			return
		}
		out.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(out).Flush()
		streams <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	p := browser.Open(t, server.URL+"/console/", browsertest.View{})
	<-streams
	p.ExpectText("Follow changes")
	p.ExpectNoText("connection lost")
	began := time.Now()
	require.Eventually(t, func() bool { return strings.Contains(p.Text(), "connection lost, trying again") }, 2*time.Minute, 100*time.Millisecond)
	require.Greater(t, time.Since(began), 20*time.Second)
	<-streams // another one
	p.ExpectAccessible()
	require.Empty(t, w.took())
}
