package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/internal/export"
	"coachline/internal/rehearsal"
	"coachline/internal/store"
	"coachline/models"
)

// rehearsalGC has the collector run less often: a rehearsal is bound by the
// processor and over in minutes.
const rehearsalGC = 400

func studyRehearse(p *program) *cobra.Command {
	var cfg rehearsal.Config
	var settings, start, out, format string
	c := &cobra.Command{
		Use: "rehearse STUDY", Short: "Play a whole study with simulated people and skipped time", Args: exactArgs(1),
		Long: "Plays a study on this machine before the first real person is asked: the real workflows, rules and\n" +
			"store with skipped time, a carrier within the process and a scripted model. No message leaves, and the\n" +
			"installation is only asked for the study's settings. Exit code 1 says that a rule did not hold.",
	}
	flags := c.Flags()
	flags.IntVar(&cfg.People, "people", 50, "how many people take part")
	flags.IntVar(&cfg.Days, "days", 30, "for how many days")
	flags.Uint64Var(&cfg.Seed, "seed", 1, "draws everything; the same seed gives the same rehearsal")
	flags.StringVar(&start, "start", "", "first day, YYYY-MM-DD (default 2026-03-02)")
	flags.Float64Var(&cfg.Effect, "effect", 0, "what the treatment adds to the probability of an answer, for the analysis to find")
	flags.Float64Var(&cfg.CarrierFaults, "carrier-faults", 0, "share of the carrier's calls that fail")
	flags.Float64Var(&cfg.ModelFaults, "model-faults", 0, "share of the model's calls that fail")
	flags.Float64Var(&cfg.Undelivered, "undelivered", 0, "share of the messages that do not arrive")
	flags.StringVar(&settings, "settings", "", "JSON file of what the study changes, in the place of the installation's")
	flags.StringVarP(&out, "out", "o", "", "folder to write the export of the rehearsed study to, which must not exist")
	flags.StringVar(&format, "format", string(export.FormatCSV), formatFlag)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if cfg.Start, err = rehearsalStart(start); err != nil {
			return usageError{err}
		}
		as, err := parseFormat(format)
		if err != nil {
			return err
		}
		cfg.Study = args[0]
		if err := readRehearsed(p, c, &cfg, settings); err != nil {
			return err
		}
		if out == "" {
			return rehearse(p, c, cfg)
		}
		if err := export.CheckNewFolder(out); err != nil {
			return usageError{fmt.Errorf("--out: %w", err)}
		}
		cfg.Export = func(ctx context.Context, tables *store.Store, end time.Time) error {
			return exportRehearsed(ctx, tables, end, StudyExport{Study: cfg.Study, Folder: out, Format: as})
		}
		return rehearse(p, c, cfg)
	}
	return c
}

// exportRehearsed writes the export that the real study would give, arms and audit
// included.
func exportRehearsed(ctx context.Context, tables *store.Store, end time.Time, what StudyExport) error {
	return tables.Studies.ReadStudy(ctx, models.StudyReading{ID: what.Study, Now: end}, func(row models.Study, rows models.StudyRows) error {
		_, err := export.WriteFolder(what.Folder, export.Input{Study: row, Rows: rows, Arms: true, Audit: true, Format: what.Format})
		return err
	})
}

// rehearsalStart is the morning of a day in the zones of the United States.
func rehearsalStart(day string) (time.Time, error) {
	if day == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, fmt.Errorf("--start: %q is not a day such as 2026-03-02", day)
	}
	return at.Add(14 * time.Hour), nil
}

// readRehearsed reads the configuration, and the study's settings from a file or the
// installation. The study "default" has none.
func readRehearsed(p *program, c *cobra.Command, cfg *rehearsal.Config, file string) (err error) {
	if cfg.Settings, err = p.besideDev(); err != nil {
		return err
	}
	switch {
	case file != "":
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("--settings: %w", err)
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&cfg.StudySettings); err != nil {
			return fmt.Errorf("--settings: %s: %w", file, err)
		}
	case cfg.Study != models.DefaultStudy:
		study, err := FetchStudy(c.Context(), p, cfg.Study)
		if err != nil {
			return err
		}
		cfg.StudySettings = study.Settings
	}
	return nil
}

// rehearse plays the study and prints the report.
func rehearse(p *program, c *cobra.Command, cfg rehearsal.Config) error {
	defer debug.SetGCPercent(debug.SetGCPercent(rehearsalGC))
	m := p.newMeter("days")
	cfg.Progress = func(day, days int) { m.setProgress("rehearsing", int64(day), int64(days)) }
	report, err := rehearsal.Run(c.Context(), cfg)
	m.endPart()
	var field *models.FieldError
	if errors.As(err, &field) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if p.json {
		err = json.NewEncoder(p.out).Encode(report)
	} else {
		err = report.Print(p.out)
	}
	if err == nil && report.Failed() {
		return ErrCheckFailed
	}
	return err
}

// FetchStudy reads a study of the installation.
func FetchStudy(ctx context.Context, p *program, id string) (api.Study, error) {
	got, err := p.client.do(ctx, request{path: studyPath(id)})
	if err != nil {
		return api.Study{}, err
	}
	var study api.Study
	return study, got.decodeInto(&study)
}
