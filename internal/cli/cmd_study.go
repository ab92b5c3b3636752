package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func (p *program) studyCommand() *cobra.Command {
	return groupCommand("study", "Studies: settings, consent texts, states", p.studyList(),
		p.onStudy("show", "Print a study", (*Commands).ShowStudy), p.studyAdd(), p.studyChange(),
		p.onStudy("consent-texts", "Print the consent texts of a study", (*Commands).ListConsentTexts), p.consentTextAdd(), p.studyConsent(), p.studyWithdraw(), p.onStudy("joins", "Print who asked to join a study by keyword or form", (*Commands).ListJoins), p.studyRehearse(), p.studyExport(),
		p.onStudy("progress", "Print how a study goes: recruitment, retention, answers, delivery, costs", (*Commands).ShowStudyProgress),
		p.onStudy("allocations", "Print the record of a study's allocations", (*Commands).ListAllocations), p.studyAllocate(), p.studyVerify(),
		p.onStudy("seed", "Print the seed of a study's allocations; the reading is audited", (*Commands).ShowStudySeed))
}

func (p *program) studyList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the studies", Args: exactArgs(0)}
	c.RunE = func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListStudies(c.Context())
	}
	return c
}

// onStudy builds a verb for one study.
func (p *program) onStudy(verb, short string, run func(*Commands, context.Context, string) error) *cobra.Command {
	c := &cobra.Command{Use: verb + " STUDY", Short: short, Args: exactArgs(1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return run(commands, c.Context(), args[0])
	}
	return c
}

// studyFlags are the fields of a study that flags set.
type studyFlags struct {
	name, settings, starts, ends, state string
	planned                             int
}

func (f *studyFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.name, "name", "", "name of the study")
	flags.StringVar(&f.settings, "settings", "", "JSON file of what the study changes; see docs/studies.md")
	flags.IntVar(&f.planned, "planned", 0, "how many people are to take part")
	flags.StringVar(&f.starts, "starts", "", "first instant, such as 2026-12-01T00:00:00Z")
	flags.StringVar(&f.ends, "ends", "", "last instant")
}

// change returns what the given flags change.
func (f *studyFlags) change(c *cobra.Command) (api.StudyChange, error) {
	var out api.StudyChange
	changed := c.Flags().Changed
	if changed("name") {
		out.Name = &f.name
	}
	if changed("planned") {
		out.Planned = &f.planned
	}
	var err error
	if changed("settings") {
		if out.Settings, err = readSettings(f.settings); err != nil {
			return out, err
		}
	}
	if changed("starts") {
		if out.StartsAt, err = parseFlagInstant("starts", f.starts); err != nil {
			return out, err
		}
	}
	if changed("ends") {
		if out.EndsAt, err = parseFlagInstant("ends", f.ends); err != nil {
			return out, err
		}
	}
	if changed("state") {
		state := models.StudyState(f.state)
		if !slices.Contains(models.StudyStates(), state) {
			return out, usageError{errors.New("--state must be draft, recruiting, running, closed or archived")}
		}
		out.State = &state
	}
	return out, nil
}

func parseFlagInstant(flag, text string) (*time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, usageError{fmt.Errorf("--%s must be an instant such as 2026-12-01T00:00:00Z", flag)}
	}
	return &at, nil
}

// readSettings reads a file of settings; a field that is not known is refused.
func readSettings(path string) (*models.StudySettings, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var settings models.StudySettings
	if err := decoder.Decode(&settings); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &settings, nil
}

func (p *program) studyAdd() *cobra.Command {
	var f studyFlags
	c := &cobra.Command{Use: "add STUDY --name NAME", Short: "Add a study as a draft", Args: exactArgs(1)}
	f.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		change, err := f.change(c)
		if err != nil {
			return err
		}
		if change.Name == nil {
			return usageError{errors.New("--name is needed")}
		}
		body := api.NewStudy{ID: args[0], Name: *change.Name, Planned: f.planned, StartsAt: change.StartsAt, EndsAt: change.EndsAt}
		if change.Settings != nil {
			body.Settings = *change.Settings
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.AddStudy(c.Context(), body)
	}
	return c
}

func (p *program) studyChange() *cobra.Command {
	var f studyFlags
	c := &cobra.Command{Use: "change STUDY", Short: "Change some fields of a study, or its state", Args: exactArgs(1)}
	f.add(c)
	c.Flags().StringVar(&f.state, "state", "", "recruiting, running, closed or archived")
	c.RunE = func(c *cobra.Command, args []string) error {
		change, err := f.change(c)
		if err != nil {
			return err
		}
		if change == (api.StudyChange{}) {
			return usageError{errors.New("say what is to change; see coachline study change --help")}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ChangeStudy(c.Context(), args[0], change)
	}
	return c
}

func (p *program) consentTextAdd() *cobra.Command {
	var locale string
	c := &cobra.Command{Use: "add-consent-text STUDY FILE --locale LOCALE", Short: "Add the next version of a consent text", Args: exactArgs(2)}
	c.Flags().StringVar(&locale, "locale", "", "language of the text, such as en")
	c.RunE = func(c *cobra.Command, args []string) error {
		if locale == "" {
			return usageError{errors.New("--locale is needed")}
		}
		body, err := os.ReadFile(args[1])
		if err != nil {
			return fmt.Errorf("reading the consent text: %w", err)
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.AddConsentText(c.Context(), args[0], api.NewConsentText{Locale: locale, Body: string(body)})
	}
	return c
}

func (p *program) studyConsent() *cobra.Command {
	body := api.NewStudyConsent{Given: true}
	var method string
	c := &cobra.Command{Use: "consent PARTICIPANT --version N --locale LOCALE", Short: "Record that a person agreed to a newer consent text", Args: exactArgs(1)}
	c.Flags().IntVar(&body.Version, "version", 0, "version of the consent text")
	c.Flags().StringVar(&body.Locale, "locale", "", "language of the consent text")
	c.Flags().StringVar(&method, "method", string(models.MethodOperator), "form, web or operator")
	c.RunE = func(c *cobra.Command, args []string) error {
		if body.Version < 1 || body.Locale == "" {
			return usageError{errors.New("--version and --locale are needed")}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		body.Method = models.ConsentMethod(method)
		return commands.RecordStudyConsent(c.Context(), args[0], body)
	}
	return c
}

func (p *program) studyWithdraw() *cobra.Command {
	c := &cobra.Command{Use: "withdraw PARTICIPANT", Short: "Record that a person withdrew; they leave the programme", Args: exactArgs(1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.RecordStudyConsent(c.Context(), args[0], api.NewStudyConsent{Method: models.MethodOperator})
	}
	return c
}
