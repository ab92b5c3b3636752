package store_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

const sampledStudy = `{"decision_points":{"policy":"ts-1","thompson":{},"options":[{"name":"walk","send":true,"instruction":"speak of a walk"},{"name":"plain","send":true}]}}`

// playSampled begins the prompts of p1 on some days. The person answers the option
// walk, and no other.
func (w *world) playSampled(days int) {
	w.t.Helper()
	w.newStudy(walkStudy, sampledStudy)
	p := person("p1", phone)
	p.StudyID = walkStudy
	_, err := w.People.Enroll(w.ctx, p, "user:kim")
	require.NoError(w.t, err)
	for day := range days {
		_, turn := w.beginSlot(day)
		if turn.Instruction != "" {
			w.inbound(fmt.Sprint("SM", day), int(slotPlan(day).Slot.SendAt.Add(time.Hour).Sub(start).Minutes()), "done")
		}
	}
}

func posteriorIn(t *testing.T, row models.DecisionOutcome) models.Posterior {
	t.Helper()
	var by models.Posterior
	require.NoError(t, json.Unmarshal([]byte(row.Posterior), &by))
	return by
}

// TestThompsonFollowsOutcomes: each day's decision rests on the outcomes that were
// complete when the day began, each counted once, and is clipped.
func TestThompsonFollowsOutcomes(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		const days = 30
		w.playSampled(days)
		rows := w.decisions(start.AddDate(0, 0, days+1))
		require.Len(t, rows, days)
		counts := map[string]models.Beta{}
		for i, row := range rows {
			by := posteriorIn(t, row)
			require.Equal(t, row.DecidedAt.UTC().Format(time.DateOnly), by.Day)
			for _, option := range by.Options {
				n := counts[option.Option]
				require.Equal(t, models.Beta{A: n.A + 1, B: n.B + 1}, option.Beta, "day %d, option %s", i, option.Option)
			}
			require.GreaterOrEqual(t, row.RandProb, 0.1)
			require.LessOrEqual(t, row.RandProb, 0.9)
			require.InDelta(t, by.Clipped, row.RandProb, 0)
			var options map[string]float64
			require.NoError(t, json.Unmarshal([]byte(row.Options), &options))
			require.InDeltaMapValues(t, map[string]float64{"walk": by.Clipped, "plain": 1 - by.Clipped}, options, 1e-9)
			require.NotNil(t, row.Answered)
			n := counts[row.Option]
			if *row.Answered {
				require.Equal(t, "walk", row.Option)
				n.A++
			} else {
				n.B++
			}
			counts[row.Option] = n
		}
		require.InDelta(t, 0.5, rows[0].RandProb, 0)
		require.InDelta(t, 0.9, rows[days-1].RandProb, 1e-9)
		require.Equal(t, models.DecisionCheck{People: 1, Rows: days}, w.checkDecisions())
		require.Equal(t, 2*days, w.count("SELECT count(*) FROM decision_posteriors"), "counted once a day")
		require.Equal(t, days-1, w.count("SELECT count(*) FROM decision_outcomes"))
		for _, table := range []string{"decision_posteriors", "decision_outcomes"} {
			w.raw(func(db *sql.DB) {
				for _, statement := range []string{"DELETE FROM " + table, "UPDATE " + table + " SET option = 'x'"} {
					_, err := db.ExecContext(w.ctx, statement)
					require.ErrorContains(t, err, "append-only")
				}
			})
		}
	})
}

// TestDecisionOfAnEarlierDay rests on the last posterior before it, also where that of
// a later day is there.
func TestDecisionOfAnEarlierDay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.playSampled(3)
		w.beginSlot(6)
		w.beginSlot(4)
		rows := w.decisions(at(0))
		require.Len(t, rows, 5)
		for _, row := range rows {
			want := min(row.DecidedAt.Sub(start), 2*24*time.Hour)
			if row.DayInStudy == 7 {
				want = 6 * 24 * time.Hour
			}
			require.Equal(t, start.Add(want).Format(time.DateOnly), posteriorIn(t, row).Day)
		}
		require.Empty(t, w.checkDecisions().Problem)
		w.beginSlot(8)
		require.Equal(t, 5, w.count("SELECT count(*) FROM decision_outcomes"), "the late decision is counted too")
		require.Empty(t, w.checkDecisions().Problem)
	})
}

// TestTamperedPosteriorsAreFound changes what decisions rested on.
func TestTamperedPosteriorsAreFound(t *testing.T) {
	for name, tampering := range map[string]struct{ table, statement, problem string }{
		"posterior":       {"decision_posteriors", "UPDATE decision_posteriors SET successes = successes + 1", "not the one that was kept"},
		"posterior gone":  {"decision_posteriors", "DELETE FROM decision_posteriors", "not the one that was kept"},
		"outcome changed": {"decision_outcomes", "UPDATE decision_outcomes SET answered = false", "not what the outcomes"},
		"outcome removed": {"decision_outcomes", "DELETE FROM decision_outcomes", "not what the outcomes"},
		"outcome moved":   {"decision_outcomes", "UPDATE decision_outcomes SET decision_id = 'x' || decision_id, day = '2020-01-01'", "not what the outcomes"},
		"option changed":  {"decision_outcomes", "UPDATE decision_outcomes SET option = 'other'", "of another decision"},
		"texts gone":      {"inbound", "DELETE FROM inbound", "there is no text of the person"},
		"logged":          {"decisions", "UPDATE decisions SET posterior = replace(posterior, '0.1', '0.2') WHERE number = 2", "was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.playSampled(12)
				require.Equal(t, models.DecisionCheck{People: 1, Rows: 12}, w.checkDecisions())
				w.unguarded(tampering.table, tampering.statement)
				check := w.checkDecisions()
				require.Contains(t, check.Problem, tampering.problem)
				require.Equal(t, "p1", check.ParticipantID)
			})
		})
	}
}

// TestThompsonSettingsAreChecked names the field of what a study may not ask for.
func TestThompsonSettingsAreChecked(t *testing.T) {
	const two = `"options":[{"name":"a"},{"name":"b"}]`
	for settings, field := range map[string]string{
		`"thompson":{},"options":[{"name":"a"},{"name":"b"},{"name":"c"}]`:      "decision_points.options",
		`"thompson":{},"options":[{"name":"a","probability":0.5},{"name":"b"}]`: "decision_points.options[0].probability",
		`"thompson":{"clip":0.04},` + two:                                       "decision_points.thompson.clip",
		`"thompson":{"clip":0.5},` + two:                                        "decision_points.thompson.clip",
		`"thompson":{"prior":{"a":1,"b":0}},` + two:                             "decision_points.thompson.prior",
		`"thompson":{"prior":{"a":1001,"b":1}},` + two:                          "decision_points.thompson.prior",
		two: "decision_points.options[0].probability",
		`"thompson":{"clip":0.05,"prior":{"a":2,"b":3}},` + two: "",
	} {
		var parsed models.StudySettings
		require.NoError(t, json.Unmarshal([]byte(`{"decision_points":{"policy":"ts",`+settings+`}}`), &parsed))
		err := parsed.Check()
		if field == "" {
			require.NoError(t, err)
			continue
		}
		var wrong *models.FieldError
		require.ErrorAs(t, err, &wrong, settings)
		require.Equal(t, field, wrong.Field)
	}
}
