package console_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/console"
	"coachline/internal/metrics"
	"coachline/models"
)

// oneSession is a database with one user, whose session can end.
type oneSession struct {
	console.Access
	mu    sync.Mutex
	ended bool
}

func (*oneSession) User(context.Context, string) (models.User, error) {
	return models.User{ID: "usr_ada", Login: "ada", Role: models.RoleAdmin}, nil
}

func (*oneSession) FindSession(context.Context, string, time.Time) (models.Session, error) {
	return models.Session{Data: `{"deadline":"2100-01-01T00:00:00Z","values":{"user":"usr_ada","session":"ses_1"}}`}, nil
}

func (o *oneSession) HasSession(_ context.Context, id string, _ time.Time) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return id == "ses_1" && !o.ended, nil
}

func (o *oneSession) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
}

// noChanges never tells of anything.
type noChanges struct{}

func (noChanges) Follow(context.Context) (<-chan string, error) { return make(chan string), nil }

// pipeWriter hands a stream to its reader at once.
type pipeWriter struct {
	header http.Header
	out    io.Writer
}

func (p pipeWriter) Header() http.Header            { return p.header }
func (p pipeWriter) Write(b []byte) (int, error)    { return p.out.Write(b) }
func (pipeWriter) WriteHeader(int)                  {}
func (pipeWriter) Flush()                           {}
func (pipeWriter) SetWriteDeadline(time.Time) error { return nil }

// TestStreamEndsWithTheSession: an open page is told to sign in again.
func TestStreamEndsWithTheSession(t *testing.T) {
	// Outside of the bubble: the session library starts a goroutine for ever.
	log := slog.New(slog.DiscardHandler)
	m, err := metrics.New(metrics.Config{Logger: log})
	require.NoError(t, err)
	rows := &oneSession{}
	pages, err := console.New(console.Config{
		API: http.NotFoundHandler(), Access: rows, Changes: noChanges{}, IsOpen: func(*http.Request) bool { return false },
		Metrics: m, Logger: log, Now: time.Now,
	})
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/live?of=*", http.NoBody)
		r.AddCookie(&http.Cookie{Name: "coach_session", Value: "token"})
		reader, writer := io.Pipe()
		go func() {
			pages.ServeHTTP(pipeWriter{header: http.Header{}, out: writer}, r)
			_ = writer.Close()
		}()
		next := func() string {
			part := make([]byte, 100)
			n, err := reader.Read(part)
			if err != nil {
				return err.Error()
			}
			return string(part[:n])
		}
		require.Equal(t, ": connected\n\n", next())
		require.Equal(t, ": beat\n\n", next())
		rows.end()
		began := time.Now()
		require.Equal(t, "event: end\ndata: \n\n", next())
		require.LessOrEqual(t, time.Since(began), 15*time.Second)
		require.Equal(t, "EOF", next())
	})
}
