package activities

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"coachline/internal/calls"
	"coachline/models"
)

// CostStore keeps calls of models that no stored step or stage has, for the
// ledger of costs. Keeping one again changes nothing.
type CostStore interface {
	SaveStage(ctx context.Context, row models.Stage) error
}

// Decisions of the stages that stand for calls of models.
const (
	decisionUnkept = "answer not kept"
	decisionLost   = "outcome unknown"
)

// bookLimit bounds the writes at the end of an attempt whose own time is over.
const bookLimit = 5 * time.Second

// callBook books the calls of one attempt at a part of a turn.
type callBook struct {
	store CostStore // nil books nothing
	turn  string
	part  string // such as "step 2"
	now   func() time.Time
}

// bookOpen stores the calls of an attempt that its rows do not tell of: answers
// that were thrown away, and calls whose answer did not come. Usually there are
// none, which costs no statement.
func (b callBook) bookOpen(ctx context.Context, log *calls.Log) {
	open := log.Open()
	if b.store == nil || len(open) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookLimit)
	defer cancel()
	attempt := activity.GetInfo(ctx).Attempt
	for i, call := range open {
		row := models.Stage{Name: call.Stage, Decision: decisionUnkept, Model: cmp.Or(call.Model, call.Asked), Usage: call.Usage}
		if call.Lost {
			row.Name, row.Decision, row.Usage = models.StageLost, decisionLost, models.Usage{}
		}
		if err := b.save(ctx, row, fmt.Sprint(attempt, ".", i)); err != nil {
			activity.GetLogger(ctx).Error("call of a model not booked, costs lack it", "turn", b.turn, "model", row.Model, "error", err)
			return
		}
	}
}

// bookDead stores one call of unknown outcome where the attempt before this one
// ended with its worker: it may have been waiting for an answer, and only the
// provider knows what that used.
func (b callBook) bookDead(ctx context.Context, limit *timeLimit, model string) error {
	if b.store == nil || !limit.died {
		return nil
	}
	row := models.Stage{Name: models.StageLost, Decision: decisionLost, Model: model}
	err := b.save(ctx, row, fmt.Sprint(activity.GetInfo(ctx).Attempt-1, ".dead"))
	if errors.Is(err, models.ErrNotFound) {
		return nil // The turn was not stored yet, so no model was called.
	}
	return err
}

// save gives a row a number of its own among the stages of the turn, the same for
// the same call.
func (b callBook) save(ctx context.Context, row models.Stage, of string) error {
	row.InputHash = b.part + " attempt " + of
	sum := sha256.Sum256([]byte(b.turn + row.InputHash))
	row.TurnID, row.Number, row.CreatedAt = b.turn, int(binary.BigEndian.Uint32(sum[:])>>4), b.instant()
	return b.store.SaveStage(ctx, row)
}

func (b callBook) instant() time.Time {
	if b.now == nil {
		return time.Now().UTC()
	}
	return b.now().UTC()
}

// settleStep takes the calls that a stored step tells of out of the log of the
// context. Where another attempt's step was stored first, this one's calls stay.
func settleStep(ctx context.Context, own, stored models.Step) {
	if own.Trace != stored.Trace {
		return
	}
	for _, call := range own.ModelCalls() {
		calls.Settle(ctx, call.Model, call.Usage)
	}
}
