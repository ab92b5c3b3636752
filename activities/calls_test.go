package activities

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"coachline/internal/calls"
	"coachline/models"
)

// ledger keeps what is booked; one that is away fails.
type ledger struct {
	rows []models.Stage
	err  error
}

func (l *ledger) SaveStage(_ context.Context, row models.Stage) error {
	l.rows = append(l.rows, row)
	return l.err
}

// inActivity runs a function as an attempt of an activity.
func inActivity(t *testing.T, work func(context.Context) error) error {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(work)
	_, err := env.ExecuteActivity(work)
	return err
}

// An answer that was thrown away counts with what it used, a call without an answer as
// lost, and one that a stored step tells of not at all. A retry of the booking finds the
// same rows.
func TestCallsThatNoRowTellsOfAreBooked(t *testing.T) {
	unkept := calls.Call{Stage: models.StageModel, Asked: "small", Model: "small-1", Usage: models.Usage{Prompt: 3}}
	lost := calls.Call{Stage: models.StageModel, Asked: "small", Usage: models.Usage{Prompt: 4}, Lost: true}
	answered := calls.Call{Stage: models.StageModel, Model: "small-1", Usage: models.Usage{Prompt: 5}}
	step := models.Step{Trace: "own", Model: answered.Model, Usage: answered.Usage}
	book := func(l *ledger, stored models.Step) []models.Stage {
		own := callBook{store: l, turn: "conv_1-t1", part: "round 1", now: func() time.Time { return time.Unix(1, 0) }}
		require.NoError(t, inActivity(t, func(ctx context.Context) error {
			asking, made := calls.With(ctx)
			for _, call := range []calls.Call{answered, unkept, lost} {
				calls.Record(asking, call)
			}
			settleStep(asking, step, stored)
			own.bookOpen(ctx, made)
			return nil
		}))
		return l.rows
	}
	rows := book(&ledger{}, step)
	require.Len(t, rows, 2)
	require.Equal(t, []any{models.StageModel, "small-1", unkept.Usage, "conv_1-t1", time.Unix(1, 0).UTC()},
		[]any{rows[0].Name, rows[0].Model, rows[0].Usage, rows[0].TurnID, rows[0].CreatedAt})
	require.Equal(t, []any{models.StageLost, "small", models.Usage{}}, []any{rows[1].Name, rows[1].Model, rows[1].Usage})
	require.NotEqual(t, rows[0].Number, rows[1].Number)
	require.Equal(t, rows, book(&ledger{}, step))
	require.Len(t, book(&ledger{}, models.Step{Trace: "another attempt's"}), 3, "its own answer was thrown away")
	require.Len(t, book(&ledger{err: errAway}, step), 1, "a ledger that is away is not asked for each")
}

// Where the attempt before ended with its worker, one call counts as lost, unless the turn
// was not begun yet.
func TestCallOfADeadWorkerIsBooked(t *testing.T) {
	for name, tt := range map[string]struct {
		died   bool
		store  *ledger
		booked int
		err    error
	}{
		"the worker died":      {true, &ledger{}, 1, nil},
		"it did not":           {false, &ledger{}, 0, nil},
		"before the turn":      {true, &ledger{err: models.ErrNotFound}, 1, nil},
		"the ledger is away":   {true, &ledger{err: errAway}, 1, errAway},
		"nothing is booked at": {true, nil, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			book := callBook{turn: "conv_1-t1", part: "round 1"}
			if tt.store != nil {
				book.store = tt.store
			}
			var got error
			require.NoError(t, inActivity(t, func(ctx context.Context) error {
				got = book.bookDead(ctx, &timeLimit{died: tt.died}, "small")
				return nil
			}))
			require.ErrorIs(t, got, tt.err)
			if tt.store == nil {
				return
			}
			require.Len(t, tt.store.rows, tt.booked)
			for _, row := range tt.store.rows {
				require.Equal(t, []any{models.StageLost, "small", false}, []any{row.Name, row.Model, row.CreatedAt.IsZero()})
			}
		})
	}
}
