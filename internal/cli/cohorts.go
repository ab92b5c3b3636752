package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/cohort"
	"coachline/internal/wait"
	"coachline/models"
)

func cohortCommand(p *program) *cobra.Command {
	return groupCommand("cohort", "Enrol the people of a file", cohortImport(p),
		callCommand(p, "show COHORT", "Print how far an import is", func(args []string) request { return request{path: cohortPath(args[0])} }, renderStoredCohort),
		callCommand(p, "cancel COHORT", "End an import; who is enrolled stays so", func(args []string) request { return request{method: http.MethodDelete, path: cohortPath(args[0])} }, renderStoredCohort),
	)
}

func cohortImport(p *program) *cobra.Command {
	var in CohortImport
	c := &cobra.Command{
		Use: "import FILE", Short: "Check a CSV or TSV file and enrol its people", Args: exactArgs(1),
		Long: "Checks a CSV or TSV file in UTF-8 and enrols its people, all or none of them. The first row names\n" +
			"the columns: " + cohort.Columns() + ".\n" +
			"Faults are printed as FILE:LINE:COLUMN: what is wrong. Exit code 0: all are enrolled (or can be, in a dry run);\n" +
			"1: a fault; 2: wrong usage. Greetings are spread, each outside the person's quiet hours.",
	}
	flags := c.Flags()
	flags.BoolVar(&in.DryRun, "dry-run", false, "check only; nothing is kept")
	flags.BoolVar(&in.IgnoreUnknown, "ignore-unknown", false, "leave out columns whose name is not known")
	flags.BoolVar(&in.SkipFaulty, "skip-faulty", false, "enrol the people without a fault although others have one")
	flags.IntVar(&in.PerMinute, "per-minute", 0, "most greetings a minute (default: what the sender's rate leaves beside replies)")
	flags.StringVar(&in.Study, "study", "", "id of the people's study, which must recruit (default the study default)")
	flags.StringVar(&in.Reason, "reason", "", "why; kept sealed in the audit")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("per-minute") && in.PerMinute < 1 {
			return usageError{errors.New("--per-minute must be at least 1")}
		}
		content, err := os.ReadFile(args[0])
		if err != nil {
			return fmt.Errorf("reading the file: %w", err)
		}
		in.Path, in.Content = args[0], content
		return importCohort(c.Context(), p, in)
	}
	return c
}

// importCohort has a file checked and, unless it is a dry run, its people enrolled,
// and waits until that is done. ErrCheckFailed, after the report, where a person
// was not enrolled who should have been.
func importCohort(ctx context.Context, p *program, in CohortImport) error {
	progress := p.newMeter("people")
	defer progress.endPart()
	got, err := p.client.do(ctx, in.toRequest())
	if err != nil {
		return err
	}
	var job models.Cohort
	if err := got.decodeInto(&job); err != nil {
		return err
	}
	if job.State == models.CohortReady && !in.DryRun {
		if got, err = enrolCohort(ctx, p, job, in.Reason, func(done, of int64) { progress.setProgress("enrolled", done, of) }); err != nil {
			return err
		}
		if err := got.decodeInto(&job); err != nil {
			return err
		}
	}
	render := func(w io.Writer, job models.Cohort) error { return renderCohort(w, in.Path, job) }
	if err := showResult(p, got, render); err != nil {
		return err
	}
	isDone := job.State == models.CohortDone || in.DryRun && job.State == models.CohortReady
	if !isDone || job.Skipped > 0 && !in.SkipFaulty {
		return ErrCheckFailed
	}
	return nil
}

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

// enrolCohort confirms a checked file and waits until its people are enrolled.
func enrolCohort(ctx context.Context, p *program, job models.Cohort, reason string, progress Progress) (result, error) {
	confirm := request{method: http.MethodPost, path: cohortPath(job.ID) + "/confirm"}
	if reason != "" {
		confirm.header = map[string]string{"Coach-Reason": reason}
	}
	got, err := p.client.do(ctx, confirm)
	for {
		if err != nil {
			return result{}, fmt.Errorf("the import may go on without this command; see coachline cohort show %s: %w", job.ID, err)
		}
		if err := got.decodeInto(&job); err != nil {
			return result{}, err
		}
		progress(int64(job.Enrolled), int64(job.Good))
		if job.State.IsOver() {
			return got, nil
		}
		if err = wait.For(ctx, cohortPoll); err == nil {
			got, err = p.client.do(ctx, request{path: cohortPath(job.ID)})
		}
	}
}

func renderStoredCohort(w io.Writer, job models.Cohort) error {
	name := job.FileName
	if name == "" {
		name = job.ID
	}
	return renderCohort(w, name, job)
}

// renderCohort prints each fault in the form of compilers, and what came of the
// file.
func renderCohort(w io.Writer, path string, job models.Cohort) error {
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
			what = fmt.Sprintf("; %s. Dry run: nothing was kept", describeGreetings(job))
		}
		line(people + what)
	case models.CohortRunning, models.CohortDone, models.CohortCanceled:
		line(fmt.Sprintf("%s %s: %d of %d enrolled, %d skipped; %s", job.ID, job.State, job.Enrolled, job.Good, job.Skipped, describeGreetings(job)))
	}
	return errors.Join(failed...)
}

// describeGreetings says how fast people are greeted, and when that is done.
func describeGreetings(job models.Cohort) string {
	text := fmt.Sprintf("at most %d greetings a minute", job.PerMinute)
	if job.LastGreetingAt != nil {
		text += ", the last " + formatInstant(*job.LastGreetingAt)
	}
	return text
}

func formatFault(path string, f models.CohortFault) string {
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
