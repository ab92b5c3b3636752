package store_test

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestAcceptInbound(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		first := w.inbound("SM1", 1, "hello")
		require.Equal(t, "p1", first.Inbound.ParticipantID)
		require.Equal(t, int64(1), first.Inbound.Seq)
		require.NotZero(t, first.NoticeID)
		require.Equal(t, int64(2), w.inbound("SM2", 2, "again").Inbound.Seq)

		repeat := w.inbound("SM1", 7, "another body under the same id")
		require.True(t, repeat.Duplicate)
		require.Equal(t, first.Inbound, repeat.Inbound)
		require.Zero(t, repeat.NoticeID)

		_, notices, err := w.Notices.Untold(w.ctx, "p1")
		require.NoError(t, err)
		require.Len(t, notices, 3)
		require.Equal(t, models.Notice{ID: first.NoticeID, ParticipantID: "p1", Kind: models.NoticeMessage,
			Ref: strconv.FormatInt(first.Inbound.ID, 10), Seq: 1, Shape: wire.ShapeOpen, CreatedAt: at(1)}, notices[1])

		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, int64(3), p.NextSeq)
		require.Equal(t, int64(1), p.Version, "a text is no change of the participant")
	})
}

func TestAcceptInboundStranger(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		for i := range 2 {
			got, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: fmt.Sprintf("SM%d", i), From: "+15550001111", Body: "who?", ReceivedAt: at(i)})
			require.NoError(t, err)
			require.Empty(t, got.Inbound.ParticipantID)
			require.Zero(t, got.Inbound.Seq)
			require.Zero(t, got.NoticeID)
		}
		require.Equal(t, []models.NoticeKind{models.NoticeStart}, w.noticeKinds())
		_, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{From: phone, ReceivedAt: at(1)})
		require.ErrorContains(t, err, "provider_sid")
	})
}

// Forty deliveries of ten texts at once: each text is stored once, numbered
// without gaps, and announced once.
func TestAcceptInboundAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		var mu sync.Mutex
		var seqs []int
		for _, err := range together(40, func(i int) error {
			got, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: fmt.Sprintf("SM%d", i%10), From: phone, Body: "x", ReceivedAt: at(1)})
			mu.Lock()
			defer mu.Unlock()
			if err == nil && !got.Duplicate {
				seqs = append(seqs, int(got.Inbound.Seq))
			}
			return err
		}) {
			require.NoError(t, err)
		}
		sort.Ints(seqs)
		require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, seqs)
		require.Equal(t, 10, w.count("SELECT count(*) FROM inbound"))
		require.Equal(t, 10, w.count("SELECT count(*) FROM notices WHERE kind = 'message'"))
	})
}

func TestAcceptInboundAnswersPrompts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		plan := promptPlan("2026-03-02")
		w.sent(w.turn(1, plan, 0), 1)
		require.Equal(t, models.PromptPending, w.promptState(plan.PromptID))
		reminder := w.turn(2, wire.TurnPlan{Kind: wire.TurnReminder, PromptID: plan.PromptID}, 300)
		w.sent(reminder, 300)
		require.Equal(t, models.PromptReminded, w.promptState(plan.PromptID))

		w.inbound("SM1", 310, "done")
		w.inbound("SM2", 320, "really")
		tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 10)
		require.NoError(t, err)
		require.Equal(t, models.PromptResponded, tc.Outstanding.State)
		require.Equal(t, at(310), *tc.Outstanding.RespondedAt, "the first answer stays")
		require.Equal(t, at(300), *tc.Outstanding.ReminderSentAt)
	})
}

func TestHistory(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		in := w.inbound("SM1", 1, "hello")
		_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: "p1-t1", Number: 1,
			Plan: wire.TurnPlan{Kind: wire.TurnReply}, InboundIDs: []int64{in.Inbound.ID}, Now: at(2)})
		require.NoError(t, err)
		o := outcome("p1-t1", wire.TurnReply, "", 3)
		o.Entries = append([]models.Message{
			{Key: "c", Role: models.RoleAssistant, Kind: models.KindToolCall, Text: "[]", At: at(2)},
			{Key: "r", Role: models.RoleTool, Kind: models.KindToolResult, Text: "{}", At: at(2)},
		}, o.Entries...)
		_, err = w.Turns.FinishTurn(w.ctx, o)
		require.NoError(t, err)
		w.sent("p1-t1-p1", 4)
		w.turn(2, wire.TurnPlan{Kind: wire.TurnFeedbackQuestion}, 5)

		hello := models.HistoryEntry{Channel: wire.ChannelSMS, Role: models.RoleUser, Kind: models.KindMessage, Text: "hello", At: at(1), TurnID: "p1-t1"}
		reply := models.HistoryEntry{Channel: wire.ChannelSMS, Role: models.RoleAssistant, Kind: models.KindReply, Text: "text of p1-t1", At: at(3), Delivery: wire.OutboxQueued, TurnID: "p1-t1"}
		question := models.HistoryEntry{Channel: wire.ChannelSMS, Role: models.RoleAssistant, Kind: models.KindFeedbackQuestion, Text: "text of p1-t2", At: at(5), Delivery: wire.OutboxReady, TurnID: "p1-t2"}
		tests := []struct {
			name   string
			limit  int
			before time.Time
			want   []models.HistoryEntry
		}{
			{"newest page", 10, time.Time{}, []models.HistoryEntry{hello, reply, question}},
			{"two", 2, time.Time{}, []models.HistoryEntry{reply, question}},
			{"before", 10, at(3), []models.HistoryEntry{hello}},
			{"before the first", 10, at(1), []models.HistoryEntry{}},
		}
		for _, tt := range tests {
			got, err := w.People.History(w.ctx, "p1", tt.limit, tt.before)
			require.NoError(t, err)
			require.Equal(t, tt.want, got, tt.name)
		}

		_, err = w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: "p1-t1-p1", Status: wire.OutboxFailed, ErrorCode: "30007", Class: models.CarrierBlocked, At: at(6)})
		require.NoError(t, err)
		reply.Delivery, reply.ErrorCode = wire.OutboxFailed, "30007"
		got, err := w.People.History(w.ctx, "p1", 10, time.Time{})
		require.NoError(t, err)
		require.Equal(t, []models.HistoryEntry{hello, reply, question}, got, "with the carrier's code")
	})
}

// Texts that are not for the workflow take no number.
func TestNumbersHaveNoGaps(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Close())
		limited, err := store.Open(w.ctx, store.Config{URL: w.url, Sealer: newBox(t, "one"), Limits: store.InboundLimits{PerMinute: 3}})
		require.NoError(t, err)
		defer func() { require.NoError(t, limited.Close()) }()
		_, err = limited.People.Enroll(w.ctx, person("p1", phone), "operator")
		require.NoError(t, err)
		accept := func(sid, body string) models.AcceptedInbound {
			got, err := limited.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: sid, From: phone, Body: body, ReceivedAt: start})
			require.NoError(t, err)
			return got
		}
		require.Equal(t, int64(1), accept("SM1", "I walked today").Inbound.Seq)
		require.Zero(t, accept("SM2", "HELP").Inbound.Seq)
		require.True(t, accept("SM1", "I walked today").Duplicate)
		require.Equal(t, int64(2), accept("SM3", "I walked again").Inbound.Seq)
		above := accept("SM4", "and again").Inbound
		require.Equal(t, models.LimitRate, above.Limit)
		require.Zero(t, above.Seq)
		later := models.Inbound{ProviderSID: "SM5", From: phone, Body: "and once more", ReceivedAt: start.Add(time.Hour)}
		got, err := limited.Inbound.AcceptInbound(w.ctx, later)
		require.NoError(t, err)
		require.Equal(t, int64(3), got.Inbound.Seq)
	})
}

func TestUntold(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		accepted := w.inbound("SM1", 1, "I walked today")
		p, notices, err := w.Notices.Untold(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, phone, p.Phone)
		require.Nil(t, p.RemovedAt)
		require.Len(t, notices, 2)
		require.Equal(t, []int64{notices[0].ID, accepted.NoticeID}, []int64{notices[0].ID, notices[1].ID})
		require.Less(t, notices[0].ID, notices[1].ID)
		require.NoError(t, w.Notices.NoticesDelivered(w.ctx, []int64{accepted.NoticeID}, at(1)))
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(2)))
		p, notices, err = w.Notices.Untold(w.ctx, "p1")
		require.NoError(t, err)
		require.NotNil(t, p.RemovedAt, "who left is told of it")
		require.Equal(t, models.NoticeUnenroll, notices[len(notices)-1].Kind)
		_, notices, err = w.Notices.Untold(w.ctx, "nobody")
		require.NoError(t, err)
		require.Empty(t, notices)
	})
}
