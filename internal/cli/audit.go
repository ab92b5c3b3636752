package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/internal/wrap"
	"coachline/models"
)

func auditCommand(p *program) *cobra.Command {
	return groupCommand("audit", "Show who did what to whom, and check that the record is whole",
		auditList(p), auditVerify(p), auditExport(p))
}

func auditVerify(p *program) *cobra.Command {
	return verb("verify", "Check that no row of the audit was changed or taken out", func(c *cobra.Command, _ []string) error {
		got, err := p.client.do(c.Context(), request{path: auditPath + "/chain"})
		if err != nil {
			return err
		}
		var chain models.AuditChain
		if err := got.decodeInto(&chain); err != nil {
			return err
		}
		err = showResult(p, got, renderChain)
		if !chain.OK {
			err = errors.Join(err, ErrCheckFailed)
		}
		return err
	})
}

// auditFlags adds the flags that select rows. read returns what they select.
func auditFlags(c *cobra.Command) (read func() (models.AuditFilter, error)) {
	var f models.AuditFilter
	var since, until string
	flags := c.Flags()
	flags.StringVar(&f.ParticipantID, "participant", "", "only rows about the participant with this id")
	flags.StringVar(&f.Actor, "actor", "", "only rows of this actor, such as user:ada or token:redcap")
	flags.StringVar(&f.Action, "action", "", "only rows of this action, such as update")
	flags.StringVar(&since, "since", "", "only rows from then on: date, local time or instant")
	flags.StringVar(&until, "until", "", "only rows before then")
	return func() (models.AuditFilter, error) {
		for _, bound := range []struct {
			flag, text string
			to         *time.Time
		}{{"since", since, &f.Since}, {"until", until, &f.Until}} {
			if bound.text == "" {
				continue
			}
			at, err := parseInstant(bound.text, time.Now())
			if err != nil {
				return f, usageError{fmt.Errorf("--%s: %w", bound.flag, err)}
			}
			*bound.to = at
		}
		return f, nil
	}
}

func auditList(p *program) *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "list", Short: "Print the audit, newest first", Args: exactArgs(0)}
	read := auditFlags(c)
	c.Flags().IntVar(&limit, "limit", 50, "newest rows to print, at most 200")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if limit < 1 || limit > 200 {
			return usageError{errors.New("--limit must be between 1 and 200")}
		}
		filter, err := read()
		if err != nil {
			return err
		}
		query := filterAudit(filter)
		query.Set("limit", strconv.Itoa(limit))
		return callAndShow(c.Context(), p, request{path: auditPath, query: query}, renderAudit)
	}
	return c
}

func auditExport(p *program) *cobra.Command {
	var out, format string
	c := &cobra.Command{
		Use: "export", Short: "Write the audit as a table or as lines of JSON, newest first", Args: exactArgs(0),
		Long: "Writes all rows that the flags select as CSV, or with --json or --format jsonl as a JSON object on each line.\n" +
			"The export is recorded in the audit.",
	}
	read := auditFlags(c)
	c.Flags().StringVarP(&out, "out", "o", "", "file to write, which must not exist; empty: standard output")
	c.Flags().StringVar(&format, "format", "csv", "csv or jsonl")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if p.json {
			format = "jsonl"
		}
		if format != "csv" && format != "jsonl" {
			return usageError{errors.New("--format must be csv or jsonl")}
		}
		filter, err := read()
		if err != nil {
			return err
		}
		if out == "" {
			return exportAudit(c.Context(), p, filter, format, p.out)
		}
		var file bytes.Buffer
		if err := exportAudit(c.Context(), p, filter, format, &file); err != nil {
			return err
		}
		return writeNew(out, file.Bytes())
	}
	return c
}

const auditPath = "/audit"

// filterAudit asks for the rows of a filter.
func filterAudit(f models.AuditFilter) url.Values {
	query := url.Values{}
	for name, value := range map[string]string{"participant_id": f.ParticipantID, "actor": f.Actor, "action": f.Action} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"since": f.Since, "until": f.Until} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	return query
}

func renderAudit(w io.Writer, page api.AuditPage) error {
	if len(page.Rows) == 0 {
		_, err := fmt.Fprintln(w, "No rows.")
		return err
	}
	rows := [][]string{{"AT", "ACTOR", "ACTION", "ABOUT", "CHANGE", "REASON"}}
	for _, a := range page.Rows {
		about := strings.TrimSpace(a.ParticipantID + " " + a.Object)
		rows = append(rows, []string{formatInstant(a.At), a.Actor, a.Action, about, describeChange(a), a.Reason})
	}
	if err := writeTable(w, rows); err != nil || page.NextCursor == nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nThere are older rows; see --limit, --until and coachline audit export.")
	return err
}

// describeChange shows each field of a change as before > after.
func describeChange(a models.AuditRow) string {
	names := map[string]bool{}
	for _, fields := range []map[string]string{a.Before, a.After} {
		for name := range fields {
			names[name] = true
		}
	}
	var parts []string
	if a.Detail != "" {
		parts = append(parts, a.Detail)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a.Before[name] != a.After[name] {
			parts = append(parts, fmt.Sprintf("%s: %q > %q", name, a.Before[name], a.After[name]))
		}
	}
	return strings.Join(parts, ", ")
}

func renderChain(w io.Writer, chain models.AuditChain) error {
	text := fmt.Sprintf("The audit is whole: %d rows, %d of them erased, head %s.", chain.Rows, chain.Erased, chain.Head)
	if !chain.OK {
		text = fmt.Sprintf("The audit is broken at row %d: %s.", chain.BrokenAt, chain.Problem)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// exportAudit writes all rows that a filter selects as csv or jsonl.
func exportAudit(ctx context.Context, p *program, f models.AuditFilter, format string, to io.Writer) error {
	query := filterAudit(f)
	query.Set("format", format)
	raw, err := p.client.downloadFile(ctx, request{path: auditPath + "/export", query: query})
	if err != nil {
		return err
	}
	_, err = to.Write(raw)
	return wrap.Error(err, "writing the audit")
}
