package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

func TestFeedbackStages(t *testing.T) {
	const none, asked, outcome, barrier, done = wire.FeedbackNone, wire.FeedbackAsked, wire.FeedbackOutcome, wire.FeedbackBarrier, wire.FeedbackDone
	for _, tt := range []struct{ before, saysOutcome, saysBarrier, saysNothing, toIntake, toFeedback wire.FeedbackStage }{
		{none, outcome, barrier, none, none, asked},
		{asked, outcome, barrier, asked, none, asked},
		{outcome, outcome, barrier, outcome, done, asked},
		{barrier, barrier, barrier, barrier, done, asked},
		{done, done, done, done, done, asked},
	} {
		require.Equal(t, tt.saysOutcome, tt.before.Learn(outcome), tt.before)
		require.Equal(t, tt.saysBarrier, tt.before.Learn(barrier), tt.before)
		require.Equal(t, tt.saysNothing, tt.before.Learn(none), tt.before)
		require.Equal(t, tt.toIntake, tt.before.Enter(wire.ModeIntake), tt.before)
		require.Equal(t, tt.toFeedback, tt.before.Enter(wire.ModeFeedback), tt.before)
	}
}
