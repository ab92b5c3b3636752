package relay

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"coachline/models"
	"coachline/models/wire"
)

// A workflow begins with the study and the arm of its person, in its state and as
// search attributes; the state of the default study is as it was before there were
// studies.
func TestWorkflowBeginsWithStudyAndArm(t *testing.T) {
	p := models.Participant{ID: "conv_a", Timezone: "UTC", Status: wire.StatusActive, Mode: wire.ModeIntake, EnrolledAt: testNow, StudyID: "walk", Arm: "calls"}
	for _, state := range []wire.ParticipantState{firstState(p), secondState(p)} {
		require.Equal(t, []string{"walk", "calls"}, []string{state.Study, state.Arm})
	}
	shown := func(p models.Participant) (study, arm string) {
		attributes := startOptions(p, enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE).TypedSearchAttributes
		study, _ = attributes.GetKeyword(attrStudy)
		arm, _ = attributes.GetKeyword(attrArm)
		return study, arm
	}
	study, arm := shown(p)
	require.Equal(t, []string{"walk", "calls"}, []string{study, arm})
	p.StudyID, p.Arm = models.DefaultStudy, ""
	require.Empty(t, firstState(p).Study)
	study, arm = shown(p)
	require.Equal(t, []string{models.DefaultStudy, ""}, []string{study, arm})
}
