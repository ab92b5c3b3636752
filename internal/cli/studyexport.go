package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"coachline/internal/export"
)

// StudyExport is what is exported, and into which folder.
type StudyExport struct {
	Study, Folder string
	Format        export.Format
	// Texts: messages with their words, masked.
	Texts bool
}

func (e StudyExport) toRequest() request {
	query := url.Values{"format": {string(e.Format)}}
	if e.Texts {
		query.Set("texts", "true")
	}
	return request{method: http.MethodGet, path: studyPath(e.Study) + "/export", query: query}
}

// ExportStudy writes the tables of a study into a new folder, whole or not at all.
func (c *Commands) ExportStudy(ctx context.Context, e StudyExport, progress Progress) error {
	manifest, err := export.UnpackFolder(e.Folder, func(archive string) error {
		return c.client.saveFile(ctx, e.toRequest(), archive, progress)
	})
	if err != nil {
		return err
	}
	return c.showExport(manifest)
}

func (c *Commands) showExport(manifest export.Manifest) error {
	raw, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	return showResult(c, result{raw: raw}, func(w io.Writer, m export.Manifest) error {
		rows := [][]string{{"TABLE", "ROWS"}}
		for _, f := range m.Files {
			// A table of two files follows itself.
			if table := strings.TrimSuffix(f.Name, filepath.Ext(f.Name)); f.Rows != nil && rows[len(rows)-1][0] != table {
				rows = append(rows, []string{table, strconv.FormatInt(*f.Rows, 10)})
			}
		}
		if err := writeTable(w, rows); err != nil {
			return err
		}
		_, err := io.WriteString(w, describeOmissions(m))
		return err
	})
}

// describeOmissions says what the reader may not see.
func describeOmissions(m export.Manifest) string {
	var out string
	if !m.Arms {
		out += "\nThe arms are left out; they need allocation:read.\n"
	}
	if !m.Audit {
		out += "\nThe audit is left out; it needs audit:read.\n"
	}
	return out
}

// saveFile writes a file of any length as it comes in. A refusal is an *APIError.
func (c *Client) saveFile(ctx context.Context, what request, to string, progress Progress) error {
	req, err := c.newRequest(ctx, what)
	if err != nil {
		return err
	}
	patient := *c.http
	patient.Timeout = 0 // the length decides; ctx ends it
	res, err := patient.Do(req)
	if err != nil {
		return fmt.Errorf("calling the API at %s: %w", c.base, unwrapURL(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return fmt.Errorf("reading the API's answer: %w", err)
		}
		_, err = parseAnswer(res.StatusCode, raw)
		return err
	}
	return export.SaveFile(&progressReader{Reader: res.Body, of: res.ContentLength, progress: progress}, to)
}
