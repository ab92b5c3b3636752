package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

type spentRows struct {
	spent models.SpentBudgets
	err   error
}

func (s *spentRows) SpentBudgets(context.Context, time.Time) (models.SpentBudgets, error) {
	return s.spent, s.err
}

// A worker learns of a spent budget within its interval, and keeps what it knows
// while the database is away.
func TestBudgetsAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := &spentRows{}
		b := &budgets{rows: rows, now: time.Now, logger: slog.New(slog.DiscardHandler)}
		require.False(t, b.Stops("p1", "walk"))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go b.follow(ctx)
		synctest.Wait()
		require.False(t, b.Stops("p1", "walk"))
		rows.spent = models.SpentBudgets{Participants: map[string]bool{"p1": true}}
		<-time.After(budgetInterval)
		synctest.Wait()
		require.True(t, b.Stops("p1", "walk"))
		require.False(t, b.Stops("p2", "walk"))
		rows.err = errors.New("down")
		<-time.After(budgetInterval)
		synctest.Wait()
		require.True(t, b.Stops("p1", "walk"))
		rows.err, rows.spent = nil, models.SpentBudgets{Programme: true}
		<-time.After(budgetInterval)
		synctest.Wait()
		require.True(t, b.Stops("p2", "walk"))
	})
}
