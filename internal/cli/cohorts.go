package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"coachline/internal/api"
	"coachline/internal/wait"
	"coachline/models"
)

const (
	cohortsPath = "/cohorts"
	// cohortPoll is how often a running import is asked how far it is.
	cohortPoll = 250 * time.Millisecond
)

func cohortPath(id string) string { return cohortsPath + "/" + url.PathEscape(id) }

// CohortImport is a file of people who are to be enrolled.
type CohortImport struct {
	// Path is shown before each fault; its last part is kept as the file's name.
	Path    string
	Content []byte
	DryRun  bool
	// IgnoreUnknown leaves out columns that are not known, SkipFaulty people with
	// faults.
	IgnoreUnknown, SkipFaulty bool
	// PerMinute is the most greetings a minute; 0: the server's default.
	PerMinute int
	// Study is the id of the people's study; empty: the study default.
	Study string
	// Reason goes to the audit.
	Reason string
}

func (in CohortImport) toRequest() request {
	query := url.Values{"file_name": {filepath.Base(in.Path)}}
	for name, set := range map[string]bool{"dry_run": in.DryRun, "ignore_unknown": in.IgnoreUnknown, "skip_faulty": in.SkipFaulty} {
		if set {
			query.Set(name, "true")
		}
	}
	if in.Study != "" {
		query.Set("study", in.Study)
	}
	if in.PerMinute > 0 {
		query.Set("per_minute", strconv.Itoa(in.PerMinute))
	}
	header := map[string]string{"Content-Type": "text/csv"}
	return request{method: http.MethodPost, path: cohortsPath, query: query, raw: in.Content, header: header}
}

// ImportCohort has a file checked and, unless it is a dry run, its people enrolled,
// and waits until that is done. ErrCheckFailed, after the report, where a person
// was not enrolled who should have been.
func (c *Commands) ImportCohort(ctx context.Context, in CohortImport, progress Progress) error {
	got, err := c.client.do(ctx, in.toRequest())
	if err != nil {
		return err
	}
	var job api.Cohort
	if err := got.decodeInto(&job); err != nil {
		return err
	}
	if job.State == models.CohortReady && !in.DryRun {
		if got, err = c.enrolCohort(ctx, job, in.Reason, progress); err != nil {
			return err
		}
		if err := got.decodeInto(&job); err != nil {
			return err
		}
	}
	render := func(w io.Writer, job api.Cohort) error { return renderCohort(w, in.Path, job) }
	if err := showResult(c, got, render); err != nil {
		return err
	}
	isDone := job.State == models.CohortDone || in.DryRun && job.State == models.CohortReady
	if !isDone || job.Skipped > 0 && !in.SkipFaulty {
		return ErrCheckFailed
	}
	return nil
}

// enrolCohort confirms a checked file and waits until its people are enrolled.
func (c *Commands) enrolCohort(ctx context.Context, job api.Cohort, reason string, progress Progress) (result, error) {
	confirm := request{method: http.MethodPost, path: cohortPath(job.ID) + "/confirm"}
	if reason != "" {
		confirm.header = map[string]string{"Coach-Reason": reason}
	}
	got, err := c.client.do(ctx, confirm)
	for {
		if err != nil {
			return result{}, fmt.Errorf("the import may go on without this command; see coachline cohort show %s: %w", job.ID, err)
		}
		if err := got.decodeInto(&job); err != nil {
			return result{}, err
		}
		progress(int64(job.Tried), int64(job.Good))
		if job.State.IsOver() {
			return got, nil
		}
		if err = wait.For(ctx, cohortPoll); err == nil {
			got, err = c.client.do(ctx, request{method: http.MethodGet, path: cohortPath(job.ID)})
		}
	}
}

// ShowCohort prints how far an import is.
func (c *Commands) ShowCohort(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: cohortPath(id)}, renderStoredCohort)
}

// CancelCohort ends an import; who is enrolled stays so.
func (c *Commands) CancelCohort(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodDelete, path: cohortPath(id)}, renderStoredCohort)
}

func renderStoredCohort(w io.Writer, job api.Cohort) error {
	name := job.FileName
	if name == "" {
		name = job.ID
	}
	return renderCohort(w, name, job)
}

// renderCohort prints each fault in the form of compilers, and what came of the
// file.
func renderCohort(w io.Writer, path string, job api.Cohort) error {
	var failed []error
	line := func(text string) {
		_, err := fmt.Fprintln(w, replaceControls(text))
		failed = append(failed, err)
	}
	for _, f := range job.Faults {
		line(formatFault(path, f))
	}
	if more := job.FaultCount + job.Skipped - len(job.Faults); more > 0 {
		line(fmt.Sprintf("%s: and %d more faults", path, more))
	}
	people := fmt.Sprintf("%d people in the file, %d can be enrolled, %d zones taken from numbers", job.Rows, job.Good, job.ZonesSuggested)
	switch job.State {
	case models.CohortFailed:
		line(people + "; faults: " + strconv.Itoa(job.FaultCount) + ", nothing was enrolled")
	case models.CohortReady, models.CohortChecking:
		what := "; it waits for its confirmation as " + job.ID
		if job.ID == "" {
			what = fmt.Sprintf("; at most %d greetings a minute. Dry run: nothing was kept", job.PerMinute)
		}
		line(people + what)
	case models.CohortRunning, models.CohortDone, models.CohortCanceled:
		line(fmt.Sprintf("%s %s: %d of %d enrolled, %d skipped; at most %d greetings a minute", job.ID, job.State, job.Enrolled, job.Good, job.Skipped, job.PerMinute))
	}
	return errors.Join(failed...)
}

func formatFault(path string, f api.CohortFault) string {
	text := path + ": "
	if f.Line > 0 {
		text = fmt.Sprintf("%s:%d:%d: ", path, f.Line, f.Column)
	}
	if f.Field != "" {
		text += f.Field + ": "
	}
	text += f.Message
	if f.Value != "" {
		text += ": " + f.Value
	}
	if f.ParticipantID != "" {
		text += " (" + f.ParticipantID + ")"
	}
	return text
}
