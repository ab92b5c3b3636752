package console

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestDescribeSettings(t *testing.T) {
	off := false
	tests := map[string]struct {
		settings models.StudySettings
		says     []string
		silent   []string
	}{
		"nothing set": {says: []string{"None: the study follows the configuration"}, silent: []string{"<h3>", "<dl"}},
		"facts": {
			settings: models.StudySettings{Programme: "Walk", RequireConsent: true, Locales: []string{"en", "es"}, StudyOverlay: models.StudyOverlay{CheckIns: &off}},
			says:     []string{"<dt>Programme</dt><dd>Walk</dd>", "<dd>en, es</dd>", "<dt>Consent</dt>", "<dt>Check-ins</dt><dd>off</dd>"},
			silent:   []string{"Reminders", "Model", "<h3>", "None:"},
		},
		"joining by text": {
			settings: models.StudySettings{Join: []models.StudyJoin{{Keyword: "WALK", Locale: "en", About: "Walking more"}}},
			says:     []string{"WALK", "sent by text"}, silent: []string{"None:"},
		},
		"arms": {
			settings: models.StudySettings{
				Arms:          []models.StudyArm{{Name: "texts", Weight: 2}, {Name: "calls", Weight: 1, Overlay: models.StudyOverlay{Model: "m", QuietHours: "off"}}},
				Randomisation: models.Randomisation{Method: models.RandomBlocks, Strata: []models.Stratum{{Name: "site", Levels: []string{"north", "south"}}}},
			},
			says: []string{"permuted blocks", "2 of 3", "1 of 3", "<td>nothing</td>", "Model: m; Quiet hours: off", "north, south"},
		},
		"fixed probabilities": {
			settings: models.StudySettings{DecisionPoints: &models.DecisionPoints{Policy: "p1", Options: []models.DecisionOption{
				{Name: "prompt", Probability: 0.6, Send: true, Instruction: "Be short."}, {Name: "none", Probability: 0.4}}}},
			says: []string{"Policy p1.", "within 4 hours", "are fixed", "<td>0.6</td><td>the prompt</td><td>Be short.</td>", "<td>0.4</td><td>nothing</td>"},
		},
		"Thompson sampling": {
			settings: models.StudySettings{DecisionPoints: &models.DecisionPoints{Policy: "p2", OutcomeHours: 6, Thompson: &models.Thompson{Clip: 0.2},
				Options: []models.DecisionOption{{Name: "prompt", Send: true}, {Name: "none"}}}},
			says: []string{"within 6 hours", "none below 0.2", "follows the outcomes"}, silent: []string{"<td>0</td>"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, describeSettings(tt.settings).Render(&out))
			for _, text := range tt.says {
				require.Contains(t, out.String(), text)
			}
			for _, text := range tt.silent {
				require.NotContains(t, out.String(), text)
			}
		})
	}
}
