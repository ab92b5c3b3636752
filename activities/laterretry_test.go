package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"coachline/activities"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

const tryID = "ann-t1-p1-r1"

var errDown = errors.New("down")

// lateRows is one later try and what became of it.
type lateRows struct {
	activities.Outbox
	try     models.LateTry
	err     error
	dropped []models.SendFailure
	posted  []string
	answer  error
}

func (r *lateRows) LateTry(context.Context, string) (models.LateTry, error) { return r.try, r.err }

func (r *lateRows) RecordFailed(_ context.Context, f models.SendFailure) error {
	r.dropped = append(r.dropped, f)
	return nil
}

func (r *lateRows) SendSMS(_ context.Context, in wire.SendSMSInput) (wire.SendSMSResult, error) {
	r.posted = append(r.posted, in.OutboxID)
	return wire.SendSMSResult{Status: wire.OutboxQueued}, r.answer
}

// instant reads a time of 2 and 3 March 2026 in New York.
func instant(t *testing.T, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, "2026-03-"+text+":00-05:00")
	require.NoError(t, err)
	return out.UTC()
}

func (r *lateRows) send(t *testing.T, now time.Time) (wire.SendSMSResult, error) {
	t.Helper()
	quiet, err := coach.ParseQuietHours("21:00-08:00")
	require.NoError(t, err)
	band := []*time.Location{}
	for _, name := range coach.RegionZones("US") {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		band = append(band, zone)
	}
	tries := &activities.LaterRetries{Store: r, Posts: r, Rules: coach.Rules{Quiet: quiet, Band: band}, Zones: time.LoadLocation, Now: func() time.Time { return now }}
	return tries.SendLate(t.Context(), wire.SendSMSInput{OutboxID: tryID})
}

func newTry(t *testing.T, written, due string) *lateRows {
	at := instant(t, due)
	return &lateRows{try: models.LateTry{
		Row:         models.Outbox{ID: tryID, Kind: models.KindReply, Status: wire.OutboxReady, DueAt: &at},
		First:       models.Outbox{CreatedAt: instant(t, written)},
		Participant: models.Participant{ID: "ann", Timezone: "America/New_York"},
	}}
}

func (r *lateRows) prompt(day, zone string) *lateRows {
	r.try.Row.Kind, r.try.LocalDate, r.try.Zone = models.KindPrompt, day, zone
	return r
}

func (r *lateRows) behind(at time.Time) *lateRows {
	r.try.Before = []models.Outbox{{ID: "ann-t1-p0-r1", DueAt: &at}}
	return r
}

func TestSendLate(t *testing.T) {
	const home = "America/New_York"
	unreachableEmbedder := func(r *lateRows) *lateRows {
		r.try.Participant.ZoneAssumed = true
		return r
	}
	for _, tt := range []struct {
		name string
		try  *lateRows
		now  string
		wait time.Duration // until the next attempt
		code string        // why it is not made; neither: it goes out
	}{
		{name: "early", try: newTry(t, "02T15:00", "02T15:40"), now: "02T15:01", wait: 39 * time.Minute},
		{name: "due", try: newTry(t, "02T15:00", "02T15:40"), now: "02T15:40"},
		{name: "after an outage", try: newTry(t, "02T09:00", "02T09:40"), now: "02T20:59"},
		{name: "at the end of its use", try: newTry(t, "02T08:00", "02T08:40"), now: "02T20:00"},
		{name: "after a long outage", try: newTry(t, "02T08:00", "02T08:40"), now: "02T20:01", code: "stale"},
		{name: "quiet, of use in the morning", try: newTry(t, "02T20:30", "02T21:10"), now: "02T20:40", wait: 11*time.Hour + 20*time.Minute},
		{name: "quiet, seen at night", try: newTry(t, "02T20:30", "02T21:10"), now: "02T23:00", wait: 9 * time.Hour},
		{name: "in the morning", try: newTry(t, "02T20:30", "02T21:10"), now: "03T08:00"},
		{name: "quiet, of no use in the morning", try: newTry(t, "02T19:59", "02T21:01"), now: "02T20:10", code: "quiet_hours"},
		{name: "zone not known", try: unreachableEmbedder(newTry(t, "02T08:30", "02T09:10")), now: "02T08:40", wait: 4*time.Hour + 20*time.Minute},
		{name: "prompt of today", try: newTry(t, "02T12:00", "02T12:40").prompt("2026-03-02", home), now: "02T12:40"},
		{name: "prompt of today, in the evening", try: newTry(t, "02T08:00", "02T08:40").prompt("2026-03-02", home), now: "02T20:59"},
		{name: "prompt of yesterday", try: newTry(t, "02T12:00", "02T12:40").prompt("2026-03-02", home), now: "03T09:00", code: "stale"},
		{name: "prompt, day over in its own zone", try: newTry(t, "02T12:00", "02T12:40").prompt("2026-03-02", "Asia/Tokyo"), now: "02T12:10", code: "stale"},
		{name: "prompt, over with the quiet hours", try: newTry(t, "02T20:30", "02T21:10").prompt("2026-03-02", home), now: "02T20:40", code: "quiet_hours"},
		{name: "behind a part that is due later", try: newTry(t, "02T15:00", "02T15:40").behind(instant(t, "02T15:50")), now: "02T15:40", wait: 10 * time.Minute},
		{name: "behind a part that is being sent", try: newTry(t, "02T15:00", "02T15:40").behind(instant(t, "02T15:30")), now: "02T15:40", wait: 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := tt.try.send(t, instant(t, tt.now))
			switch {
			case tt.code != "":
				require.NoError(t, err)
				require.Equal(t, wire.SendSMSResult{Status: wire.OutboxCanceled, Code: tt.code}, out)
				require.Equal(t, []models.SendFailure{{OutboxID: tryID, Status: wire.OutboxCanceled, Code: tt.code, Now: instant(t, tt.now)}}, tt.try.dropped)
				require.Empty(t, tt.try.posted)
			case tt.wait > 0:
				var later *temporal.ApplicationError
				require.ErrorAs(t, err, &later)
				require.Equal(t, tt.wait, later.NextRetryDelay())
				require.False(t, later.NonRetryable())
				require.Empty(t, tt.try.posted)
				require.Empty(t, tt.try.dropped)
			default:
				require.NoError(t, err)
				require.Equal(t, []string{tryID}, tt.try.posted)
				require.Empty(t, tt.try.dropped)
			}
		})
	}
}

// TestSendLateUnderWay: a try that was begun is looked up at any hour, and the
// sender's own wait goes through as it is.
func TestSendLateUnderWay(t *testing.T) {
	r := newTry(t, "02T15:00", "02T15:40")
	r.try.Row.Status, r.answer = wire.OutboxSending, temporal.NewApplicationErrorWithOptions("busy", wire.ErrTypeCarrierBusy,
		temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
	_, err := r.send(t, instant(t, "03T01:00"))
	require.Equal(t, r.answer, err)
	require.Equal(t, []string{tryID}, r.posted)
}

func TestSendLateFaults(t *testing.T) {
	r := newTry(t, "02T15:00", "02T15:40")
	r.try.Participant.Timezone = "Mars/Olympus"
	_, err := r.send(t, instant(t, "02T15:40"))
	require.ErrorContains(t, err, "time zone")

	r = newTry(t, "02T15:00", "02T15:40").prompt("2026-03-02", "Mars/Olympus")
	_, err = r.send(t, instant(t, "02T15:40"))
	require.ErrorContains(t, err, "finding the day")

	r.err = errDown
	_, err = r.send(t, instant(t, "02T15:40"))
	require.ErrorIs(t, err, errDown)
	var final *temporal.ApplicationError
	require.NotErrorAs(t, err, &final, "it is tried again")

	r.err = models.ErrNotFound
	_, err = r.send(t, instant(t, "02T15:40"))
	require.ErrorAs(t, err, &final)
	require.True(t, final.NonRetryable())
	require.Empty(t, r.posted)
}
