package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func studyCommand(p *program) *cobra.Command {
	return groupCommand("study", "Studies: settings, consent texts, states",
		callCommand(p, "list", "List the studies", func(_ []string) request { return request{path: studiesPath} }, func(w io.Writer, list api.StudyList) error {
			return renderStudies(w, list.Studies)
		}),
		callCommand(p, "show STUDY", "Print a study", func(args []string) request { return request{path: studyPath(args[0])} }, renderStudy),
		studyAdd(p), studyChange(p),
		studyConsentTexts(p), consentTextAdd(p), studyConsent(p), studyWithdraw(p), studyJoins(p), studyRehearse(p), studyExport(p),
		callCommand(p, "progress STUDY", "Print how a study goes: recruitment, retention, answers, delivery, costs", func(args []string) request { return request{path: studyPath(args[0]) + "/progress"} }, renderStudyProgress),
		studyAllocations(p), studyAllocate(p), studyVerify(p),
		callCommand(p, "seed STUDY", "Print the seed of a study's allocations; the reading is audited", func(args []string) request { return request{path: studyPath(args[0]) + "/seed"} }, func(w io.Writer, s api.StudySeed) error {
			_, err := fmt.Fprintln(w, s.Seed)
			return err
		}),
	)
}

func studyConsentTexts(p *program) *cobra.Command {
	return verb("consent-texts STUDY", "Print the consent texts of a study", func(c *cobra.Command, args []string) error {
		r := request{path: studyPath(args[0]) + "/consent-texts"}
		return callAndShow(c.Context(), p, r, func(w io.Writer, list api.ConsentTextList) error {
			for _, text := range list.Texts {
				if _, err := fmt.Fprintf(w, "%s version %d, %s by %s:\n%s\n\n", text.Locale, text.Version, text.CreatedAt.Format(time.DateOnly), text.CreatedBy, text.Body); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func studyJoins(p *program) *cobra.Command {
	return verb("joins STUDY", "Print who asked to join a study by keyword or form", func(c *cobra.Command, args []string) error {
		return callAndShow(c.Context(), p, request{path: studyPath(args[0]) + "/joins"}, func(w io.Writer, list api.JoinList) error {
			for _, state := range models.JoinStates() {
				if _, err := fmt.Fprintf(w, "%s %d  ", state, list.Counts[string(state)]); err != nil {
					return err
				}
			}
			rows := [][]string{{"ASKED", "STATE", "REASON", "METHOD", "KEYWORD", "LOCALE", "DELIVERY", "ERROR", "PARTICIPANT"}}
			for _, join := range list.Joins {
				rows = append(rows, []string{join.CreatedAt.Format(time.RFC3339), string(join.State), join.Reason, string(join.Method), join.Keyword, join.Locale, string(join.Delivery), join.ErrorCode, join.ParticipantID})
			}
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
			return writeTable(w, rows)
		})
	})
}

func studyAllocations(p *program) *cobra.Command {
	return verb("allocations STUDY", "Print the record of a study's allocations", func(c *cobra.Command, args []string) error {
		return listAndShow(c.Context(), p, listing{allocationsPath(args[0]), "allocations"}, url.Values{}, func(w io.Writer, page api.AllocationPage) error {
			rows := [][]string{{"NUMBER", "PARTICIPANT", "ARM", "STRATUM", "METHOD", "BLOCK", "BY", "AT"}}
			for _, a := range page.Allocations {
				rows = append(rows, []string{
					strconv.FormatInt(a.Number, 10), a.ParticipantID, a.Arm, a.Stratum, string(a.Method), strconv.Itoa(a.Block), a.AllocatedBy,
					a.AllocatedAt.UTC().Format(time.RFC3339),
				})
			}
			return writeTable(w, rows)
		})
	})
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

func studyAdd(p *program) *cobra.Command {
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
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: studiesPath, body: body}, renderStudy)
	}
	return c
}

func studyChange(p *program) *cobra.Command {
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
		r := request{method: http.MethodPut, path: studyPath(args[0]), body: change}
		return callAndShow(c.Context(), p, r, renderStudy)
	}
	return c
}

func consentTextAdd(p *program) *cobra.Command {
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
		r := request{method: http.MethodPost, path: studyPath(args[0]) + "/consent-texts", body: api.NewConsentText{Locale: locale, Body: string(body)}}
		return callAndShow(c.Context(), p, r, func(w io.Writer, text models.ConsentText) error {
			_, err := fmt.Fprintf(w, "Version %d of the consent text in %s is in force.\n", text.Version, text.Locale)
			return err
		})
	}
	return c
}

func studyConsent(p *program) *cobra.Command {
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
		body.Method = models.ConsentMethod(method)
		return recordStudyConsent(c.Context(), p, args[0], body)
	}
	return c
}

func studyWithdraw(p *program) *cobra.Command {
	return verb("withdraw PARTICIPANT", "Record that a person withdrew; they leave the programme", func(c *cobra.Command, args []string) error {
		return recordStudyConsent(c.Context(), p, args[0], api.NewStudyConsent{Method: models.MethodOperator})
	})
}

const studiesPath = "/studies"

func studyPath(id string) string { return studiesPath + "/" + url.PathEscape(id) }

// recordStudyConsent records that a person agreed to their study, or withdrew.
func recordStudyConsent(ctx context.Context, p *program, participant string, body api.NewStudyConsent) error {
	r := request{method: http.MethodPost, participant: participant, path: "/study-consents", body: body}
	return callAndShow(ctx, p, r, func(w io.Writer, row models.StudyConsent) error {
		text := fmt.Sprintf("The consent to study %s is recorded.\n", row.StudyID)
		if !row.Given {
			text = fmt.Sprintf("The withdrawal from study %s is recorded; the person has left the programme.\n", row.StudyID)
		}
		_, err := io.WriteString(w, text)
		return err
	})
}

func renderStudies(w io.Writer, list []api.Study) error {
	rows := [][]string{{"STUDY", "NAME", "STATE", "PLANNED", "ARMS", "STARTS", "ENDS"}}
	for _, s := range list {
		rows = append(rows, []string{
			s.ID, s.Name, string(s.State), strconv.Itoa(s.Planned), strconv.Itoa(len(s.Settings.Arms)), dateOr(s.StartsAt), dateOr(s.EndsAt),
		})
	}
	return writeTable(w, rows)
}

func dateOr(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return at.UTC().Format(time.DateOnly)
}

func renderStudy(w io.Writer, s api.Study) error {
	if err := renderStudies(w, []api.Study{s}); err != nil {
		return err
	}
	for _, arm := range s.Settings.Arms {
		if _, err := fmt.Fprintf(w, "arm %s, weight %d\n", arm.Name, arm.Weight); err != nil {
			return err
		}
	}
	if s.State == models.StudyDraft {
		_, err := fmt.Fprintf(w, "Take people in with: coachline study change %s --state recruiting\n", s.ID)
		return err
	}
	return nil
}
