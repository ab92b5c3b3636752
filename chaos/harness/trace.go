package harness

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// traceLength is how many of the last events are kept.
const traceLength = 20000

// Trace keeps the last events of a run. It is safe for concurrent use.
type Trace struct {
	mu    sync.Mutex
	began time.Time
	lines []string
}

// NewTrace starts now.
func NewTrace() *Trace { return &Trace{began: time.Now()} }

// Note adds an event.
func (t *Trace) Note(format string, args ...any) {
	line := fmt.Sprintf("%9.3f  ", time.Since(t.began).Seconds()) + fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) >= traceLength {
		t.lines = t.lines[traceLength/10:]
	}
	t.lines = append(t.lines, line)
}

// Write leaves the events in a file.
func (t *Trace) Write(path string) error {
	t.mu.Lock()
	text := strings.Join(t.lines, "\n") + "\n"
	t.mu.Unlock()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return nil
}

// Age is how long the run has taken.
func (t *Trace) Age() time.Duration { return time.Since(t.began) }
