package console_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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
	console.Users
	console.Sessions
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

// newPages builds a console. It is called outside of a bubble, because the session
// library starts a goroutine for ever.
func newPages(t *testing.T, rows *oneSession, changes console.Changes) http.Handler {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	m, err := metrics.New(metrics.Config{Logger: log})
	require.NoError(t, err)
	pages, err := console.New(console.Config{
		API: http.NotFoundHandler(), Users: rows, Sessions: rows, RecordAudit: func(context.Context, models.AuditRow) error { return nil }, Changes: changes, IsOpen: func(*http.Request) bool { return false },
		Metrics: m, Logger: log, Now: time.Now,
	})
	require.NoError(t, err)
	return pages
}

// openStream opens the stream of a page, and returns what reads its next part.
func openStream(t *testing.T, pages http.Handler, of string) func() string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/live?of="+of, http.NoBody)
	r.AddCookie(&http.Cookie{Name: "coach_session", Value: "token"})
	reader, writer := io.Pipe()
	go func() {
		pages.ServeHTTP(pipeWriter{header: http.Header{}, out: writer}, r)
		_ = writer.Close()
	}()
	return func() string {
		part := make([]byte, 100)
		n, err := reader.Read(part)
		if err != nil {
			return err.Error()
		}
		return string(part[:n])
	}
}

// followed tells of what a test writes into ids.
type followed struct{ ids chan string }

func (f *followed) Follow(context.Context) (<-chan string, error) { return f.ids, nil }

// TestStreamJoinsChangesThatWait: what changes between two events is one event, so
// that a page is not redrawn for minutes after a burst that it has shown.
func TestStreamJoinsChangesThatWait(t *testing.T) {
	for _, tt := range []struct {
		of    string
		burst []string
		want  []string
	}{
		{"*", []string{"p1", "p2", "p3", "*", "p1"}, []string{"*"}},
		{"p2", []string{"p1", "p2", "p3", "p2", "p1"}, []string{"p2"}},
		{"p2", []string{"p1", "p3", "*"}, []string{"p2"}},
		{"p2", []string{"p1", "p3"}, nil},
		{"p2&of=p4&of=*", []string{"p4", "p3"}, []string{"p4 *"}},
		{"p2&of=p4", []string{"p4", "p3"}, []string{"p4"}},
	} {
		changes := &followed{}
		pages := newPages(t, &oneSession{}, changes)
		synctest.Test(t, func(t *testing.T) {
			changes.ids = make(chan string, 64)
			next := openStream(t, pages, tt.of)
			require.Equal(t, ": connected\n\n", next())
			changes.ids <- "*"
			require.Equal(t, "event: change\ndata: "+strings.ReplaceAll(tt.of, "&of=", " ")+"\n\n", next())
			for _, id := range tt.burst { // while the stream pauses
				changes.ids <- id
			}
			for _, want := range tt.want {
				require.Equal(t, "event: change\ndata: "+want+"\n\n", next())
			}
			began := time.Now()
			require.Equal(t, "event: beat\ndata: \n\n", next(), "%v", tt.burst)
			require.Less(t, time.Since(began), 16*time.Second)
			changes.ids <- "*"
			require.Contains(t, next(), "event: change\n", "a later change is told")
		})
	}
}

// TestStreamEndsWithTheSession: an open page is told to sign in again.
func TestStreamEndsWithTheSession(t *testing.T) {
	rows := &oneSession{}
	pages := newPages(t, rows, noChanges{})
	synctest.Test(t, func(t *testing.T) {
		next := openStream(t, pages, "*")
		require.Equal(t, ": connected\n\n", next())
		require.Equal(t, "event: beat\ndata: \n\n", next())
		rows.end()
		began := time.Now()
		require.Equal(t, "event: end\ndata: \n\n", next())
		require.LessOrEqual(t, time.Since(began), 15*time.Second)
		require.Equal(t, "EOF", next())
	})
}
