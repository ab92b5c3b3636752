package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent/plan"
)

// C12: what a text of the coach may be dropped for after another one was sent.
func TestAcknowledges(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want bool
	}{
		{"", true},
		{"👍", true},
		{"Great, talk soon!", true},
		{"You're welcome.", true},
		{"Muchas gracias", true},
		{"Yes.", false},
		{"No", false},
		{"Ja, gern", false},
		{"Of course!", false},
		{"OK?", false},
		{"At 7", false},
		{"It is set for the morning.", false},
	} {
		t.Run("C12 "+tt.in, func(t *testing.T) { require.Equal(t, tt.want, plan.Acknowledges(tt.in)) })
	}
}
