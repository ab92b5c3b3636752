package worker

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCallsKeepTheirConnections calls a server 32 times at once, twice.
func TestCallsKeepTheirConnections(t *testing.T) {
	const calls = 32
	var opened atomic.Int64
	var together sync.WaitGroup
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		together.Done()
		together.Wait() // so that no call gets the connection of another
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := &http.Client{Transport: newTransport()}
	defer client.CloseIdleConnections()
	for range 2 {
		together.Add(calls)
		var done sync.WaitGroup
		for range calls {
			done.Go(func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				res, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					t.Error(err)
				}
				if err := res.Body.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
	}
	require.EqualValues(t, calls, opened.Load(), "the second calls opened connections of their own")
}
