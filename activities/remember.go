package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"coachline/internal/calls"
	"coachline/models"
	"coachline/models/wire"
)

// rememberEntries are how many entries of the conversation are read for what
// follows a reply: enough for a summary that was left out a few times.
const rememberEntries = 120

// Keeper says whether a turn leaves something to remember, and remembers it.
type Keeper interface {
	Worth(c models.TurnContext) bool
	Remember(ctx context.Context, c models.TurnContext) error
}

// Background sees to it that a turn is remembered, without a caller that waits
// for it. Asking again for the same turn changes nothing.
type Background interface {
	Remember(ctx context.Context, in wire.RememberInput) error
}

// MemoryActivities remembers what was said once a reply is out.
type MemoryActivities struct {
	Store  Turns
	Queue  MemoryQueue
	Keeper Keeper
	// Budgets says for whom the model is stopped, and so nothing is remembered;
	// nil stops it for none.
	Budgets Budgets
	// Costs keeps calls that were made in vain; nil keeps none. ModelName is the
	// model that a lost one counts for.
	Costs     CostStore
	ModelName string
	Now       func() time.Time
}

const (
	// memoryPatience is how long a turn is tried to be remembered while a model is
	// away; after a day the conversation has moved on.
	memoryPatience = 24 * time.Hour
	// memoryParallel is how many participants of a batch are remembered at once.
	memoryParallel = 4
)

// textsOf counts the participant's texts in a turn.
func textsOf(turn models.TurnContext) int {
	count := 0
	for _, entry := range turn.Window {
		if entry.TurnID == turn.Turn.ID && entry.Role == models.RoleUser {
			count++
		}
	}
	return count
}

// Remember stores what the person said about themselves in a turn, and summarises
// older entries. It runs outside the participant's workflow, since nothing there
// waits for it. Safe to retry: a model that answered is not called again, and a
// turn stores one fact.
func (r *MemoryActivities) Remember(ctx context.Context, in wire.RememberInput) error {
	limit := startTimeLimit(ctx, 0, r.Now)
	stop := startHeartbeat(ctx)
	err := r.bookOf(in.TurnID).bookDead(ctx, limit, r.ModelName)
	if err == nil {
		err = r.rememberTurn(ctx, in.TurnID)
	}
	stop()
	return limit.limitError(ctx, err)
}

func (r *MemoryActivities) bookOf(turnID string) callBook {
	return callBook{store: r.Costs, turn: turnID, part: "memory", now: r.Now}
}

func (r *MemoryActivities) rememberTurn(ctx context.Context, turnID string) error {
	asking, asked := calls.With(ctx)
	defer func() { r.bookOf(turnID).bookOpen(ctx, asked) }()
	return r.rememberOne(asking, turnID)
}

func (r *MemoryActivities) rememberOne(ctx context.Context, turnID string) error {
	turn, err := r.Store.TurnContext(ctx, turnID, rememberEntries)
	if own := textsOf(turn); err == nil && own > rememberEntries/2 {
		// What was said before a turn of many texts is not in a summary yet either.
		turn, err = r.Store.TurnContext(ctx, turnID, rememberEntries+own)
	}
	if err != nil {
		return toTemporalError(fmt.Errorf("loading turn: %w", err))
	}
	if r.Budgets != nil && r.Budgets.Stops(turn.Participant.ID, turn.Participant.StudyID) {
		return nil
	}
	return toTemporalError(r.Keeper.Remember(ctx, turn))
}

// RememberTurns remembers a batch of turns: those of one participant in order,
// several participants at once. What fails for now stays in the queue for a later
// batch, for a day. Safe to retry: turns that are done have left the queue.
func (r *MemoryActivities) RememberTurns(ctx context.Context, in wire.RememberTurnsInput) (wire.RememberTurnsResult, error) {
	limit := startTimeLimit(ctx, 0, r.Now)
	stop := startHeartbeat(ctx)
	out, err := r.rememberBatch(ctx, in, limit)
	stop()
	return out, limit.limitError(ctx, err)
}

func (r *MemoryActivities) rememberBatch(ctx context.Context, in wire.RememberTurnsInput, limit *timeLimit) (wire.RememberTurnsResult, error) {
	jobs, err := r.Queue.QueuedMemory(ctx, in.TurnIDs)
	if err != nil {
		return wire.RememberTurnsResult{}, err
	}
	people := groupJobs(jobs)
	// Each of those whose turn it was may have been waiting for an answer.
	for _, own := range people[:min(len(people), memoryParallel)] {
		if err := r.bookOf(own[0].TurnID).bookDead(ctx, limit, r.ModelName); err != nil {
			return wire.RememberTurnsResult{}, err
		}
	}
	var mu sync.Mutex
	var total wire.RememberTurnsResult
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(memoryParallel)
	for _, own := range people {
		group.Go(func() error {
			out, err := r.rememberAll(ctx, own)
			mu.Lock()
			defer mu.Unlock()
			total.Remembered += out.Remembered
			total.Left += out.Left
			total.GivenUp += out.GivenUp
			return err
		})
	}
	return total, group.Wait()
}

// groupJobs splits jobs by participant, in the order in which participants
// first appear.
func groupJobs(jobs []models.MemoryJob) [][]models.MemoryJob {
	var all [][]models.MemoryJob
	at := map[string]int{}
	for _, job := range jobs {
		i, known := at[job.ParticipantID]
		if !known {
			i = len(all)
			at[job.ParticipantID] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], job)
	}
	return all
}

// rememberAll remembers turns of one participant. The first that fails for now
// leaves those behind it in the queue as well, so that their order stays.
func (r *MemoryActivities) rememberAll(ctx context.Context, jobs []models.MemoryJob) (wire.RememberTurnsResult, error) {
	var out wire.RememberTurnsResult
	for i, job := range jobs {
		err := r.rememberTurn(ctx, job.TurnID)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil && !isFinal(err) && r.Now().Sub(job.QueuedAt) < memoryPatience {
			out.Left += len(jobs) - i
			activity.GetLogger(ctx).Warn("turn not remembered, tried again later", "turn", job.TurnID, "error", err)
			return out, nil
		}
		if err != nil {
			out.GivenUp++
			activity.GetLogger(ctx).Error("turn not remembered, given up", "turn", job.TurnID, "error", err)
		} else {
			out.Remembered++
		}
		if err := r.Queue.EndMemory(ctx, job.TurnID); err != nil {
			return out, err
		}
	}
	return out, nil
}

// isFinal reports whether no later attempt can succeed.
func isFinal(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}
