package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
)

// secretBytes is the size of a study's seed and of its key of pseudonyms.
const secretBytes = 32

// Studies keeps studies, their texts of consent, and what is read of a whole study.
type Studies struct{ db *database.Database }

// AddStudy stores a study in state draft, with fresh secrets and an audit row, and
// returns it. ErrConflict for an id that is taken, *FieldError for settings that do
// not fit.
func (s *Studies) AddStudy(ctx context.Context, study models.Study) (models.Study, error) {
	settings, err := study.ReadSettings()
	if err != nil {
		return models.Study{}, err
	}
	if err := checkStudy(study, settings); err != nil {
		return models.Study{}, err
	}
	study.State, study.Version = models.StudyDraft, 1
	study.CreatedAt = instant(study.CreatedAt)
	study.UpdatedAt = study.CreatedAt
	study.StartsAt, study.EndsAt = instantOrNil(study.StartsAt), instantOrNil(study.EndsAt)
	study.Seed, study.PseudonymKey = newSecret(), newSecret()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		row := study
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{Actor: study.CreatedBy, Action: "study_add", Object: studyObject(study.ID), After: studyFields(study), At: study.CreatedAt})
	})
	return study, wrap.Error(classify(err), "adding the study")
}

func studyObject(id string) string { return "study:" + id }

func newSecret() []byte {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails; see crypto/rand
	return secret
}

func instantOrNil(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	out := instant(*at)
	return &out
}

func checkStudy(study models.Study, settings models.StudySettings) error {
	if err := models.CheckStudyID(study.ID); err != nil {
		return err
	}
	if strings.TrimSpace(study.Name) == "" {
		return models.BadField("name", "must be given")
	}
	if err := models.CheckText("name", study.Name, false); err != nil {
		return err
	}
	if study.Planned < 0 {
		return models.BadField("planned", "must not be negative")
	}
	if study.StartsAt != nil && study.EndsAt != nil && !study.EndsAt.After(*study.StartsAt) {
		return models.BadField("ends_at", "must be after starts_at")
	}
	if err := checkKeywords(settings); err != nil {
		return err
	}
	return settings.Check()
}

func studyFields(study models.Study) map[string]string {
	fields := map[string]string{"name": study.Name, "state": string(study.State), "settings": study.Settings, "planned": fmt.Sprint(study.Planned)}
	for name, at := range map[string]*time.Time{"starts_at": study.StartsAt, "ends_at": study.EndsAt} {
		if at != nil {
			fields[name] = at.Format(time.RFC3339)
		}
	}
	return fields
}

// EnsureStudySecrets makes the secrets of studies that have none, such as the one
// that the migration adds. Safe to repeat, also by several processes.
func (s *Studies) EnsureStudySecrets(ctx context.Context) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var rows []models.Study
		if err := forUpdate(tx).Where("length(seed) = 0").Find(&rows).Error; err != nil {
			return err
		}
		for _, row := range rows {
			row.Seed, row.PseudonymKey = newSecret(), newSecret()
			if err := tx.Select("seed", "pseudonym_key").UpdateColumns(&row).Error; err != nil {
				return err
			}
		}
		return nil
	})
	return wrap.Error(err, "making secrets of studies")
}

// Study returns a study. ErrNotFound for an unknown id.
func (s *Studies) Study(ctx context.Context, id string) (models.Study, error) {
	study, err := readStudy(s.db.Reader(ctx), id)
	return study, wrap.Error(classify(err), "reading the study")
}

func readStudy(tx *gorm.DB, id string) (models.Study, error) {
	var study models.Study
	err := tx.Where("id = ?", id).Take(&study).Error
	return study, err
}

// List lists every study by id.
func (s *Studies) List(ctx context.Context) ([]models.Study, error) {
	var rows []models.Study
	err := s.db.Reader(ctx).Order("id").Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading studies")
}

// ChangeStudy changes a study, with an audit row of what was and is, and returns it.
// A study that has people keeps its arms, strata and decision points: they would
// no longer say how those people were drawn. ErrNotFound, ErrStale, *FieldError.
func (s *Studies) ChangeStudy(ctx context.Context, in models.StudyUpdate) (models.Study, error) {
	var out models.Study
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var old models.Study
		if err := forUpdate(tx).Where("id = ?", in.ID).Take(&old).Error; err != nil {
			return err
		}
		if in.IfMatch != nil && *in.IfMatch != old.Version {
			return models.ErrStale
		}
		out = in.Patch.Apply(old)
		if err := checkStudyChange(tx, old, out); err != nil {
			return err
		}
		out.StartsAt, out.EndsAt = instantOrNil(out.StartsAt), instantOrNil(out.EndsAt)
		out.UpdatedAt, out.Version = instant(in.Now), old.Version+1
		if err := tx.Select("name", "state", "settings", "planned", "starts_at", "ends_at", "updated_at", "version").UpdateColumns(&out).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: in.Actor, Action: "study_change", Object: studyObject(in.ID), Before: studyFields(old), After: studyFields(out), At: out.UpdatedAt,
		})
	})
	return out, wrap.Error(classify(err), "changing the study")
}

func checkStudyChange(tx *gorm.DB, old, next models.Study) error {
	settings, err := next.ReadSettings()
	if err != nil {
		return err
	}
	if err := checkStudy(next, settings); err != nil {
		return err
	}
	if next.State != old.State && !old.State.CanFollow(next.State) {
		return models.BadField("state", "cannot be %s after %s", next.State, old.State)
	}
	if old.State == models.StudyClosed || old.State == models.StudyArchived {
		if next.Settings != old.Settings {
			return models.BadField("settings", "cannot change in a study that is %s", old.State)
		}
	}
	if err := checkJoins(tx, next, settings); err != nil {
		return err
	}
	before, err := old.ReadSettings()
	if err != nil || sameDesign(before, settings) {
		return err
	}
	var people int64
	if err := tx.Model(&models.Participant{}).Where("study_id = ?", old.ID).Limit(1).Count(&people).Error; err != nil {
		return err
	}
	if people > 0 {
		return models.BadField("settings", "cannot change arms, randomisation or decision points once people are enrolled; make another study")
	}
	return nil
}

// sameDesign reports whether two settings draw people and decisions alike.
func sameDesign(a, b models.StudySettings) bool {
	design := func(s models.StudySettings) string {
		text, err := json.Marshal([]any{s.Arms, s.Randomisation, s.DecisionPoints})
		if err != nil {
			return ""
		}
		return string(text)
	}
	return design(a) == design(b)
}

// joinStudy checks that a participant can be enrolled in their study. It writes
// nothing.
func joinStudy(tx *gorm.DB, p *models.Participant, in newMember) error {
	study, err := readStudy(tx, p.StudyID)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.UnknownStudy("study", p.StudyID)
	}
	if err != nil {
		return err
	}
	if !study.State.CanEnrol() {
		return models.BadField("study", "does not take people in: it is %s", study.State)
	}
	settings, err := study.ReadSettings()
	if err != nil {
		return err
	}
	if len(settings.Locales) > 0 && !slices.Contains(settings.Locales, p.Locale) {
		return models.BadField("locale", "must be one of the study's: %s", strings.Join(settings.Locales, ", "))
	}
	if settings.IsForAdults() && models.IsMinor(p.BirthYear, p.EnrolledAt) {
		return models.BadField("birth_year", "is that of a person under 18, and the study is for adults; a study with adults_only false takes them")
	}
	if in.consent == nil {
		if settings.RequireConsent {
			return models.BadField("consent", "must say to which version of the study's consent text the person has agreed")
		}
		return nil
	}
	return checkConsentText(tx, models.StudyConsent{StudyID: p.StudyID, Version: in.consent.Version, Locale: in.consent.Locale})
}

func addConsent(tx *gorm.DB, p models.Participant, in newMember) error {
	if in.consent == nil {
		return nil
	}
	row := *in.consent
	row.ID, row.ParticipantID, row.StudyID, row.Given = 0, p.ID, p.StudyID, true
	if row.RecordedBy == "" {
		row.RecordedBy = in.by.Actor
	}
	if row.At.IsZero() {
		row.At = p.CreatedAt
	}
	row.At = instant(row.At)
	return tx.Create(&row).Error
}

// checkConsentText refuses a consent that is not to the newest text of its language.
func checkConsentText(tx *gorm.DB, row models.StudyConsent) error {
	var newest []int
	err := tx.Model(&models.ConsentText{}).Where("study_id = ? AND locale = ?", row.StudyID, row.Locale).
		Order("version DESC").Limit(1).Pluck("version", &newest).Error
	switch {
	case err != nil:
		return err
	case len(newest) == 0:
		return models.BadField("consent.locale", "must be the language of one of the study's consent texts")
	case row.Version != newest[0]:
		return models.BadField("consent.version", "must be %d, the newest version of the text in %s", newest[0], row.Locale)
	}
	return nil
}

// AddConsentText stores the next version of a study's consent text in a language,
// with an audit row, and returns it. ErrNotFound for an unknown study.
func (s *Studies) AddConsentText(ctx context.Context, text models.ConsentText) (models.ConsentText, error) {
	text.CreatedAt = instant(text.CreatedAt)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var study models.Study
		if err := forUpdate(tx).Where("id = ?", text.StudyID).Take(&study).Error; err != nil {
			return err
		}
		if err := checkShown(study, text); err != nil {
			return err
		}
		var newest []int
		err := tx.Model(&models.ConsentText{}).Where("study_id = ? AND locale = ?", text.StudyID, text.Locale).
			Order("version DESC").Limit(1).Pluck("version", &newest).Error
		if err != nil {
			return err
		}
		text.Version = 1
		if len(newest) > 0 {
			text.Version = newest[0] + 1
		}
		if err := tx.Create(&text).Error; err != nil {
			return err
		}
		return database.AddAudit(tx, models.AuditRow{
			Actor: text.CreatedBy, Action: "consent_text_add", Object: studyObject(text.StudyID),
			Detail: fmt.Sprintf("%s version %d", text.Locale, text.Version), After: map[string]string{"body": text.Body}, At: text.CreatedAt,
		})
	})
	return text, wrap.Error(classify(err), "adding the consent text")
}

// ConsentTexts lists the consent texts of a study, newest version first in each
// language.
func (s *Studies) ConsentTexts(ctx context.Context, studyID string) ([]models.ConsentText, error) {
	var rows []models.ConsentText
	err := s.db.Reader(ctx).Where("study_id = ?", studyID).Order("locale, version DESC").Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading consent texts")
}

// StudyConsents lists what a person has agreed to and withdrawn, oldest first.
func (s *Studies) StudyConsents(ctx context.Context, participantID string) ([]models.StudyConsent, error) {
	var rows []models.StudyConsent
	err := s.db.Reader(ctx).Where("participant_id = ?", participantID).Order("id").Find(&rows).Error
	return rows, wrap.Error(classify(err), "reading consents to the study")
}

// RecordStudyConsent stores a further consent of a participant, or its withdrawal,
// with an audit row. Who withdraws is removed from the programme in the same
// transaction, at now; row.At is when the person said so. ErrNotFound, *FieldError.
func (s *Studies) RecordStudyConsent(ctx context.Context, row models.StudyConsent, now time.Time) (models.StudyConsent, error) {
	row.ID, row.At = 0, instant(row.At)
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		p, err := lockEnrolled(tx, row.ParticipantID)
		if err != nil {
			return err
		}
		row.StudyID = p.StudyID
		action := "study_consent_withdraw"
		if row.Given {
			action = "study_consent"
			if err := checkConsentText(tx, row); err != nil {
				return err
			}
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		err = database.AddAudit(tx, models.AuditRow{
			ParticipantID: p.ID, Actor: row.RecordedBy, Action: action, Object: studyObject(row.StudyID),
			Detail: strings.TrimSpace(fmt.Sprintf("%s version %d by %s", row.Locale, row.Version, row.Method)), At: instant(now),
		})
		if err != nil || row.Given {
			return err
		}
		return removeParticipant(tx, p, models.Removal{ID: p.ID, Actor: row.RecordedBy, Now: instant(now)})
	})
	return row, wrap.Error(classify(err), "recording the consent")
}

// StudyVersions returns the version of every study by its id.
func (s *Studies) StudyVersions(ctx context.Context) (map[string]int64, error) {
	var rows []models.Study
	if err := s.db.Reader(ctx).Select("id", "version").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("reading the versions of studies: %w", classify(err))
	}
	versions := make(map[string]int64, len(rows))
	for _, row := range rows {
		versions[row.ID] = row.Version
	}
	return versions, nil
}
