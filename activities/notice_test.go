package activities_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/segments"
	"coachline/models"
	"coachline/models/wire"
)

// talkAt has a person write at an instant and the coach answer, and returns what they read.
func (w *storeFixture) talkAt(id, phone string, at time.Time, answer string) string {
	w.t.Helper()
	w.number++
	turn := models.TurnID(id, w.number)
	in, err := w.people.Inbound.AcceptInbound(w.t.Context(), models.Inbound{ProviderSID: turn, From: phone, Body: "walked the dog today", ReceivedAt: at})
	require.NoError(w.t, err)
	plan := wire.TurnPlan{Kind: wire.TurnReply}
	_, err = w.people.Turns.BeginTurn(w.t.Context(), wire.PrepareTurnInput{
		ParticipantID: id, TurnID: turn, Number: w.number, Mode: wire.ModeIntake, Plan: plan, InboundIDs: []int64{in.Inbound.ID}, Now: at,
	})
	require.NoError(w.t, err)
	_, err = w.people.Turns.SaveStep(w.t.Context(), models.Step{TurnID: turn, Number: 1, Text: answer, CreatedAt: at})
	require.NoError(w.t, err)
	w.closing.Posts.Now = func() time.Time { return at.Add(time.Second) }
	_, err = w.env.ExecuteActivity(w.closing.SendTurn, wire.SendTurnInput{End: wire.PersistTurnInput{
		ParticipantID: id, TurnID: turn, Mode: wire.ModeIntake, Plan: plan, Source: wire.SourceStep, Step: 1, Now: at,
	}})
	require.NoError(w.t, err)
	row, err := w.people.Outbox.Row(w.t.Context(), models.OutboxID(turn, 1))
	require.NoError(w.t, err)
	return row.Body
}

// TestNoticeIsSaidAgain: a person of New York is told again on each day and every three
// hours of a long conversation that an AI writes, joined to a reply; one of elsewhere after
// a week of silence. Each time is on record.
func TestNoticeIsSaidAgain(t *testing.T) {
	const answer, told = "Nice walk. What helped?", "(AI coach, not a person) "
	w := newStoreFixture(t)
	people := map[string]string{"conv_nyc": "+12127350123", "conv_austin": "+15127350123"}
	for id, phone := range people {
		_, err := w.people.People.Enroll(t.Context(), models.Participant{ID: id, Phone: phone, Timezone: "America/New_York", Locale: "en-US", EnrolledAt: now}, "operator")
		require.NoError(t, err)
	}
	morning := now.Add(24 * time.Hour)
	for _, say := range []struct {
		after         time.Duration
		nyc, elswhere bool
	}{
		{0, true, false}, {10 * time.Minute, false, false}, {24 * time.Hour, true, false},
		{25 * time.Hour, false, false}, {26 * time.Hour, false, false}, {27 * time.Hour, true, false}, {27*time.Hour + time.Minute, false, false},
		{8*24*time.Hour + 4*time.Hour, true, true},
	} {
		for id, isTold := range map[string]bool{"conv_nyc": say.nyc, "conv_austin": say.elswhere} {
			got := w.talkAt(id, people[id], morning.Add(say.after), answer)
			require.Equal(t, map[bool]string{true: told}[isTold]+answer, got, "%s after %s", id, say.after)
		}
	}
	held, err := w.people.People.PersonData(t.Context(), "conv_nyc")
	require.NoError(t, err)
	for _, table := range held {
		if table.Name == "disclosures" {
			require.Len(t, table.Rows, 4)
			require.Equal(t, "en-US", table.Rows[0]["locale"])
			require.Equal(t, "AI coach", table.Rows[0]["words"])
			return
		}
	}
	require.Fail(t, "no proof on record")
}

// TestNoticeCostsNoSegment: shorter words stand before a reply that the longer ones would
// make a segment more of.
func TestNoticeCostsNoSegment(t *testing.T) {
	w := newStoreFixture(t)
	_, err := w.people.People.Enroll(t.Context(), models.Participant{ID: "conv_nyc", Phone: "+12127350123", Timezone: "UTC", Locale: "en-US", EnrolledAt: now}, "operator")
	require.NoError(t, err)
	for i, length := range []int{100, 135, 140, 148, 155} {
		answer := strings.Repeat("a", length-1) + "."
		got := w.talkAt("conv_nyc", "+12127350123", now.Add(time.Duration(i+1)*24*time.Hour), answer)
		want := map[int]string{100: "(AI coach, not a person) ", 135: "(AI coach, not a person) ", 140: "(AI coach) ", 148: "(AI coach) ", 155: "(AI coach, not a person) "}[length]
		require.True(t, strings.HasPrefix(got, want), got)
		require.LessOrEqual(t, segments.Count(got).Segments, 1+length/150)
	}
}
