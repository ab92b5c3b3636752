package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"coachline/models"
	"coachline/models/wire"
)

// copiesLeft are the carrier's copies of a person's messages.
type copiesLeft struct {
	left     []models.CarrierCopy
	refusals map[string]*models.CarrierError
	asked    []string
	problems []string
}

func (c *copiesLeft) CarrierCopies(_ context.Context, _ string, limit int) ([]models.CarrierCopy, error) {
	return append([]models.CarrierCopy(nil), c.left[:min(limit, len(c.left))]...), nil
}

func (c *copiesLeft) CopyErased(_ context.Context, _ string, gone models.CarrierCopy) error {
	for i, one := range c.left {
		if one == gone {
			c.left = append(c.left[:i], c.left[i+1:]...)
			return nil
		}
	}
	return nil
}

func (c *copiesLeft) NoteErasureProblem(_ context.Context, _, problem string, _ time.Time) error {
	c.problems = append(c.problems, problem)
	return nil
}

func (c *copiesLeft) Delete(_ context.Context, sid string, _ bool) error {
	c.asked = append(c.asked, sid)
	if refusal := c.refusals[sid]; refusal != nil {
		return refusal
	}
	return nil
}

func (c *copiesLeft) erase(t *testing.T) error {
	t.Helper()
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	acts := &ErasureActivities{Store: c, Carrier: c, Now: time.Now}
	env.RegisterActivity(acts)
	_, err := env.ExecuteActivity(acts.EraseCopies, wire.EraseCopiesInput{ParticipantID: "p1"})
	return err
}

func TestEraseCopies(t *testing.T) {
	three := func() []models.CarrierCopy {
		return []models.CarrierCopy{{Table: "outbox", ProviderSID: "SM1"}, {Table: "inbound", ProviderSID: "SM2"}, {Table: "hints", ProviderSID: "SM3"}}
	}
	all := &copiesLeft{left: three()}
	require.NoError(t, all.erase(t))
	require.Empty(t, all.left)
	require.NoError(t, all.erase(t))
	require.Len(t, all.asked, 3)

	// One that is on its way holds up no other.
	busy := &copiesLeft{left: three(), refusals: map[string]*models.CarrierError{"SM1": {Class: models.CarrierContent, Code: "20009"}}}
	require.Error(t, busy.erase(t))
	require.Len(t, busy.left, 1)
	require.Empty(t, busy.problems, "the first attempts are quiet")

	// A carrier that is away is not asked about the others.
	away := &copiesLeft{left: three(), refusals: map[string]*models.CarrierError{"SM1": {Class: models.CarrierRetry}}}
	require.Error(t, away.erase(t))
	require.Len(t, away.asked, 1)
	require.Len(t, away.left, 3)
}

// TestEraseCopiesCallsAnOperator after some attempts.
func TestEraseCopiesCallsAnOperator(t *testing.T) {
	refused := &models.CarrierError{Class: models.CarrierAccount, Code: "20003"}
	c := &copiesLeft{}
	acts := &ErasureActivities{Store: c, Now: time.Now}
	require.NoError(t, acts.tell(t.Context(), "p1", refused, quietAttempts))
	require.Empty(t, c.problems)
	require.NoError(t, acts.tell(t.Context(), "p1", errors.Join(refused), quietAttempts+1))
	require.Equal(t, []string{refused.Error()}, c.problems)
}
