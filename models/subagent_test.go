package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestTurnID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     models.SubagentOrigin
		ok       bool
	}{
		{"origin", "conv_1-t42-s3-c1", models.SubagentOrigin{TurnID: "conv_1-t42", Step: 3, Call: 1}, true},
		{"marks in the participant's id", "a-s1-c2-t4-s10-c0", models.SubagentOrigin{TurnID: "a-s1-c2-t4", Step: 10}, true},
		{"a participant's turn", "conv_1-t42", models.SubagentOrigin{}, false},
		{"no call", "conv_1-t42-s3", models.SubagentOrigin{}, false},
		{"no number", "conv_1-t42-sx-c1", models.SubagentOrigin{}, false},
		{"leading zero", "conv_1-t42-s03-c1", models.SubagentOrigin{}, false},
		{"nothing before", "-s3-c1", models.SubagentOrigin{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := models.ParseSubagentTurnID(tt.in)
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.want, got)
			if ok {
				require.Equal(t, tt.in, models.SubagentTurnID(got.TurnID, got.Step, got.Call))
			}
		})
	}
	require.Equal(t, "subagent-conv_1-t42-s3-c1", models.SubagentWorkflowID("conv_1-t42-s3-c1"))
}
