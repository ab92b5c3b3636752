package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"coachline/internal/coach"
	"coachline/internal/cohort"
	"coachline/internal/region"
	"coachline/internal/wait"
	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
)

const (
	// cohortBatch is how many people one transaction enrols: a small one, because
	// replies wait for it on SQLite, and for its place in the audit elsewhere.
	cohortBatch = 3
	// cohortWait is how long a checked file waits for its confirmation.
	cohortWait = 7 * 24 * time.Hour
	// cohortFirst is the number of people that a preview lists.
	cohortFirst = 10
	// forTexts is how many times as long as its own a batch leaves the database to those
	// who text: a busy database slows the import down.
	forTexts = 6
	// cohortInterval is how often jobs are looked for that another process has left.
	cohortInterval = 5 * time.Second
	// cohortTries bounds the repetitions of a batch that lost against other writes.
	cohortTries = 20
)

// wake has the jobs looked for before their time.
func (h *cohortRoutes) wake() {
	select {
	case h.waking <- struct{}{}:
	default: // It will look anyway.
	}
}

// run carries out what was confirmed, and goes on with what a process that
// has ended left behind, until ctx ends.
func (h *cohortRoutes) run(ctx context.Context) {
	tick := time.NewTicker(cohortInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := h.sweepCohorts(ctx); err != nil && ctx.Err() == nil {
			h.log.Error("importing a cohort failed, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-h.waking:
		}
	}
}

// sweepCohorts advances every job that can go on. A job that fails does not hold
// up the others.
func (h *cohortRoutes) sweepCohorts(ctx context.Context) error {
	now := h.now()
	if err := h.cohorts.ExpireCohorts(ctx, now.Add(-cohortWait), now); err != nil {
		return err
	}
	ids, err := h.cohorts.CohortsToDo(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, id := range ids {
		failed = append(failed, h.advanceCohort(ctx, id))
	}
	return errors.Join(failed...)
}

func (h *cohortRoutes) advanceCohort(ctx context.Context, id string) error {
	job, err := h.cohorts.Cohort(ctx, id)
	if err != nil {
		return err
	}
	switch job.State {
	case models.CohortChecking:
		_, err = h.checkCohort(ctx, job)
	case models.CohortRunning:
		err = h.enrolCohort(ctx, job)
	case models.CohortReady, models.CohortDone, models.CohortFailed, models.CohortCanceled:
	}
	return err
}

// checkCohort checks the file of a job and stores what it found.
func (h *cohortRoutes) checkCohort(ctx context.Context, job models.Cohort) (models.Cohort, error) {
	check, err := h.checkFile(ctx, job)
	if err != nil {
		return models.Cohort{}, err
	}
	return h.cohorts.SaveCohortCheck(ctx, check)
}

// checkFile reads a file and looks for its numbers among those that are known.
func (h *cohortRoutes) checkFile(ctx context.Context, job models.Cohort) (models.CohortCheck, error) {
	list := h.parseCohort(job)
	rules, err := h.readStudyRules(ctx, job.StudyID)
	if err != nil {
		return models.CohortCheck{}, err
	}
	phones := make([]string, len(list.People))
	for i, p := range list.People {
		phones[i] = p.Phone
	}
	known, err := h.cohorts.KnownNumbers(ctx, phones)
	if err != nil {
		return models.CohortCheck{}, err
	}
	plan, err := h.planGreetings(ctx, job, list.People)
	if err != nil {
		return models.CohortCheck{}, err
	}
	check := models.CohortCheck{ID: job.ID, State: models.CohortFailed, Rows: list.Rows, Now: h.now()}
	if len(plan) > 0 {
		check.Report.LastGreetingAt = slices.MaxFunc(plan, time.Time.Compare)
	}
	for _, p := range list.People {
		if number, found := known[p.Phone]; found {
			list.AddFault(p.FaultOf(number))
			continue
		}
		if refused := rules.check(p); refused != nil {
			list.AddFault(p.StudyFault(refused))
			continue
		}
		check.Good++
		if p.ZoneSuggested {
			check.Suggested++
		}
		if len(check.Report.First) < cohortFirst {
			check.Report.First = append(check.Report.First, p)
		}
	}
	list.SortFaults()
	check.Faults, check.Report.Faults = list.FaultCount, list.Faults
	if check.Good > 0 && !list.IsBroken && (check.Faults == 0 || job.SkipFaulty) {
		check.State = models.CohortReady
	}
	return check, nil
}

func (h *cohortRoutes) parseCohort(job models.Cohort) cohort.List {
	return cohort.Parse(job.File, cohort.Options{
		IgnoreUnknown: job.IgnoreUnknown, Region: job.Region, Zone: job.Zone, OurNumbers: h.numbers.list(),
	})
}

// studyRules say what people of a study must have agreed to and which strata they
// have. They are no part of
// reading the file: a text that is added between the check and the enrolment must
// not move the rows.
type studyRules struct {
	// newest are the newest versions of the consent text by language.
	newest   map[string]int
	required bool
	// strata are those that people can have levels of.
	strata []models.Stratum
}

func (h *cohortRoutes) readStudyRules(ctx context.Context, studyID string) (studyRules, error) {
	rules := studyRules{newest: map[string]int{}}
	study, err := h.studies.Study(ctx, studyID)
	if err != nil {
		return rules, err
	}
	settings, err := study.ReadSettings()
	if err != nil {
		return rules, err
	}
	texts, err := h.studies.ConsentTexts(ctx, studyID)
	for _, text := range texts {
		rules.newest[text.Locale] = max(rules.newest[text.Locale], text.Version)
	}
	rules.required, rules.strata = settings.RequireConsent, settings.Randomisation.Strata
	return rules, err
}

// consentOf is what a person of a file has agreed to, on paper; nil for nothing. A
// file need not name the language where the study has texts in one.
func (r studyRules) consentOf(row models.CohortRow) *models.StudyConsent {
	if row.ConsentVersion == 0 {
		return nil
	}
	locale := row.ConsentLocale
	if locale == "" && len(r.newest) == 1 {
		locale = slices.Collect(maps.Keys(r.newest))[0]
	}
	at, _ := models.ParseConsentDate(row.ConsentDate) // checked with the file; zero is the time of the enrolment
	return &models.StudyConsent{Version: row.ConsentVersion, Locale: locale, Method: models.MethodForm, At: at}
}

// check refuses a person who has not agreed to what the study asks, or has a level
// that it does not know.
func (r studyRules) check(row models.CohortRow) error {
	if err := models.CheckStrata(r.strata, row.Strata); err != nil {
		return err
	}
	consent := r.consentOf(row)
	if consent == nil {
		if r.required {
			return models.BadField("consent_version", "must be the version of the study's consent text that the person agreed to")
		}
		return nil
	}
	newest, known := r.newest[consent.Locale]
	switch {
	case !known:
		return models.BadField("consent_locale", "must be the language of one of the study's consent texts")
	case consent.Version != newest:
		return models.BadField("consent_version", "must be %d, the newest version of the text in %s", newest, consent.Locale)
	}
	return nil
}

// enrolCohort enrols the people of a job from the first one that was not tried.
// Another process may do the same: each batch is enrolled by one of them.
func (h *cohortRoutes) enrolCohort(ctx context.Context, job models.Cohort) error {
	list := h.parseCohort(job)
	rules, err := h.readStudyRules(ctx, job.StudyID)
	if err != nil {
		return err
	}
	plan, err := h.planGreetings(ctx, job, list.People)
	if err != nil {
		return err
	}
	for tries := 0; !job.State.IsOver() && tries < cohortTries; {
		from := min(job.Tried, len(list.People))
		to := min(from+cohortBatch, len(list.People))
		batch := h.newBatch(job, rules, list.People[from:to], plan[from:to])
		batch.IsLast, batch.LastGreetingAt = to == len(list.People), slices.MaxFunc(plan, time.Time.Compare)
		began := time.Now()
		next, err := h.cohorts.EnrolBatch(ctx, batch)
		if err == nil {
			job, tries = next, 0
			if err := wait.For(ctx, forTexts*time.Since(began)); err != nil {
				return fmt.Errorf("importing a cohort: %w", err)
			}
			continue
		}
		if !errors.Is(err, models.ErrStale) && !errors.Is(err, models.ErrConflict) {
			return err
		}
		tries++
		if job, err = h.cohorts.Cohort(ctx, job.ID); err != nil {
			return err
		}
	}
	return nil
}

func (h *cohortRoutes) newBatch(job models.Cohort, rules studyRules, rows []models.CohortRow, plan []time.Time) models.CohortBatch {
	now := h.now()
	batch := models.CohortBatch{ID: job.ID, From: job.Tried, Rows: rows, Now: now}
	for i, row := range rows {
		batch.People = append(batch.People, models.Participant{
			ID: cohortParticipantID(job.ID, row.Line), Phone: row.Phone, PersonTexts: row.PersonTexts,
			Timezone: row.Timezone, ZoneAssumed: row.ZoneAssumed, Locale: row.Locale, Channel: wire.ChannelSMS, StudyID: job.StudyID,
			Status: wire.StatusActive, Mode: wire.ModeIntake, NextSeq: 1,
			GreetingAt: &plan[i], EnrolledAt: now, CreatedAt: now, UpdatedAt: now, Version: 1,
		})
		batch.Consents = append(batch.Consents, rules.consentOf(row))
	}
	return batch
}

// planGreetings returns when each person of a file is greeted. Those who are
// enrolled keep their places; those who follow after a pause are not planned into
// the past.
func (h *cohortRoutes) planGreetings(ctx context.Context, job models.Cohort, people []models.CohortRow) ([]time.Time, error) {
	settings, err := h.resolver.Resolve(ctx, job.StudyID, "") // arms are drawn later
	if err != nil {
		return nil, err
	}
	rules := settings.Rules(h.defaults.Rules)
	begun, now := job.CreatedAt, h.now()
	if job.ConfirmedAt != nil {
		begun = *job.ConfirmedAt
	}
	stagger := coach.NewStagger(job.PerMinute)
	plan := make([]time.Time, len(people))
	for i, p := range people {
		in := coach.Input{
			State: wire.ParticipantState{ParticipantID: cohortParticipantID(job.ID, p.Line), Zone: p.Timezone, ZoneAssumed: p.ZoneAssumed},
			Now:   begun, Rules: rules.In(region.StateOf(p.Phone)), Zones: zones.Load,
		}
		if i >= job.Tried && now.After(begun) {
			in.Now = now
		}
		at, err := stagger.Plan(in)
		if err != nil {
			return nil, err
		}
		plan[i] = at
	}
	return plan, nil
}

// cohortParticipantID is the id of the person in a line of a job's file, the same
// each time, so that no person is enrolled twice.
func cohortParticipantID(jobID string, line int) string {
	sum := sha256.Sum256([]byte("cohort\x00" + jobID + "\x00" + strconv.Itoa(line)))
	return idPrefix + hex.EncodeToString(sum[:12])
}

// Greetings of a cohort take half of what a sender may send, each counted as two
// segments; where the carrier paces, what a long code in the US can send.
const (
	pacedByCarrier   = 1.0 // segments a second
	greetingSegments = 2
	greetingShare    = 2
)

// greetingsPerMinute is how many greetings of a cohort are planned for a minute by
// default, where rate is COACH_SEND_RATE.
func greetingsPerMinute(rate float64) int {
	if rate <= 0 {
		rate = pacedByCarrier
	}
	return max(int(rate*60/greetingSegments/greetingShare), 1)
}
