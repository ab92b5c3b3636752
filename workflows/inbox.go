package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/models"
)

// Bounds of one run of the workflow, beside the server's own suggestion.
const (
	maxRunAge    = 7 * 24 * time.Hour
	minRunEvents = 100
)

// receive empties the signal channels into the inbox and the commands. It runs in the one
// coroutine that also continues as new: a second receiver would lose the
// signal it holds at that moment.
func (l *life) receive() {
	var item models.MessageReceived
	for l.texts.ReceiveAsync(&item) {
		if l.state.Inbox.Take(item) {
			l.news = true
		}
		item = models.MessageReceived{}
	}
	var done models.Subagent
	for l.reports.ReceiveAsync(&done) {
		l.state.Commands = append(l.state.Commands, models.Command{ID: done.TurnID, Kind: models.CommandSubagent, Subagent: done})
		done = models.Subagent{}
	}
	l.takeCancellation()
}

// count says what a run took over into the next one. A signal that nothing
// here receives is a defect of ours: it would be lost.
func (l *life) count(ctx workflow.Context, drained int) {
	metrics := workflow.GetMetricsHandler(ctx)
	metrics.Counter(models.MetricDrained).Inc(int64(drained))
	if names := workflow.GetUnhandledSignalNames(ctx); len(names) > 0 {
		metrics.Counter(models.MetricUnhandled).Inc(int64(len(names)))
		workflow.GetLogger(ctx).Error("signals are lost that nothing receives", "signals", len(names))
	}
}

// busy: something has arrived that the loop has to act on.
func (l *life) busy() bool {
	return l.texts.Len() > 0 || l.reports.Len() > 0 || len(l.state.Commands) > 0 || len(l.settled) > 0 || l.cancellation.isWaiting()
}

// leaving: the person is gone or going; no coaching text may be started.
func (l *life) leaving() bool {
	return l.state.Ended || l.cancellation.isWaiting() || slices.ContainsFunc(l.state.Commands, func(c models.Command) bool {
		return c.Kind == models.CommandUnenroll || c.Kind == models.CommandCancel
	})
}

// silenced: no more coaching in the turn that runs: the person is leaving, has
// opted out, or has done so in a command that waits.
func (l *life) silenced() bool {
	return l.leaving() || l.state.Status == models.StatusOptedOut ||
		slices.ContainsFunc(l.state.Commands, func(c models.Command) bool { return c.Status == models.StatusOptedOut })
}

// runIsLong: time to continue as new. The bounds keep a history small enough
// to replay at once, and let new code reach people who rarely write.
func (l *life) runIsLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	switch {
	case info.GetContinueAsNewSuggested():
		return true
	case l.limits.RunEvents > 0 && info.GetCurrentHistoryLength() > l.limits.RunEvents:
		return true
	case workflow.Now(ctx).Sub(l.startedAt) > maxRunAge && info.GetCurrentHistoryLength() > minRunEvents:
		return true
	default:
		return info.GetTargetWorkerDeploymentVersionChanged()
	}
}
