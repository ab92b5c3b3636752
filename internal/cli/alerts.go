package cli

import (
	"context"
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

	"coachline/internal/api"
	"coachline/models"
)

const alertsPath = "/alerts"

// ListAlerts prints alerts, newest first.
func (c *Commands) ListAlerts(ctx context.Context, unmarked bool) error {
	query := url.Values{"unmarked": {strconv.FormatBool(unmarked)}}
	return listAndShow(ctx, c, listing{alertsPath, "alerts"}, query, renderAlerts)
}

func renderAlerts(w io.Writer, all api.AlertPage) error {
	if len(all.Alerts) == 0 {
		_, err := fmt.Fprintln(w, "No alerts.")
		return err
	}
	rows := [][]string{{"ALERT", "PARTICIPANT", "AT", "DANGER", "TIER", "RULE", "SCORE", "MARK"}}
	for _, a := range all.Alerts {
		rows = append(rows, []string{a.ID, a.ParticipantID, formatInstant(a.At), string(a.Danger), a.Tier, a.Rule, strconv.FormatFloat(a.Score, 'f', 1, 64), string(a.Mark)})
	}
	return writeTable(w, rows)
}

// AcknowledgeAlert says that an operator sees to an alert. Safe to repeat.
func (c *Commands) AcknowledgeAlert(ctx context.Context, id string) error {
	r := request{method: http.MethodPost, path: alertsPath + "/" + url.PathEscape(id) + "/acknowledge"}
	return callAndShow(ctx, c, r, func(w io.Writer, a api.Alert) error {
		waited := time.Duration(a.WaitedSeconds) * time.Second
		_, err := fmt.Fprintf(w, "%s is acknowledged by %s, %s after the message.\n", a.ID, a.AcknowledgedBy, waited)
		return err
	})
}

// MarkAlert says whether an alert was right. Safe to repeat.
func (c *Commands) MarkAlert(ctx context.Context, id string, mark models.AlertMark) error {
	r := request{method: http.MethodPost, path: alertsPath + "/" + url.PathEscape(id) + "/mark", body: api.AlertMarking{Mark: mark}}
	return callAndShow(ctx, c, r, func(w io.Writer, a api.Alert) error {
		_, err := fmt.Fprintf(w, "%s is marked as %s.\n", a.ID, a.Mark)
		return err
	})
}

// ExportAlerts writes what operators have judged as sheets in a folder, anew each
// time.
func (c *Commands) ExportAlerts(ctx context.Context, folder string) error {
	r := request{method: http.MethodGet, path: alertsPath + "/sheet"}
	return callAndShow(ctx, c, r, func(w io.Writer, sheet api.Sheet) error {
		files := map[string]*strings.Builder{}
		for _, line := range sheet.Lines {
			path := filepath.Join(folder, line.Language, line.Sheet+".marks.tsv")
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
}

func writeSheet(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of a sheet: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing a sheet: %w", err)
	}
	return nil
}
