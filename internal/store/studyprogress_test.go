package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/internal/consort"
	"coachline/models"
	"coachline/models/wire"
)

// progressOf reads how a study goes.
func (w *world) progressOf(study string, now time.Time) models.StudyProgress {
	w.t.Helper()
	_, out, err := w.Reports.StudyProgress(w.ctx, study, now)
	require.NoError(w.t, err)
	return out
}

// flowOf counts the people of a study as the export does.
func flowOf(groups []models.PeopleGroup) *consort.Flow {
	flow := &consort.Flow{}
	for _, g := range groups {
		p := models.StudyPerson{Status: g.Status, Arm: g.Arm, Withdrew: g.Withdrew}
		if g.Removed {
			p.RemovedAt = &time.Time{}
		}
		flow.Add(p, g.People)
	}
	return flow
}

// TestProgressAgreesWithTheExport: the figures are those that rows of an export add
// up to.
func TestProgressAgreesWithTheExport(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.exportStory()
		_, err := w.Studies.RecordStudyConsent(w.ctx, models.StudyConsent{ParticipantID: "p001", StudyID: walkStudy, Method: models.MethodOperator, RecordedBy: "user:kim", At: at(2)}, at(2))
		require.NoError(t, err)
		_, files := w.export(walkStudy, toAdmin)
		got := w.progressOf(walkStudy, start.AddDate(1, 0, 0))

		steps := readTable(t, files["consort.csv"])
		for i, step := range flowOf(got.People).Steps(true) {
			require.Equal(t, steps[i]["people"], strconv.FormatInt(step.People, 10), step.Name)
		}
		require.Equal(t, "1", steps[4]["people"], "withdrew consent")
		var out, drawn, points, prompts, micros int64
		for _, g := range got.Texts {
			out += g.Texts
		}
		for _, g := range got.Balance {
			drawn += g.People
		}
		for _, g := range got.Decisions {
			points += g.Points
		}
		for _, g := range got.Prompts {
			prompts += g.Prompts
		}
		for _, g := range got.Costs {
			micros += g.Micros
		}
		sent := 0
		for _, row := range readTable(t, files["messages.csv"]) {
			if row["direction"] == "out" {
				sent++
			}
		}
		require.Positive(t, sent)
		require.Equal(t, []int64{int64(sent), 120, int64(len(readTable(t, files["decisions.csv"]))), int64(len(readTable(t, files["prompts.csv"])))},
			[]int64{out, drawn, points, prompts})
		require.Equal(t, int64(sumOf(t, files["costs.csv"], "micros")), micros)
		_, _, err = w.Reports.StudyProgress(w.ctx, "none", at(0))
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

// addRows stores rows as they are.
func addRows[T any](w *world, rows ...T) {
	w.t.Helper()
	require.NoError(w.t, w.Database().Write(w.ctx, func(tx *gorm.DB) error { return tx.Create(&rows).Error }))
}

// sentPrompt is a prompt of a day that went out some seconds late and was answered
// after so many hours, or never.
func sentPrompt(person string, day, late, answerHours int) models.Prompt {
	target := start.AddDate(0, 0, day-1).Add(time.Hour)
	sent := target.Add(time.Duration(late) * time.Second)
	p := models.Prompt{
		ID: person + "-s1-" + strconv.Itoa(day), ParticipantID: person, ScheduleID: "s1", LocalDate: target.Format(time.DateOnly), TargetAt: target, SentAt: &sent, State: models.PromptPending,
	}
	if answerHours > 0 {
		answered := sent.Add(time.Duration(answerHours) * time.Hour)
		p.RespondedAt, p.State = &answered, models.PromptResponded
	}
	return p
}

func textOf(person string, seq int64, at time.Time) models.Inbound {
	return models.Inbound{ProviderSID: person + strconv.FormatInt(seq, 10), ParticipantID: person, Seq: seq, Channel: wire.ChannelSMS, ReceivedAt: at}
}

// TestProgressByStudyTime counts answers by study day and writers by study week, and
// leaves out days and weeks that are not over.
func TestProgressByStudyTime(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy(walkStudy, "")
		for n := range 3 {
			_, err := w.enrolIn(walkStudy, n, nil)
			require.NoError(t, err)
		}
		tester := person("tester", "+12025550199")
		tester.StudyID, tester.Tester = walkStudy, true
		_, err := w.People.EnrollOnce(w.ctx, tester, models.Enrolment{Actor: "user:kim"})
		require.NoError(t, err)
		twice := sentPrompt("p001", 1, 30, 0)
		twice.ID, twice.ScheduleID = "p001-s2-1", "s2"
		done := sentPrompt("p002", 8, 0, 1)
		done.Outcome = models.OutcomeDone
		addRows(w, sentPrompt("p000", 1, 0, 2), sentPrompt("p000", 2, 90, 30), sentPrompt("p001", 1, 400, 1), twice, sentPrompt("p002", 1, 4000, 0), done, sentPrompt("tester", 1, 0, 1),
			models.Prompt{ID: "x", ParticipantID: "p002", ScheduleID: "s1", LocalDate: "2026-03-20", TargetAt: start, State: models.PromptMissed, Reason: "outage"})
		week := 7 * 24 * time.Hour
		addRows(w, textOf("p000", 1, start.Add(time.Hour)), textOf("p000", 2, start.Add(2*time.Hour)), textOf("p000", 3, start.Add(week)),
			textOf("p001", 1, start.Add(week-time.Second)), textOf("p002", 1, start.Add(week+time.Second)), textOf("tester", 1, start.Add(time.Hour)))

		got := w.progressOf(walkStudy, start.Add(2*week))
		require.Equal(t, []models.DayResponse{{Day: 1, People: 3, Answered: 2}, {Day: 2, People: 1}, {Day: 8, People: 1, Answered: 1}}, got.Response)
		require.Equal(t, []models.WeekWriters{{Week: 1, People: 2}, {Week: 2, People: 2}}, got.Writers)
		require.Equal(t, []models.PromptGroup{
			{State: models.PromptMissed, Reason: "outage", Prompts: 1},
			{Sent: true, Lateness: 0, Prompts: 2}, {Sent: true, Lateness: 0, Outcome: models.OutcomeDone, Prompts: 1}, {Sent: true, Lateness: 1, Prompts: 1}, {Sent: true, Lateness: 2, Prompts: 1}, {Sent: true, Lateness: 4, Prompts: 1},
		}, got.Prompts)
		require.Equal(t, []models.PeopleGroup{{Day: "2026-03-02", Weeks: 2, Status: wire.StatusActive, People: 3}}, got.People)

		early := w.progressOf(walkStudy, start.Add(2*24*time.Hour).Add(-time.Second))
		require.Empty(t, early.Response, "the answers of day 1 still have a second")
		require.Len(t, w.progressOf(walkStudy, start.Add(2*24*time.Hour)).Response, 1)
		require.Empty(t, early.Writers)
	})
}
