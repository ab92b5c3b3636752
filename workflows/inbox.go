package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/models"
	"coachline/models/wire"
)

// Bounds of one run of the workflow, beside the server's own suggestion.
const (
	maxRunAge    = 7 * 24 * time.Hour
	minRunEvents = 100
)

// receiveSignals empties the signal channels into the inbox and the commands.
// It runs in the one coroutine that also continues as new: a second receiver
// would lose the signal it holds at that moment.
func (p *participant) receiveSignals(ctx workflow.Context) {
	var item wire.InboxItem
	for p.texts.ReceiveAsync(&item) {
		if p.state.Inbox.Hear(item) {
			p.arrived = append(p.arrived, item)
		} else {
			p.repeats = append(p.repeats, item)
		}
		item = wire.InboxItem{}
	}
	var done wire.Subagent
	for p.reports.ReceiveAsync(&done) {
		p.state.Commands = append(p.state.Commands, wire.Command{ID: done.TurnID, Kind: wire.CommandSubagent, Subagent: done})
		done = wire.Subagent{}
	}
	p.takeCancellation()
	p.takeArrived(ctx)
}

// takeArrived has the texts wait for an answer that were committed before every
// command that waits. The others would be read as what the person wrote before it: a
// text after START as one of a person who has opted out.
func (p *participant) takeArrived(ctx workflow.Context) {
	first := p.firstHolding()
	isHeld := func(item wire.InboxItem) bool { return first > 0 && item.Notice > first }
	if slices.ContainsFunc(p.arrived, isHeld) && !keepsOrder(ctx) {
		first = 0
	}
	p.arrived = slices.DeleteFunc(p.arrived, func(item wire.InboxItem) bool {
		if isHeld(item) {
			return false
		}
		p.state.Inbox.Add(item)
		p.news = true
		return true
	})
}

// checkNumbers asks the tables about texts that came under a number which was seen
// before. Most were delivered again; after a fail-over that lost commits they are new.
func (p *participant) checkNumbers(ctx workflow.Context) {
	in := wire.NumberCheck{
		ParticipantID: p.state.ParticipantID, LastSeq: p.state.Inbox.LastSeq, LastNotice: p.state.Notices.Last,
		Repeated: p.repeats, Now: workflow.Now(ctx),
	}
	p.repeats = nil
	if !checksNumbers(ctx) {
		return
	}
	for _, item := range slices.Concat(p.state.Inbox.Items, p.arrived) {
		in.Held = append(in.Held, item.MessageID)
	}
	var fresh []wire.InboxItem
	if err := workflow.ExecuteLocalActivity(withLocalOptions(ctx), turns.CheckNumbers, in).Get(ctx, &fresh); err != nil {
		workflow.GetLogger(ctx).Error("checking numbers failed", "error", err)
		return
	}
	for _, item := range fresh {
		p.state.Inbox.Add(item)
		p.news = true
	}
}

// firstHolding returns the number of the first notice that waits as a command and
// holds texts back; 0 when there is none.
func (p *participant) firstHolding() int64 {
	var first int64
	for _, c := range p.state.Commands {
		if notice, ok := c.HoldsBack(); ok && (first == 0 || notice < first) {
			first = notice
		}
	}
	return first
}

// countDrained counts what a run took over into the next one. A signal that
// nothing here receives is a defect of ours: it would be lost.
func (p *participant) countDrained(ctx workflow.Context, drained int) {
	metrics := workflow.GetMetricsHandler(ctx)
	metrics.Counter(models.MetricDrained).Inc(int64(drained))
	if names := workflow.GetUnhandledSignalNames(ctx); len(names) > 0 {
		metrics.Counter(models.MetricUnhandled).Inc(int64(len(names)))
		workflow.GetLogger(ctx).Error("dropping signals with unknown names", "signals", len(names))
	}
}

// isBusy reports whether something has arrived that the loop has to act on.
func (p *participant) isBusy() bool {
	return p.texts.Len() > 0 || p.reports.Len() > 0 || len(p.state.Commands) > 0 || len(p.settled) > 0 || p.cancellation.isWaiting()
}

// hasTexts reports whether the person has written something that no turn has taken.
func (p *participant) hasTexts() bool { return len(p.state.Inbox.Items)+len(p.arrived) > 0 }

// isLeaving reports whether the person is gone or going; then no coaching text
// may be started.
func (p *participant) isLeaving() bool {
	return p.state.Ended || p.cancellation.isWaiting() || slices.ContainsFunc(p.state.Commands, func(c wire.Command) bool {
		return c.Kind == wire.CommandUnenroll || c.Kind == wire.CommandCancel
	})
}

// mustStop reports whether the turn that runs may not coach any more: the
// person is leaving, has opted out, or has done so in a command that waits.
func (p *participant) mustStop() bool {
	return p.isLeaving() || p.state.Status == wire.StatusOptedOut ||
		slices.ContainsFunc(p.state.Commands, func(c wire.Command) bool { return c.Status == wire.StatusOptedOut })
}

// isTakenOver reports whether an operator writes in the place of the coach, or
// has done so in a command that waits.
func (p *participant) isTakenOver() bool {
	return !p.state.TakenOverUntil.IsZero() ||
		slices.ContainsFunc(p.state.Commands, func(c wire.Command) bool { return c.Kind == wire.CommandTakeOver })
}

// runIsLong reports whether it is time to continue as new. The bounds keep a
// history small enough to replay at once, and let new code reach people who
// rarely write.
func (p *participant) runIsLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	switch {
	case info.GetContinueAsNewSuggested():
		return true
	case p.limits.RunEvents > 0 && info.GetCurrentHistoryLength() > p.limits.RunEvents:
		return true
	case workflow.Now(ctx).Sub(p.startedAt) > maxRunAge && info.GetCurrentHistoryLength() > minRunEvents:
		return true
	default:
		return info.GetTargetWorkerDeploymentVersionChanged()
	}
}
