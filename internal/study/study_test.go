package study_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/study"
	"coachline/models"
	"coachline/prompts"
)

// table is the studies of a test and counts how often they are read.
type table struct {
	rows  map[string]models.Study
	reads int
	asks  int
	err   error
}

func (s *table) put(t *testing.T, id string, state models.StudyState, settings models.StudySettings) {
	t.Helper()
	text, err := json.Marshal(settings)
	require.NoError(t, err)
	s.rows[id] = models.Study{ID: id, State: state, Settings: string(text), Version: s.rows[id].Version + 1}
}

func (s *table) Study(_ context.Context, id string) (models.Study, error) {
	s.reads++
	row, ok := s.rows[id]
	if s.err != nil {
		return row, s.err
	}
	if !ok {
		return row, models.ErrNotFound
	}
	return row, nil
}

func (s *table) StudyVersions(context.Context) (map[string]int64, error) {
	s.asks++
	out := map[string]int64{}
	for id, row := range s.rows {
		out[id] = row.Version
	}
	return out, s.err
}

func newTable() *table {
	return &table{rows: map[string]models.Study{models.DefaultStudy: {ID: models.DefaultStudy, State: models.StudyRecruiting, Version: 1}}}
}

var installation = coach.Rules{ReminderDelay: time.Hour, CheckIn: 48 * time.Hour, CheckInCap: 1, Quiet: coach.QuietHours{From: 21 * 60, To: 8 * 60}}

// The default study without settings leaves every rule and text as it is, and is
// not read again.
func TestDefaultStudyChangesNothing(t *testing.T) {
	rows := newTable()
	resolver := study.New(study.Config{Studies: rows})
	for range 100 {
		got, err := resolver.Resolve(t.Context(), "", "")
		require.NoError(t, err)
		require.Equal(t, installation, got.Rules(installation))
		require.Equal(t, study.Settings{Study: models.DefaultStudy, Version: 1, State: models.StudyRecruiting}, got)
	}
	require.Equal(t, 1, rows.reads)

	var none *study.Resolver
	got, err := none.Resolve(t.Context(), "walk", "calls")
	require.NoError(t, err)
	require.Equal(t, installation, got.Rules(installation))
	require.Nil(t, none.Senders())
}

func TestArmsChangeWhatTheStudySays(t *testing.T) {
	yes, no, three, none := true, false, 3, 0
	rows := newTable()
	rows.put(t, "walk", models.StudyRunning, models.StudySettings{
		Programme: "Walk", From: "+15550001",
		StudyOverlay: models.StudyOverlay{Model: "big", SmallModel: "small", ToolsOff: []string{"search_memory"}, QuietHours: "20:00-09:00", Reminders: &no, MaxPerDay: &three},
		Arms: []models.StudyArm{
			{Name: "plain", Weight: 1},
			{Name: "daily", Weight: 1, Overlay: models.StudyOverlay{BackOff: &no}},
			{Name: "calls", Weight: 1, Overlay: models.StudyOverlay{
				Model: "other", ToolsOff: []string{"scheduler"}, QuietHours: "off", Reminders: &yes, CheckIns: &no, MaxPerDay: &none,
			}},
			{Name: "soon", Weight: 1, Overlay: models.StudyOverlay{Reminders: &yes, ReminderDelay: "90m", HistoryLimit: &none, FeedbackHistory: &three}},
			{Name: "silent", Weight: 1, Overlay: models.StudyOverlay{Reminders: nil, ReminderDelay: "-1h"}},
		},
	})
	resolver := study.New(study.Config{Studies: rows})
	plain, err := resolver.Resolve(t.Context(), "walk", "plain")
	require.NoError(t, err)
	require.Equal(t, "big", plain.Model)
	require.Equal(t, models.Sender{From: "+15550001"}, plain.Sender)
	require.Equal(t, []string{"search_memory"}, plain.ToolsOff)
	rules := plain.Rules(installation)
	require.Equal(t, "20:00-09:00", rules.Quiet.String())
	require.Zero(t, rules.ReminderDelay)
	require.Equal(t, 48*time.Hour, rules.CheckIn)
	require.Equal(t, []any{3, true}, []any{rules.MaxInitiated, rules.BackOff})

	soon, err := resolver.Resolve(t.Context(), "walk", "soon")
	require.NoError(t, err)
	require.Equal(t, 90*time.Minute, soon.Rules(installation).ReminderDelay)
	require.Zero(t, *soon.HistoryLimit)
	require.Equal(t, 3, *soon.FeedbackHistory)
	require.Nil(t, plain.HistoryLimit)
	require.Nil(t, plain.FeedbackHistory)
	silent, err := resolver.Resolve(t.Context(), "walk", "silent")
	require.NoError(t, err)
	require.Zero(t, silent.Rules(installation).ReminderDelay, "negative is 0")
	require.True(t, silent.Rules(installation).NoReminders)

	calls, err := resolver.Resolve(t.Context(), "walk", "calls")
	require.NoError(t, err)
	require.Equal(t, "other", calls.Model)
	require.Equal(t, "small", calls.SmallModel)
	require.Equal(t, "Walk", calls.Programme)
	rules = calls.Rules(installation)
	require.Empty(t, rules.Quiet.String())
	require.Equal(t, time.Hour, rules.ReminderDelay)
	require.Zero(t, rules.CheckIn)
	require.Equal(t, []any{0, false}, []any{rules.MaxInitiated, rules.BackOff})
	daily, err := resolver.Resolve(t.Context(), "walk", "daily")
	require.NoError(t, err)
	rules = daily.Rules(installation)
	require.Equal(t, []any{3, false}, []any{rules.MaxInitiated, rules.BackOff}, "the study's limit, without its back-off")
	require.Equal(t, 5*time.Hour, calls.Rules(coach.Rules{}).ReminderDelay, "turned on where the installation has none")
	offered := calls.Offer([]models.ToolSpec{{Name: "scheduler"}, {Name: "save_user_profile"}, {Name: "search_memory"}})
	require.Equal(t, []models.ToolSpec{{Name: "save_user_profile"}}, offered)
	require.Equal(t, []models.Sender{{From: "+15550001"}}, resolver.Senders())

	unknown, err := resolver.Resolve(t.Context(), "walk", "gone")
	require.NoError(t, err)
	require.Equal(t, "gone", unknown.Arm)
	require.Equal(t, "big", unknown.Model)
}

// Only a study that recruits or runs starts messages.
func TestStudyStatesThatStart(t *testing.T) {
	for _, state := range models.StudyStates() {
		rows := newTable()
		rows.put(t, "walk", state, models.StudySettings{})
		got, err := study.New(study.Config{Studies: rows}).Resolve(t.Context(), "walk", "")
		require.NoError(t, err)
		starts := state == models.StudyRecruiting || state == models.StudyRunning
		require.Equal(t, !starts, got.Rules(installation).Silent, state)
	}
}

// The rules know of a study whose prompt slots are decision points.
func TestRulesOfDecisionPoints(t *testing.T) {
	rows := newTable()
	rows.put(t, "walk", models.StudyRunning, models.StudySettings{DecisionPoints: &models.DecisionPoints{Policy: "even"}})
	rows.put(t, "plain", models.StudyRunning, models.StudySettings{})
	for id, want := range map[string]bool{"walk": true, "plain": false} {
		got, err := study.New(study.Config{Studies: rows}).Resolve(t.Context(), id, "")
		require.NoError(t, err)
		require.Equal(t, want, got.Rules(installation).DecisionPoints, id)
	}
}

// A change is in force within an interval, for one small read each; a database that
// is away leaves what was read last.
func TestChangeIsInForceWithinAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTable()
		resolver := study.New(study.Config{Studies: rows})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go resolver.Follow(ctx)
		<-time.After(time.Second)
		synctest.Wait()
		require.Equal(t, 1, rows.asks)
		rows.put(t, models.DefaultStudy, models.StudyRecruiting, models.StudySettings{StudyOverlay: models.StudyOverlay{Model: "new"}})
		<-time.After(study.RefreshInterval)
		synctest.Wait()
		got, err := resolver.Resolve(ctx, "", "")
		require.NoError(t, err)
		require.Equal(t, "new", got.Model)
		require.Equal(t, 2, rows.asks)
		require.Equal(t, 2, rows.reads, "once for each version")

		rows.err = errors.New("away")
		<-time.After(3 * study.RefreshInterval)
		synctest.Wait()
		got, err = resolver.Resolve(ctx, "", "")
		require.NoError(t, err)
		require.Equal(t, "new", got.Model)
		_, err = resolver.Resolve(ctx, "unread", "")
		require.Error(t, err, "what is in force is not known, so the caller tries again")
	})
}

// What cannot be used is reported, and the rest of the study is in force.
// Whom a study has just taken in is greeted, although the study was read as a draft a
// moment before.
func TestDraftIsReadAnewForItsFirstPeople(t *testing.T) {
	rows := newTable()
	rows.put(t, "walk", models.StudyDraft, models.StudySettings{})
	resolver := study.New(study.Config{Studies: rows})
	require.NoError(t, resolver.Refresh(t.Context()))
	rows.put(t, "walk", models.StudyRecruiting, models.StudySettings{})

	got, err := resolver.Resolve(t.Context(), "walk", "")
	require.NoError(t, err)
	require.False(t, got.Rules(installation).Silent)
}

func TestFaultySettingsAreReported(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "persona.md"), []byte("You are the coach of {{.Programme}}."), 0o600))
	rows := newTable()
	settings := models.StudySettings{
		Programme:    "Walk",
		StudyOverlay: models.StudyOverlay{PromptsDir: folder, Model: "big"},
		Arms: []models.StudyArm{
			{Name: "a", Weight: 1},
			{Name: "b", Weight: 1, Overlay: models.StudyOverlay{PromptsDir: filepath.Join(folder, "missing"), QuietHours: "late", ToolsOff: []string{"dance"}}},
		},
	}
	rows.put(t, "walk", models.StudyRunning, settings)
	faults := map[string]int{}
	var loaded []string
	resolver := study.New(study.Config{
		Studies: rows, KnownTools: []string{"scheduler"},
		LoadTexts: func(dir, programme string) (*prompts.Library, error) {
			require.Equal(t, "Walk", programme)
			loaded = append(loaded, dir)
			return prompts.Load(dir)
		},
		Report: func(id string, count int) { faults[id] = count },
	})
	a, err := resolver.Resolve(t.Context(), "walk", "a")
	require.NoError(t, err)
	require.NotNil(t, a.Prompts)
	b, err := resolver.Resolve(t.Context(), "walk", "b")
	require.NoError(t, err)
	require.Nil(t, b.Prompts)
	require.Equal(t, "big", b.Model)
	require.Equal(t, installation.Quiet, b.Rules(installation).Quiet)
	require.Equal(t, map[string]int{"walk": 3}, faults)
	require.Equal(t, []string{folder, filepath.Join(folder, "missing")}, loaded, "each folder once")

	settings.Arms = nil
	rows.put(t, "walk", models.StudyRunning, settings)
	require.NoError(t, resolver.Refresh(t.Context()))
	require.Zero(t, faults["walk"], "corrected")
}

func TestUnknownStudyIsCoachedAsInstalled(t *testing.T) {
	got, err := study.New(study.Config{Studies: newTable()}).Resolve(t.Context(), "gone", "a")
	require.NoError(t, err)
	require.Equal(t, study.Settings{Study: "gone", Arm: "a"}, got)
	require.Equal(t, installation, got.Rules(installation))
}

func TestCheckRefusesWhatCannotBeUsed(t *testing.T) {
	known, negative, lessThanAll := []string{"scheduler"}, -1, -2
	for field, settings := range map[string]models.StudySettings{
		"programme":                   {Programme: "a\nb"},
		"from":                        {From: "555-1234 x"},
		"messaging_service":           {MessagingService: "MG12"},
		"max_per_day":                 {StudyOverlay: models.StudyOverlay{MaxPerDay: &negative}},
		"quiet_hours":                 {StudyOverlay: models.StudyOverlay{QuietHours: "21-8"}},
		"reminder_delay":              {StudyOverlay: models.StudyOverlay{ReminderDelay: "48h"}},
		"history_limit":               {StudyOverlay: models.StudyOverlay{HistoryLimit: &lessThanAll}},
		"feedback_history_limit":      {StudyOverlay: models.StudyOverlay{FeedbackHistory: &lessThanAll}},
		"tools_off":                   {StudyOverlay: models.StudyOverlay{ToolsOff: []string{"dance"}}},
		"arms[1].overlay.quiet_hours": {Arms: []models.StudyArm{{Name: "a"}, {Name: "b", Overlay: models.StudyOverlay{QuietHours: "x"}}}},
		"arms[1].overlay.tools_off":   {Arms: []models.StudyArm{{Name: "a"}, {Name: "b", Overlay: models.StudyOverlay{ToolsOff: []string{"report_concern"}}}}},
	} {
		var refused *models.FieldError
		require.ErrorAs(t, study.Check(settings, known), &refused, field)
		require.Equal(t, field, refused.Field)
	}
	require.NoError(t, study.Check(models.StudySettings{
		Programme: "Walk", From: "+15550001234",
		StudyOverlay: models.StudyOverlay{QuietHours: "off", ToolsOff: known},
	}, known))
	require.NoError(t, study.Check(models.StudySettings{}, nil))
}
