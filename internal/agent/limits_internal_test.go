package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

// What a reply waits for grows with the timeout that is set; what follows it is never
// given less than a minute.
func TestStagesWaitInProportion(t *testing.T) {
	for timeout, want := range map[time.Duration][3]time.Duration{
		0:                {6 * time.Second, 8 * time.Second, time.Minute},
		3 * time.Minute:  {18 * time.Second, 24 * time.Second, 3 * time.Minute},
		20 * time.Second: {2 * time.Second, 8 * time.Second / 3, time.Minute},
	} {
		a := New(Config{Settings: Settings{ModelTimeout: timeout}})
		got := [3]time.Duration{a.limitOf(plannerLimit), a.limitOf(smallLimit), a.limitOf(closingLimit)}
		require.Equal(t, want, got, timeout)
	}
}

// TestHistoryOfAStudy: a study's limit of messages goes before the installation's, 0 too.
func TestHistoryOfAStudy(t *testing.T) {
	a := New(Config{Settings: Settings{HistoryLimit: 30}})
	require.Equal(t, 30, a.With(Overlay{ChatModel: "other"}).Settings.HistoryLimit)
	require.Zero(t, a.With(Overlay{History: History{IsSet: true}}).Settings.HistoryLimit)
	talk := a.With(Overlay{FeedbackHistory: History{IsSet: true, Limit: 4}}).With(Overlay{ChatModel: "other"}).Settings
	require.Equal(t, []int{30, 4}, []int{talk.historyLimit(wire.ModeIntake), talk.historyLimit(wire.ModeFeedback)})
}
