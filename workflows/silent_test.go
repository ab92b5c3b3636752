package workflows_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/models"
)

// silentYear is the year of a person who answers nothing, with the default limits or
// with none.
func silentYear(t *testing.T, who yearParticipant, limited bool) *stretch {
	who.zone, who.year, who.silent = "Europe/Berlin", 2026, true
	s := who.wholeYear(t)
	if limited {
		s.rules.MaxInitiated, s.rules.BackOff = 2, true
	}
	return s
}

// byDay lists what reached the phone on each local date, without replies; the greatest
// number of texts of a date is the second result.
func (s *stretch) byDay() (days map[string][]models.EntryKind, most int) {
	days = map[string][]models.EntryKind{}
	for _, text := range s.told {
		if text.Kind != models.KindReply {
			date := s.dateOf(text.At)
			days[date] = append(days[date], text.Kind)
			most = max(most, len(days[date]))
		}
	}
	return days, most
}

// byKind counts texts, without replies.
func (s *stretch) byKind() string {
	count := map[models.EntryKind]int{}
	for _, text := range s.told {
		if text.Kind != models.KindReply {
			count[text.Kind]++
		}
	}
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		lines = append(lines, fmt.Sprintf("%s %d", kind, count[kind]))
	}
	return strings.Join(lines, ", ")
}

// TestSilentYear counts what a person is texted in a year who answers nothing: by the
// reference's timers, and with the limits.
func TestSilentYear(t *testing.T) {
	t.Parallel()
	morning := yearParticipant{fixed: "12:00"}
	for _, c := range []struct {
		name        string
		who         yearParticipant
		limited     bool
		kinds       string
		most        int
		left        map[string]int
		first, last string // dates of texts
	}{
		{"no limit", morning, false, "feedback_followup 365, feedback_question 365, prompt 365, reminder 364", 4, map[string]int{},
			"2026-01-02", "2027-01-01"},
		// The year ends before the last reminder. Jan 2 to 4 daily, 6 to 12 every second day, the question on 14, then weekly.
		{"limit", morning, true, "ask_less 1, feedback_question 7, prompt 57", 2,
			map[string]int{coach.LeftOutOneFollowUp: 7, coach.MissedBackedOff: 308 + 2*50}, "2026-01-02", "2026-12-30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := silentYear(t, c.who, c.limited)
			w := newWalk(s)
			w.run()
			days, most := s.byDay()
			dates := slices.Sorted(maps.Keys(days))
			require.Equal(t, []any{c.kinds, c.most, c.first, c.last}, []any{s.byKind(), most, dates[0], dates[len(dates)-1]})
			require.Equal(t, c.left, w.left)
			lived := silentYear(t, c.who, c.limited)
			newBare(lived).run()
			lived.agrees(s)
		})
	}
}

// TestSilentFirstWeeks says which days of a silent person have which texts, and that
// the first text of theirs brings the daily prompts back.
func TestSilentFirstWeeks(t *testing.T) {
	t.Parallel()
	s := silentYear(t, yearParticipant{fixed: "12:00"}, true)
	w := newWalk(s)
	w.arrivals = append(w.arrivals, time.Date(2026, 2, 5, 18, 0, 0, 0, s.place).UTC())
	s.until = time.Date(2026, 2, 8, 0, 0, 0, 0, s.place).UTC()
	w.run()
	days, _ := s.byDay()
	both := []models.EntryKind{models.KindPrompt, models.KindFeedbackQuestion}
	alone := []models.EntryKind{models.KindPrompt}
	require.Equal(t, map[string][]models.EntryKind{
		"2026-01-02": both, "2026-01-03": both, "2026-01-04": both,
		"2026-01-06": both, "2026-01-08": both, "2026-01-10": both, "2026-01-12": both,
		"2026-01-14": {models.KindAskLess},
		"2026-01-21": alone, "2026-01-28": alone, "2026-02-04": alone,
		"2026-02-06": both, "2026-02-07": both,
	}, days)
}

// TestSilentWithTwoPrompts: two prompts a day take all that a day may have, and what
// is sent on a date has its follow-ups on that date.
func TestSilentWithTwoPrompts(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 3} {
		s := silentYear(t, yearParticipant{fixed: "08:30", opens: "17:00", closes: "20:55"}, true)
		s.rules.MaxInitiated, s.rules.BackOff = limit, false
		w := newWalk(s)
		w.run()
		_, most := s.byDay()
		require.Equal(t, limit, most)
		require.Equal(t, map[int]string{
			1: "prompt 366", 2: "feedback_question 1, prompt 730", 3: "feedback_question 366, prompt 730",
		}[limit], s.byKind())
	}
}

// TestSilenceInTheFullWorld: the rows of the prompts say what was left out, and why.
func TestSilenceInTheFullWorld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSchedule("11:00", "2026-03-02", eleven), func(_ *world, r *coach.Rules) { r.MaxInitiated, r.BackOff = 2, true })
	w.run(14 * day)

	both := []models.EntryKind{models.KindPrompt, models.KindFeedbackQuestion}
	require.Equal(t, append(slices.Repeat(both, 7), models.KindAskLess), w.carrier.kinds())
	require.Contains(t, w.carrier.bodies()[14], "Would you like fewer texts")
	var rows []models.Prompt
	require.NoError(t, w.store.Database().Reader(t.Context()).Order("local_date").Find(&rows).Error)
	var got []string
	for _, row := range rows {
		got = append(got, strings.Join([]string{row.LocalDate[len("2026-03-"):], string(row.State), row.Reason + row.LeftOut}, " "))
	}
	require.Equal(t, []string{
		"02 voided one_follow_up", "03 voided one_follow_up", "04 voided one_follow_up", "05 missed backed_off",
		"06 voided one_follow_up", "07 missed backed_off", "08 voided one_follow_up", "09 missed backed_off",
		"10 voided one_follow_up", "11 missed backed_off", "12 pending one_follow_up", "13 missed backed_off",
		"14 missed backed_off", "15 missed backed_off", "16 missed backed_off",
	}, got)
}
