package store_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/trial"
	"coachline/models"
	"coachline/models/wire"
)

const randomised = `{"decision_points":{"policy":"coin-1","options":[` +
	`{"name":"walk","probability":0.4,"send":true,"instruction":"speak of a walk"},{"name":"plain","probability":0.2,"send":true},{"name":"none","probability":0.4}]}}`

// slotPlan is the plan of the prompt of p1's schedule on a day after the start.
func slotPlan(day int) wire.TurnPlan {
	target := start.AddDate(0, 0, day).Add(10 * time.Minute)
	date := target.Format(time.DateOnly)
	return wire.TurnPlan{
		Kind: wire.TurnPrompt, PromptID: models.PromptID("p1", "s1", date), ScheduleID: "s1", Slot: wire.Slot{Date: date, TargetAt: target, SendAt: target.Add(-10 * time.Minute)},
	}
}

func (w *world) beginSlot(day int) (wire.PrepareTurnResult, models.TurnContext) {
	w.t.Helper()
	plan := slotPlan(day)
	out, turn, err := w.Turns.OpenTurn(w.ctx, wire.PrepareTurnInput{
		ParticipantID: "p1", TurnID: models.TurnID("p1", day+1), Number: day + 1, Mode: wire.ModeIntake, Plan: plan, Now: plan.Slot.SendAt,
	}, 10)
	require.NoError(w.t, err)
	return out, turn
}

func (w *world) decisions(now time.Time) []models.DecisionOutcome {
	w.t.Helper()
	rows, err := w.Studies.Decisions(w.ctx, models.DecisionQuery{StudyID: walkStudy, Now: now})
	require.NoError(w.t, err)
	return rows
}

// enrolRandomised enrols p1 in a study with decision points and returns the study.
func (w *world) enrolRandomised() models.Study {
	w.t.Helper()
	study := w.newStudy(walkStudy, randomised)
	p := person("p1", phone)
	p.StudyID = walkStudy
	_, err := w.People.Enroll(w.ctx, p, "user:kim")
	require.NoError(w.t, err)
	return study
}

// TestDecisionIsMadeBeforeThePrompt begins the prompts of forty days: each has one
// row, its draw can be repeated, and what was drawn is done, also by a retry.
func TestDecisionIsMadeBeforeThePrompt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		study := w.enrolRandomised()
		settings, err := study.ReadSettings()
		require.NoError(t, err)
		seen := map[string]int{}
		for day := range 40 {
			drawn, err := trial.Decide(study.Seed, "p1", int64(day+1), settings.DecisionPoints.Options)
			require.NoError(t, err)
			for range 2 {
				out, turn := w.beginSlot(day)
				require.Equal(t, !drawn.Option.Send, out.Skip)
				if !out.Skip {
					require.Equal(t, drawn.Option.Instruction, turn.Instruction)
				}
			}
			seen[drawn.Option.Name]++
		}
		require.Len(t, seen, 3)
		rows := w.decisions(at(0))
		require.Len(t, rows, 40)
		for i, row := range rows {
			require.Equal(t, int64(i+1), row.Number)
			require.Equal(t, i+1, row.DayInStudy)
			require.True(t, row.Available)
			require.Equal(t, row.Option != "none", row.Intervention)
			require.InDelta(t, 0.6, row.RandProb, 1e-9)
			require.Equal(t, "coin-1", row.Policy)
			require.NotEmpty(t, row.Build)
			require.Nil(t, row.Answered)
			var options map[string]float64
			require.NoError(t, json.Unmarshal([]byte(row.Options), &options))
			require.Len(t, options, 3)
		}
		require.Equal(t, seen["none"], w.count("SELECT count(*) FROM prompts WHERE state = 'missed' AND reason = 'decision'"))
		require.Equal(t, 40-seen["none"], w.count("SELECT count(*) FROM prompts WHERE state = 'planned'"))
		w.raw(func(db *sql.DB) {
			_, err := db.ExecContext(w.ctx, "UPDATE decisions SET option = 'none'")
			require.ErrorContains(t, err, "append-only")
		})
	})
}

// TestUnavailableDecisionPoints has the slot come for someone who cannot be prompted.
func TestUnavailableDecisionPoints(t *testing.T) {
	for reason, arrange := range map[string]func(w *world){
		"held": func(w *world) {
			_, err := w.Holds.CreateHold(w.ctx, models.Hold{Scope: models.HoldAll, Reason: "storm", Until: start.AddDate(1, 0, 0), CreatedAt: at(1), CreatedBy: "user:kim"})
			require.NoError(w.t, err)
		},
		"taken_over": func(w *world) {
			_, err := w.TakeOvers.TakeOver(w.ctx, models.TakeOver{ParticipantID: "p1", Actor: "user:kim", Until: start.AddDate(1, 0, 0), Now: at(1)})
			require.NoError(w.t, err)
		},
		"opted_out": func(w *world) {
			status := wire.StatusOptedOut
			_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Actor: "user:kim", Patch: models.ParticipantPatch{Status: &status}, Now: at(1)})
			require.NoError(w.t, err)
		},
		"unreachable": func(w *world) {
			w.raw(func(db *sql.DB) {
				_, err := db.ExecContext(w.ctx, "UPDATE participants SET unreachable_at = enrolled_at, unreachable_code = '30005'")
				require.NoError(w.t, err)
			})
		},
		"paused": func(w *world) {
			status := wire.StatusPaused
			_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Actor: "user:kim", Patch: models.ParticipantPatch{Status: &status}, Now: at(1)})
			require.NoError(w.t, err)
		},
		"quiet_hours": nil,
		"daily_limit": nil,
		"backed_off":  nil,
	} {
		t.Run(reason, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolRandomised()
				if arrange == nil { // the rules missed it
					plan := slotPlan(2)
					for range 2 {
						require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{
							ParticipantID: "p1", Now: plan.Slot.SendAt.Add(48 * time.Hour), Missed: []wire.MissedPrompt{{ScheduleID: "s1", Slot: plan.Slot, Reason: reason}},
						}))
					}
				} else {
					arrange(w)
					out, _ := w.beginSlot(2)
					require.True(t, out.Skip)
					out, _ = w.beginSlot(2)
					require.True(t, out.Skip, "a retry skips again and decides nothing anew")
				}
				rows := w.decisions(at(0))
				require.Len(t, rows, 1)
				require.False(t, rows[0].Available)
				require.Equal(t, reason, rows[0].Reason)
				require.Empty(t, rows[0].Option)
				require.False(t, rows[0].Intervention)
				require.Equal(t, 3, rows[0].DayInStudy)
				require.Equal(t, slotPlan(2).Slot.SendAt, rows[0].DecidedAt.UTC(), "the time of the slot, also when it is recorded later")
				require.Equal(t, reason, w.text("SELECT reason FROM prompts"))
			})
		})
	}
}

func TestOutcomeOfDecisions(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolRandomised()
		w.beginSlot(1)
		w.beginSlot(2)
		minutesTo := func(day int, after time.Duration) int {
			return int(slotPlan(day).Slot.SendAt.Add(after).Sub(start).Minutes())
		}
		w.inbound("SM-early", minutesTo(1, -time.Minute), "good morning")
		w.inbound("SM-in", minutesTo(1, 4*time.Hour), "done")
		w.inbound("SM-late", minutesTo(2, 4*time.Hour+time.Minute), "done")
		rows := w.decisions(slotPlan(2).Slot.SendAt.Add(3 * time.Hour))
		require.True(t, *rows[0].Answered)
		require.Nil(t, rows[1].Answered, "its time is not over")
		rows = w.decisions(slotPlan(3).Slot.SendAt)
		require.False(t, *rows[1].Answered)
		require.Empty(t, rows[0].Reported)
		require.NoError(t, w.exec("UPDATE prompts SET outcome = 'partly' WHERE id = '"+rows[0].ID+"'"))
		rows = w.decisions(slotPlan(3).Slot.SendAt)
		require.Equal(t, models.OutcomePartly, rows[0].Reported)
		require.Empty(t, rows[1].Reported)
	})
}

// TestNoDecisionsWithoutPoints begins a prompt in a study that randomises nothing.
func TestNoDecisionsWithoutPoints(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy(walkStudy, fmt.Sprintf(stratified, "simple"))
		w.enrolled()
		out, turn := w.beginSlot(0)
		require.False(t, out.Skip)
		require.Empty(t, turn.Instruction)
		require.Zero(t, w.count("SELECT count(*) FROM decisions"))
	})
}
