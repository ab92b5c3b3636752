package calls_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/calls"
	"coachline/models"
)

func TestSettledCallsLeaveTheLog(t *testing.T) {
	call := calls.Call{Stage: models.StageModel, Asked: "m", Model: "m1", Usage: models.Usage{Prompt: 3}}
	lost := calls.Call{Stage: models.StageModel, Asked: "m", Model: "m1", Usage: call.Usage, Lost: true}
	calls.Record(t.Context(), call) // Without a log nothing is kept.
	ctx, log := calls.With(t.Context())
	for _, one := range []calls.Call{lost, call, call} {
		calls.Record(ctx, one)
	}
	calls.Settle(ctx, "m2", call.Usage)
	calls.Settle(ctx, "m1", models.Usage{Prompt: 4})
	require.Len(t, log.Open(), 3)
	calls.Settle(ctx, "m1", call.Usage)
	require.Equal(t, []calls.Call{lost, call}, log.Open())
	calls.Settle(ctx, "m1", call.Usage)
	calls.Settle(ctx, "m1", call.Usage)
	require.Equal(t, []calls.Call{lost}, log.Open(), "a lost call is never settled")
}
