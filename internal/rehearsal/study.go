package rehearsal

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gorm.io/gorm"

	"coachline/internal/coach"
	"coachline/internal/wrap"
	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
)

// study is the copy of the rehearsed study in the rehearsal's own database.
type study struct {
	id       string
	settings models.StudySettings
	// consent is what people agree to by enrolling; nil where the study asks for
	// none.
	consent *models.StudyConsent
}

// addStudy copies the study. Its seed follows from the rehearsal's, so that the same
// people are drawn again.
func (r *run) addStudy(ctx context.Context) error {
	r.study = study{id: r.cfg.Study, settings: r.cfg.StudySettings}
	text, err := json.Marshal(r.cfg.StudySettings)
	if err != nil {
		return fmt.Errorf("writing the settings of the study: %w", err)
	}
	patch := models.StudyPatch{Settings: new(string(text))} // the study default is there, and recruits
	if r.study.id != models.DefaultStudy {
		row := models.Study{ID: r.study.id, Name: r.study.id, Planned: r.cfg.People, CreatedBy: actor, CreatedAt: r.from}
		if _, err := r.store.Studies.AddStudy(ctx, row); err != nil {
			return err
		}
		patch.State = new(models.StudyRecruiting)
	}
	if _, err := r.store.Studies.ChangeStudy(ctx, models.StudyUpdate{ID: r.study.id, Patch: patch, Actor: actor, Now: r.from}); err != nil {
		return err
	}
	if err := r.setSeed(ctx); err != nil {
		return err
	}
	if !r.study.settings.RequireConsent {
		return nil
	}
	consent, err := r.store.Studies.AddConsentText(ctx, models.ConsentText{StudyID: r.study.id, Locale: "en", Body: "I take part in this rehearsal.", CreatedBy: actor, CreatedAt: r.from})
	if err != nil {
		return err
	}
	r.study.consent = &models.StudyConsent{Version: consent.Version, Locale: consent.Locale, Method: models.MethodForm}
	return nil
}

// setSeed replaces the random seed and the key of the copy.
func (r *run) setSeed(ctx context.Context) error {
	seed := make([]byte, 32)
	binary.LittleEndian.PutUint64(seed, r.cfg.Seed)
	row := models.Study{ID: r.study.id, Seed: seed, PseudonymKey: slices.Concat(seed[8:], seed[:8])}
	err := r.store.Database().Write(ctx, func(tx *gorm.DB) error {
		return tx.Select("seed", "pseudonym_key").UpdateColumns(&row).Error
	})
	return wrap.Error(err, "setting the seed of the study")
}

// enrol takes the person in, as the API does. The relay tells Temporal when the
// person is played.
func (p *person) enrol() error {
	now := p.now()
	row := models.Participant{
		ID: p.id, Phone: p.phone, PersonTexts: models.PersonTexts[string]{Name: "Person"}, Timezone: p.habits.zone, Locale: p.locale(), Channel: wire.ChannelSMS, StudyID: p.r.study.id,
		Status: wire.StatusActive, Mode: wire.ModeIntake, NextSeq: 1, EnrolledAt: now, CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	by := models.Enrolment{Actor: actor, Key: p.id, Body: p.id, Consent: p.r.study.consent, Strata: p.drawStrata()}
	who := wire.ParticipantState{ParticipantID: p.id, Zone: row.Timezone}
	at, err := coach.Input{State: who, Now: now, Rules: p.r.rules, Zones: zones.Load}.FirstGreeting()
	if err != nil {
		return fmt.Errorf("planning the greeting of %s: %w", p.id, err)
	}
	at = at.UTC().Truncate(time.Microsecond)
	row.GreetingAt = &at
	_, err = p.r.store.People.EnrollOnce(p.r.ctx, row, by)
	return err
}

// locale is the person's, as far as the study has the language.
func (p *person) locale() string {
	allowed := p.r.study.settings.Locales
	if len(allowed) == 0 || slices.Contains(allowed, p.habits.locale) {
		return p.habits.locale
	}
	return allowed[0]
}

// The arms of a study that has none of its own, and the stream of draws that
// divides people between them.
const (
	armControl   = "control"
	armTreatment = "treatment"
	divideStream = 1
)

// divide puts half of the people into the treatment where the study has no arms.
// Nothing of the programme differs between the two: only what the treatment adds to
// the probability of an answer.
func (r *run) divide() {
	if len(r.study.settings.Arms) > 0 {
		return
	}
	for i, isTreated := range drawPairs(r.cfg.Seed, len(r.people)) {
		if r.people[i].arm = armControl; isTreated {
			r.people[i].arm = armTreatment
		}
	}
}

// drawPairs draws for people in pairs which of the two is treated.
func drawPairs(seed uint64, people int) []bool {
	draw := rand.New(rand.NewPCG(seed, divideStream))
	out := make([]bool, people)
	for i := range out {
		out[i] = draw.IntN(2) == 1
		if i%2 == 1 {
			out[i] = !out[i-1]
		}
	}
	return out
}

// drawStrata draws the person's level of each stratum.
func (p *person) drawStrata() map[string]string {
	levels := map[string]string{}
	for _, stratum := range p.r.study.settings.Randomisation.Strata {
		levels[stratum.Name] = pick(p.draw, stratum.Levels)
	}
	return levels
}

// readArms reads which arms the study has drawn. It does nothing where the study
// has none.
func (r *run) readArms() error {
	if len(r.study.settings.Arms) == 0 {
		return nil
	}
	for after := int64(0); ; {
		rows, err := r.store.Allocations.List(r.ctx, r.study.id, after, 0)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			p := r.byID[row.ParticipantID]
			if p == nil {
				return fmt.Errorf("allocation %d is of a person who is not in the rehearsal", row.Number)
			}
			p.arm, p.stratum, after = row.Arm, row.Stratum, row.Number
		}
	}
}

// treats reports whether a prompt is given under the treatment: by what was drawn
// at its decision point where the study has such, and else by the person's arm. Of
// arms the first is the control, unless none was drawn.
func (p *person) treats(decision *models.DecisionPoint) bool {
	if decision != nil {
		return decision.Intervention
	}
	arms := p.r.study.settings.Arms
	if len(arms) == 0 {
		return p.arm == armTreatment
	}
	return p.arm != "" && p.arm != arms[0].Name
}

// decisionOf reads the decision point of a prompt; nil where the study has none.
func (r *run) decisionOf(promptID string) *models.DecisionPoint {
	if r.study.settings.DecisionPoints == nil {
		return nil
	}
	var rows []models.DecisionPoint
	err := r.store.Database().Reader(r.ctx).Where("id = ?", promptID).Limit(1).Find(&rows).Error
	if err != nil {
		r.broke("reading a decision point", "", err)
	}
	if len(rows) == 0 {
		return nil
	}
	return &rows[0]
}
