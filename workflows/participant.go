// Package workflows holds a participant's workflow: one long-lived workflow
// that receives texts as signals, waits for absolute due times and runs turns.
// It holds no coaching rule; rules run in local activities whose decisions are
// recorded, and the code here applies them.
package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"coachline/models"
	"coachline/models/subagent"
)

// Participant is the workflow of one person, from enrolment until they leave.
// The state is all it knows and all that continue-as-new carries. It returns
// nil when the person has left, and a continue-as-new error otherwise. A
// cancellation request unenrolls: it becomes a command of the loop, which runs
// on a context that the request does not end.
func Participant(ctx workflow.Context, state models.ParticipantState) error {
	request := ctx
	// Never canceled: at the end of a run that would add commands that cancel
	// its timers and activities.
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	l := &life{
		cancellation: cancellation{isRequested: func() bool { return request.Err() != nil }},
		state:        state.Clone(),
		channels: channels{
			texts:   workflow.GetSignalChannel(ctx, models.SignalMessageReceived),
			reports: workflow.GetSignalChannel(ctx, subagent.SignalDone),
		},
		startedAt: workflow.Now(ctx),
	}
	l.plans, l.state.Plans = l.state.Plans, nil
	if !l.state.Mode.Known() {
		l.state.Mode = models.ModeIntake
		l.dirty.mode = true
	}
	if err := l.setup(ctx); err != nil {
		return err
	}
	return l.run(ctx)
}

// nextRun: a run that was pinned to a build is followed by one on the current
// build; without pinning it changes nothing.
var nextRun = workflow.ContinueAsNewErrorOptions{
	InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
}

// channels hold the signals: texts, and subagents that ended.
type channels struct{ texts, reports workflow.ReceiveChannel }

// life is the running workflow: the state plus what is rebuilt in every run.
type life struct {
	state models.ParticipantState
	channels
	// news: texts arrived that the rules have not heard of.
	news bool
	// plans are turns decided and not yet run.
	plans  []models.TurnPlan
	inTurn bool
	// turned: this run has done a turn.
	turned bool
	// adrift are sends that no turn waits for any more. A run does not end before
	// them: what they left at the carrier would never be settled.
	adrift []workflow.Future
	// settled are those of them that the loop has to take up.
	settled      []settledSend
	cancellation cancellation
	dirty        dirty
	shown        shown
	// prompted: a prompt went out, and what follows from it came with its send.
	prompted  bool
	timer     timer
	limits    models.Limits
	startedAt time.Time
}

// run acts on one thing at a time: texts before commands before turns before
// due times, so that a reply in the instant of a reminder wins. A run that has
// grown long is continued between turns, even when texts or notices wait.
func (l *life) run(ctx workflow.Context) error {
	l.begin(ctx)
	for {
		l.receive()
		switch {
		case l.news:
			l.news = false
			l.on(ctx, models.Event{Kind: models.EventTexts, At: l.state.Inbox.NewestAt()})
		case len(l.state.Commands) > 0:
			l.command(ctx, l.state.Commands[0])
		case len(l.settled) > 0:
			sent := l.settled[0]
			l.settled = l.settled[1:]
			sent.turn.settle(ctx, sent.result)
		case l.overdue(ctx):
			if done, err := l.renew(ctx); done {
				return err
			}
		case len(l.plans) > 0:
			plan := l.plans[0]
			l.plans = l.plans[1:]
			if l.stands(plan) {
				l.turn(ctx, plan)
			}
		case l.fallen(ctx) != nil:
			due := l.take(*l.fallen(ctx))
			l.on(ctx, models.Event{Kind: models.EventDue, Due: due})
		default:
			if done, err := l.idle(ctx); done {
				return err
			}
		}
	}
}

// begin starts from what the state holds: a new participant, one that goes on,
// or one whose workflow was terminated.
func (l *life) begin(ctx workflow.Context) {
	if !l.state.Greeted {
		l.state.Greeted = true
		l.on(ctx, models.Event{Kind: models.EventEnrolled})
	}
	l.news, l.state.Unheard = l.state.Unheard, false
	if l.state.Restore {
		l.restore(ctx)
	}
}

// restore continues a participant whose workflow was terminated. Its turns keep
// their numbers, because rows are keyed by them.
func (l *life) restore(ctx workflow.Context) {
	var past models.Past
	if err := workflow.ExecuteLocalActivity(local(ctx), turns.ReadPast, l.state.ParticipantID).Get(ctx, &past); err != nil {
		workflow.GetLogger(ctx).Error("earlier life not read", "error", err)
	}
	l.state.Restore = false
	l.state.Turn, l.state.Schedules, l.state.Flags = past.Turns, past.Schedules, past.Flags
	l.state.GreetingAt = past.GreetingAt
	l.state.Inbox.LastSeq = max(l.state.Inbox.LastSeq, past.LastSeq)
	l.state.Inbox.Items, l.news = past.Waiting, len(past.Waiting) > 0
	l.on(ctx, models.Event{Kind: models.EventRestored})
}

// stands: a turn that answers texts needs some; an earlier turn may have taken
// them along.
func (l *life) stands(plan models.TurnPlan) bool {
	answers := plan.Kind == models.KindReply || plan.Kind == models.KindMessage
	return !answers || len(l.state.Inbox.Items) > 0
}

// overdue: the run is long and may be continued, even when something waits to
// be done: under constant fire it would never be idle. A run does at least one
// of the turns that it began with.
func (l *life) overdue(ctx workflow.Context) bool {
	return l.runIsLong(ctx) && !l.state.Ended && l.ashore() && (l.turned || len(l.plans) == 0)
}

// renew continues the run as new with everything that waits: texts that the
// rules have not heard of and turns not yet run go along. Only a command holds
// it up, because who sent it waits for an answer of this run.
func (l *life) renew(ctx workflow.Context) (done bool, err error) {
	l.show(ctx)
	answered := func() bool { return workflow.AllHandlersFinished(ctx) && l.ashore() }
	if err := workflow.Await(ctx, func() bool { return answered() || len(l.state.Commands) > 0 }); err != nil {
		return true, err
	}
	// Nothing below waits: everything that arrived until here is in the state.
	drained := l.texts.Len() + l.reports.Len()
	l.receive()
	if len(l.state.Commands) > 0 || len(l.settled) > 0 {
		return false, nil
	}
	l.state.Unheard, l.state.Plans = l.news, l.plans
	l.state.Notices.Counted = true
	l.count(ctx, drained)
	return true, workflow.NewContinueAsNewErrorWithOptions(ctx, nextRun, Participant, l.state)
}

// idle shows the state, ends the workflow where that is due, and otherwise
// waits for something to happen.
func (l *life) idle(ctx workflow.Context) (done bool, err error) {
	l.show(ctx)
	if l.state.Ended {
		return l.end(ctx)
	}
	err = l.wait(ctx)
	return err != nil, err
}

// end is the end of the workflow, unless something arrives meanwhile.
func (l *life) end(ctx workflow.Context) (done bool, err error) {
	answered := func() bool { return workflow.AllHandlersFinished(ctx) && l.ashore() }
	if err := workflow.Await(ctx, func() bool { return answered() || l.busy() }); err != nil {
		return true, err
	}
	l.receive()
	return !l.news && len(l.state.Commands) == 0 && len(l.settled) == 0, nil
}
