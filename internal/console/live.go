package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"coachline/internal/auth"
	"coachline/internal/wait"
	"coachline/internal/wrap"
)

// Changes tells of committed changes; package store provides it.
type Changes interface {
	// Follow sends the id of a participant of whom something has changed, or an
	// empty text for what is about no participant, until ctx ends. It begins with "*",
	// for what changed before, and sends "*" in the place of what a slow reader misses.
	Follow(ctx context.Context) (<-chan string, error)
}

const (
	// liveBeat is how often an idle stream writes, which finds connections that
	// are gone, and checks that the viewer is still signed in.
	liveBeat = 15 * time.Second
	// livePause is the least time between two events of a stream.
	livePause = 200 * time.Millisecond
)

// followChanges is a stream of server-sent events for all tabs of a browser: "change"
// names those of the subjects in the address of which something may have changed, "beat"
// says that the stream lives, "end" that the viewer is no longer signed in. It carries no
// content; the pages are fetched again, with their own checks.
func (c *Console) followChanges(w http.ResponseWriter, r *http.Request) {
	v, ok := c.viewerOf(w, r)
	if !ok {
		return
	}
	if c.cfg.Changes == nil {
		w.WriteHeader(http.StatusNoContent) // tells an EventSource not to come again
		return
	}
	changes, err := c.cfg.Changes.Follow(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := stream{writer: w, control: http.NewResponseController(w)}
	if stream.write(": connected\n\n") != nil {
		return
	}
	c.sendChanges(v, stream, changes)
}

// sendChanges writes a stream until the page is closed or the viewer is no longer
// signed in.
func (c *Console) sendChanges(v *viewer, s stream, changes <-chan string) {
	ctx, subjects := v.request.Context(), strings.Fields(strings.Join(v.request.URL.Query()["of"], " "))
	beat := time.NewTicker(liveBeat)
	defer beat.Stop()
	for {
		text := "event: beat\ndata: \n\n"
		select {
		case <-ctx.Done():
			return
		case <-c.cfg.Closing:
			return
		case id, open := <-changes:
			if !open {
				return
			}
			changed := changedOf(subjects, append(takeWaiting(changes), id))
			if len(changed) == 0 {
				continue
			}
			text = "event: change\ndata: " + strings.Join(changed, " ") + "\n\n"
		case <-beat.C:
			if signedIn, err := c.isSignedIn(v.request, v.who); err == nil && !signedIn {
				_ = s.write("event: end\ndata: \n\n")
				return
			}
		}
		if s.write(text) != nil || wait.For(ctx, livePause) != nil {
			return
		}
	}
}

// takeWaiting takes the changes that came since the last event: one event tells of
// them all, because the page is fetched after it.
func takeWaiting(changes <-chan string) (ids []string) {
	for {
		select {
		case id, open := <-changes:
			if !open {
				return ids
			}
			ids = append(ids, id)
		default:
			return ids
		}
	}
}

func changedOf(subjects, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(subjects), func(subject string) bool {
		return subject != followAll && !slices.Contains(ids, subject) && !slices.Contains(ids, followAll)
	})
}

// isSignedIn reports whether the session of a viewer has not ended meanwhile.
func (c *Console) isSignedIn(r *http.Request, who auth.Identity) (bool, error) {
	if who.Kind != auth.KindUser {
		return true, nil
	}
	return c.cfg.Sessions.HasSession(r.Context(), who.SessionID, c.cfg.Now())
}

// stream writes server-sent events.
type stream struct {
	writer  http.ResponseWriter
	control *http.ResponseController
}

// write sends a text at once. The server's limit for an answer counts from each
// write anew.
func (s stream) write(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(2 * liveBeat)); err != nil {
		return fmt.Errorf("extending a stream: %w", err)
	}
	if _, err := s.writer.Write([]byte(text)); err != nil {
		return fmt.Errorf("writing to a stream: %w", err)
	}
	return wrap.Error(s.control.Flush(), "writing to a stream")
}
