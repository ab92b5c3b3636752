package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/trial"
	"coachline/models"
)

// TestStudyVerify checks a record from a server, and the same record with one arm
// changed, from the server and from a file.
func TestStudyVerify(t *testing.T) {
	settings := models.StudySettings{Arms: []models.StudyArm{{Name: "texts", Weight: 1}, {Name: "calls", Weight: 1}}, Randomisation: models.Randomisation{Method: models.RandomBlocks}}
	design := trial.Design{StudyID: "walk-1", Seed: []byte(strings.Repeat("s", 32)), Arms: settings.Arms, Randomisation: settings.Randomisation}
	v := trial.NewVerifier(design)
	var rows []models.Allocation
	for n := range 6 {
		row, err := design.Allocate(v.Past("{}"), trial.Person{ParticipantID: fmt.Sprintf("conv_%d", n), By: "user:kim", At: time.Unix(int64(n), 0)})
		require.NoError(t, err)
		require.Nil(t, v.Check(row))
		rows = append(rows, row)
	}
	check := models.AllocationCheck{OK: true, Rows: 6, Head: rows[5].Hash}
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var result any = api.Study{ID: "walk-1", Settings: settings}
		switch {
		case strings.HasSuffix(r.URL.Path, "/check"):
			result = check
		case strings.HasSuffix(r.URL.Path, "/seed"):
			result = api.StudySeed{Seed: base64.StdEncoding.EncodeToString(design.Seed)}
		case r.Method == http.MethodPost:
			var asked api.NewAllocation
			_ = json.NewDecoder(r.Body).Decode(&asked)
			body = fmt.Sprint(asked)
			result = api.Allocated{ParticipantID: asked.ParticipantID, Number: 7}
		case strings.HasSuffix(r.URL.Path, "/allocations"):
			result = api.AllocationPage{Allocations: rows}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "ok", "result": result})
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	folder := t.TempDir()
	run := func(want int, args string) string {
		t.Helper()
		code, out, complaint := call(t, environ, strings.Fields(args)...)
		require.Equal(t, want, code, "%s\n%s", out, complaint)
		return out + complaint
	}
	save := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	seed := save("seed", run(exitDone, "study seed walk-1"))
	right := "The allocations are those that were drawn: 6 rows, head " + rows[5].Hash
	require.Contains(t, run(exitDone, "study verify walk-1"), right)
	require.Contains(t, run(exitDone, "study verify walk-1 --seed-file "+seed), right)
	record := save("record.json", run(exitDone, "study allocations walk-1 --json"))
	require.Contains(t, run(exitDone, "study verify walk-1 --seed-file "+seed+" --record "+record), right)
	require.Contains(t, run(exitDone, "study allocations walk-1"), "conv_5")
	require.Contains(t, run(exitDone, "study allocate walk-1 conv_9 --stratum site=north"), "conv_9 is allocated, number 7")
	require.Equal(t, "{conv_9 map[site:north]}", body)

	rows[3].Arm = map[string]string{"texts": "calls", "calls": "texts"}[rows[3].Arm]
	require.Contains(t, run(exitFailed, "study verify walk-1 --seed-file "+seed), "Row 4 is not right: the row or its hash was changed")
	tampered := save("tampered.json", run(exitDone, "study allocations walk-1 --json"))
	require.Contains(t, run(exitFailed, "study verify walk-1 --seed-file "+seed+" --record "+tampered), "Row 4 is not right")
	wrong := save("wrong", base64.StdEncoding.EncodeToString([]byte("another")))
	require.Contains(t, run(exitFailed, "study verify walk-1 --seed-file "+wrong), "Row 1 is not right")
	check = models.AllocationCheck{Rows: 3, BadRow: 4, Problem: "it was changed"}
	require.Contains(t, run(exitFailed, "study verify walk-1"), "Row 4 is not right: it was changed. The 3 rows before it are.")
	require.Contains(t, run(exitFailed, "study verify walk-1 --json"), `"bad_row": 4`)
	check = models.AllocationCheck{OK: true, Rows: 6, Head: rows[5].Hash, Decisions: &models.DecisionCheck{OK: true, People: 3, Rows: 40}}
	require.Contains(t, run(exitDone, "study verify walk-1"), "The decision points are those that were recorded: 40 rows of 3 people.\n")
	check.Decisions.Unchained = 2
	require.Contains(t, run(exitDone, "study verify walk-1"), "40 rows of 3 people, of whom 2 have rows without hashes only.")
	check.OK, check.Decisions = false, &models.DecisionCheck{Rows: 7, ParticipantID: "conv_1", BadRow: 8, Problem: "it was changed"}
	require.Contains(t, run(exitFailed, "study verify walk-1"), "Decision point 8 of participant conv_1 is not right: it was changed. The 7 rows before it are.")
	run(exitUsage, "study verify walk-1 --record "+record)
	run(exitUsage, "study allocate walk-1 conv_9 --stratum site")
}
