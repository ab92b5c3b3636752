// Package workflows holds a participant's workflow: one long-lived workflow
// that receives texts as signals, waits for absolute due times and runs turns.
// It holds no coaching rule; rules run in local activities whose decisions are
// recorded, and the code here applies them.
package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"coachline/activities"
	"coachline/models/wire"
)

// Participant runs the workflow of one person, from enrolment until they leave.
// The state is all it knows and all that continue-as-new carries. It returns
// nil when the person has left, and a continue-as-new error otherwise. A
// cancellation request unenrolls: it becomes a command of the loop, which runs
// on a context that the request does not end.
func Participant(ctx workflow.Context, state wire.ParticipantState) error {
	request := ctx
	// Never canceled: at the end of a run that would add commands that cancel
	// its timers and activities.
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	p := &participant{
		cancellation: cancellation{isRequested: func() bool { return request.Err() != nil }},
		state:        state.Clone(),
		channels: channels{
			texts:   workflow.GetSignalChannel(ctx, wire.SignalMessageReceived),
			reports: workflow.GetSignalChannel(ctx, wire.SignalSubagentDone),
		},
		startedAt: workflow.Now(ctx),
		refusals:  map[string]string{},
	}
	p.plans, p.state.Plans = p.state.Plans, nil
	if !p.state.Mode.Known() {
		p.state.Mode = wire.ModeIntake
		p.unsaved.mode = true
	}
	if p.state.AttributesShown {
		p.shown, p.state.AttributesShown = p.attributesToShow(), false
	}
	if err := p.registerHandlers(ctx); err != nil {
		return err
	}
	return p.runLoop(ctx)
}

// nextRun holds the options of continue-as-new: a run that was pinned to a build
// is followed by one on the current build; without pinning it changes nothing.
var nextRun = workflow.ContinueAsNewErrorOptions{
	InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
}

// channels hold the signals: texts, and subagents that ended.
type channels struct{ texts, reports workflow.ReceiveChannel }

// participant is the running workflow: the state plus what is rebuilt in every
// run.
type participant struct {
	state wire.ParticipantState
	channels
	// arrived are texts that a command which waits was committed before.
	arrived []wire.InboxItem
	// repeats are texts that came under a number which was seen before.
	repeats []wire.InboxItem
	// news: texts arrived that the rules have not seen.
	news bool
	// plans are turns decided and not yet run.
	plans  []wire.TurnPlan
	inTurn bool
	// turned: this run has done a turn.
	turned bool
	// pendingSends are sends that no turn waits for any more. A run does not end
	// before them: what they left at the carrier would never be settled.
	pendingSends []workflow.Future
	// settled are those of them that the loop has to take up.
	settled      []settledSend
	cancellation cancellation
	unsaved      unsaved
	shown        shownAttributes
	// refusals hold why the rules refused a command, by its id, until its handler has
	// answered.
	refusals map[string]string
	// prompted: a prompt went out, and what follows from it came with its send.
	prompted  bool
	timer     timer
	limits    wire.Limits
	startedAt time.Time
}

// runLoop acts on one thing at a time: texts and commands in the order in which they
// were committed, then turns, then due times, so that a reply in the instant of a
// reminder wins. A run that has grown long is continued between turns, even when texts
// or notices wait.
func (p *participant) runLoop(ctx workflow.Context) error {
	p.startRun(ctx)
	for {
		p.receiveSignals(ctx)
		switch {
		case len(p.repeats) > 0:
			p.checkNumbers(ctx)
		case p.news:
			p.news = false
			p.handleEvent(ctx, wire.Event{Kind: wire.EventTexts, At: p.state.Inbox.NewestAt()})
		case len(p.state.Commands) > 0:
			p.applyCommand(ctx, p.state.Commands[0])
		case len(p.settled) > 0:
			sent := p.settled[0]
			p.settled = p.settled[1:]
			sent.turn.applySendResult(ctx, sent.result)
		case p.shouldContinueAsNew(ctx):
			if done, err := p.continueAsNew(ctx); done {
				return err
			}
		case len(p.plans) > 0:
			plan := p.plans[0]
			p.plans = p.plans[1:]
			if p.isStillNeeded(plan) {
				p.runTurn(ctx, plan)
			}
		case p.passedDue(ctx) != nil:
			due := p.popDue(*p.passedDue(ctx))
			p.handleDue(ctx, due)
		default:
			if done, err := p.waitOrEnd(ctx); done {
				return err
			}
		}
	}
}

// startRun starts from what the state holds: a new participant, one that goes
// on, or one whose workflow was terminated.
func (p *participant) startRun(ctx workflow.Context) {
	if !p.state.Greeted {
		p.state.Greeted = true
		p.handleEvent(ctx, wire.Event{Kind: wire.EventEnrolled})
	}
	p.news, p.state.HasNews = p.state.HasNews, false
	if p.state.Restore {
		p.restoreState(ctx)
	}
}

// restoreState continues a participant whose workflow was terminated. Its turns
// keep their numbers, because rows are keyed by them.
func (p *participant) restoreState(ctx workflow.Context) {
	var past wire.Past
	if err := workflow.ExecuteLocalActivity(withLocalOptions(ctx), turns.ReadPast, p.state.ParticipantID).Get(ctx, &past); err != nil {
		workflow.GetLogger(ctx).Error("reading what to restore failed, starting without it", "error", err)
	}
	p.state.Restore = false
	p.state.Turn, p.state.Schedules, p.state.Flags = past.Turns, past.Schedules, past.Flags
	p.state.GreetingAt = past.GreetingAt
	p.state.Inbox.LastSeq = max(p.state.Inbox.LastSeq, past.LastSeq)
	p.state.Inbox.Items, p.news = past.Waiting, len(past.Waiting) > 0
	p.handleEvent(ctx, wire.Event{Kind: wire.EventRestored})
}

// isStillNeeded reports whether a planned turn still has work: a turn that
// answers texts needs some; an earlier turn may have taken them along.
func (p *participant) isStillNeeded(plan wire.TurnPlan) bool {
	answers := plan.Kind == wire.TurnReply || plan.Kind == wire.TurnMessage
	return !answers || len(p.state.Inbox.Items) > 0
}

// shouldContinueAsNew reports whether the run is long and may be continued,
// even when something waits to be done: under constant fire it would never be
// idle. A run does at least one of the turns that it began with itself.
func (p *participant) shouldContinueAsNew(ctx workflow.Context) bool {
	return p.runIsLong(ctx) && !p.state.Ended && p.hasNoPendingSends() && (p.turned || len(p.plans) == 0)
}

// continueAsNew continues the run as new with everything that waits: texts that
// the rules have not seen and turns not yet run go along. Only a command delays
// it, because its sender waits for an answer of this run.
func (p *participant) continueAsNew(ctx workflow.Context) (done bool, err error) {
	p.publishState(ctx)
	answered := func() bool { return workflow.AllHandlersFinished(ctx) && p.hasNoPendingSends() }
	if err := workflow.Await(ctx, func() bool { return answered() || len(p.state.Commands) > 0 }); err != nil {
		return true, err
	}
	// Nothing below waits: everything that arrived until here is in the state.
	drained := p.texts.Len() + p.reports.Len()
	p.receiveSignals(ctx)
	if len(p.state.Commands) > 0 || len(p.settled) > 0 || len(p.repeats) > 0 {
		return false, nil
	}
	p.state.HasNews, p.state.Plans = p.news, p.plans
	p.state.Notices.Counted = true
	p.state.AttributesShown = p.shown == p.attributesToShow()
	p.countDrained(ctx, drained)
	return true, workflow.NewContinueAsNewErrorWithOptions(workflow.WithWorkflowTaskTimeout(ctx, wire.TaskLimit), nextRun, Participant, p.state)
}

// waitOrEnd publishes the state, ends the workflow where that is due, and
// otherwise waits for something to happen.
func (p *participant) waitOrEnd(ctx workflow.Context) (done bool, err error) {
	p.publishState(ctx)
	if p.state.Ended {
		return p.endWorkflow(ctx)
	}
	err = p.waitForWork(ctx)
	return err != nil, err
}

// endWorkflow ends the workflow once nothing is pending; done is false when
// something arrived meanwhile.
func (p *participant) endWorkflow(ctx workflow.Context) (done bool, err error) {
	answered := func() bool { return workflow.AllHandlersFinished(ctx) && p.hasNoPendingSends() }
	if err := workflow.Await(ctx, func() bool { return answered() || p.isBusy() }); err != nil {
		return true, err
	}
	p.receiveSignals(ctx)
	return !p.news && len(p.state.Commands) == 0 && len(p.settled) == 0, nil
}

var removals *activities.RemovalActivities

// cancellation is a request to cancel the workflow, from the Temporal UI or CLI.
type cancellation struct {
	isRequested func() bool
	taken       bool
}

// isWaiting says that a request has come and is not a command yet.
func (c cancellation) isWaiting() bool { return !c.taken && c.isRequested() }

// cancelCommandID is the id of the command; those of updates are their own.
const cancelCommandID = "cancellation-request"

// takeCancellation makes a command of a cancellation request, once. One that
// comes behind an unenrolment changes nothing.
func (p *participant) takeCancellation() {
	if !p.cancellation.isWaiting() {
		return
	}
	p.cancellation.taken = true
	if !p.isLeaving() {
		p.state.Commands = append(p.state.Commands, wire.Command{ID: cancelCommandID, Kind: wire.CommandCancel})
	}
}

// removeParticipant removes the row, as DELETE does in the API. It is tried for
// as long as the database is away. No change id guards it: with workers that did
// not know it, no workflow task after a cancellation request was ever completed
// other than by ending the workflow.
func (p *participant) removeParticipant(ctx workflow.Context) {
	removeCtx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           wire.QueueCoach,
		StartToCloseTimeout: sendLimit,
		Priority:            temporal.Priority{PriorityKey: priorityReply},
		Summary:             "cancellation requested: remove the participant",
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        200 * time.Millisecond,
			BackoffCoefficient:     2,
			MaximumInterval:        30 * time.Second,
			NonRetryableErrorTypes: []string{wire.ErrTypeInvalid},
		},
	})
	in := wire.RemoveParticipantInput{ParticipantID: p.state.ParticipantID, Now: workflow.Now(ctx)}
	if err := workflow.ExecuteActivity(removeCtx, removals.RemoveParticipant, in).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Error("removing the participant failed; unenrolling all the same", "error", err)
	}
}
