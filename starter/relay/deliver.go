package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/metrics"
	"coachline/internal/store"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Store reads what has been committed and not yet delivered to Temporal, and records
// its delivery, by noun; package store provides each.
type Store struct {
	Notices   Notices
	People    People
	Attention Attention
	Hints     Hints
	Joins     Joins
	Alerts    Alerts
	Looks     Looks
	Memory    MemoryQueue
	Erasures  Erasures
}

// StoreOf takes what the relay needs out of a store.
func StoreOf(s *store.Store) Store {
	return Store{
		Notices: s.Notices, People: s.People, Attention: s.Attention, Hints: s.Hints, Joins: s.Joins, Alerts: s.Alerts, Looks: s.Looks, Memory: s.MemoryQueue, Erasures: s.Erasures,
	}
}

// Notices tell participants' workflows what has changed.
type Notices interface {
	// Untold are the participant's notices that were not delivered, in the order of
	// their ids, and the participant as of then, removed or not.
	Untold(ctx context.Context, participantID string) (models.Participant, []models.Notice, error)
	NoticesDelivered(ctx context.Context, ids []int64, at time.Time) error
	// ResumedMessages lists the texts that a notice has answered after a pause.
	ResumedMessages(ctx context.Context, noticeID int64) ([]wire.InboxItem, error)
	// PendingNotices lists undelivered notices of everybody that are due, those of
	// texts first, each participant's in the order of their ids.
	PendingNotices(ctx context.Context, createdBefore time.Time, limit int) ([]models.Notice, error)
}

// People reads participants.
type People interface {
	Participant(ctx context.Context, id string) (models.Participant, error)
}

// Attention reads what the search attributes are to show.
type Attention interface {
	ParticipantFlags(ctx context.Context, p models.Participant) (wire.ParticipantFlags, error)
}

// Hints go to strangers.
type Hints interface {
	// PendingHints lists hints that were not delivered to Temporal, oldest first.
	PendingHints(ctx context.Context, createdBefore time.Time, limit int) ([]models.Hint, error)
	HintTold(ctx context.Context, id string, at time.Time) error
}

// Joins ends joins that were not confirmed in time.
type Joins interface {
	ExpireJoins(ctx context.Context, now time.Time, limit int) error
}

// Looks are weak signs of danger that a turn was to read once more.
type Looks interface {
	// OverdueLooks lists those that no turn has read in time, oldest first.
	OverdueLooks(ctx context.Context, createdBefore time.Time, limit int) ([]models.DueLook, error)
	SettleLook(ctx context.Context, r models.LookResult) (answered bool, err error)
}

// Alerts are messages that may be a crisis.
type Alerts interface {
	// PendingAlerts lists alerts that were not delivered to Temporal, oldest first.
	PendingAlerts(ctx context.Context, createdBefore time.Time, limit int) ([]models.Alert, error)
	// UnacknowledgedAlerts lists alerts raised before an instant that no operator has
	// acknowledged, and AlertEscalated records the second page of one.
	UnacknowledgedAlerts(ctx context.Context, raisedBefore time.Time, limit int) ([]models.Alert, error)
	AlertEscalated(ctx context.Context, id string, at time.Time) error
	// AlertTold records that an alert, as it was read, was delivered to Temporal.
	AlertTold(ctx context.Context, told models.Alert, at time.Time) error
	Alert(ctx context.Context, id string) (models.Alert, error)
}

// MemoryQueue holds turns to be remembered.
type MemoryQueue interface {
	// ClaimMemory gives turns to the caller for a while, oldest first.
	ClaimMemory(ctx context.Context, c models.MemoryClaim) ([]string, error)
}

// Engine starts participants' workflows and sends them signals and updates. A
// Temporal client implements it.
type Engine interface {
	ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	SignalWithStartWorkflow(ctx context.Context, workflowID, signalName string, signalArg any,
		options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	UpdateWorkflow(ctx context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	ExecuteActivity(ctx context.Context, options client.StartActivityOptions, activity any, args ...any) (client.ActivityHandle, error)
	ListWorkflow(ctx context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
}

const (
	// tellLimit bounds one call of the engine. An update waits for a worker,
	// so without one each of them costs this long.
	tellLimit = 5 * time.Second
	// markLimit bounds recording what was delivered.
	markLimit = 5 * time.Second
	// answersAtOnce is how many participants at a time are told to answer texts that
	// waited. A call ends when a worker has taken it, so while workers are busy fewer
	// turns begin, and people who text now do not queue behind those of many resumes.
	answersAtOnce = 2
	// answerShare is how many times as long as the call its place is kept, for the turn
	// that follows; at most answerPatience.
	answerShare = 8
	// answerPatience is how long a delivery waits to be among them.
	answerPatience = time.Second
)

// errBusy leaves a notice to the next sweep: others are being told to answer.
var errBusy = errors.New("others are being told to answer texts that waited")

// Deliver sends the participant's workflow everything that is outstanding, oldest
// first, and stops at the first failure, so that nothing is delivered out of order. What
// asks for answers to texts that waited while many others do is left to a sweep, without
// an error. Every call of the engine may be repeated: starts join the running
// workflow, texts carry their sequence number, updates carry the notice's number,
// and the workflow knows the numbers that it has seen in any run.
// So it is safe to call at any time and from several processes.
func (r *Relay) Deliver(ctx context.Context, participantID string) error {
	unlock, err := r.locks.Lock(ctx, participantID)
	if err != nil {
		return fmt.Errorf("waiting for an earlier delivery: %w", err)
	}
	defer unlock()
	p, outstanding, err := r.cfg.Store.Notices.Untold(ctx, participantID)
	if err != nil {
		return fmt.Errorf("reading notices: %w", err)
	}
	var told []int64
	var failed error
	for _, n := range outstanding {
		err := r.tellWorkflow(ctx, p, n)
		if errors.Is(err, errBusy) {
			break
		}
		if err != nil {
			failed = fmt.Errorf("delivering notice %d (%s): %w", n.ID, n.Kind, err)
			break
		}
		told = append(told, n.ID)
	}
	if len(told) == 0 {
		return failed
	}
	return errors.Join(failed, r.markTold(ctx, told))
}

// markTold records what was told, even when the caller has given up meanwhile.
func (r *Relay) markTold(ctx context.Context, ids []int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markLimit)
	defer cancel()
	return wrap.Error(r.cfg.Store.Notices.NoticesDelivered(ctx, ids, r.cfg.Now()), "recording delivered notices")
}

func (r *Relay) tellWorkflow(ctx context.Context, p models.Participant, n models.Notice) error {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	if n.Kind == models.NoticeUnenroll {
		err := r.sendUpdate(ctx, n, workflowUpdate{name: wire.UpdateUnenroll})
		if isGone(err) {
			return nil
		}
		return err
	}
	if p.RemovedAt != nil {
		// The workflow of a participant who left gets the notice of leaving only.
		return nil
	}
	return r.tellEnrolled(ctx, p, n)
}

// workflowUpdate is an update by name and its arguments.
type workflowUpdate struct {
	name string
	args []any
}

//nolint:cyclop // one line per kind of notice, dispatch and nothing else
func (r *Relay) tellEnrolled(ctx context.Context, p models.Participant, n models.Notice) error {
	switch n.Kind {
	case models.NoticeStart:
		return r.startWorkflow(ctx, p, enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, firstState(p))
	case models.NoticeMessage, models.NoticeChat:
		return r.signalMessage(ctx, p, n)
	case models.NoticeUpdate:
		return r.updateOrRestart(ctx, p, n, workflowUpdate{wire.UpdateParticipant, []any{wire.ParticipantChanged{Zone: p.Timezone, ZoneAssumed: p.ZoneAssumed, Status: p.Status, Arm: p.Arm}}})
	case models.NoticePause:
		return r.pauseWorkflow(ctx, p, n)
	case models.NoticeResume:
		return r.resumeWorkflow(ctx, p, n)
	case models.NoticeTakeOver:
		return r.holdCoach(ctx, p, n)
	case models.NoticeHandBack:
		return r.releaseCoach(ctx, p, n)
	case models.NoticeSend:
		return r.updateOrRestart(ctx, p, n, workflowUpdate{wire.UpdateSendMessage, []any{wire.SendMessageRequest{OutboxID: n.Ref}}})
	case models.NoticeConsent:
		confirm := models.ConsentMethod(n.Ref).Confirms()
		return r.updateOrRestart(ctx, p, n, workflowUpdate{wire.UpdateParticipant, []any{wire.ParticipantChanged{Status: p.Status, Confirm: confirm}}})
	case models.NoticeHelp:
		return r.updateOrRestart(ctx, p, n, workflowUpdate{wire.UpdateParticipant, []any{wire.ParticipantChanged{Help: true}}})
	case models.NoticeFlags:
		return r.updateFlags(ctx, p, n)
	case models.NoticeLimit:
		return r.startLimitNotice(ctx, n)
	case models.NoticeAsk:
		return r.startAsk(ctx, n)
	case models.NoticeLate:
		return r.startLateRetry(ctx, n)
	case models.NoticeUnenroll: // delivered to removed participants too, above
	}
	return models.BadField("kind", "unknown notice kind %q", n.Kind)
}

func (r *Relay) startWorkflow(ctx context.Context, p models.Participant, reuse enums.WorkflowIdReusePolicy, state wire.ParticipantState) error {
	_, err := r.cfg.Engine.ExecuteWorkflow(ctx, startOptions(p, reuse), wire.WorkflowType, state)
	r.cfg.Metrics.WorkflowCall(metrics.CallStart, err)
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &already) {
		return nil
	}
	return err
}

// signalMessage signals a text, and begins a new workflow when an operator
// terminated the old one.
func (r *Relay) signalMessage(ctx context.Context, p models.Participant, n models.Notice) error {
	received, err := receivedOf(n)
	if err != nil {
		return err
	}
	state := secondState(p)
	// Earlier texts were delivered to the terminated run, in this order.
	state.Inbox.LastSeq = max(n.Seq-1, 0)
	_, err = r.cfg.Engine.SignalWithStartWorkflow(ctx, models.WorkflowID(p.ID), wire.SignalMessageReceived, received,
		startOptions(p, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY), wire.WorkflowType, state)
	r.cfg.Metrics.WorkflowCall(metrics.CallSignal, err)
	return err
}

// receivedOf returns what the signal of a text says.
func receivedOf(n models.Notice) (wire.InboxItem, error) {
	messageID, err := strconv.ParseInt(n.Ref, 10, 64)
	if err != nil {
		return wire.InboxItem{}, models.BadField("ref", "notice %d does not name an inbound row", n.ID)
	}
	channel, ok := models.ChannelOf(n.Kind)
	if !ok {
		return wire.InboxItem{}, models.BadField("kind", "notice %d announces no message", n.ID)
	}
	return wire.InboxItem{MessageID: messageID, Seq: n.Seq, ReceivedAt: n.CreatedAt.UTC(), Channel: channel, Notice: n.ID, Shape: n.Shape}, nil
}

// pauseWorkflow has the workflow pause, until the notice's instant where it names
// one.
func (r *Relay) pauseWorkflow(ctx context.Context, p models.Participant, n models.Notice) error {
	var request wire.PauseRequest
	if n.Ref != "" {
		until, err := time.Parse(time.RFC3339, n.Ref)
		if err != nil {
			return models.BadField("ref", "notice %d does not name an instant", n.ID)
		}
		request.Until = until
	}
	return r.updateOrRestart(ctx, p, n, workflowUpdate{wire.UpdatePause, []any{request}})
}

// resumeWorkflow has the workflow go on, and answer the texts of the pause
// where an operator asked for it.
func (r *Relay) resumeWorkflow(ctx context.Context, p models.Participant, n models.Notice) error {
	return r.answerWaiting(ctx, p, n, func(items []wire.InboxItem) workflowUpdate {
		return workflowUpdate{wire.UpdateResume, []any{wire.ResumeRequest{Items: items}}}
	})
}

// holdCoach has the workflow keep the coach silent until the notice's instant.
func (r *Relay) holdCoach(ctx context.Context, p models.Participant, n models.Notice) error {
	until, err := time.Parse(time.RFC3339, n.Ref)
	if err != nil {
		return models.BadField("ref", "notice %d does not name an instant", n.ID)
	}
	return r.updateOrRestart(ctx, p, n, workflowUpdate{wire.UpdateTakeOver, []any{wire.TakeOverRequest{Until: until}}})
}

// releaseCoach has the workflow let the coach write again, and answer the texts
// that came meanwhile where that was asked for.
func (r *Relay) releaseCoach(ctx context.Context, p models.Participant, n models.Notice) error {
	return r.answerWaiting(ctx, p, n, func(items []wire.InboxItem) workflowUpdate {
		return workflowUpdate{wire.UpdateHandBack, []any{wire.HandBackRequest{Answer: isToAnswer(n), Items: items}}}
	})
}

func isToAnswer(n models.Notice) bool { return n.Ref == string(models.WaitingAnswer) }

// answerWaiting sends an update with the texts that waited where the notice asks for
// answers; of these answersAtOnce are under way, and errBusy is returned for the others.
func (r *Relay) answerWaiting(ctx context.Context, p models.Participant, n models.Notice, update func([]wire.InboxItem) workflowUpdate) error {
	if !isToAnswer(n) {
		return r.updateOrRestart(ctx, p, n, update(nil))
	}
	items, err := r.cfg.Store.Notices.ResumedMessages(ctx, n.ID)
	if err != nil {
		return fmt.Errorf("reading the texts to answer: %w", err)
	}
	if len(items) > 0 {
		select {
		case r.answering <- struct{}{}:
			began := time.Now()
			defer func() {
				time.AfterFunc(min(answerShare*time.Since(began), answerPatience), func() { <-r.answering })
			}()
		case <-time.After(answerPatience):
			return errBusy
		}
	}
	return r.updateOrRestart(ctx, p, n, update(items))
}

// updateFlags has the workflow show the participant's flags as they are now.
func (r *Relay) updateFlags(ctx context.Context, p models.Participant, n models.Notice) error {
	flags, err := r.cfg.Store.Attention.ParticipantFlags(ctx, p)
	if err != nil {
		return err
	}
	return r.updateOrRestart(ctx, p, n, workflowUpdate{wire.UpdateParticipant, []any{wire.ParticipantChanged{Flags: &flags}}})
}

// updateOrRestart sends an update and begins a new workflow first when the old
// one was terminated. A rejection by the workflow's validator counts as
// delivered: the same update would be rejected for ever.
func (r *Relay) updateOrRestart(ctx context.Context, p models.Participant, n models.Notice, o workflowUpdate) error {
	err := r.sendUpdate(ctx, n, o)
	if !isGone(err) {
		return err
	}
	if err := r.startWorkflow(ctx, p, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, secondState(p)); err != nil {
		return err
	}
	return r.sendUpdate(ctx, n, o)
}

func (r *Relay) sendUpdate(ctx context.Context, n models.Notice, o workflowUpdate) error {
	_, err := r.cfg.Engine.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		UpdateID:   wire.NoticeUpdateID(n.ID),
		WorkflowID: models.WorkflowID(n.ParticipantID), UpdateName: o.name, Args: o.args,
		WaitForStage: client.WorkflowUpdateStageAccepted,
	})
	r.cfg.Metrics.WorkflowCall(metrics.CallUpdate, err)
	return err
}

// isGone reports that the workflow is closed or was never started.
func isGone(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

// firstState begins in active coaching, even if the row says something else by
// now: later notices tell the rest. An opt-out alone comes first, so that no
// participant is greeted who does not want to be.
func firstState(p models.Participant) wire.ParticipantState {
	state := wire.ParticipantState{
		ParticipantID: p.ID, Zone: p.Timezone, ZoneAssumed: p.ZoneAssumed, Status: wire.StatusActive, Mode: wire.ModeIntake,
		Notices:  wire.AppliedNotices{Counted: true},
		SignedUp: p.SignedUp, Arm: p.Arm,
	}
	if p.StudyID != models.DefaultStudy {
		state.Study = p.StudyID
	}
	if p.GreetingAt != nil {
		state.GreetingAt = p.GreetingAt.UTC()
	}
	if p.Status == wire.StatusOptedOut {
		state.Status = p.Status
	}
	state.AttributesShown = areShown(state, p)
	return state
}

// secondState continues a participant whose workflow was terminated from what
// the row remembers; the workflow itself reads the rest. The person was greeted
// in the first one.
func secondState(p models.Participant) wire.ParticipantState {
	state := firstState(p)
	state.Status, state.Greeted, state.Restore = p.Status, true, true
	if p.Mode.Known() {
		state.Mode = p.Mode
	}
	if p.TakenOverUntil != nil {
		state.TakenOverUntil = p.TakenOverUntil.UTC()
	}
	if end := p.PauseEndsAt(); end != nil {
		state.Due = append(state.Due, wire.Due{Kind: wire.DuePauseEnd, At: *end})
	}
	state.AttributesShown = areShown(state, p)
	return state
}

// areShown reports whether the search attributes of startOptions show a first
// state. They show nothing that is due, and no flag is set in one.
func areShown(state wire.ParticipantState, p models.Participant) bool {
	return state.Status == p.Status && state.Mode == p.Mode && len(state.Due) == 0
}

var (
	attrStatus     = temporal.NewSearchAttributeKeyKeyword(wire.AttrStatus)
	attrMode       = temporal.NewSearchAttributeKeyKeyword(wire.AttrMode)
	attrEnrolledAt = temporal.NewSearchAttributeKeyTime(wire.AttrEnrolledAt)
	attrStudy      = temporal.NewSearchAttributeKeyKeyword(wire.AttrStudy)
	attrArm        = temporal.NewSearchAttributeKeyKeyword(wire.AttrArm)
)

func startOptions(p models.Participant, reuse enums.WorkflowIdReusePolicy) client.StartWorkflowOptions {
	shown := []temporal.SearchAttributeUpdate{
		attrStatus.ValueSet(string(p.Status)), attrMode.ValueSet(string(p.Mode)), attrEnrolledAt.ValueSet(p.EnrolledAt), attrStudy.ValueSet(cmp.Or(p.StudyID, models.DefaultStudy)),
	}
	if p.Arm != "" {
		shown = append(shown, attrArm.ValueSet(p.Arm))
	}
	return client.StartWorkflowOptions{
		ID: models.WorkflowID(p.ID), TaskQueue: wire.QueueCoach, WorkflowTaskTimeout: wire.TaskLimit,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    reuse,
		TypedSearchAttributes:    temporal.NewSearchAttributes(shown...),
		StaticSummary:            "Coaching since " + p.EnrolledAt.UTC().Format(time.DateOnly),
	}
}
