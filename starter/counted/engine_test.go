package counted

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"coachline/internal/metrics"
)

func TestOutcomeOfACall(t *testing.T) {
	for _, test := range []struct {
		name string
		in   error
		want metrics.Outcome
	}{
		{"told", nil, metrics.OutcomeTold},
		{"runs already", serviceerror.NewWorkflowExecutionAlreadyStarted("", "", ""), metrics.OutcomeTold},
		{"closed", serviceerror.NewNotFound(""), metrics.OutcomeClosed},
		{"away", errors.New("away"), metrics.OutcomeFailed},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, outcome(test.in)) })
	}
}
