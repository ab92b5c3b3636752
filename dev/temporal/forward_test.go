package temporal

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.temporal.io/server/common/dynamicconfig"
	"google.golang.org/grpc"
)

const skipQueue = "skips"

// Daily tells each day by its own clock, and continues as new every third.
func Daily(ctx workflow.Context, days []time.Time) error {
	for range 3 {
		if err := workflow.Sleep(ctx, 24*time.Hour); err != nil {
			return err
		}
		days = append(days, workflow.Now(ctx))
	}
	if err := workflow.SetQueryHandler(ctx, "days", func() ([]time.Time, error) { return days, nil }); err != nil {
		return err
	}
	if len(days) < 12 {
		return workflow.NewContinueAsNewError(ctx, Daily, days)
	}
	workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
	return nil
}

// skipDays plays Daily for twelve days.
func skipDays(t *testing.T, e *Engine, clock *Clock) (client.Client, error) {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: e.Address(), Logger: silentLogger{}, ConnectionOptions: client.ConnectionOptions{
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(clock.Intercept)},
	}})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	w := worker.New(c, skipQueue, worker.Options{})
	w.RegisterWorkflow(Daily)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "daily", TaskQueue: skipQueue}, Daily, nil)
	require.NoError(t, err)
	// One that waits days for its first task never gets to the end of a forward.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	begun := clock.Now()
	for day := range 12 {
		if err := e.Forward(ctx, "daily", begun.AddDate(0, 0, day+1)); err != nil {
			return c, err
		}
	}
	return c, nil
}

func openClock(t *testing.T, ahead time.Duration) *Clock {
	t.Helper()
	clock, err := OpenClock(filepath.Join(t.TempDir(), "clock"))
	require.NoError(t, err)
	clock.AtLeast(time.Now().Add(ahead))
	return clock
}

func startSkipping(t *testing.T) *Engine {
	t.Helper()
	e, err := Start(t.Context(), Config{SkipTime: true, UIPort: NoUI})
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	return e
}

func TestForwardSkipsDays(t *testing.T) {
	t.Parallel()
	clock := openClock(t, 100*24*time.Hour)
	begun := clock.Now()
	c, err := skipDays(t, startSkipping(t), clock)
	require.NoError(t, err)
	value, err := c.QueryWorkflow(t.Context(), "daily", "", "days")
	require.NoError(t, err)
	var days []time.Time
	require.NoError(t, value.Get(&days))
	require.Len(t, days, 12, "three continue-as-news")
	for i, day := range days {
		require.WithinDuration(t, begun.Add(time.Duration(i+1)*24*time.Hour), day, time.Minute)
	}
}

// TestContinueAsNewWaits shows what the server does without the interval of zero. Where it
// fails, the server is mended, and skipTime need not set it any more.
func TestContinueAsNewWaits(t *testing.T) {
	t.Parallel()
	e := startSkipping(t)
	e.settings.OverrideSetting(dynamicconfig.WorkflowIdReuseMinimalInterval, time.Second)
	c, err := skipDays(t, e, openClock(t, 0))
	if err == nil {
		_, err = c.QueryWorkflow(t.Context(), "daily", "", "days")
	}
	require.Error(t, err, "the second run waits for its first task as long as was skipped")
}

func TestClockIsShared(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "clock")
	one, err := OpenClock(file)
	require.NoError(t, err)
	other, err := OpenClock(file)
	require.NoError(t, err)
	woken := one.After(time.Hour)
	require.Equal(t, 1, one.Asleep())
	other.AtLeast(time.Now().Add(2 * time.Hour))
	require.WithinDuration(t, time.Now().Add(2*time.Hour), one.Now(), time.Minute)
	one.AtLeast(time.Now().Add(time.Hour)) // It never goes back.
	require.WithinDuration(t, time.Now().Add(2*time.Hour), <-woken, time.Minute)
	require.Zero(t, one.Asleep())
}
