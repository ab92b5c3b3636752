package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/study"
	"coachline/models"
	"coachline/models/wire"
)

// Rules decide as the arm says that the workflow began with, or has learned of
// since: the second arm has no reminders.
func TestArmDecidesAboutReminders(t *testing.T) {
	t.Parallel()
	no := false
	settings, err := json.Marshal(models.StudySettings{
		Arms:          []models.StudyArm{{Name: "first", Weight: 1}, {Name: "second", Weight: 1, Overlay: models.StudyOverlay{Reminders: &no}}},
		Randomisation: models.Randomisation{Method: models.RandomSimple},
	})
	require.NoError(t, err)
	for _, tt := range []struct {
		name, begins, learns string
		want                 int
	}{
		{"of the first arm", "first", "", 1},
		{"of the second arm", "second", "", 0},
		{"allocated to the second arm later", "", "second", 0},
		{"changed otherwise", "first", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *world, r *coach.Rules) {
				*r = coach.Rules{PromptGrace: 2 * time.Hour, ReminderDelay: time.Hour}
				w.state.Study, w.state.Arm = "walk", tt.begins
			}, withSchedule("11:00", "2026-03-02", eleven))
			_, err := w.store.Studies.AddStudy(t.Context(), models.Study{ID: "walk", Name: "Walk", Settings: string(settings), CreatedBy: "eve", CreatedAt: monday})
			require.NoError(t, err)
			running := models.StudyRecruiting
			_, err = w.store.Studies.ChangeStudy(t.Context(), models.StudyUpdate{ID: "walk", Patch: models.StudyPatch{State: &running}, Actor: "eve", Now: monday})
			require.NoError(t, err)
			w.rules.Studies = study.New(study.Config{Studies: w.store.Studies})
			w.update(time.Minute, wire.UpdateParticipant, wire.ParticipantChanged{Zone: "America/New_York", Arm: tt.learns})
			w.run(20 * time.Hour)
			require.Len(t, w.carrier.of(models.KindPrompt), 1)
			require.Len(t, w.carrier.of(models.KindReminder), tt.want)
		})
	}
}
