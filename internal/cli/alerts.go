package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/internal/wrap"
	"coachline/models"
)

func alertCommand(p *program) *cobra.Command {
	return groupCommand("alerts", "Judge messages that were taken for a crisis", alertsList(p), alertsShow(p), alertsAcknowledge(p), alertsMark(p), alertsExport(p))
}

func alertsList(p *program) *cobra.Command {
	var unmarked bool
	c := &cobra.Command{
		Use: "list", Short: "List alerts and what raised them, newest first", Args: exactArgs(0),
		Long: "Lists messages that were taken for a crisis, newest first: the tier (A pages a person, B is a weak sign),\n" +
			"the rule or the classifier's score that raised each, and what an operator said of it.\n" +
			"`coachline alerts show ALERT` shows the message and the words that were recognised.",
	}
	c.Flags().BoolVar(&unmarked, "unmarked", false, "only those that no operator has judged")
	c.RunE = func(c *cobra.Command, _ []string) error {
		query := url.Values{"unmarked": {strconv.FormatBool(unmarked)}}
		return listAndShow(c.Context(), p, listing{alertsPath, "alerts"}, query, renderAlerts)
	}
	return c
}

func alertsShow(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "show ALERT", Short: "Show the message of an alert, the words that were recognised, and why", Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := request{path: alertsPath + "/" + url.PathEscape(args[0]) + "/message"}
			return callAndShow(c.Context(), p, r, renderAlert)
		},
	}
}

func renderAlert(w io.Writer, a models.AlertMessage) error {
	rows := [][]string{
		{"alert", a.ID}, {"participant", a.ParticipantID}, {"phone", a.Phone}, {"at", formatInstant(a.CreatedAt)}, {"danger", string(a.Danger) + ", tier " + a.Tier},
		{"rule", a.Rule}, {"words", a.Words}, {"score", strconv.FormatFloat(a.Score, 'f', 1, 64)}, {"second look", strings.TrimSpace(string(a.Look) + " " + a.LookReason)},
		{"mark", string(a.Mark)}, {"message", a.Text},
	}
	return writeTable(w, slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
}

func alertsAcknowledge(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "acknowledge ALERT", Short: "Say that you see to an alert, so that it does not page again", Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := request{method: http.MethodPost, path: alertsPath + "/" + url.PathEscape(args[0]) + "/acknowledge"}
			return callAndShow(c.Context(), p, r, func(w io.Writer, a models.Alert) error {
				waited := time.Duration(a.WaitedSeconds) * time.Second
				_, err := fmt.Fprintf(w, "%s is acknowledged by %s, %s after the message.\n", a.ID, a.AcknowledgedBy, waited)
				return err
			})
		},
	}
}

func alertsMark(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "mark ALERT right|wrong", Short: "Say whether an alert was right", Args: exactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			mark := models.AlertMark(args[1])
			if mark != models.MarkRight && mark != models.MarkWrong {
				return usageError{fmt.Errorf("%q is neither right nor wrong", args[1])}
			}
			r := request{method: http.MethodPost, path: alertsPath + "/" + url.PathEscape(args[0]) + "/mark", body: api.AlertMarking{Mark: mark}}
			return callAndShow(c.Context(), p, r, func(w io.Writer, a models.Alert) error {
				goesOn := ""
				if a.Mark == models.MarkWrong {
					goesOn = " It holds nothing any more."
				}
				_, err := fmt.Fprintf(w, "%s is marked as %s.%s\n", a.ID, a.Mark, goesOn)
				return err
			})
		},
	}
}

func alertsExport(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "export FOLDER", Short: "Write what was judged as sheets for screening", Args: exactArgs(1),
		Long: "Writes FOLDER/LANGUAGE/crisis.marks.tsv and negative.marks.tsv with the messages of alerts that operators\n" +
			"have judged. Numbers and addresses are masked; names are not. Read the files before they leave the machine.",
		RunE: func(c *cobra.Command, args []string) error {
			r := request{path: alertsPath + "/sheet"}
			return callAndShow(c.Context(), p, r, func(w io.Writer, sheet api.Sheet) error {
				files := map[string]*strings.Builder{}
				for _, line := range sheet.Lines {
					path := filepath.Join(args[0], line.Language, line.Sheet+".marks.tsv")
					if files[path] == nil {
						files[path] = &strings.Builder{}
					}
					fmt.Fprintf(files[path], "%s\t%s\n", line.Kind, line.Text)
				}
				paths := make([]string, 0, len(files))
				for path := range files {
					paths = append(paths, path)
				}
				slices.Sort(paths)
				for _, path := range paths {
					if err := writeSheet(path, files[path].String()); err != nil {
						return err
					}
				}
				_, err := fmt.Fprintf(w, "%d judged messages in %d files. Read them before they leave this machine.\n", len(sheet.Lines), len(paths))
				return err
			})
		},
	}
}

const alertsPath = "/alerts"

func renderAlerts(w io.Writer, all api.AlertPage) error {
	if len(all.Alerts) == 0 {
		_, err := fmt.Fprintln(w, "No alerts.")
		return err
	}
	rows := [][]string{{"ALERT", "PARTICIPANT", "AT", "DANGER", "TIER", "RULE", "SCORE", "MARK"}}
	for _, a := range all.Alerts {
		rows = append(rows, []string{a.ID, a.ParticipantID, formatInstant(a.CreatedAt), string(a.Danger), a.Tier, a.Rule, strconv.FormatFloat(a.Score, 'f', 1, 64), string(a.Mark)})
	}
	return writeTable(w, rows)
}

func writeSheet(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of a sheet: %w", err)
	}
	return wrap.Error(os.WriteFile(path, []byte(text), 0o600), "writing a sheet")
}
