package store_test

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// BenchmarkTurn is all that a store does for one text and its answer, on a file
// of SQLite: the starter's part, the relay's and the worker's.
func BenchmarkTurn(b *testing.B) {
	ctx := b.Context()
	s, err := store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(b.TempDir(), "coach.db"), Sealer: newBox(b, "one")})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	_, err = s.People.Enroll(ctx, person("p1", phone), "operator")
	require.NoError(b, err)
	_, told, err := s.Notices.Untold(ctx, "p1") // of the start
	require.NoError(b, err)
	require.NoError(b, s.Notices.NoticesDelivered(ctx, []int64{told[0].ID}, start))
	b.ReportAllocs()
	for n := 1; b.Loop(); n++ {
		now := start.Add(time.Duration(n) * time.Minute)
		accepted, err := s.Inbound.AcceptInbound(ctx, models.Inbound{ProviderSID: "SM" + strconv.Itoa(n), From: phone, Body: "I walked for half an hour", ReceivedAt: now})
		require.NoError(b, err)
		_, _, err = s.Notices.Untold(ctx, "p1")
		require.NoError(b, err)
		require.NoError(b, s.Notices.NoticesDelivered(ctx, []int64{accepted.NoticeID}, now))

		turn := models.TurnID("p1", n)
		_, _, err = s.Turns.OpenTurn(ctx, wire.PrepareTurnInput{
			ParticipantID: "p1", TurnID: turn, Number: n, Mode: wire.ModeIntake, Plan: replyPlan, InboundIDs: []int64{accepted.Inbound.ID}, Now: now,
		}, 50)
		require.NoError(b, err)
		_, err = s.Turns.SaveStep(ctx, models.Step{TurnID: turn, Number: 1, Text: "Well done.", FinishReason: "stop", Model: "bench", Trace: "{}", CreatedAt: now})
		require.NoError(b, err)

		row := models.Outbox{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.KindReply, Body: "Well done."}
		ended, err := s.Turns.FinishTurn(ctx, models.TurnOutcome{
			TurnID: turn, ParticipantID: "p1", Outcome: "step", Claim: true, At: now, Outbox: []models.Outbox{row},
			Entries: []models.Message{{Key: turn + "-text", Role: models.RoleAssistant, Kind: models.KindReply, Text: "Well done.", OutboxID: row.ID, At: now}},
		})
		require.NoError(b, err)
		require.True(b, ended.First.Post)
		_, err = s.Outbox.StartPost(ctx, ended.First, now)
		require.NoError(b, err)
		require.NoError(b, s.Outbox.RecordAccepted(ctx, ended.First.Ref(), models.Receipt{ProviderSID: "SMout" + strconv.Itoa(n), Status: wire.OutboxQueued}, now))
	}
}
