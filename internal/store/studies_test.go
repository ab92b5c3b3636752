package store_test

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

const twoArms = `{"arms":[{"name":"a","weight":1},{"name":"b","weight":1}],"randomisation":{"method":"simple"}}`

// newStudy adds a study that recruits.
func (w *world) newStudy(id, settings string) models.Study {
	w.t.Helper()
	_, err := w.Studies.AddStudy(w.ctx, models.Study{ID: id, Name: "Sleep", Settings: settings, Planned: 20, CreatedBy: "user:kim", CreatedAt: start})
	require.NoError(w.t, err)
	study, err := w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: id, Actor: "user:kim", Now: at(1), Patch: models.StudyPatch{State: new(models.StudyRecruiting)}})
	require.NoError(w.t, err)
	return study
}

func (w *world) changeSettings(id, settings string) error {
	_, err := w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: id, Actor: "user:kim", Now: at(2), Patch: models.StudyPatch{Settings: &settings}})
	return err
}

func TestStudyIsAddedAndChanged(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		study := w.newStudy("sleep-1", twoArms)
		require.Equal(t, models.StudyRecruiting, study.State)
		require.Equal(t, int64(2), study.Version)
		require.Len(t, study.Seed, 32)
		read, err := w.Studies.Study(w.ctx, "sleep-1")
		require.NoError(t, err)
		require.Equal(t, study.Seed, read.Seed)
		require.NotEqual(t, read.Seed, read.PseudonymKey)
		_, err = w.Studies.AddStudy(w.ctx, models.Study{ID: "sleep-1", Name: "Again", CreatedAt: start})
		require.ErrorIs(t, err, models.ErrConflict)
		_, err = w.Studies.Study(w.ctx, "sleep-2")
		require.ErrorIs(t, err, models.ErrNotFound)
		stale := int64(1)
		_, err = w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: "sleep-1", IfMatch: &stale, Now: at(3)})
		require.ErrorIs(t, err, models.ErrStale)
		require.Equal(t, 2, w.count("SELECT count(*) FROM audit WHERE object = 'study:sleep-1'"))
	})
}

func TestStudyKeepsItsDesignOncePeopleAreEnrolled(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy("sleep-1", twoArms)
		require.NoError(t, w.changeSettings("sleep-1", `{"programme":"Sleep well",`+twoArms[1:]))
		p := person("p1", "+12125550100")
		p.StudyID = "sleep-1"
		_, err := w.People.Enroll(w.ctx, p, "user:kim")
		require.NoError(t, err)
		require.NoError(t, w.changeSettings("sleep-1", twoArms), "a name may change")
		var field *models.FieldError
		require.ErrorAs(t, w.changeSettings("sleep-1", ""), &field)
		require.Equal(t, "settings", field.Field)
	})
}

func TestEnrolmentNeedsAStudyThatRecruits(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.Studies.AddStudy(w.ctx, models.Study{ID: "draft-1", Name: "Draft", CreatedAt: start})
		require.NoError(t, err)
		for _, id := range []string{"draft-1", "unknown"} {
			p := person("p1", "+12125550100")
			p.StudyID = id
			_, err = w.People.Enroll(w.ctx, p, "user:kim")
			var field *models.FieldError
			require.ErrorAs(t, err, &field, id)
			require.Equal(t, "study", field.Field)
		}
		require.Zero(t, w.count("SELECT count(*) FROM participants"))
		saved, err := w.People.Enroll(w.ctx, person("p1", "+12125550100"), "user:kim")
		require.NoError(t, err)
		require.Equal(t, models.DefaultStudy, saved.StudyID)
	})
}

func TestEnrolmentNeedsConsentWhereTheStudyDoes(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy("sleep-1", `{"require_consent":true,"locales":["en-US"]}`)
		text, err := w.Studies.AddConsentText(w.ctx, models.ConsentText{StudyID: "sleep-1", Locale: "en", Body: "You agree to texts.", CreatedBy: "user:kim", CreatedAt: at(2)})
		require.NoError(t, err)
		require.Equal(t, 1, text.Version)
		text, err = w.Studies.AddConsentText(w.ctx, models.ConsentText{StudyID: "sleep-1", Locale: "en", Body: "You agree to a text a day.", CreatedBy: "user:kim", CreatedAt: at(3)})
		require.NoError(t, err)
		require.Equal(t, 2, text.Version)
		enrol := func(consent *models.StudyConsent) error {
			p := person("p1", "+12125550100")
			p.StudyID = "sleep-1"
			_, err := w.People.EnrollOnce(w.ctx, p, models.Enrolment{Actor: "user:kim", Consent: consent})
			return err
		}
		for name, c := range map[string]struct {
			consent *models.StudyConsent
			field   string
		}{
			"none":     {nil, "consent"},
			"older":    {&models.StudyConsent{Version: 1, Locale: "en", Method: models.MethodForm}, "consent.version"},
			"language": {&models.StudyConsent{Version: 2, Locale: "es", Method: models.MethodForm}, "consent.locale"},
		} {
			var field *models.FieldError
			require.ErrorAs(t, enrol(c.consent), &field, name)
			require.Equal(t, c.field, field.Field, name)
		}
		require.NoError(t, w.changeSettings("sleep-1", `{"require_consent":true,"locales":["es"]}`))
		var refused *models.FieldError
		require.ErrorAs(t, enrol(&models.StudyConsent{Version: 2, Locale: "en", Method: models.MethodForm}), &refused)
		require.Equal(t, "locale", refused.Field)
		require.NoError(t, w.changeSettings("sleep-1", `{"require_consent":true}`))
		require.NoError(t, enrol(&models.StudyConsent{Version: 2, Locale: "en", Method: models.MethodForm}))
		_, err = w.Studies.RecordStudyConsent(w.ctx, models.StudyConsent{ParticipantID: "p1", Method: models.MethodOperator, RecordedBy: "user:kim", At: at(5)}, at(6))
		require.NoError(t, err)
		rows, err := w.Studies.StudyConsents(w.ctx, "p1")
		require.NoError(t, err)
		require.Len(t, rows, 2)
		require.True(t, rows[0].Given)
		require.Equal(t, "user:kim", rows[0].RecordedBy)
		require.False(t, rows[1].Given)
		_, err = w.People.Participant(w.ctx, "p1")
		require.ErrorIs(t, err, models.ErrNotFound, "a withdrawal ends the coaching")
		require.Error(t, w.exec("UPDATE study_consents SET given = TRUE"))
		require.Error(t, w.exec("DELETE FROM study_consents"))
		require.Error(t, w.exec("UPDATE consent_texts SET body = 'else'"))
	})
}

func TestStudySecretsAreMadeOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		study, err := w.Studies.Study(w.ctx, models.DefaultStudy)
		require.NoError(t, err)
		require.Len(t, study.Seed, 32, "made when the store was opened")
		require.Equal(t, models.StudyRecruiting, study.State)
		require.NoError(t, w.Studies.EnsureStudySecrets(w.ctx))
		again, err := w.Studies.Study(w.ctx, models.DefaultStudy)
		require.NoError(t, err)
		require.Equal(t, study, again)
	})
}

// exec runs a statement past the store.
func (w *world) exec(statement string) error {
	var err error
	w.raw(func(db *sql.DB) { _, err = db.ExecContext(w.ctx, statement) })
	return err
}
