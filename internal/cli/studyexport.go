package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/export"
)

func studyExport(p *program) *cobra.Command {
	var out, format string
	var texts bool
	c := &cobra.Command{
		Use: "export STUDY --out DIR", Short: "Write the rows of a study under pseudonyms into a new folder", Args: exactArgs(1),
		Long: "Writes tables as CSV or Parquet, datapackage.json, a REDCap data dictionary, loaders for Python and R, the CONSORT figures and a manifest.\n" +
			"Without --texts the files hold no texts of people. The export is recorded in the audit; arms need allocation:read, the table of the audit audit:read.",
	}
	c.Flags().StringVarP(&out, "out", "o", "", "folder to write, which must not exist")
	c.Flags().StringVar(&format, "format", string(export.FormatCSV), formatFlag)
	c.Flags().BoolVar(&texts, "texts", false, textsFlag)
	c.RunE = func(c *cobra.Command, args []string) error {
		if out == "" {
			return usageError{errors.New("--out is needed")}
		}
		as, err := parseFormat(format)
		if err != nil {
			return err
		}
		progress := p.newMeter("bytes")
		defer progress.endPart()
		return ExportStudy(c.Context(), p, StudyExport{Study: args[0], Folder: out, Format: as, Texts: texts},
			func(done, of int64) { progress.setProgress("export", done, of) })
	}
	return c
}

// What the help says of the flags that say what an export holds.
const (
	formatFlag = "files of the tables: csv, parquet or both"
	textsFlag  = "messages with their words, numbers and addresses masked; needs personal:read"
)

func parseFormat(flag string) (export.Format, error) {
	format, err := export.ParseFormat(flag)
	if err != nil {
		return format, usageError{fmt.Errorf("--format: %w", err)}
	}
	return format, nil
}

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
	return request{path: studyPath(e.Study) + "/export", query: query}
}

// ExportStudy writes the tables of a study into a new folder, whole or not at all.
func ExportStudy(ctx context.Context, p *program, e StudyExport, progress Progress) error {
	manifest, err := export.UnpackFolder(e.Folder, func(archive string) error {
		return p.client.saveFile(ctx, e.toRequest(), archive, progress)
	})
	if err != nil {
		return err
	}
	return showExport(p, manifest)
}

func showExport(p *program, manifest export.Manifest) error {
	raw, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	return showResult(p, result{raw: raw}, func(w io.Writer, m export.Manifest) error {
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
