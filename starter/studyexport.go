package starter

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coachline/internal/auth"
	"coachline/internal/export"
	"coachline/internal/wrap"
	"coachline/models"
)

// exportBuffer is how much of a study's archive is written at once, in bytes.
const exportBuffer = 64 << 10

type studyExportRequest struct {
	ID     string        `path:"id" maxLength:"40" doc:"Id of a study."`
	Format export.Format `query:"format" enum:"csv,parquet,both" default:"csv" doc:"As which files the tables are written."`
	Texts  bool          `query:"texts" doc:"Messages with their words, masked. Needs personal:read."`
}

func (h *studyRoutes) registerStudyExport(router huma.API) {
	r := route{method: http.MethodGet, path: studyPath + "/export", id: "export-study", needs: auth.ExportRead, reads: readExport,
		summary: "The rows of a study under pseudonyms, as tables in a zip archive; arms need allocation:read, the audit audit:read, texts personal:read", errors: []int{http.StatusNotFound}}
	register(router, r, h.exportStudy)
	answers := router.OpenAPI().Paths[r.path].Get.Responses[strconv.Itoa(http.StatusOK)]
	answers.Content = map[string]*huma.MediaType{zipType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
}

// exportStudy writes the archive from one state of the database. The audit has its
// row before the first byte goes out: who breaks off has read something too. What
// fails in the middle breaks the connection off.
func (h *studyRoutes) exportStudy(ctx context.Context, in *studyExportRequest) (*huma.StreamResponse, error) {
	if in.Texts && !canSeePersonal(ctx) {
		return nil, newFailure(http.StatusForbidden, "texts: permission %s is needed", auth.PersonalRead)
	}
	if _, err := h.studies.Study(ctx, in.ID); err != nil {
		return nil, h.toFailure("exporting the study", asMissing("study", err))
	}
	who, _ := auth.IdentityOf(ctx)
	input := export.Input{Arms: who.Can(auth.AllocationRead), Audit: who.Can(auth.AuditRead), Texts: in.Texts, Format: in.Format}
	h.readings.record(ctx, reading{actor: actorOf(ctx), object: studyObject(in.ID), action: readExport}, false)
	if in.Texts {
		h.readings.record(ctx, reading{actor: actorOf(ctx), object: studyObject(in.ID), action: readTexts}, false)
	}
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		answer.SetHeader("Content-Type", zipType)
		answer.SetHeader("Content-Disposition", `attachment; filename="`+in.ID+`.zip"`)
		answer.SetStatus(http.StatusOK)
		_, w := humago.Unwrap(answer)
		out := bufio.NewWriterSize(&patientWriter{w: w, control: http.NewResponseController(w)}, exportBuffer)
		err := h.studies.ReadStudy(ctx, models.StudyReading{ID: in.ID, Now: h.now(), Texts: in.Texts}, func(study models.Study, rows models.StudyRows) error {
			input.Study, input.Rows = study, rows
			return export.Write(out, input)
		})
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			h.log.Error("exporting a study failed in the middle; the client sees a broken connection", "study", in.ID, "error", err)
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// patientWriter gives the client exportPause for each part of a long answer.
type patientWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// Write writes a part.
func (p *patientWriter) Write(raw []byte) (int, error) {
	// A writer inside of this process has no deadline.
	_ = p.control.SetWriteDeadline(time.Now().Add(exportPause))
	n, err := p.w.Write(raw)
	return n, wrap.Error(err, "sending the archive")
}

func studyObject(id string) string { return "study:" + id }
