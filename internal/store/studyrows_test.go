package store_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/export"
	"coachline/models"
)

const armsAndPoints = `{"arms":[{"name":"=calm","weight":1},{"name":"walk","weight":1}],"randomisation":{"method":"simple"},` +
	`"decision_points":{"policy":"-coin","options":[{"name":"send","probability":0.5,"send":true},{"name":"none","probability":0.5}]}}`

// toAdmin is an export for a reader who sees everything.
var toAdmin = export.Input{Arms: true, Audit: true}

// export returns the archive of a study and its files.
func (w *world) export(study string, in export.Input) (raw []byte, files map[string]string) {
	w.t.Helper()
	var out bytes.Buffer
	require.NoError(w.t, w.Studies.ReadStudy(w.ctx, models.StudyReading{ID: study, Now: start.AddDate(1, 0, 0), Texts: in.Texts}, func(s models.Study, rows models.StudyRows) error {
		in.Study, in.Rows = s, rows
		return export.Write(&out, in)
	}))
	archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(w.t, err)
	files = map[string]string{}
	for _, f := range archive.File {
		in, err := f.Open()
		require.NoError(w.t, err)
		text, err := io.ReadAll(in)
		require.NoError(w.t, err)
		files[f.Name] = string(text)
	}
	return out.Bytes(), files
}

// readTable returns the rows of a table by their fields.
func readTable(t *testing.T, text string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	var out []map[string]string
	for _, row := range rows[1:] {
		one := map[string]string{}
		for i, name := range rows[0] {
			one[name] = row[i]
		}
		out = append(out, one)
	}
	return out
}

// exportStory has 120 people in a study, of whom one does something of everything
// and is erased, and one person in the study default.
func (w *world) exportStory() {
	w.t.Helper()
	require.NoError(w.t, w.Studies.EnsureStudySecrets(w.ctx))
	w.newStudy(walkStudy, armsAndPoints)
	_, err := w.Studies.AddConsentText(w.ctx, models.ConsentText{StudyID: walkStudy, Locale: "en-US", Body: "I agree.", CreatedBy: "user:kim", CreatedAt: at(0)})
	require.NoError(w.t, err)
	p := person("p1", phone)
	p.StudyID, p.Name = walkStudy, "Thessalonika "+canary
	_, err = w.People.EnrollOnce(w.ctx, p, models.Enrolment{Actor: "user:kim"})
	require.NoError(w.t, err)
	for n := range 119 {
		_, err := w.enrolIn(walkStudy, n, nil)
		require.NoError(w.t, err)
	}
	other := person("q1", "+12025550188")
	_, err = w.People.EnrollOnce(w.ctx, other, models.Enrolment{Actor: "user:kim"})
	require.NoError(w.t, err)
	_, err = w.Studies.RecordStudyConsent(w.ctx, models.StudyConsent{ParticipantID: "p001", StudyID: walkStudy, Version: 1, Locale: "en-US", Method: models.MethodForm, Given: true, RecordedBy: "user:kim", At: at(1)}, at(1))
	require.NoError(w.t, err)
	for n := range 3 {
		w.exchange(n + 1)
		w.spend(n+1, models.Usage{Prompt: 100, Completion: 5})
	}
	for day := 5; day < 15; day++ {
		w.beginSlot(day)
	}
	w.inbound("SM-answer", int(slotPlan(7).Slot.SendAt.Sub(start).Minutes())+5, "I walked to the park after lunch and it was good, says "+canary)
	w.inbound("SM-alert", int(slotPlan(20).Slot.SendAt.Sub(start).Minutes()), "i want to kill myself, says "+canary)
	require.NoError(w.t, w.Costs.RecordCosts(w.ctx, priceList(w.t)))
}

func TestExportOfAStudy(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.exportStory()
		raw, files := w.export(walkStudy, toAdmin)
		again, _ := w.export(walkStudy, toAdmin)
		require.True(t, bytes.Equal(raw, again), "equal rows give equal bytes")

		of := " WHERE participant_id IN (SELECT id FROM participants WHERE study_id = 'walk-1')"
		want := map[string]int{
			"participants": 120, "turns": w.count("SELECT count(*) FROM turns" + of), "prompts": w.count("SELECT count(*) FROM prompts" + of),
			"messages":  w.count("SELECT (SELECT count(*) FROM inbound" + of + ") + (SELECT count(*) FROM outbox" + of + ")"),
			"decisions": w.count("SELECT count(*) FROM decisions" + of), "allocations": 120,
			"consents": 1, "alerts": w.count("SELECT count(*) FROM alarms" + of), "costs": w.count("SELECT count(*) FROM costs" + of), "consort": 9,
		}
		want["audit"] = w.count("SELECT count(*) FROM audit"+of) + w.count("SELECT count(*) FROM audit WHERE participant_id = '' AND object = 'study:walk-1'")
		for name, rows := range want {
			require.Positive(t, rows, name)
			require.Len(t, readTable(t, files[name+".csv"]), rows, name)
		}
		require.Equal(t, w.count("SELECT sum(micros) FROM costs"+of), sumOf(t, files["costs.csv"], "micros"))
		outcomes, answered := w.decisions(start.AddDate(1, 0, 0)), 0
		for _, d := range outcomes {
			if *d.Answered {
				answered++
			}
		}
		require.Equal(t, 1, answered)
		require.Equal(t, answered, sumOf(t, files["decisions.csv"], "outcome"))
		requireReferences(t, files)
		requireManifest(t, files, want)
		for _, needle := range []string{canary, "Thessalonika", "p001", "p1-", "5558675310", "Well done", "user:kim"} {
			require.NotContains(t, string(raw), needle)
		}
		people := readTable(t, files["participants.csv"])
		require.Contains(t, []string{"'=calm", "walk"}, people[0]["arm"])
		require.Equal(t, "2026-03-02T09:00:00.000000Z", people[0]["enrolled_utc"])
		require.Equal(t, "2026-03-02T04:00:00.000000-05:00", people[0]["enrolled_local"])
		require.Equal(t, "America/New_York", people[0]["enrolled_zone"])
		require.Equal(t, "'-coin", readTable(t, files["decisions.csv"])[0]["policy"])
	})
}

// TestBlindedExport: without the permission nothing tells the arm.
func TestBlindedExport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.exportStory()
		raw, files := w.export(walkStudy, export.Input{})
		require.NotContains(t, string(raw), "calm")
		require.NotContains(t, string(raw), "bench")
		require.NotContains(t, files, "audit.csv")
		require.NotContains(t, files["datapackage.json"], "audit")
		require.NotContains(t, files["redcap_dictionary.csv"], "audit")
		require.NotContains(t, files["load.py"], "audit")
		for name, text := range files {
			if strings.HasSuffix(name, ".csv") && name != "redcap_dictionary.csv" {
				require.NotContains(t, strings.Split(strings.SplitN(text, "\n", 2)[0], ","), "arm", name)
			}
		}
		require.Len(t, readTable(t, files["allocations.csv"]), 120)
		require.Equal(t, "120", readTable(t, files["consort.csv"])[1]["people"])
	})
}

// TestAuditOfAnExport: the table has what was done to the study and its people, and
// names no operator.
func TestAuditOfAnExport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.exportStory()
		_, plain := w.export(walkStudy, toAdmin)
		for i, study := range []string{walkStudy, models.DefaultStudy} {
			_, err := w.Budgets.SetBudget(w.ctx, models.Budget{Scope: models.BudgetStudy, StudyID: study, Period: models.BudgetMonth, Micros: 1000, WarnPercent: 80, Currency: "USD", CreatedBy: "user:lee", UpdatedAt: at(9)})
			require.NoError(t, err)
			_, err = w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldStudy, ScopeID: study, Reason: canary, CreatedBy: "user:lee", CreatedAt: at(9), Until: at(99)})
			require.NoError(t, err)
			_, err = w.Cohorts.CreateCohort(w.ctx, models.Cohort{ID: fmt.Sprint("c", i), StudyID: study, FileName: canary, File: []byte("phone\n"), CreatedBy: "token:site", CreatedAt: at(9)})
			require.NoError(t, err)
		}
		raw, files := w.export(walkStudy, toAdmin)
		rows := readTable(t, files["audit.csv"])
		require.Len(t, rows, len(readTable(t, plain["audit.csv"]))+3)
		kinds, actors := map[string]string{}, map[string]string{}
		for _, row := range rows {
			kinds[row["action"]] += row["actor_kind"] + " "
			actors[row["action"]] = row["actor"]
			require.Equal(t, row["actor"] != "", slices.Contains([]string{"user", "token"}, row["actor_kind"]), row)
			if slices.Contains([]string{"study_add", "hold", "budget", "cohort_upload"}, row["action"]) {
				require.Empty(t, row["participant"])
			}
		}
		require.Equal(t, "user ", kinds["budget"])
		require.Equal(t, "user ", kinds["hold"])
		require.Equal(t, "token ", kinds["cohort_upload"])
		require.Equal(t, actors["study_add"], actors["consent_text_add"])
		require.Equal(t, actors["budget"], actors["hold"])
		require.NotEqual(t, actors["budget"], actors["study_add"])
		require.Equal(t, strings.Repeat("user ", 120), kinds["enroll"])
		for _, needle := range []string{canary, "user:", "token:", "kim", "lee"} {
			require.NotContains(t, files["audit.csv"], needle)
		}
		require.NotContains(t, string(raw), canary)
	})
}

// TestTextsOfAnExport: what was written is there only where it was asked for, masked,
// and marked as personal.
func TestTextsOfAnExport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.exportStory()
		w.inbound("SM-masked", 60*24*21, "=call (202) 555-0148 or mail ada@example.org")
		_, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM-other", From: "+12025550188", To: "+15017122661", Body: "of another study", ReceivedAt: at(9)})
		require.NoError(t, err)
		_, plain := w.export(walkStudy, toAdmin)
		require.NotContains(t, plain["messages.csv"], "text")
		require.NotContains(t, plain["datapackage.json"], `"name": "text"`)

		raw, files := w.export(walkStudy, export.Input{Texts: true, Format: export.FormatBoth})
		words := map[string]bool{}
		for _, row := range readTable(t, files["messages.csv"]) {
			words[row["direction"]+" "+row["text"]] = true
			require.NotEmpty(t, row["text"])
		}
		require.Contains(t, words, "in I walked to the park after lunch and it was good, says "+canary)
		require.Contains(t, words, "in '=call [REDACTED_PHONE] or mail [REDACTED_EMAIL]")
		require.Contains(t, files["messages.csv"], "Well done")
		for _, needle := range []string{"555-0148", "ada@example.org", "of another study", "Thessalonika"} {
			require.NotContains(t, string(raw), needle)
		}
		require.Contains(t, files["messages.parquet"], "=call [REDACTED_PHONE] or mail [REDACTED_EMAIL]")
		require.Regexp(t, `"name": "text",\s+"type": "string",\s+"description": "[^"]+",\s+"pii": true`, files["datapackage.json"])
		require.Equal(t, 2, strings.Count(files["datapackage.json"], `"name": "text"`))
		var manifest export.Manifest
		require.NoError(t, json.Unmarshal([]byte(files[export.ManifestName]), &manifest))
		require.True(t, manifest.Texts)
		dictionary := readTable(t, files["redcap_dictionary.csv"])
		i := slices.IndexFunc(dictionary, func(row map[string]string) bool { return row["Variable / Field Name"] == "messages_text" })
		require.GreaterOrEqual(t, i, 0)
		require.Equal(t, "y", dictionary[i]["Identifier?"])

		w.beginErasure(60 * 24 * 22)
		w.eraseAll("p1", 60*24*22+1)
		raw, _ = w.export(walkStudy, export.Input{Texts: true})
		require.NotContains(t, string(raw), canary)
	})
}

func TestPseudonymsDifferBetweenStudies(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.exportStory()
		_, walk := w.export(walkStudy, toAdmin)
		require.NoError(t, w.Studies.ReadStudy(w.ctx, models.StudyReading{ID: walkStudy, Now: at(0)}, func(s models.Study, rows models.StudyRows) error {
			other, err := w.Studies.Study(w.ctx, models.DefaultStudy)
			require.NoError(t, err)
			s.PseudonymKey = other.PseudonymKey
			var out bytes.Buffer
			require.NoError(t, export.Write(&out, export.Input{Study: s, Rows: rows}))
			for _, p := range readTable(t, walk["participants.csv"]) {
				require.NotContains(t, out.String(), p["participant"])
			}
			return nil
		}))
		_, own := w.export(models.DefaultStudy, toAdmin)
		require.Len(t, readTable(t, own["participants.csv"]), 1)
	})
}

// TestErasedPersonInAnExport: the figures of a person who was erased stay, under the
// same pseudonym.
func TestErasedPersonInAnExport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.exportStory()
		_, before := w.export(walkStudy, toAdmin)
		w.beginErasure(60 * 24 * 20)
		w.eraseAll("p1", 60*24*20+1)
		raw, after := w.export(walkStudy, toAdmin)
		require.NotContains(t, string(raw), canary)
		erased := slices.IndexFunc(readTable(t, after["participants.csv"]), func(p map[string]string) bool { return p["timezone"] == "UTC" })
		require.GreaterOrEqual(t, erased, 0)
		require.Equal(t, readTable(t, before["participants.csv"])[erased]["participant"], readTable(t, after["participants.csv"])[erased]["participant"])
		require.Empty(t, readTable(t, after["participants.csv"])[erased]["locale"])
		require.Len(t, readTable(t, after["prompts.csv"]), len(readTable(t, before["prompts.csv"])))
	})
}

func TestPythonLoader(t *testing.T) {
	python := findProgram(t, "python3")
	folder, files := writeExport(t)
	printed, err := osexec.CommandContext(t.Context(), python, filepath.Join(folder, "load.py")).CombinedOutput()
	require.NoError(t, err, string(printed))
	require.Contains(t, string(printed), "participants 120\n")
	require.Contains(t, string(printed), fmt.Sprintf("messages %d\n", len(readTable(t, files["messages.csv"]))))

	code := "import load; print(sorted({p['arm'] for p in load.load_table('participants')}), load.load_table('decisions')[0]['policy'])"
	run := osexec.CommandContext(t.Context(), python, "-c", code)
	run.Dir = folder
	printed, err = run.CombinedOutput()
	require.NoError(t, err, string(printed))
	require.Equal(t, "['=calm', 'walk'] -coin\n", string(printed))

	require.NoError(t, os.WriteFile(filepath.Join(folder, "costs.csv"), []byte("cost\n"), 0o600))
	printed, err = osexec.CommandContext(t.Context(), python, filepath.Join(folder, "load.py")).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(printed), "costs.csv is not as it was exported")
}

func TestRLoader(t *testing.T) {
	rscript := findProgram(t, "Rscript")
	folder, files := writeExport(t)
	run := func(args ...string) string {
		cmd := osexec.CommandContext(t.Context(), rscript, args...)
		cmd.Dir = folder
		printed, err := cmd.CombinedOutput()
		require.NoError(t, err, string(printed))
		return string(printed)
	}
	printed := run("load.R")
	for name, text := range files {
		if table, isTable := strings.CutSuffix(name, ".csv"); isTable && table != "redcap_dictionary" {
			require.Contains(t, printed, fmt.Sprintf("%s %d \n", table, len(readTable(t, text))), name)
		}
	}
	code := `source("load.R"); all <- load_all(); d <- all$decisions
cat(sort(unique(all$participants$arm)), d$policy[1], class(d$availability), class(d$rand_prob), class(d$decided_utc)[1], "\n")
cat(format(min(d$decided_utc), "%Y-%m-%dT%H:%M:%OS6Z"), sum(d$availability), "\n")`
	decisions := readTable(t, files["decisions.csv"])
	available, first := 0, decisions[0]["decided_utc"]
	for _, d := range decisions {
		if d["availability"] == "1" {
			available++
		}
		first = min(first, d["decided_utc"])
	}
	require.Equal(t, fmt.Sprintf("=calm walk -coin numeric numeric POSIXct \n%s %d \n", first, available), run("-e", code))
}

// findProgram skips where the machine has no such interpreter; in continuous
// integration it has to be there.
func findProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := osexec.LookPath(name)
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("this machine has no ", name, ": ", err)
	}
	require.NoError(t, err)
	return path
}

// writeExport exports a study to a folder and returns the folder and its files.
func writeExport(t *testing.T) (string, map[string]string) {
	t.Helper()
	w := onSQLite(t)
	w.exportStory()
	_, files := w.export(walkStudy, export.Input{Arms: true, Audit: true, Format: export.FormatBoth})
	folder := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder, files
}

func sumOf(t *testing.T, text, field string) int {
	t.Helper()
	total := 0
	for _, row := range readTable(t, text) {
		if row[field] != "" {
			n, err := strconv.Atoi(row[field])
			require.NoError(t, err)
			total += n
		}
	}
	return total
}

// requireReferences checks that keys are unique and that every reference of the data
// package is found, and that its fields are those of the files.
func requireReferences(t *testing.T, files map[string]string) {
	t.Helper()
	var described struct {
		Resources []struct {
			Name, Path string
			Schema     struct {
				Fields      []struct{ Name string }
				PrimaryKey  []string
				ForeignKeys []struct {
					Fields    []string
					Reference struct {
						Resource string
						Fields   []string
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(files["datapackage.json"]), &described))
	keys := map[string]map[string]bool{}
	for _, r := range described.Resources {
		keys[r.Name] = map[string]bool{}
		for _, row := range readTable(t, files[r.Path]) {
			key := row[r.Schema.PrimaryKey[0]]
			require.NotEmpty(t, key)
			require.False(t, keys[r.Name][key], "%s %s is there twice", r.Name, key)
			keys[r.Name][key] = true
		}
		var names []string
		for _, f := range r.Schema.Fields {
			names = append(names, f.Name)
		}
		require.Equal(t, strings.SplitN(files[r.Path], "\n", 2)[0], strings.Join(names, ","))
	}
	for _, r := range described.Resources {
		for _, k := range r.Schema.ForeignKeys {
			for _, row := range readTable(t, files[r.Path]) {
				value := row[k.Fields[0]]
				require.True(t, value == "" || keys[k.Reference.Resource][value], "%s.%s %s", r.Name, k.Fields[0], value)
			}
		}
	}
}

var variable = regexp.MustCompile(`^[a-z][a-z0-9_]{0,99}$`)

// requireManifest checks the checksums and counts of the manifest, and that variables
// of the REDCap dictionary are unique.
func requireManifest(t *testing.T, files map[string]string, rows map[string]int) {
	t.Helper()
	var manifest export.Manifest
	require.NoError(t, json.Unmarshal([]byte(files[export.ManifestName]), &manifest))
	require.Len(t, manifest.Files, len(files)-1)
	for _, f := range manifest.Files {
		sum := sha256.Sum256([]byte(files[f.Name]))
		require.Equal(t, hex.EncodeToString(sum[:]), f.SHA256, f.Name)
		require.Len(t, files[f.Name], int(f.Bytes))
		if f.Rows != nil {
			require.Equal(t, rows[strings.TrimSuffix(f.Name, filepath.Ext(f.Name))], int(*f.Rows), f.Name)
		}
	}
	seen := map[string]bool{}
	for _, row := range readTable(t, files["redcap_dictionary.csv"]) {
		name := row["Variable / Field Name"]
		require.Regexp(t, variable, name)
		require.False(t, seen[name], name)
		seen[name] = true
	}
}
