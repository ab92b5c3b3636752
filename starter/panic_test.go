package starter

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// A defect in one handler is told to the caller and to the log, and the server goes on.
func TestPanicIsAnswered(t *testing.T) {
	var log bytes.Buffer
	handler := withFailures(slog.New(slog.NewTextHandler(&log, nil)), withHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/begun":
			_, _ = w.Write([]byte("half"))
		case "/failed":
			writeFailure(w, newFailure(http.StatusNotFound, "no such participant"))
		case "/cut":
			panic(http.ErrAbortHandler)
		}
		panic("a defect")
	})))
	serve := func(path string) *httptest.ResponseRecorder {
		log.Reset()
		out := httptest.NewRecorder()
		handler.ServeHTTP(out, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		return out
	}
	for _, path := range []string{"/", "/failed"} {
		out := serve(path)
		require.Equal(t, http.StatusInternalServerError, out.Code)
		require.Contains(t, out.Body.String(), `"code":"internal"`)
		require.NotContains(t, out.Body.String(), "participant")
		require.Contains(t, log.String(), out.Header().Get(requestHeader), "the log names the request")
		require.Contains(t, log.String(), "panic_test.go", "the log has the stack")
	}
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { serve("/begun") }, "half an answer is cut")
	require.Contains(t, log.String(), "level=ERROR")
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { serve("/cut") })
	require.Empty(t, log.String())
}
