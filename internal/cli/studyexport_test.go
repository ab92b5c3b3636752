package cli

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/export"
	"coachline/models"
)

// nobody is a study without people; the methods that have no rows do nothing.
type nobody struct{ models.StudyRows }

func (nobody) People(func(models.StudyPerson) error) error                             { return nil }
func (nobody) Turns(func(models.StudyPerson, models.Turn) error) error                 { return nil }
func (nobody) Prompts(func(models.StudyPerson, models.Prompt) error) error             { return nil }
func (nobody) Outbound(func(models.StudyPerson, models.Outbox) error) error            { return nil }
func (nobody) Inbound(func(models.StudyPerson, models.Inbound) error) error            { return nil }
func (nobody) Decisions(func(models.StudyPerson, models.DecisionOutcome) error) error  { return nil }
func (nobody) Allocations(func(models.StudyPerson, models.Allocation) error) error     { return nil }
func (nobody) Disclosures(func(models.StudyPerson, models.Disclosure) error) error     { return nil }
func (nobody) Alerts(func(models.StudyPerson, models.Alert) error) error               { return nil }
func (nobody) StudyConsents(func(models.StudyPerson, models.StudyConsent) error) error { return nil }
func (nobody) Costs(func(models.StudyPerson, models.Cost) error) error                 { return nil }
func (nobody) Audit(func(models.StudyPerson, models.AuditRow) error) error             { return nil }

// TestStudyExport unpacks an archive into a new folder, and leaves nothing where the
// archive is not whole.
func TestStudyExport(t *testing.T) {
	raw := exportOfNobody(t, export.FormatCSV)
	changed := bytes.ReplaceAll(raw, []byte("step,people\nenrolled,0"), []byte("step,people\nenrolled,9"))
	require.NotEqual(t, raw, changed)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/studies/walk-1/export":
			_, _ = w.Write(exportOfNobody(t, export.Format(r.URL.Query().Get("format"))))
		case "/studies/words/export":
			assert.Equal(t, "true", r.URL.Query().Get("texts"))
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"status":"error","message":"texts: permission personal:read is needed"}`))
		case "/studies/half/export":
			_, _ = w.Write(raw[:len(raw)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/studies/changed/export":
			_, _ = w.Write(changed)
		case "/studies/outside/export":
			_, _ = w.Write(archiveOf(t, "../out.csv", "x"))
		case "/studies/other/export":
			_, _ = w.Write(archiveOf(t, "a.csv", "x"))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"status":"error","message":"study not found"}`))
		}
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	folder := t.TempDir()
	to := filepath.Join(folder, "out")

	for study, want := range map[string]string{"none": "study not found", "half": "unexpected EOF", "changed": "checksum error", "outside": "not in its manifest", "other": "a.csv is not as its manifest says"} {
		code, _, complaint := call(t, environ, "study", "export", study, "--out", to)
		require.Equal(t, exitFailed, code, study)
		require.Contains(t, complaint, want, study)
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, study)
	}
	code, out, complaint := call(t, environ, "study", "export", "walk-1", "--out", to)
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, out, "consort       7")
	require.Contains(t, out, "The arms are left out")
	require.Contains(t, out, "The audit is left out")
	for _, name := range []string{"manifest.json", "datapackage.json", "load.py", "load.R", "redcap_dictionary.csv", "participants.csv", "consort.svg"} {
		info, err := os.Stat(filepath.Join(to, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	require.NoFileExists(t, filepath.Join(to, "export.zip"))

	code, _, complaint = call(t, environ, "study", "export", "walk-1", "--out", to)
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "file exists")
	code, _, complaint = call(t, environ, "study", "export", "walk-1")
	require.Equal(t, exitUsage, code)
	require.Contains(t, complaint, "--out is needed")

	both := to + "-both"
	code, out, complaint = call(t, environ, "study", "export", "walk-1", "--out", both, "--format", "both")
	require.Equal(t, exitDone, code, complaint)
	require.Equal(t, 1, strings.Count(out, "consort "), out)
	require.FileExists(t, filepath.Join(both, "participants.csv"))
	require.FileExists(t, filepath.Join(both, "participants.parquet"))
	code, _, complaint = call(t, environ, "study", "export", "words", "--out", to+"-words", "--texts")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "texts: permission personal:read is needed")
	code, _, complaint = call(t, environ, "study", "export", "walk-1", "--out", to+"-xls", "--format", "xls")
	require.Equal(t, exitUsage, code)
	require.Contains(t, complaint, `"xls" is no format; the formats are csv, parquet and both`)
}

func exportOfNobody(t *testing.T, format export.Format) []byte {
	t.Helper()
	var archive bytes.Buffer
	study := models.Study{ID: "walk-1", PseudonymKey: []byte(strings.Repeat("k", 32))}
	require.NoError(t, export.Write(&archive, export.Input{Study: study, Rows: nobody{}, Format: format}))
	return archive.Bytes()
}

// archiveOf is an archive of one file, whose checksum in the manifest is another's.
func archiveOf(t *testing.T, name, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range [][2]string{{name, text}, {export.ManifestName, `{"files":[{"name":"` + name + `","sha256":"00"}]}`}} {
		w, err := archive.Create(f[0])
		require.NoError(t, err)
		_, err = w.Write([]byte(f[1]))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	return out.Bytes()
}
