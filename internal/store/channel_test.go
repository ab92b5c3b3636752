package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// chat takes a text of p1 that came through the API.
func (w *world) chat(sid string, minutes int, body string) models.AcceptedInbound {
	w.t.Helper()
	got, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{
		ProviderSID: sid, From: phone, Body: body, Channel: wire.ChannelChat, ReceivedAt: at(minutes),
	})
	require.NoError(w.t, err)
	return got
}

func TestChatInTheStore(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		t.Run("a channel beside SMS", func(t *testing.T) {
			require.EqualValues(t, 1, w.inbound("SM1", 1, "by SMS").Inbound.Seq)
			text := w.chat("chat-1", 2, "in the chat")
			require.EqualValues(t, 2, text.Inbound.Seq, "one order for all channels")
			_, notices, err := w.Notices.Untold(w.ctx, "p1")
			require.NoError(t, err)
			require.Equal(t, models.NoticeChat, notices[2].Kind)

			begun := wire.PrepareTurnInput{
				ParticipantID: "p1", TurnID: "p1-t1", Number: 1, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply},
				InboundIDs: []int64{text.Inbound.ID}, Channel: wire.ChannelChat, Now: at(3),
			}
			_, err = w.Turns.BeginTurn(w.ctx, begun)
			require.NoError(t, err)
			ended, err := w.Turns.FinishTurn(w.ctx, models.TurnOutcome{
				TurnID: "p1-t1", ParticipantID: "p1", Outcome: "step", Claim: true, At: at(4),
				Entries: []models.Message{{Key: "p1-t1-text", Role: models.RoleAssistant, Kind: models.KindReply, Text: "Hi", OutboxID: "p1-t1-p1", Channel: wire.ChannelChat}},
				Outbox:  []models.Outbox{{ID: "p1-t1-p1", Part: 1, Kind: models.KindReply, Body: "Hi", Channel: wire.ChannelChat}},
			})
			require.NoError(t, err)
			require.False(t, ended.First.Post)
			require.Equal(t, wire.OutboxDelivered, ended.First.Outbox.Status)
			again, err := w.Outbox.ClaimSend(w.ctx, "p1-t1-p1", at(5))
			require.NoError(t, err)
			require.False(t, again.Post, "a retry sends nothing either")
			unsettled, err := w.Outbox.Unsettled(w.ctx, models.UnsettledQuery{Before: at(99), After: at(-99), Limit: 9})
			require.NoError(t, err)
			require.Empty(t, unsettled)

			history, err := w.People.HistoryAfter(w.ctx, "p1", 10, at(1))
			require.NoError(t, err)
			require.Equal(t, []models.HistoryEntry{
				{Role: models.RoleUser, Kind: models.KindMessage, Text: "in the chat", At: at(2), Channel: wire.ChannelChat, TurnID: "p1-t1"},
				{Role: models.RoleAssistant, Kind: models.KindReply, Text: "Hi", At: at(4), Channel: wire.ChannelChat, Delivery: wire.OutboxDelivered, TurnID: "p1-t1"},
			}, history)
			turn, err := w.Turns.TurnContext(w.ctx, "p1-t1", 9)
			require.NoError(t, err)
			require.Equal(t, wire.ChannelChat, turn.Turn.Channel)
		})
		t.Run("last channel of a person", func(t *testing.T) {
			for _, tt := range []struct {
				text func(string, int, string) models.AcceptedInbound
				want wire.Channel
			}{{w.inbound, wire.ChannelSMS}, {w.chat, wire.ChannelChat}, {w.chat, wire.ChannelChat}, {w.inbound, wire.ChannelSMS}} {
				tt.text("sid-"+string(tt.want)+models.OutboxID("", w.count("SELECT count(*) FROM inbound")), 10, "hello")
				p, err := w.People.Participant(w.ctx, "p1")
				require.NoError(t, err)
				require.Equal(t, tt.want, p.LastChannel)
				require.EqualValues(t, 1, p.Version)
			}
		})
		t.Run("nobody's text of the chat is no stranger's", func(t *testing.T) {
			_, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{
				ProviderSID: "chat-x", From: "+15550001111", Body: "hello", Channel: wire.ChannelChat, ReceivedAt: at(1),
			})
			require.ErrorIs(t, err, models.ErrNotFound)
		})
		t.Run("STOP", func(t *testing.T) {
			got, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{
				ProviderSID: "chat-stop", From: phone, Body: "STOP", Channel: wire.ChannelChat, ReceivedAt: at(20),
			})
			require.NoError(t, err)
			require.Zero(t, got.Inbound.Seq)
			p, err := w.People.Participant(w.ctx, "p1")
			require.NoError(t, err)
			require.Equal(t, wire.StatusOptedOut, p.Status)
		})
	})
}

// TestChatEndsNoStop: who may send for a participant may stop the texts, and not bring
// them back.
func TestChatEndsNoStop(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		byCarrier := w.ctx
		w.ctx = models.WithOrigin(byCarrier, models.Origin{Actor: "token:kiosk"})
		w.chat("chat-stop", 1, "STOP")
		require.Equal(t, wire.StatusOptedOut, w.status())
		past := w.Records
		entries, err := past.Consents(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.ChannelChat, entries[0].Channel)
		require.Equal(t, "token:kiosk", entries[0].Caller)
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'opt_out' AND actor = 'token:kiosk' AND detail = 'keyword by chat'"))
		for i, words := range []string{"START", "yes", "UNSTOP"} {
			got := w.chat("chat-"+words, 2+i, words)
			require.EqualValues(t, 1+i, got.Inbound.Seq, "an ordinary text")
			require.Equal(t, wire.StatusOptedOut, w.status())
		}
		require.Len(t, w.ledger(), 1)
		require.Equal(t, 3, w.count("SELECT count(*) FROM audit WHERE action = 'opt_in_ignored' AND actor = 'token:kiosk' AND detail = 'by chat'"))

		w.ctx = byCarrier
		w.says(9, models.IntentStart, models.MethodKeyword)
		require.Equal(t, wire.StatusActive, w.status())
		entries, err = past.Consents(w.ctx, "p1")
		require.NoError(t, err)
		require.Empty(t, entries[1].Channel)
		require.Empty(t, entries[1].Caller)
	})
}
