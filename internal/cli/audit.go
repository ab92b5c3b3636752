package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"coachline/internal/api"
)

const auditPath = "/audit"

// AuditFilter selects rows of the audit; empty fields select everything.
type AuditFilter struct {
	Participant, Actor, Action string
	Since, Until               time.Time
}

func (f AuditFilter) toQuery() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{"participant_id": f.Participant, "actor": f.Actor, "action": f.Action} {
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

// ListAudit prints the newest rows that a filter selects, newest first.
func (c *Commands) ListAudit(ctx context.Context, f AuditFilter, limit int) error {
	query := f.toQuery()
	query.Set("limit", strconv.Itoa(limit))
	return callAndShow(ctx, c, request{method: http.MethodGet, path: auditPath, query: query}, renderAudit)
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
func describeChange(a api.AuditRow) string {
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

// VerifyAudit prints whether the audit is as it was written. The error is
// ErrCheckFailed when it is not.
func (c *Commands) VerifyAudit(ctx context.Context) error {
	got, err := c.client.do(ctx, request{method: http.MethodGet, path: auditPath + "/chain"})
	if err != nil {
		return err
	}
	var chain api.AuditChain
	if err := got.decodeInto(&chain); err != nil {
		return err
	}
	err = showResult(c, got, renderChain)
	if !chain.OK {
		err = errors.Join(err, ErrCheckFailed)
	}
	return err
}

func renderChain(w io.Writer, chain api.AuditChain) error {
	text := fmt.Sprintf("The audit is whole: %d rows, %d of them erased, head %s.", chain.Rows, chain.Erased, chain.Head)
	if !chain.OK {
		text = fmt.Sprintf("The audit is broken at row %d: %s.", chain.BrokenAt, chain.Problem)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// ExportAudit writes all rows that a filter selects as csv or jsonl.
func (c *Commands) ExportAudit(ctx context.Context, f AuditFilter, format string, to io.Writer) error {
	query := f.toQuery()
	query.Set("format", format)
	raw, err := c.client.downloadFile(ctx, auditPath+"/export?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	if _, err := to.Write(raw); err != nil {
		return fmt.Errorf("writing the audit: %w", err)
	}
	return nil
}
