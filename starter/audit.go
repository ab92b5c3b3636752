package starter

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/sheet"
	"coachline/internal/store"
	"coachline/models"
)

const auditPath = "/audit"

type auditRequest struct {
	models.AuditFilter
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor int64 `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}

type auditRoutes struct {
	base
	audit *store.Audit
}

func (h *auditRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: auditPath, id: "list-audit", needs: auth.AuditRead, summary: "Who did what to whom, newest first"}, h.listAudit)
	register(router, route{method: http.MethodGet, path: auditPath + "/chain", id: "check-audit", needs: auth.AuditRead,
		summary: "Check that no row of the audit was changed or taken out"}, h.checkAudit)
	h.registerAuditExport(router)
}

func toAuditRow(ctx context.Context, row models.AuditRow) models.AuditRow {
	if !canSeePersonal(ctx) {
		row.Reason, row.Before, row.After = "", nil, nil
	}
	return row
}

func (h *auditRoutes) listAudit(ctx context.Context, in *auditRequest) (*answer[api.AuditPage], error) {
	query := models.AuditQuery{AuditFilter: in.AuditFilter, BeforeID: in.Cursor, Limit: in.Limit + 1}
	rows, err := h.audit.AuditRows(ctx, query)
	if err != nil {
		return nil, h.toFailure("reading the audit", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.AuditRow) string { return strconv.FormatInt(last.ID, 10) })
	page := api.AuditPage{Rows: make([]models.AuditRow, len(rows)), NextCursor: next}
	for i, row := range rows {
		page.Rows[i] = toAuditRow(ctx, row)
	}
	return newAnswer("", page), nil
}

func (h *auditRoutes) checkAudit(ctx context.Context, _ *noInput) (*answer[models.AuditChain], error) {
	chain, err := h.audit.CheckAudit(ctx)
	chain.OK = chain.BrokenAt == 0
	return newAnswer("", chain), h.toFailure("checking the audit", err)
}

// Formats of an exported audit.
const (
	formatCSV   = "csv"
	formatLines = "jsonl"
)

var auditTypes = map[string]string{formatCSV: "text/csv; charset=utf-8", formatLines: "application/x-ndjson"}

// exportPage is how many rows an export reads at once.
const exportPage = 200

// exportPause is how long a client may take to read a page of an export.
const exportPause = 30 * time.Second

type auditExportRequest struct {
	models.AuditFilter
	Format string `query:"format" enum:"csv,jsonl" default:"csv" doc:"csv, or a JSON object on each line."`
}

func (h *auditRoutes) registerAuditExport(router huma.API) {
	r := route{method: http.MethodGet, path: auditPath + "/export", id: "export-audit", needs: auth.AuditRead, reads: readExport,
		summary: "All rows that the filters select, newest first, as a file"}
	register(router, r, h.exportAudit)
	text := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	router.OpenAPI().Paths[r.path].Get.Responses[strconv.Itoa(http.StatusOK)].Content = map[string]*huma.MediaType{
		"text/csv": text, "application/x-ndjson": text,
	}
}

// exportAudit writes the audit page by page. What fails on the first page is
// answered as such; later the connection is broken off, so that half a file is
// not taken for a whole one.
func (h *auditRoutes) exportAudit(ctx context.Context, in *auditExportRequest) (*huma.StreamResponse, error) {
	query := models.AuditQuery{AuditFilter: in.AuditFilter, Limit: exportPage}
	rows, err := h.audit.AuditRows(ctx, query)
	if err != nil {
		return nil, h.toFailure("exporting the audit", err)
	}
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		answer.SetHeader("Content-Type", auditTypes[in.Format])
		answer.SetHeader("Content-Disposition", `attachment; filename="audit.`+in.Format+`"`)
		answer.SetStatus(http.StatusOK)
		_, w := humago.Unwrap(answer)
		if err := h.writeAudit(ctx, w, auditExport{query: query, rows: rows, format: in.Format}); err != nil {
			h.log.Error("exporting the audit failed in the middle; the client sees a broken connection", "error", err)
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// auditExport is an export under way: its first page, and how to go on.
type auditExport struct {
	query  models.AuditQuery
	rows   []models.AuditRow
	format string
}

func (h *auditRoutes) writeAudit(ctx context.Context, w http.ResponseWriter, e auditExport) error {
	write := lineWriter(w)
	if e.format == formatCSV {
		var err error
		if write, err = csvWriter(w); err != nil {
			return err
		}
	}
	control := http.NewResponseController(w)
	for rows := e.rows; ; {
		for _, row := range rows {
			if err := write(toAuditRow(ctx, row)); err != nil {
				return fmt.Errorf("writing an audit row: %w", err)
			}
		}
		if len(rows) < exportPage {
			return nil
		}
		// A writer inside of this process has no deadline.
		_ = control.SetWriteDeadline(time.Now().Add(exportPause))
		e.query.BeforeID = rows[len(rows)-1].ID
		var err error
		if rows, err = h.audit.AuditRows(ctx, e.query); err != nil {
			return err
		}
	}
}

func lineWriter(w io.Writer) func(models.AuditRow) error {
	encoder := json.NewEncoder(w)
	return func(row models.AuditRow) error { return encoder.Encode(row) }
}

// auditColumns are the columns of an exported table.
var auditColumns = []string{
	"id", "seq", "at", "actor", "action", "participant_id", "object", "detail", "reason", "before", "after", "request_id", "address", "hash",
}

// csvWriter writes the head of a table, and then each row as a line.
func csvWriter(w io.Writer) (func(models.AuditRow) error, error) {
	table := csv.NewWriter(w)
	write := func(cells []string) error {
		if err := table.Write(cells); err != nil {
			return err
		}
		table.Flush()
		return table.Error()
	}
	if err := write(auditColumns); err != nil {
		return nil, fmt.Errorf("writing the columns: %w", err)
	}
	return func(row models.AuditRow) error {
		seq := ""
		if row.Seq != nil {
			seq = strconv.FormatInt(*row.Seq, 10)
		}
		cells := []string{
			strconv.FormatInt(row.ID, 10), seq, row.At.Format(time.RFC3339Nano), row.Actor, row.Action, row.ParticipantID, row.Object,
			row.Detail, row.Reason, joinFields(row.Before), joinFields(row.After), row.RequestID, row.Address, row.Hash,
		}
		for i, cell := range cells {
			cells[i] = sheet.Escape(cell)
		}
		return write(cells)
	}, nil
}

// joinFields writes the fields of a change as JSON, which a cell holds; nothing
// for none.
func joinFields(fields map[string]string) string {
	if len(fields) == 0 {
		return ""
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return "" // a map of texts has no value that JSON cannot hold
	}
	return string(raw)
}
