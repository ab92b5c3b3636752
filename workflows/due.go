package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/models/wire"
)

// timer is the one armed timer; at and due name what it waits for.
type timer struct {
	due    wire.Due
	future workflow.Future
	cancel workflow.CancelFunc
}

// earliestDue returns the due time that comes first; nil when there is none. Of
// two at the same instant the one that was set first goes first.
func (p *participant) earliestDue() *wire.Due {
	var first *wire.Due
	for i := range p.state.Due {
		if first == nil || p.state.Due[i].At.Before(first.At) {
			first = &p.state.Due[i]
		}
	}
	return first
}

// passedDue returns the earliest due time if it has passed, otherwise nil.
func (p *participant) passedDue(ctx workflow.Context) *wire.Due {
	if due := p.earliestDue(); due != nil && !due.At.After(workflow.Now(ctx)) {
		return due
	}
	return nil
}

// popDue removes a due time and returns it.
func (p *participant) popDue(due wire.Due) wire.Due {
	p.clearDue(due.Kind, due.Ref)
	return due
}

func (p *participant) setDue(due wire.Due) {
	due.At = due.At.UTC()
	p.clearDue(due.Kind, due.Ref)
	p.state.Due = append(p.state.Due, due)
}

// clearDue removes the due time of a kind and reference; an empty reference
// removes all of that kind.
func (p *participant) clearDue(kind wire.DueKind, ref string) {
	p.state.Due = slices.DeleteFunc(p.state.Due, func(d wire.Due) bool {
		return d.Kind == kind && (ref == "" || d.Ref == ref)
	})
}

// waitForWork arms the timer for the earliest due time and sleeps until it
// fires or something arrives.
func (p *participant) waitForWork(ctx workflow.Context) error {
	p.armTimer(ctx)
	return workflow.Await(ctx, func() bool { return p.isBusy() || p.timer.hasFired() })
}

// hasFired reports whether the armed timer has run out.
func (t *timer) hasFired() bool { return t.future != nil && t.future.IsReady() }

// armTimer sets the timer to the earliest due time and cancels the one before
// it; a timer that waits for the same due time stays.
func (p *participant) armTimer(ctx workflow.Context) {
	due := p.earliestDue()
	if p.timer.future != nil && !p.timer.hasFired() {
		if due != nil && *due == p.timer.due {
			return
		}
		p.timer.cancel()
	}
	p.timer = timer{}
	if due == nil {
		return
	}
	if due.Kind == wire.DueDailyPrompt && p.turned {
		// Noted once a run, ahead of the prompt: it is not to wait for that. A run
		// that only sleeps notes nothing.
		decidesWithStep(ctx)
	}
	timerCtx, cancel := workflow.WithCancel(ctx)
	p.timer = timer{due: *due, cancel: cancel}
	p.timer.future = workflow.NewTimerWithOptions(timerCtx, due.At.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: describeDue(*due)})
}

// describeDue names a due time for the Temporal UI: kind, instant, what it
// belongs to. No personal data: summaries are kept with the history.
func describeDue(due wire.Due) string {
	text := fmt.Sprintf("%s at %s", due.Kind, due.At.Format(time.RFC3339))
	if due.Ref != "" {
		text += " (" + due.Ref + ")"
	}
	return text
}
