package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/cohort"
	"coachline/models"
)

const (
	cohortsPath = "/cohorts"
	importPath  = "import"
	// maxUpload bounds a form with a file, in bytes: the API's limit and what
	// surrounds the file.
	maxUpload = 8<<20 + 64<<10
	// shownFaults is how many faults the page of an import lists.
	shownFaults = 100
)

func (c *Console) registerImport(mux *http.ServeMux) {
	c.page(mux, importPath, showImport)
	c.action(mux, importPath, uploadCohort, showImport)
	c.page(mux, importPath+"/{id}", showCohort)
	c.action(mux, importPath+"/{id}/confirm", confirmCohort, showCohort)
	c.action(mux, importPath+"/{id}/cancel", cancelCohort, showCohort)
	mux.HandleFunc("GET "+Path+importPath+"/{id}/faults.csv", c.downloadFaults)
}

func showImport(v *viewer) (page, error) {
	if !v.can(auth.ParticipantEnrol) {
		return page{}, &refusal{status: http.StatusForbidden, message: string(auth.ParticipantEnrol)}
	}
	studies, err := recruitingStudies(v)
	if err != nil {
		return page{}, err
	}
	box := func(name, label string) g.Node {
		return h.Div(h.Label(h.Input(h.Type("checkbox"), h.Name(name), h.Value("true"), g.If(v.value(name) != "", h.Checked())), g.Text(" "+label)))
	}
	return page{title: "Import people", section: "people", body: []g.Node{
		h.H1(g.Text("Import people")),
		h.P(g.Text("A CSV or TSV file in UTF-8, as spreadsheets save it. The first row names the columns: " + cohort.Columns() + ". The file is checked first; nobody is enrolled before you confirm.")),
		postForm(importPath, h.EncType(multipartType), h.Class("stack"),
			field("file", "File", h.Input(h.ID("file"), h.Name("file"), h.Type("file"), h.Required(), h.Accept(".csv,.tsv,.txt,text/csv,text/tab-separated-values"))),
			studyField(v, studies),
			field("per_minute", "Most greetings a minute (empty: what the sender's rate leaves beside replies)",
				h.Input(h.ID("per_minute"), h.Name("per_minute"), h.Type("number"), h.Min("1"), h.Max("6000"), h.Value(v.value("per_minute")))),
			box("ignore_unknown", "Leave out columns whose name is not known"),
			box("skip_faulty", "Enrol the people without a fault although others have one"),
			h.Button(h.Type("submit"), g.Text("Check the file")),
		),
	}}, nil
}

const multipartType = "multipart/form-data"

func uploadCohort(v *viewer) (string, error) {
	upload, header, err := v.request.FormFile("file")
	if err != nil {
		return "", &refusal{status: http.StatusBadRequest, message: "choose a file"}
	}
	raw, err := io.ReadAll(upload)
	if err := errors.Join(err, upload.Close()); err != nil {
		return "", fmt.Errorf("reading an uploaded file: %w", err)
	}
	query := url.Values{"file_name": {header.Filename}}
	for _, name := range []string{"study", "per_minute", "ignore_unknown", "skip_faulty"} {
		if value := v.request.PostFormValue(name); value != "" {
			query.Set(name, value)
		}
	}
	job, err := send[models.Cohort](v, api.Request{Method: http.MethodPost, Path: cohortsPath, Query: query, Raw: raw, Header: map[string]string{"Content-Type": "text/csv"}})
	return importPath + "/" + job.ID, err
}

// showCohort is an import: what its check found, the confirmation, and how far it
// is.
func showCohort(v *viewer) (page, error) {
	job, err := get[models.Cohort](v, cohortAPI(v), nil)
	if err != nil {
		return page{}, err
	}
	follow := ""
	if job.State == models.CohortRunning || job.State == models.CohortChecking {
		follow = job.ID
	}
	return page{title: "Import", section: "people", follow: follow, body: []g.Node{
		h.H1(g.Text("Import " + job.FileName)),
		h.P(h.Role("status"), g.Text(describeCohort(job))),
		g.If(job.State == models.CohortRunning, cohortProgress(job)),
		cohortFacts(v, job),
		g.If(job.State == models.CohortReady, confirmForm(v, job)),
		g.If(!job.State.IsOver(), cancelForm(v, job)),
		g.If(len(job.Faults) > 0, cohortFaults(job)),
		g.If(len(job.First) > 0 && !job.State.IsOver(), firstPeople(job)),
		h.P(h.A(h.Href(Path+importPath), g.Text("Import another file")), g.Text(" · "), h.A(h.Href(Path+"people"), g.Text("All people"))),
	}}, nil
}

func cohortAPI(v *viewer) string { return cohortsPath + "/" + url.PathEscape(v.path("id")) }

func describeCohort(job models.Cohort) string {
	switch job.State {
	case models.CohortChecking:
		return "The file is being checked."
	case models.CohortReady:
		return fmt.Sprintf("%d people can be enrolled. Nobody is enrolled yet.", job.Good)
	case models.CohortRunning:
		return fmt.Sprintf("%d of %d people are enrolled.", job.Enrolled, job.Good)
	case models.CohortDone:
		return fmt.Sprintf("Done: %d people are enrolled, %d were skipped.", job.Enrolled, job.Skipped)
	case models.CohortFailed:
		return fmt.Sprintf("Faults in the file: %d. No person was enrolled; correct the file and import it again.", job.FaultCount)
	case models.CohortCanceled:
		return fmt.Sprintf("Canceled. %d people were enrolled before and stay so.", job.Enrolled)
	}
	return string(job.State)
}

func cohortProgress(job models.Cohort) g.Node {
	return h.Div(h.Class("field"), h.Label(h.For("progress"), g.Text("Progress")),
		h.Progress(h.ID("progress"), h.Max(strconv.Itoa(job.Rows)), h.Value(strconv.Itoa(job.Tried)), g.Text(fmt.Sprintf("%d of %d", job.Tried, job.Rows))))
}

func cohortFacts(v *viewer, job models.Cohort) g.Node {
	fact := func(name, value string) g.Node { return g.Group{h.Dt(g.Text(name)), h.Dd(g.Text(value))} }
	return h.Dl(h.Class("facts"),
		fact("People in the file", strconv.Itoa(job.Rows)), fact("Can be enrolled", strconv.Itoa(job.Good)), fact("Faults", strconv.Itoa(job.FaultCount)),
		fact("Zones taken from numbers", strconv.Itoa(job.ZonesSuggested)),
		fact("Greetings", fmt.Sprintf("at most %d a minute, outside quiet hours", job.PerMinute)),
		g.If(job.LastGreetingAt != nil, fact("Last greeting", ageOf(job.LastGreetingAt, v.now))),
		fact("Uploaded by", job.CreatedBy), g.If(job.ConfirmedBy != "", fact("Confirmed by", job.ConfirmedBy)),
	)
}

func confirmForm(v *viewer, job models.Cohort) g.Node {
	return h.Section(h.ID("confirm"), h.H2(g.Text("Enrol them")),
		postForm(importPath+"/"+job.ID+"/confirm", h.Class("stack"),
			h.P(g.Text(fmt.Sprintf("Enrols %d people now and greets them over at least %s.", job.Good, minutesOf(job)))),
			reasonField(v, "confirm-reason"),
			h.Button(h.Type("submit"), g.Text(fmt.Sprintf("Enrol %d people", job.Good))),
		))
}

// minutesOf says how long the greetings take at least.
func minutesOf(job models.Cohort) string {
	minutes := (job.Good + job.PerMinute - 1) / max(job.PerMinute, 1)
	if minutes == 1 {
		return "1 minute"
	}
	return fmt.Sprintf("%d minutes", minutes)
}

func cancelForm(v *viewer, job models.Cohort) g.Node {
	return h.Details(h.ID("cancel"), h.Summary(g.Text("Cancel the import")),
		postForm(importPath+"/"+job.ID+"/cancel", h.Class("stack"),
			h.P(g.Text("Ends the import and erases the file. Who is enrolled stays so.")),
			reasonField(v, "cancel-reason"),
			h.Button(h.Type("submit"), g.Text("Cancel the import")),
		))
}

func cohortFaults(job models.Cohort) g.Node {
	shown := job.Faults[:min(len(job.Faults), shownFaults)]
	all := job.FaultCount + job.Skipped
	return h.Section(h.ID("faults"), h.H2(g.Text("Faults")),
		g.If(len(shown) < all, h.P(g.Text(fmt.Sprintf("The first %d of %d.", len(shown), all)))),
		h.P(h.A(h.Href(Path+importPath+"/"+job.ID+"/faults.csv"), g.Text("Download the faults as CSV"))),
		h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "Faults of the file"), h.TabIndex("0"), h.Table(
			h.THead(h.Tr(h.Th(g.Text("Line")), h.Th(g.Text("Column")), h.Th(g.Text("What is wrong")), h.Th(g.Text("Number")))),
			h.TBody(g.Map(shown, func(f models.CohortFault) g.Node {
				what := f.Message
				if f.Field != "" {
					what = f.Field + ": " + what
				}
				return h.Tr(idOf("fault", f.Line, f.Column, f.Kind, f.Field), h.Td(g.Text(placeIn(f.Line))), h.Td(g.Text(placeIn(f.Column))), h.Td(g.Text(what)), h.Td(numberOf(f)))
			})),
		)))
}

func placeIn(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}

// numberOf shows the number that a fault is about, with a link to who has it.
func numberOf(f models.CohortFault) g.Node {
	if f.ParticipantID == "" {
		return g.Text(f.Value)
	}
	name := f.Value
	if name == "" {
		name = f.ParticipantID
	}
	return h.A(h.Href(Path+"people/"+f.ParticipantID), g.Text(name))
}

func firstPeople(job models.Cohort) g.Node {
	return h.Section(h.ID("first"), h.H2(g.Text("The first people")),
		h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "The first people of the file"), h.TabIndex("0"), h.Table(
			h.THead(h.Tr(h.Th(g.Text("Line")), h.Th(g.Text("Phone")), h.Th(g.Text("Name")), h.Th(g.Text("Time zone")), h.Th(g.Text("Language")))),
			h.TBody(g.Map(job.First, func(p models.CohortPerson) g.Node {
				zone := p.Timezone
				switch {
				case p.ZoneSuggested:
					zone += " (from the number)"
				case p.ZoneAssumed:
					zone += " (assumed)"
				}
				return h.Tr(idOf("line", p.Line), h.Td(g.Text(strconv.Itoa(p.Line))), h.Td(g.Text(p.Phone)), h.Td(g.Text(p.Name)), h.Td(g.Text(zone)), h.Td(g.Text(p.Locale)))
			})),
		)))
}

func confirmCohort(v *viewer) (string, error) {
	job, err := send[models.Cohort](v, api.Request{Method: http.MethodPost, Path: cohortAPI(v) + "/confirm", Reason: v.request.PostFormValue("reason")})
	return importPath + "/" + job.ID, err
}

func cancelCohort(v *viewer) (string, error) {
	job, err := send[models.Cohort](v, api.Request{Method: http.MethodDelete, Path: cohortAPI(v), Reason: v.request.PostFormValue("reason")})
	return importPath + "/" + job.ID, err
}

// downloadFaults passes the API's file on.
func (c *Console) downloadFaults(w http.ResponseWriter, r *http.Request) {
	v, ok := c.viewerOf(w, r)
	if !ok {
		return
	}
	raw, err := c.callAPI(v, api.Request{Method: http.MethodGet, Path: cohortAPI(v) + "/faults"})
	if err != nil {
		c.explain(w, v, err)
		return
	}
	w.Header().Set("Content-Type", v.header.Get("Content-Type"))
	w.Header().Set("Content-Disposition", v.header.Get("Content-Disposition"))
	_, _ = w.Write(raw) // the browser has gone where this fails
}
