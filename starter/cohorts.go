package starter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/sheet"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/models"
)

const (
	cohortsPath = "/cohorts"
	cohortPath  = cohortsPath + "/{id}"
	// maxCohortFile is the largest file of people, in bytes.
	maxCohortFile = 8 << 20
	// cohortReadLimit is how long a file may take to come in.
	cohortReadLimit = 15 * time.Second
	csvType         = "text/csv"
	multipartType   = "multipart/form-data"
)

// fileTypes are the content types of a file as a whole.
var fileTypes = []string{csvType, "text/tab-separated-values", "text/plain", "application/octet-stream"}

type newCohortRequest struct {
	Type          string `header:"Content-Type"`
	DryRun        bool   `query:"dry_run" doc:"Check only; nothing is kept."`
	IgnoreUnknown bool   `query:"ignore_unknown" doc:"Leave out columns whose name is not known."`
	SkipFaulty    bool   `query:"skip_faulty" doc:"Enrol the people without a fault although others have one."`
	PerMinute     int    `query:"per_minute" minimum:"1" maximum:"6000" doc:"The most greetings that are planned for one minute; by default what the sender's rate leaves beside replies."`
	Study         string `query:"study" maxLength:"40" doc:"Id of the people's study, which must recruit; the study default where it is left out."`
	FileName      string `query:"file_name" maxLength:"200" doc:"Name of the file, shown to operators; a multipart body names it itself."`
	RawBody       []byte
}

type newCohortAnswer struct {
	Status   int
	Location string `header:"Location" doc:"Path of the import; missing after a dry run."`
	Body     api.Envelope[models.Cohort]
}

type cohortRequest struct {
	ID string `path:"id" maxLength:"64" doc:"Id of a cohort."`
}

// cohortRoutes answers what concerns imports of people, and carries them out.
type cohortRoutes struct {
	base
	cohorts  *store.Cohorts
	studies  *store.Studies
	audit    *store.Audit
	defaults Defaults
	resolver *study.Resolver
	numbers  *numbers
	// waking has jobs looked for before their time.
	waking chan struct{}
}

func newCohortRoutes(b base, cfg Config, resolver *study.Resolver, numbers *numbers) *cohortRoutes {
	s := cfg.Store
	return &cohortRoutes{b, s.Cohorts, s.Studies, s.Audit, cfg.Defaults, resolver, numbers, make(chan struct{}, 1)}
}

func (h *cohortRoutes) register(router huma.API) {
	upload := route{method: http.MethodPost, path: cohortsPath, id: "import-cohort", needs: auth.ParticipantEnrol, summary: "Check a CSV or TSV file of people who are to be enrolled",
		status: http.StatusCreated, maxBody: maxCohortFile, readLimit: cohortReadLimit, errors: []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}
	register(router, upload, h.importCohort)
	op := router.OpenAPI().Paths[cohortsPath].Post
	op.Responses["200"] = &huma.Response{Description: "What a dry run found", Content: op.Responses["201"].Content}
	text := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	form := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeObject, Required: []string{"file"}, Properties: map[string]*huma.Schema{
		"file": {Type: huma.TypeString, Format: "binary"},
	}}}
	op.RequestBody.Content = map[string]*huma.MediaType{csvType: text, "text/tab-separated-values": text, multipartType: form}
	register(router, route{method: http.MethodGet, path: cohortPath, id: "get-cohort", needs: auth.ParticipantEnrol, summary: "How far an import is, and its faults",
		errors: []int{http.StatusNotFound}}, h.getCohort)
	register(router, route{method: http.MethodPost, path: cohortPath + "/confirm", id: "confirm-cohort", needs: auth.ParticipantEnrol, summary: "Enrol the people of a checked file",
		errors: []int{http.StatusNotFound, http.StatusConflict}}, h.confirmCohort)
	register(router, route{method: http.MethodDelete, path: cohortPath, id: "cancel-cohort", needs: auth.ParticipantEnrol, summary: "End an import; who is enrolled stays so",
		errors: []int{http.StatusNotFound, http.StatusConflict}}, h.cancelCohort)
	faults := route{method: http.MethodGet, path: cohortPath + "/faults", id: "export-cohort-faults", needs: auth.ParticipantEnrol, summary: "The faults of a file as CSV",
		errors: []int{http.StatusNotFound}}
	register(router, faults, h.exportFaults)
	router.OpenAPI().Paths[faults.path].Get.Responses[strconv.Itoa(http.StatusOK)].Content = map[string]*huma.MediaType{csvType: text}
}

// importCohort checks a file. Without a fault (or where those with faults are to
// be left out) it waits for a confirmation.
func (h *cohortRoutes) importCohort(ctx context.Context, in *newCohortRequest) (*newCohortAnswer, error) {
	name, file, err := readUpload(in)
	if err != nil {
		return nil, err
	}
	id, err := newRandomID("coh_")
	if err != nil {
		return nil, h.toFailure("storing the file", err)
	}
	job := models.Cohort{
		ID: id, FileName: name, File: file, IgnoreUnknown: in.IgnoreUnknown, SkipFaulty: in.SkipFaulty,
		Region: h.defaults.Region, Zone: h.defaults.Zone, PerMinute: h.defaults.GreetingsPerMinute,
		StudyID: cmp.Or(in.Study, models.DefaultStudy), CreatedBy: actorOf(ctx), CreatedAt: h.now(),
	}
	if err := h.checkRecruiting(ctx, job.StudyID); err != nil {
		return nil, err
	}
	if in.PerMinute > 0 {
		job.PerMinute = in.PerMinute
	}
	if in.DryRun {
		return h.tryCohort(ctx, job)
	}
	if job, err = h.cohorts.CreateCohort(ctx, job); err != nil {
		return nil, h.toFailure("storing the file", err)
	}
	checked, err := h.checkCohort(ctx, job)
	if err != nil {
		return nil, h.toFailure("checking the file", err)
	}
	shown, err := toCohort(ctx, checked)
	return &newCohortAnswer{Status: http.StatusCreated, Location: cohortsPath + "/" + job.ID, Body: newAnswer(describeCheck(checked), shown).Body}, h.toFailure("checking the file", err)
}

// checkRecruiting refuses a study that does not take people in.
func (h *cohortRoutes) checkRecruiting(ctx context.Context, id string) error {
	study, err := h.studies.Study(ctx, id)
	switch {
	case errors.Is(err, models.ErrNotFound):
		return h.toFailure("finding the study", models.UnknownStudy("study", id))
	case err != nil:
		return h.toFailure("reading the study", err)
	case !study.State.CanEnrol():
		return newFailure(http.StatusBadRequest, "study: does not take people in: it is %s", study.State)
	}
	return nil
}

// tryCohort says what an import would find, and keeps nothing but an audit row.
func (h *cohortRoutes) tryCohort(ctx context.Context, job models.Cohort) (*newCohortAnswer, error) {
	check, err := h.checkFile(ctx, job)
	if err != nil {
		return nil, h.toFailure("checking the file", err)
	}
	job.ID, job.State = "", check.State
	job.Rows, job.Good, job.FaultCount, job.ZonesSuggested = check.Rows, check.Good, check.Faults, check.Suggested
	detail := strconv.Itoa(job.Rows) + " rows, " + strconv.Itoa(job.FaultCount) + " faults"
	if err := h.audit.RecordAudit(ctx, models.AuditRow{Actor: job.CreatedBy, Action: "cohort_dry_run", Detail: detail, At: job.CreatedAt}); err != nil {
		return nil, h.toFailure("checking the file", err)
	}
	body := newAnswer("Dry run: nothing was kept", showCohort(ctx, job, check.Report)).Body
	return &newCohortAnswer{Status: http.StatusOK, Body: body}, nil
}

// describeCheck says what a check found and what to do.
func describeCheck(job models.Cohort) string {
	if job.State == models.CohortFailed {
		return "The file cannot be imported; nothing was enrolled"
	}
	return "The file can be imported; confirm it to enrol its people"
}

// readUpload returns the name and the content of the file of a request.
func readUpload(in *newCohortRequest) (name string, file []byte, err error) {
	kind, params, err := mime.ParseMediaType(in.Type)
	switch {
	case err == nil && slices.Contains(fileTypes, kind):
		return in.FileName, in.RawBody, nil
	case err != nil || kind != multipartType:
		return "", nil, newFailure(http.StatusUnsupportedMediaType, "Content-Type: must be text/csv, text/tab-separated-values or multipart/form-data with a part named file")
	}
	form := multipart.NewReader(bytes.NewReader(in.RawBody), params["boundary"])
	part, err := form.NextPart()
	switch {
	case errors.Is(err, io.EOF):
		return "", nil, newFailure(http.StatusBadRequest, "file: is required, as a part of that name")
	case err != nil:
		return "", nil, newFailure(http.StatusBadRequest, "body: is no valid multipart form")
	case part.FormName() != "file":
		return "", nil, newFailure(http.StatusBadRequest, "body: has a part other than file")
	}
	if file, err = io.ReadAll(part); err != nil {
		return "", nil, newFailure(http.StatusBadRequest, "body: is no valid multipart form")
	}
	runes := []rune(part.FileName())
	return string(runes[:min(len(runes), 200)]), file, nil
}

func (h *cohortRoutes) getCohort(ctx context.Context, in *cohortRequest) (*answer[models.Cohort], error) {
	job, err := h.cohorts.Cohort(ctx, in.ID)
	return h.answerCohort(ctx, "", job, err)
}

// confirmCohort answers at once; the people are enrolled in the background.
func (h *cohortRoutes) confirmCohort(ctx context.Context, in *cohortRequest) (*answer[models.Cohort], error) {
	job, err := h.cohorts.ConfirmCohort(ctx, models.CohortStep{ID: in.ID, Actor: actorOf(ctx), Now: h.now()})
	if errors.Is(err, models.ErrConflict) {
		return nil, newFailure(http.StatusConflict, "the cohort is not ready; only a checked file that waits for its confirmation can be confirmed")
	}
	if err == nil {
		h.wake()
	}
	return h.answerCohort(ctx, "The people are being enrolled", job, err)
}

func (h *cohortRoutes) cancelCohort(ctx context.Context, in *cohortRequest) (*answer[models.Cohort], error) {
	job, err := h.cohorts.CancelCohort(ctx, models.CohortStep{ID: in.ID, Actor: actorOf(ctx), Now: h.now()})
	if errors.Is(err, models.ErrConflict) {
		return nil, newFailure(http.StatusConflict, "the cohort is over and cannot be canceled")
	}
	return h.answerCohort(ctx, "The import is canceled; who is enrolled stays so", job, err)
}

func (h *cohortRoutes) answerCohort(ctx context.Context, message string, job models.Cohort, err error) (*answer[models.Cohort], error) {
	if err != nil {
		return nil, h.toFailure("reading the cohort", asMissing("cohort", err))
	}
	shown, err := toCohort(ctx, job)
	return newAnswer(message, shown), h.toFailure("reading the cohort", err)
}

// exportFaults writes the faults as a table for a spreadsheet.
func (h *cohortRoutes) exportFaults(ctx context.Context, in *cohortRequest) (*fileAnswer, error) {
	found, err := h.getCohort(ctx, in)
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"line", "column", "kind", "field", "phone_number", "participant_id", "message"}}
	for _, f := range found.Body.Result.Faults {
		rows = append(rows, []string{strconv.Itoa(f.Line), strconv.Itoa(f.Column), f.Kind, f.Field, f.Value, f.ParticipantID, f.Message})
	}
	raw, err := sheet.Write(rows)
	return &fileAnswer{Type: csvType + "; charset=utf-8", Disposition: `attachment; filename="faults.csv"`, Body: raw}, h.toFailure("writing the faults", err)
}

func toCohort(ctx context.Context, job models.Cohort) (models.Cohort, error) {
	report, err := job.ReadReport()
	return showCohort(ctx, job, report), err
}

// showCohort leaves numbers and names out for callers who may not see them.
func showCohort(ctx context.Context, job models.Cohort, report models.CohortReport) models.Cohort {
	job.Faults, job.First = copyNonNil(report.Faults), make([]models.CohortPerson, len(report.First))
	if !report.LastGreetingAt.IsZero() {
		job.LastGreetingAt = &report.LastGreetingAt
	}
	personal := canSeePersonal(ctx)
	for i, p := range report.First {
		job.First[i] = models.CohortPerson{Line: p.Line, Timezone: p.Timezone, ZoneAssumed: p.ZoneAssumed, ZoneSuggested: p.ZoneSuggested, Locale: p.Locale}
		if personal {
			job.First[i].Phone, job.First[i].Name = p.Phone, p.Name
		}
	}
	if personal {
		return job
	}
	job.FileName = ""
	for i := range job.Faults {
		job.Faults[i].Value = ""
	}
	return job
}
