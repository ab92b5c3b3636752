package rehearsal

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/export"
	"coachline/internal/store"
	"coachline/models"
)

func settings(t *testing.T) config.Config {
	t.Helper()
	cfg, err := config.Load(nil, nil)
	require.NoError(t, err)
	return cfg
}

func rehearse(t *testing.T, cfg Config) Report {
	t.Helper()
	cfg.Settings = settings(t)
	if cfg.Study == "" {
		cfg.Study = models.DefaultStudy
	}
	report, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	return report
}

// TestRehearsal plays a small study with every persona and faults of carrier and
// model, and holds what no study may break: each text is answered in one turn,
// nothing that the programme starts comes in quiet hours, people who opted out get
// nothing, and the totals of people, carrier, tables and report are equal.
func TestRehearsal(t *testing.T) {
	report := rehearse(t, Config{People: 12, Days: 16, Seed: 7, CarrierFaults: 0.05, ModelFaults: 0.05, Undelivered: 0.05})
	require.Empty(t, report.Broke)
	for _, check := range report.Checks {
		require.True(t, check.Holds, "%s: %s", check.Name, check.Detail)
	}
	require.Len(t, report.Personas, 12, "every persona is there")
	require.Equal(t, report.Texts.CarrierTook, report.Texts.OutboxAccepted)
	require.Equal(t, report.Texts.Segments, report.Texts.OutboxSegments)
	require.Equal(t, report.Texts.PeopleWrote, report.Texts.InboundRows)
	byHour, byKind := 0, 0
	for _, count := range report.SendsByHour {
		byHour += count
	}
	for _, count := range report.SendsByKind {
		byKind += count
	}
	require.Equal(t, report.Texts.CarrierTook, byHour)
	require.Equal(t, report.Texts.CarrierTook, byKind)

	require.Greater(t, report.Prompts.Sent, 80)
	require.Positive(t, report.Prompts.Answered)
	require.Equal(t, 12, report.SendsByKind[models.KindGreeting])
	require.Positive(t, report.SendsByKind[models.KindConsent], "somebody opted out")
	require.Equal(t, 1, report.SendsByKind[models.KindSafety], "somebody was in crisis")
	require.Positive(t, report.Quiet.Chosen, "the night owl chose a time in quiet hours")
	require.Positive(t, report.Faults.CarrierRefused)
	require.Positive(t, report.Faults.CarrierLost)
	require.Positive(t, report.Faults.Undelivered)
	require.Positive(t, report.Faults.Model)
	require.Positive(t, report.Texts.Runs, "workflows were continued as new")

	var text strings.Builder
	require.NoError(t, report.Print(&text))
	require.Contains(t, text.String(), "Quiet hours 21:00-08:00")
	require.NotContains(t, text.String(), "BROKEN")
}

// TestRehearsalIsReproducible: the same seed gives the same report, another one
// does not.
func TestRehearsalIsReproducible(t *testing.T) {
	play := func(seed uint64) string {
		report := rehearse(t, Config{People: 6, Days: 5, Seed: seed, CarrierFaults: 0.05, Undelivered: 0.05})
		report.Took = ""
		text, err := json.Marshal(report)
		require.NoError(t, err)
		return string(text)
	}
	first := play(3)
	require.Equal(t, first, play(3))
	require.NotEqual(t, first, play(4))
}

// TestExportIsReproducible: the same seed gives the same export, byte by byte, in
// whatever order people are played.
func TestExportIsReproducible(t *testing.T) {
	play := func(processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		folder := filepath.Join(t.TempDir(), "export")
		report := rehearse(t, Config{
			People: 12, Days: 4, Seed: 7, Study: "walking", CarrierFaults: 0.05, ModelFaults: 0.05, Undelivered: 0.05,
			StudySettings: models.StudySettings{
				RequireConsent: true, Randomisation: models.Randomisation{Method: models.RandomSimple},
				Arms: []models.StudyArm{{Name: "usual", Weight: 1}, {Name: "more", Weight: 1}},
			},
			Export: func(ctx context.Context, rows *store.Store, end time.Time) error {
				return rows.Studies.ReadStudy(ctx, models.StudyReading{ID: "walking", Now: end}, func(study models.Study, of models.StudyRows) error {
					_, err := export.WriteFolder(folder, export.Input{Study: study, Rows: of, Arms: true})
					return err
				})
			},
		})
		require.Empty(t, report.Broke)
		return folder
	}
	one, two := play(1), play(2)
	require.NoError(t, filepath.WalkDir(one, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotEmpty(t, want)
		name, err := filepath.Rel(one, path)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(two, name))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%s differs", name)
		return nil
	}))
}

// TestStudyOfItsOwn: people are enrolled in the copy of the study, with consent
// where it asks for one, in one of its languages.
func TestStudyOfItsOwn(t *testing.T) {
	var people []models.Participant
	report := rehearse(t, Config{
		People: 8, Days: 2, Seed: 7, Study: "walking", StudySettings: models.StudySettings{RequireConsent: true, Locales: []string{"en-GB"}},
		Export: func(ctx context.Context, rows *store.Store, _ time.Time) (err error) {
			people, err = rows.People.Participants(ctx, models.ParticipantQuery{})
			return err
		},
	})
	require.Empty(t, report.Broke)
	require.False(t, report.Failed())
	require.Len(t, people, 8)
	for _, p := range people {
		require.Equal(t, "walking", p.StudyID)
		require.Equal(t, "en-GB", p.Locale)
	}
}

// TestStudyWithArms: the study draws the arms of its people, in strata, and the same
// seed draws the same ones.
func TestStudyWithArms(t *testing.T) {
	play := func(study string, seed uint64) (Report, map[string]string) {
		arms := map[string]string{}
		report := rehearse(t, Config{
			People: 12, Days: 1, Seed: seed, Study: study, Effect: 0.2, StudySettings: models.StudySettings{
				Arms:          []models.StudyArm{{Name: "usual", Weight: 1}, {Name: "more", Weight: 1}},
				Randomisation: models.Randomisation{Method: models.RandomBlocks, Strata: []models.Stratum{{Name: "age", Levels: []string{"young", "old"}}}},
			},
			Export: func(ctx context.Context, rows *store.Store, _ time.Time) error {
				people, err := rows.People.Participants(ctx, models.ParticipantQuery{})
				for _, p := range people {
					arms[p.ID] = p.Arm
				}
				return err
			},
		})
		return report, arms
	}
	report, arms := play("walking", 7)
	require.Empty(t, report.Broke)
	require.False(t, report.Failed())
	require.Equal(t, "the record of allocations draws every arm again", report.Checks[len(report.Checks)-1].Name)
	require.Len(t, report.Arms, 2)
	people := 0
	for _, arm := range report.Arms {
		people += arm.People
		require.Len(t, arm.Strata, 2)
		for _, count := range arm.Strata {
			require.Positive(t, count)
		}
	}
	require.Equal(t, 12, people)
	require.Equal(t, methodMeans, report.Effect.Method)
	_, again := play("walking", 7)
	require.Equal(t, arms, again)
	_, other := play("walking", 8)
	require.NotEqual(t, arms, other)
	report, arms = play(models.DefaultStudy, 7)
	require.False(t, report.Failed(), "the study default has settings like any other")
	require.NotContains(t, slices.Collect(maps.Values(arms)), "")
}

// TestStudyWithDecisionPoints: each slot of a prompt is a decision point, which the
// treatment of people and the analysis follow.
func TestStudyWithDecisionPoints(t *testing.T) {
	report := rehearse(t, Config{
		People: 8, Days: 8, Seed: 7, Study: "walking", Effect: 0.3, StudySettings: models.StudySettings{
			DecisionPoints: &models.DecisionPoints{Policy: "even", Options: []models.DecisionOption{
				{Name: "warm", Probability: 0.6, Send: true, Instruction: "Be warm."}, {Name: "plain", Probability: 0.4, Send: true},
			}},
		},
	})
	require.Empty(t, report.Broke)
	require.False(t, report.Failed())
	require.Positive(t, report.Availability["available, warm"])
	require.Positive(t, report.Availability["available, plain"])
	require.Equal(t, methodWCLS, report.Effect.Method)
	require.Equal(t, report.Availability["available, warm"]+report.Availability["available, plain"], report.Effect.Points)
}

// TestEverySlotIsADecisionPoint: each person has one row for each slot of each day,
// from the first one on, also on the days after an opt-out.
func TestEverySlotIsADecisionPoint(t *testing.T) {
	const days = 20
	var rows []models.DecisionPoint
	report := rehearse(t, Config{
		People: 12, Days: days, Seed: 7, Study: "walking", StudySettings: models.StudySettings{
			DecisionPoints: &models.DecisionPoints{Policy: "even", Options: []models.DecisionOption{
				{Name: "warm", Probability: 0.6, Send: true, Instruction: "Be warm."}, {Name: "plain", Probability: 0.4, Send: true},
			}},
		},
		Export: func(_ context.Context, s *store.Store, _ time.Time) error {
			check, err := s.Allocations.CheckAllocations(t.Context(), "walking")
			require.NoError(t, err)
			require.Equal(t, int64(11), check.Decisions.People)
			require.Empty(t, check.Decisions.Problem)
			return s.Database().Reader(t.Context()).Order("participant_id, number").Find(&rows).Error
		},
	})
	require.Empty(t, report.Broke)
	require.False(t, report.Failed())
	last := map[string]models.DecisionPoint{}
	people, reasons := map[string]int64{}, map[string]int{}
	returned := 0
	for _, row := range rows {
		people[row.ParticipantID]++
		require.Equal(t, people[row.ParticipantID], row.Number)
		slot := row.ParticipantID + " " + row.ScheduleID
		if before, known := last[slot]; known {
			require.Equal(t, before.DayInStudy+1, row.DayInStudy, "%s: after %s comes %s", slot, before.LocalDate, row.LocalDate)
			require.True(t, row.DecidedAt.After(before.DecidedAt))
			if before.Reason == "opted_out" && row.Available {
				returned++
			}
		}
		last[slot] = row
		reasons[row.Reason]++
	}
	require.Len(t, people, 11, "the silent one has chosen no time")
	for slot, row := range last {
		require.GreaterOrEqual(t, row.DayInStudy, days-1, "%s ends on %s, available %v %s", slot, row.LocalDate, row.Available, row.Reason)
	}
	require.GreaterOrEqual(t, reasons["opted_out"], 5, "somebody opted out on day 12")
	require.Equal(t, 1, returned, "and came back")
}

// TestThompsonFindsTheInjectedEffect: with an effect of 0.4 the treatment's
// probability in the last week is above two thirds on average, and each is within the
// clip.
func TestThompsonFindsTheInjectedEffect(t *testing.T) {
	const days = 15
	for _, seed := range []uint64{7, 8, 9} {
		var rows []models.DecisionPoint
		report := rehearse(t, Config{
			People: 12, Days: days, Seed: seed, Study: "walking", Effect: 0.4, StudySettings: models.StudySettings{
				DecisionPoints: &models.DecisionPoints{Policy: "ts", Thompson: &models.Thompson{}, Options: []models.DecisionOption{
					{Name: "warm", Send: true, Instruction: "Be warm."}, {Name: "plain", Send: true},
				}},
			},
			Export: func(_ context.Context, s *store.Store, _ time.Time) error {
				check, err := s.Allocations.CheckAllocations(t.Context(), "walking")
				require.NoError(t, err)
				require.Empty(t, check.Decisions.Problem)
				return s.Database().Reader(t.Context()).Order("participant_id, number").Find(&rows).Error
			},
		})
		require.Empty(t, report.Broke)
		require.Positive(t, report.Effect.True)
		share, late := 0.0, 0.0
		for _, row := range rows {
			require.GreaterOrEqual(t, row.RandProb, 0.1)
			require.LessOrEqual(t, row.RandProb, 0.9)
			if row.DayInStudy > days-7 {
				share, late = share+row.RandProb, late+1
			}
		}
		require.Greater(t, share/late, 2.0/3, "seed %d", seed)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, cfg := range []Config{{People: 1, Days: 1}, {People: 2}, {People: 2, Days: 1, Effect: 1}, {People: 2, Days: 1, ModelFaults: 2}} {
		_, err := Run(t.Context(), cfg)
		var field *models.FieldError
		require.ErrorAs(t, err, &field)
	}
}
