package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// notHeld lists tables with columns that are classed with people and have no rows of
// one: why.
var notHeld = map[string]string{
	"cohort_jobs":         "files of many people",
	"changes":             "which pages to draw anew, a thousand at most",
	"audit_checks":        "hashes of the whole audit",
	"decision_posteriors": "sums over the people of a study",
}

// TestPersonDataNamesEveryTable fails for a table with something of a person that the
// answer to a person's request would leave out.
func TestPersonDataNamesEveryTable(t *testing.T) {
	held := store.HeldTables()
	classes := columnClasses(t)
	for _, column := range schemaColumns(t) {
		table, name, _ := strings.Cut(column, ".")
		if classes[column] == classNone && name != "participant_id" || notHeld[table] != "" {
			continue
		}
		require.Contains(t, held, table, "say in erasedTables or keptTables what it holds of a person")
	}
	for _, table := range store.DeletedTables() {
		require.Contains(t, held, table)
	}
	for table, kept := range held {
		require.NotEmpty(t, kept, table)
		require.Empty(t, notHeld[table], table)
	}
}

// Every field of a person and of the habit is in the answer, readable, with what the
// person and the coach said, also after the removal; of others there is nothing.
func TestPersonData(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := person("p1", phone)
		var canaries []string
		for field, text := range p.Texts() {
			if field.IsPersonal && field.Column != "phone" {
				*text = "canary " + field.Name
			}
			canaries = append(canaries, *text)
		}
		_, err := w.People.Enroll(w.ctx, p, "operator")
		require.NoError(t, err)
		_, err = w.People.Enroll(w.ctx, person("p2", "+15558675311"), "operator")
		require.NoError(t, err)
		habit := models.Profile{}
		for field, text := range habit.All() {
			*text = "canary " + field.Name
			canaries = append(canaries, *text)
		}
		in := w.inbound("SM1", 1, "my knee hurts")
		_, err = w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: "p1-t1", Number: 1,
			Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{in.Inbound.ID}, Now: at(2)})
		require.NoError(t, err)
		saved, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		saved.HabitTexts = habit.HabitTexts
		run := models.ToolRun{TurnID: "p1-t1", Step: 1, Name: "save_user_profile", Result: "flossing"}
		require.NoError(t, w.Turns.CommitTool(w.ctx, models.ToolCommit{Run: run, Profile: &saved}))
		_, err = w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: "p1-t1", ParticipantID: "p1", Outcome: "reply", At: at(3),
			Entries: []models.Message{{Key: "a", Role: models.RoleAssistant, Kind: models.KindReply, Text: "mint tea"}},
			Outbox:  []models.Outbox{{ID: "p1-t1-p1", Part: 1, Kind: models.KindReply, Body: "mint tea"}}})
		require.NoError(t, err)
		canaries = append(canaries, "my knee hurts", "mint tea", "flossing", "2026-03-02")
		for range 2 {
			tables, err := w.People.PersonData(w.ctx, "p1")
			require.NoError(t, err)
			raw, err := json.Marshal(tables)
			require.NoError(t, err)
			for _, canary := range canaries {
				require.Contains(t, string(raw), canary)
			}
			require.NotContains(t, string(raw), "cannot be opened")
			require.NotContains(t, string(raw), "p2")
			require.NotContains(t, string(raw), "_index")
			if err := w.People.RemoveParticipant(w.ctx, "p1", "operator", at(4)); err != nil {
				require.ErrorIs(t, err, models.ErrNotFound, "removed already")
			}
		}
		_, err = w.People.PersonData(w.ctx, "p9")
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}
