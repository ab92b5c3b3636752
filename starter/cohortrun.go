package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"coachline/internal/coach"
	"coachline/internal/cohort"
	"coachline/internal/zones"
	"coachline/models"
)

const (
	// cohortBatch is how many people one transaction enrols: a small one, because
	// replies wait for it on SQLite, and for its place in the audit elsewhere.
	cohortBatch = 25
	// cohortWait is how long a checked file waits for its confirmation.
	cohortWait = 7 * 24 * time.Hour
	// cohortFirst is of how many people a preview tells.
	cohortFirst = 10
	// cohortInterval is how often jobs are looked for that another process has left.
	cohortInterval = 5 * time.Second
	// cohortTries bounds the repetitions of a batch that lost against other writes.
	cohortTries = 20
)

// cohortRunner has the jobs looked for before their time.
type cohortRunner chan struct{}

func newCohortRunner() cohortRunner { return make(cohortRunner, 1) }

func (c cohortRunner) wake() {
	select {
	case c <- struct{}{}:
	default: // It will look anyway.
	}
}

// runCohorts carries out what was confirmed, and goes on with what a process that
// has ended left behind, until ctx ends.
func (h *handlers) runCohorts(ctx context.Context) {
	tick := time.NewTicker(cohortInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := h.sweepCohorts(ctx); err != nil && ctx.Err() == nil {
			h.log.Error("importing a cohort failed, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-h.cohorts:
		}
	}
}

// sweepCohorts advances every job that can go on. A job that fails does not hold
// up the others.
func (h *handlers) sweepCohorts(ctx context.Context) error {
	now := h.now()
	if err := h.store.ExpireCohorts(ctx, now.Add(-cohortWait), now); err != nil {
		return err
	}
	ids, err := h.store.CohortsToDo(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, id := range ids {
		failed = append(failed, h.advanceCohort(ctx, id))
	}
	return errors.Join(failed...)
}

func (h *handlers) advanceCohort(ctx context.Context, id string) error {
	job, err := h.store.Cohort(ctx, id)
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
func (h *handlers) checkCohort(ctx context.Context, job models.CohortJob) (models.CohortJob, error) {
	check, err := h.checkFile(ctx, job)
	if err != nil {
		return models.CohortJob{}, err
	}
	return h.store.SaveCohortCheck(ctx, check)
}

// checkFile reads a file and looks for its numbers among those that are known.
func (h *handlers) checkFile(ctx context.Context, job models.CohortJob) (models.CohortCheck, error) {
	list := h.parseCohort(job)
	phones := make([]string, len(list.People))
	for i, p := range list.People {
		phones[i] = p.Phone
	}
	known, err := h.store.KnownNumbers(ctx, phones)
	if err != nil {
		return models.CohortCheck{}, err
	}
	check := models.CohortCheck{ID: job.ID, State: models.CohortFailed, Rows: list.Rows, Now: h.now()}
	for _, p := range list.People {
		if number, found := known[p.Phone]; found {
			list.AddFault(p.FaultOf(number))
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

func (h *handlers) parseCohort(job models.CohortJob) cohort.List {
	return cohort.Parse(job.File, cohort.Options{
		IgnoreUnknown: job.IgnoreUnknown, Region: job.Region, Zone: job.Zone, OurNumbers: h.ourNumbers(),
	})
}

// enrolCohort enrols the people of a job from the first one that was not tried.
// Another process may do the same: each batch is enrolled by one of them.
func (h *handlers) enrolCohort(ctx context.Context, job models.CohortJob) error {
	list := h.parseCohort(job)
	plan, err := h.planGreetings(job, list.People)
	if err != nil {
		return err
	}
	for tries := 0; !job.State.IsOver() && tries < cohortTries; {
		from := min(job.NextRow, len(list.People))
		to := min(from+cohortBatch, len(list.People))
		next, err := h.store.EnrolBatch(ctx, h.newBatch(job, list.People[from:to], plan[from:to], to == len(list.People)))
		if err == nil {
			job, tries = next, 0
			continue
		}
		if !errors.Is(err, models.ErrStale) && !errors.Is(err, models.ErrConflict) {
			return err
		}
		tries++
		if job, err = h.store.Cohort(ctx, job.ID); err != nil {
			return err
		}
	}
	return nil
}

func (h *handlers) newBatch(job models.CohortJob, rows []models.CohortPerson, plan []time.Time, isLast bool) models.CohortBatch {
	now := h.now()
	batch := models.CohortBatch{ID: job.ID, From: job.NextRow, Rows: rows, IsLast: isLast, Now: now}
	for i, row := range rows {
		batch.People = append(batch.People, models.Participant{
			ID: cohortParticipantID(job.ID, row.Line), Phone: row.Phone, Name: row.Name, Gender: row.Gender, Ethnicity: row.Ethnicity, Background: row.Background,
			Timezone: row.Timezone, ZoneAssumed: row.ZoneAssumed, Locale: row.Locale, Channel: models.ChannelSMS,
			Status: models.StatusActive, Mode: models.ModeIntake, NextSeq: 1,
			GreetingAt: &plan[i], EnrolledAt: now, CreatedAt: now, UpdatedAt: now, Version: 1,
		})
	}
	return batch
}

// planGreetings returns when each person of a file is greeted. Those who are
// enrolled keep their places; those who follow after a pause are not planned into
// the past.
func (h *handlers) planGreetings(job models.CohortJob, people []models.CohortPerson) ([]time.Time, error) {
	begun, now := job.CreatedAt, h.now()
	if job.ConfirmedAt != nil {
		begun = *job.ConfirmedAt
	}
	stagger := coach.NewStagger(job.PerMinute)
	plan := make([]time.Time, len(people))
	for i, p := range people {
		in := coach.Input{
			State: models.ParticipantState{ParticipantID: cohortParticipantID(job.ID, p.Line), Zone: p.Timezone, ZoneAssumed: p.ZoneAssumed},
			Now:   begun, Rules: h.cfg.Defaults.Rules, Zones: zones.Load,
		}
		if i >= job.NextRow && now.After(begun) {
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
// each time, so that nobody is enrolled twice.
func cohortParticipantID(jobID string, line int) string {
	sum := sha256.Sum256([]byte("cohort\x00" + jobID + "\x00" + strconv.Itoa(line)))
	return "conv_" + hex.EncodeToString(sum[:12])
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
