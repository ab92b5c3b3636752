package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// A notice whose mark fails at the relay is delivered again and again, over many
// runs of the workflow, and applied once.
func TestRepeatedNoticeIsAppliedOnce(t *testing.T) {
	t.Parallel()
	const runs = 5
	state := wire.ParticipantState{Notices: wire.AppliedNotices{Counted: true}}
	answers := 0
	for run := range runs {
		w := newWorld(t)
		if run > 0 {
			w.state = state
		}
		w.state.Notices.Counted = true
		w.at(time.Second, func() {
			w.changed(7, wire.ParticipantChanged{Help: true})
		})
		w.at(time.Minute, func() {
			w.changed(8, wire.ParticipantChanged{Zone: "America/Chicago"})
		})
		if run == runs-1 {
			w.at(2*time.Minute, func() { w.changed(9, wire.ParticipantChanged{Help: true}) })
		}
		w.at(time.Hour, func() { w.env.SetContinueAsNewSuggested(true) })
		w.text(time.Hour, "hello")
		w.run(2 * time.Hour)
		state = w.continued()
		answers += len(w.carrier.of(models.KindHelp))
		require.Equal(t, "America/Chicago", state.Zone)
	}
	require.Equal(t, 2, answers, "one for each of two notices")
	require.Equal(t, wire.AppliedNotices{Counted: true, Last: 9}, state.Notices)
}

// A run of an older build goes on as its history says; the next one counts.
func TestNoticesAreCountedFromTheNextRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(time.Second, func() { w.changed(7, wire.ParticipantChanged{Help: true}) })
	w.at(time.Minute, func() { w.changed(6, wire.ParticipantChanged{Help: true}) })
	w.at(time.Hour, func() { w.env.SetContinueAsNewSuggested(true) })
	w.text(time.Hour, "hello")
	w.run(2 * time.Hour)
	require.Len(t, w.carrier.of(models.KindHelp), 2)
	require.Equal(t, wire.AppliedNotices{Counted: true, Last: 7}, w.continued().Notices)
}

func TestTakeNotice(t *testing.T) {
	for _, tt := range []struct {
		update string
		last   int64
		apply  bool
	}{
		{"n7", 7, false}, {"n6", 7, false}, {"n8", 8, true}, {"n", 7, true}, {"n-8", 7, true}, {"n8x", 7, true}, {"8", 7, true}, {"", 7, true},
		{"nudge", 7, true}, {wire.NoticeUpdateID(1 << 60), 1 << 60, true},
	} {
		notices := wire.AppliedNotices{Counted: true, Last: 7}
		require.Equal(t, tt.apply, notices.Take(tt.update), tt.update)
		require.Equal(t, tt.last, notices.Last, tt.update)
	}
}
