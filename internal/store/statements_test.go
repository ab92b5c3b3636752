package store_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"coachline/models"
)

// statements counts what a store sends to its database, by its first words.
type statements []string

func (s *statements) watch(t *testing.T, db *gorm.DB) {
	t.Helper()
	note := func(tx *gorm.DB) {
		if text := tx.Statement.SQL.String(); !strings.HasPrefix(text, "SELECT 1 FROM") { // part of another statement
			*s = append(*s, text)
		}
	}
	call := db.Callback()
	require.NoError(t, call.Create().After("gorm:create").Register("test:create", note))
	require.NoError(t, call.Query().After("gorm:query").Register("test:query", note))
	require.NoError(t, call.Update().After("gorm:update").Register("test:update", note))
	require.NoError(t, call.Delete().After("gorm:delete").Register("test:delete", note))
	require.NoError(t, call.Row().After("gorm:row").Register("test:row", note))
	require.NoError(t, call.Raw().After("gorm:raw").Register("test:raw", note))
}

// TestStatementsOfATurn holds the price of a text and its answer in statements.
func TestStatementsOfATurn(t *testing.T) {
	const most = 26
	onBoth(t, func(t *testing.T, w *world) {
		_, err := w.Enroll(w.ctx, person("p1", phone), "operator")
		require.NoError(t, err)
		var sent statements
		sent.watch(t, w.Database().Reader(w.ctx))
		for n := 1; n <= 3; n++ {
			sent = nil
			w.exchange(n)
		}
		require.LessOrEqual(t, len(sent), most, strings.Join(sent, "\n"))
	})
}

// exchange is all that a store does for one text and its answer: the front's part,
// the relay's and the worker's.
func (w *world) exchange(n int) {
	w.t.Helper()
	now := start.Add(time.Duration(n) * time.Minute)
	accepted, err := w.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM" + strconv.Itoa(n), From: phone, Body: "I walked for half an hour", ReceivedAt: now})
	require.NoError(w.t, err)
	told, err := w.ParticipantNotices(w.ctx, "p1")
	require.NoError(w.t, err)
	_, err = w.Participant(w.ctx, "p1")
	require.NoError(w.t, err)
	require.NoError(w.t, w.NoticesDelivered(w.ctx, []int64{told[len(told)-1].ID}, now))
	turn := models.TurnID("p1", n)
	_, _, err = w.OpenTurn(w.ctx, models.PrepareTurnInput{
		ParticipantID: "p1", TurnID: turn, Number: n, Mode: models.ModeIntake, Plan: replyPlan, InboundIDs: []int64{accepted.Inbound.ID}, Now: now,
	}, 50)
	require.NoError(w.t, err)
	_, err = w.SaveStep(w.ctx, models.Step{TurnID: turn, Number: 1, Text: "Well done.", FinishReason: "stop", Model: "bench", Trace: "{}", CreatedAt: now})
	require.NoError(w.t, err)
	row := models.Outbox{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.KindReply, Body: "Well done."}
	ended, err := w.FinishTurn(w.ctx, models.TurnOutcome{
		TurnID: turn, ParticipantID: "p1", Outcome: "step", Claim: true, At: now, Outbox: []models.Outbox{row},
		Entries: []models.Message{{Key: turn + "-text", Role: models.RoleAssistant, Kind: models.KindReply, Text: "Well done.", OutboxID: row.ID, At: now}},
	})
	require.NoError(w.t, err)
	require.True(w.t, ended.First.Post)
	_, err = w.StartPost(w.ctx, ended.First, now)
	require.NoError(w.t, err)
	require.NoError(w.t, w.RecordAccepted(w.ctx, ended.First.Ref(), models.Receipt{ProviderSID: "SMout" + strconv.Itoa(n), Status: models.OutboxQueued}, now))
}
