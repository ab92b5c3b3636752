package relay

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// frontAttempt bounds one attempt of a starter's activity; all of them end with
// the usefulness of the text.
const frontAttempt = time.Minute

// frontHeartbeat is after how long without a heartbeat an attempt counts as lost
// with its worker; all of these activities send one every few seconds.
const frontHeartbeat = 6 * time.Second

// hintKey is the prefix of the keys of background jobs for hints. Ids of
// participants, the other keys, hold no slash.
const hintKey = "hint/"

// LaterHint has SendHint run in the background and returns at once.
func (r *Relay) LaterHint(id string) { r.pool.addJob(hintKey + id) }

func (r *Relay) runJob(ctx context.Context, key string) error {
	if id, ok := strings.CutPrefix(key, hintKey); ok {
		return r.SendHint(ctx, id)
	}
	if id, ok := strings.CutPrefix(key, alertKey); ok {
		return r.Raise(ctx, id)
	}
	return r.Deliver(ctx, key)
}

// SendHint has Temporal send a hint and records that it did so. The hint's id
// is the activity's and cannot be used twice, so it is safe to call at any time
// and from several processes.
func (r *Relay) SendHint(ctx context.Context, id string) error {
	tellCtx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	err := r.executeJob(tellCtx, job{id: id, name: wire.ActivitySendHint, input: wire.SendHintInput{HintID: id}, validity: models.FixedTextValidity})
	if err != nil {
		return fmt.Errorf("starting %s: %w", id, err)
	}
	markCtx, cancelMark := context.WithTimeout(context.WithoutCancel(ctx), markLimit)
	defer cancelMark()
	return wrap.Errorf(r.cfg.Store.Hints.HintTold(markCtx, id, r.cfg.Now()), "recording %s as told", id)
}

// startLimitNotice has Temporal tell a participant of the limit, outside the
// workflow: the coach takes no turn for it.
func (r *Relay) startLimitNotice(ctx context.Context, n models.Notice) error {
	ref, after, _ := strings.Cut(n.Ref, models.LimitHours)
	hours, _ := strconv.Atoi(after) // none: a minute
	n.Ref = ref
	inboundID, err := inboundOf(n)
	if err != nil {
		return err
	}
	return r.executeJob(ctx, job{
		id: n.ParticipantID + "-limit-" + n.Ref, name: wire.ActivitySendLimitNotice,
		input: wire.SendLimitInput{InboundID: inboundID, Hours: hours}, validity: models.FixedTextValidity,
	})
}

// startAsk has Temporal ask a participant what a text meant, outside the
// workflow: the coach takes no turn for it.
func (r *Relay) startAsk(ctx context.Context, n models.Notice) error {
	inboundID, err := inboundOf(n)
	if err != nil {
		return err
	}
	return r.executeJob(ctx, job{
		id: n.ParticipantID + "-ask-" + n.Ref, name: wire.ActivitySendAsk,
		input: wire.SendAskInput{InboundID: inboundID}, validity: models.AnswerValidity,
	})
}

// inboundOf returns the inbound row that a notice names.
func inboundOf(n models.Notice) (int64, error) {
	id, err := strconv.ParseInt(n.Ref, 10, 64)
	if err != nil {
		return 0, models.BadField("ref", "notice %d does not name an inbound row", n.ID)
	}
	return id, nil
}

// startLateRetry has Temporal make the later try of a text whose turn is over.
// It waits for its time by itself, and no outage ends it: its row says what it
// is worth.
func (r *Relay) startLateRetry(ctx context.Context, n models.Notice) error {
	return r.executeJob(ctx, job{id: "late-" + n.Ref, name: wire.ActivitySendLate, input: wire.SendSMSInput{OutboxID: n.Ref}})
}

// job is an activity that no workflow waits for; a lifetime of 0 has no end.
// priority 0 is the ordinary one, 1 before all others.
type job struct {
	id, name string
	input    any
	validity time.Duration
	priority int
	// again: a job of the id that is over may be started again.
	again bool
}

// executeJob starts a job. One that runs or ran under the id counts as started.
func (r *Relay) executeJob(ctx context.Context, j job) error {
	reuse := enums.ACTIVITY_ID_REUSE_POLICY_REJECT_DUPLICATE
	if j.again {
		reuse = enums.ACTIVITY_ID_REUSE_POLICY_ALLOW_DUPLICATE
	}
	_, err := r.cfg.Engine.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: j.id, TaskQueue: wire.QueueSMS, Priority: temporal.Priority{PriorityKey: j.priority},
		StartToCloseTimeout: frontAttempt, HeartbeatTimeout: frontHeartbeat, ScheduleToCloseTimeout: j.validity,
		ActivityIDReusePolicy:    reuse,
		ActivityIDConflictPolicy: enums.ACTIVITY_ID_CONFLICT_POLICY_USE_EXISTING,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second,
			NonRetryableErrorTypes: []string{wire.ErrTypeInvalid, wire.ErrTypeMissing},
		},
	}, j.name, j.input)
	var already *serviceerror.ActivityExecutionAlreadyStarted
	if errors.As(err, &already) {
		return nil
	}
	return err
}

// sweepHints delivers the hints that were left over. The first failure ends it:
// they all take the same path, and the next sweep finds the rest.
func (r *Relay) sweepHints(ctx context.Context) error {
	pending, err := r.cfg.Store.Hints.PendingHints(ctx, r.cfg.Now().Add(-r.cfg.MinAge), batch)
	if err != nil {
		return err
	}
	for _, hint := range pending {
		if err := r.SendHint(ctx, hint.ID); err != nil {
			return err
		}
	}
	return nil
}
