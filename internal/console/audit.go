package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/models"
)

func (c *Console) registerAudit(mux *http.ServeMux) {
	c.page(mux, "audit", showAudit)
	mux.HandleFunc("GET "+Path+"audit/export", c.exportAudit)
}

// auditFields are the parameters of the filter.
var auditFields = []string{"participant_id", "actor", "action", "since", "until"}

// auditQuery turns the filter of the address into the API's. Days are UTC, and
// the last one is included.
func auditQuery(v *viewer) (url.Values, error) {
	query := url.Values{}
	for _, name := range auditFields {
		value := v.query(name)
		if value == "" {
			continue
		}
		if name == "since" || name == "until" {
			day, err := time.Parse(time.DateOnly, value)
			if err != nil {
				return nil, &refusal{status: http.StatusBadRequest, message: name + ": must be a day such as 2026-01-02"}
			}
			if name == "until" {
				day = day.AddDate(0, 0, 1)
			}
			value = day.Format(time.RFC3339)
		}
		query.Set(name, value)
	}
	return query, nil
}

// showAudit lists who did what to whom.
func showAudit(v *viewer) (page, error) {
	query, err := auditQuery(v)
	if err != nil {
		return page{}, err
	}
	query.Set("limit", "50")
	if cursor := v.query("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	list, err := get[api.AuditPage](v, "/audit", query)
	if err != nil {
		return page{}, err
	}
	chain, err := chainState(v)
	if err != nil {
		return page{}, err
	}
	kept := url.Values{}
	for _, name := range auditFields {
		if value := v.query(name); value != "" {
			kept.Set(name, value)
		}
	}
	return page{title: "Audit", section: "audit", body: []g.Node{
		h.H1(g.Text("Audit")),
		h.P(g.Text("Who did what to whom and why, newest first. Rows are added and never changed.")),
		chain,
		auditForm(v),
		auditTable(list.Rows, len(kept) > 0),
		h.Ul(h.Class("row plain"),
			g.Iff(list.NextCursor != nil, func() g.Node {
				older := maps.Clone(kept)
				older.Set("cursor", *list.NextCursor)
				return h.Li(h.A(h.Href(Path+"audit?"+older.Encode()), h.Rel("next"), g.Text("Older rows")))
			}),
			h.Li(h.A(h.Href(exportLink(kept, "csv")), g.Text("Export these rows as CSV"))),
			h.Li(h.A(h.Href(exportLink(kept, "jsonl")), g.Text("Export these rows as JSON lines"))),
		),
	}}, nil
}

func exportLink(kept url.Values, format string) string {
	query := maps.Clone(kept)
	query.Set("format", format)
	return Path + "audit/export?" + query.Encode()
}

// chainState says whether the chain is whole, where that was asked for: all rows
// are read for it.
func chainState(v *viewer) (g.Node, error) {
	if v.query("check") == "" {
		return h.P(h.A(h.Href(Path+"audit?check=run"), g.Text("Check the chain")), g.Text(": that no row was changed or taken out. The starter does so daily too.")), nil
	}
	chain, err := get[models.AuditChain](v, "/audit/chain", nil)
	if err != nil {
		return nil, err
	}
	if !chain.OK {
		return h.P(h.Class("problem"), h.Role("alert"),
			g.Text(fmt.Sprintf("The audit is broken at row %d: %s. See: The audit, in the operations manual.", chain.BrokenAt, chain.Problem))), nil
	}
	return h.P(h.Class("notice"), h.Role("status"), g.Text(fmt.Sprintf("The audit is whole: %d rows, %d of them erased. Newest hash: ", chain.Rows, chain.Erased)),
		h.Code(g.Text(chain.Head))), nil
}

func auditForm(v *viewer) g.Node {
	box := func(id, label, kind string) g.Node {
		return field(id, label, h.Input(h.ID(id), h.Name(id), h.Type(kind), h.Value(v.query(id)), h.AutoComplete("off")))
	}
	return h.Form(h.Method("get"), h.Action(Path+"audit"), h.Class("row"), h.Role("search"), h.Aria("label", "Rows to show"),
		box("participant_id", "Person (id)", "text"),
		box("actor", "Actor, such as user:ada", "text"),
		box("action", "Action, such as update", "text"),
		box("since", "From day (UTC)", "date"),
		box("until", "To day (UTC)", "date"),
		h.Button(h.Type("submit"), g.Text("Show")),
		h.A(h.Href(Path+"audit"), g.Text("All rows")),
	)
}

func auditTable(rows []models.AuditRow, isFiltered bool) g.Node {
	if len(rows) == 0 {
		return h.P(g.Text("No rows."))
	}
	caption := "All rows, newest first"
	if isFiltered {
		caption = "Rows that match, newest first"
	}
	return table(caption, []string{"When (UTC)", "Actor", "Action", "About", "Change", "Reason", "From"}, g.Map(rows, func(a models.AuditRow) g.Node {
		at := a.At
		return h.Tr(
			h.Td(instantOf(&at, time.UTC)), h.Td(g.Text(a.Actor)), h.Td(g.Text(a.Action)),
			h.Td(g.If(a.ParticipantID != "", h.A(h.Href(Path+"people/"+url.PathEscape(a.ParticipantID)), g.Text(a.ParticipantID))), g.Text(a.Object)),
			h.Td(changeOf(a)), h.Td(g.Text(a.Reason)), h.Td(g.Text(a.Address)),
		)
	}))
}

// changeOf shows each field that differs, before and after.
func changeOf(a models.AuditRow) g.Node {
	names := map[string]bool{}
	for _, fields := range []map[string]string{a.Before, a.After} {
		for name := range fields {
			if a.Before[name] != a.After[name] {
				names[name] = true
			}
		}
	}
	nodes := []g.Node{g.Text(a.Detail)}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		nodes = append(nodes, h.Div(
			g.Text(name+": "), g.If(a.Before[name] != "", h.Del(g.Text(a.Before[name]))), g.Text(" "),
			g.If(a.After[name] != "", h.Ins(g.Text(a.After[name]))),
		))
	}
	return g.Group(nodes)
}

// exportAudit lets the API write its file to the browser.
func (c *Console) exportAudit(w http.ResponseWriter, r *http.Request) {
	v, ok := c.viewerOf(w, r)
	if !ok {
		return
	}
	query, err := auditQuery(v)
	if err != nil {
		c.explain(w, v, err)
		return
	}
	query.Set("format", v.query("format"))
	request, err := newCall(v, api.Request{Method: http.MethodGet, Path: "/audit/export", Query: query})
	if err != nil {
		c.explain(w, v, err)
		return
	}
	c.cfg.API.ServeHTTP(w, request)
}
