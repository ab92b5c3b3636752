package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/models"
)

// timer is the one armed timer; at and due name what it waits for.
type timer struct {
	due    models.Due
	future workflow.Future
	cancel workflow.CancelFunc
}

// earliest is the due time that comes first; nil when there is none. Of two at
// the same instant the one that was set first goes first.
func (l *life) earliest() *models.Due {
	var first *models.Due
	for i := range l.state.Due {
		if first == nil || l.state.Due[i].At.Before(first.At) {
			first = &l.state.Due[i]
		}
	}
	return first
}

// fallen is the earliest due time if it has passed.
func (l *life) fallen(ctx workflow.Context) *models.Due {
	if due := l.earliest(); due != nil && !due.At.After(workflow.Now(ctx)) {
		return due
	}
	return nil
}

// take removes a due time and returns it.
func (l *life) take(due models.Due) models.Due {
	l.clearDue(due.Kind, due.Ref)
	return due
}

func (l *life) setDue(due models.Due) {
	due.At = due.At.UTC()
	l.clearDue(due.Kind, due.Ref)
	l.state.Due = append(l.state.Due, due)
}

// clearDue removes the due time of a kind and reference; an empty reference
// removes all of that kind.
func (l *life) clearDue(kind models.DueKind, ref string) {
	l.state.Due = slices.DeleteFunc(l.state.Due, func(d models.Due) bool {
		return d.Kind == kind && (ref == "" || d.Ref == ref)
	})
}

// wait arms the timer for the earliest due time and sleeps until it fires or
// something arrives.
func (l *life) wait(ctx workflow.Context) error {
	l.arm(ctx)
	return workflow.Await(ctx, func() bool { return l.busy() || l.timer.fired() })
}

func (t *timer) fired() bool { return t.future != nil && t.future.IsReady() }

func (l *life) arm(ctx workflow.Context) {
	due := l.earliest()
	if l.timer.future != nil && !l.timer.fired() {
		if due != nil && *due == l.timer.due {
			return
		}
		l.timer.cancel()
	}
	l.timer = timer{}
	if due == nil {
		return
	}
	timerCtx, cancel := workflow.WithCancel(ctx)
	l.timer = timer{due: *due, cancel: cancel}
	l.timer.future = workflow.NewTimerWithOptions(timerCtx, due.At.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: describe(*due)})
}

// describe names a due time for the Temporal UI: kind, instant, what it
// belongs to. No personal data: summaries are kept with the history.
func describe(due models.Due) string {
	text := fmt.Sprintf("%s at %s", due.Kind, due.At.Format(time.RFC3339))
	if due.Ref != "" {
		text += " (" + due.Ref + ")"
	}
	return text
}
