package cli

import (
	"context"
	"encoding/json"
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

	"coachline/models"
)

const alerts = "/alerts"

// alert is a message that was taken for a crisis.
type alert struct {
	ID            string           `json:"id"`
	ParticipantID string           `json:"participant_id"`
	At            time.Time        `json:"at"`
	Danger        string           `json:"danger"`
	Tier          string           `json:"tier"`
	Rule          string           `json:"rule"`
	Score         float64          `json:"score"`
	Mark          models.AlertMark `json:"mark"`
}

type alertPage[T any] struct {
	Alerts     []T     `json:"alerts"`
	NextCursor *string `json:"next_cursor"`
}

// ListAlerts prints alerts, newest first.
func (c *Console) ListAlerts(ctx context.Context, unmarked bool) error {
	all := alertPage[json.RawMessage]{Alerts: []json.RawMessage{}}
	query := url.Values{"limit": {"200"}, "unmarked": {strconv.FormatBool(unmarked)}}
	for {
		got, err := c.client.do(ctx, request{method: http.MethodGet, path: alerts, query: query})
		if err != nil {
			return err
		}
		var page alertPage[json.RawMessage]
		if err := json.Unmarshal(got.raw, &page); err != nil {
			return fmt.Errorf("decoding the API's answer: %w", err)
		}
		all.Alerts = append(all.Alerts, page.Alerts...)
		if page.NextCursor == nil {
			break
		}
		query.Set("cursor", *page.NextCursor)
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding the list: %w", err)
	}
	return show(c, result{raw: raw}, renderAlerts)
}

func renderAlerts(w io.Writer, all alertPage[alert]) error {
	if len(all.Alerts) == 0 {
		_, err := fmt.Fprintln(w, "No alerts.")
		return err
	}
	rows := [][]string{{"ALERT", "PARTICIPANT", "AT", "DANGER", "TIER", "RULE", "SCORE", "MARK"}}
	for _, a := range all.Alerts {
		rows = append(rows, []string{a.ID, a.ParticipantID, at(a.At), a.Danger, a.Tier, a.Rule, strconv.FormatFloat(a.Score, 'f', 1, 64), string(a.Mark)})
	}
	return table(w, rows)
}

// MarkAlert says whether an alert was right. Safe to repeat.
func (c *Console) MarkAlert(ctx context.Context, id string, mark models.AlertMark) error {
	r := request{method: http.MethodPost, path: alerts + "/" + url.PathEscape(id) + "/mark", body: map[string]any{"mark": mark}}
	return run(ctx, c, r, func(w io.Writer, a alert) error {
		_, err := fmt.Fprintf(w, "%s is marked as %s.\n", a.ID, a.Mark)
		return err
	})
}

type sheetLine struct {
	Language string `json:"language"`
	Sheet    string `json:"sheet"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
}

// ExportAlerts writes what operators have judged as sheets in a folder, anew each
// time.
func (c *Console) ExportAlerts(ctx context.Context, folder string) error {
	r := request{method: http.MethodGet, path: alerts + "/sheet"}
	return run(ctx, c, r, func(w io.Writer, sheet struct {
		Lines []sheetLine `json:"lines"`
	}) error {
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
