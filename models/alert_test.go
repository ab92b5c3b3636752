package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestSafetyKindOf(t *testing.T) {
	for _, c := range []struct {
		danger      models.Danger
		kind, about string
		want        models.SafetyKind
	}{
		{models.DangerSelfHarm, "direct", "", models.SafetyOneself},
		{models.DangerSelfHarm, "score", "", models.SafetyOneself},
		{models.DangerSelfHarm, "thirdperson", "", models.SafetyAnother},
		{models.DangerHarm, "violence", "", models.SafetyViolence},
		{models.DangerHarm, "child", "another", models.SafetyViolence},
		{models.DangerHarm, "harmothers", "", models.SafetyOneself},
		{models.DangerHarm, "score", "", models.SafetyViolence},
		{models.DangerEmergency, "score", "", models.SafetyMedical},
		{models.DangerSelfHarm, "emergency", "self", models.SafetyMedical},
		{models.DangerEmergency, "emergency", "another", models.SafetyAnother},
		{models.DangerHarm, "suicide", "self", models.SafetyOneself},
		{models.DangerSelfHarm, "suicide", "another", models.SafetyAnother},
	} {
		require.Equal(t, c.want, models.SafetyKindOf(c.danger, c.kind, c.about), c)
	}
}
