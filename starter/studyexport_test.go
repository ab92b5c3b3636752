package starter

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/export"
)

// unzip returns the files of an archive.
func unzip(t *testing.T, raw string) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(strings.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range archive.File {
		in, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		files[f.Name] = string(text)
	}
	return files
}

// TestStudyExportRoute exports a study as an administrator, who sees the arms, and
// with a token that may only export.
func TestStudyExportRoute(t *testing.T) {
	h := startWithAccess(t, nil)
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"walk-1","name":"Walk","settings":` + walkSettings + `}`})
	h.do(call{method: "PUT", path: studiesPath + "/walk-1", body: `{"state":"recruiting"}`})
	for n := range 3 {
		enrolled := h.do(call{method: "POST", path: participantsPath, body: fmt.Sprintf(`{"phone_number":"+1212555010%d","study":"walk-1","strata":{"site":"north"}}`, n)})
		require.Equal(t, http.StatusCreated, enrolled.status, enrolled.raw)
	}
	path := studiesPath + "/walk-1/export"
	whole := h.do(call{method: "GET", path: path})
	require.Equal(t, http.StatusOK, whole.status, whole.raw)
	require.Equal(t, zipType, whole.header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="walk-1.zip"`, whole.header.Get("Content-Disposition"))
	require.True(t, readManifest(t, whole.raw).Arms)
	require.True(t, readManifest(t, whole.raw).Audit)
	require.Contains(t, unzip(t, whole.raw)["audit.csv"], "study_add,operator,")
	require.Contains(t, unzip(t, whole.raw)["allocations.csv"], "texts")
	require.Equal(t, whole.raw, h.do(call{method: "GET", path: path}).raw)

	both := unzip(t, h.do(call{method: "GET", path: path + "?format=both"}).raw)
	require.Equal(t, unzip(t, whole.raw)["messages.csv"], both["messages.csv"])
	require.Contains(t, both, "messages.parquet")
	require.NotContains(t, unzip(t, h.do(call{method: "GET", path: path + "?format=parquet"}).raw), "messages.csv")
	h.refused(call{method: "GET", path: path + "?format=xlsx"}, http.StatusBadRequest, "format")

	_, blind := h.token(auth.ExportRead)
	blinded := h.do(call{method: "GET", path: path, header: map[string]string{"Authorization": "Bearer " + blind}})
	require.Equal(t, http.StatusOK, blinded.status, blinded.raw)
	require.False(t, readManifest(t, blinded.raw).Arms)
	require.False(t, readManifest(t, blinded.raw).Audit)
	require.NotContains(t, unzip(t, blinded.raw), "audit.csv")
	require.NotContains(t, unzip(t, blinded.raw)["allocations.csv"], "texts")
	rows, err := csv.NewReader(strings.NewReader(unzip(t, blinded.raw)["allocations.csv"])).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 4)

	_, reader := h.token(auth.ExportRead, auth.PersonalRead)
	withTexts := call{method: "GET", path: path + "?texts=true", header: map[string]string{"Authorization": "Bearer " + reader}}
	read := h.do(withTexts)
	require.Equal(t, http.StatusOK, read.status, read.raw)
	require.True(t, readManifest(t, read.raw).Texts)
	require.Contains(t, unzip(t, read.raw)["messages.csv"], ",text\n")
	withTexts.header = map[string]string{"Authorization": "Bearer " + blind}
	h.refused(withTexts, http.StatusForbidden, "texts: permission personal:read is needed")
	require.False(t, readManifest(t, whole.raw).Texts)

	_, other := h.token(auth.StudyRead, auth.AllocationRead)
	h.refused(call{method: "GET", path: path, header: map[string]string{"Authorization": "Bearer " + other}}, http.StatusForbidden, "export:read")
	h.refused(call{method: "GET", path: studiesPath + "/none/export"}, http.StatusNotFound, "study not found")

	var audited []string
	for _, row := range result[api.AuditPage](t, h.do(call{method: "GET", path: auditPath + "?limit=200"})).Rows {
		if row.Action == readExport || row.Action == readTexts {
			audited = append(audited, row.Action+" "+row.Actor+" "+row.Object+" "+row.ParticipantID)
		}
	}
	want := []string{"export_texts token:script study:walk-1 ", "export token:script study:walk-1 ", "export operator study:walk-1 "}
	require.Equal(t, want, audited)
}

func readManifest(t *testing.T, raw string) export.Manifest {
	t.Helper()
	var manifest export.Manifest
	require.NoError(t, json.Unmarshal([]byte(unzip(t, raw)[export.ManifestName]), &manifest))
	return manifest
}
