package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

const newPhone = "+12025550143"

func (w *world) changePhone(to string, minutes int) (models.Participant, error) {
	w.t.Helper()
	return w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Phone: &to}, Actor: "operator", Now: at(minutes)})
}

func (w *world) from(sender, sid, body string, minutes int) models.AcceptedInbound {
	w.t.Helper()
	in := models.Inbound{ProviderSID: sid, From: sender, To: "+15017122661", Body: body, ReceivedAt: at(minutes)}
	switch body {
	case "STOP":
		in.Intent, in.IntentMethod = models.IntentStop, models.MethodKeyword
	case "START":
		in.Intent, in.IntentMethod = models.IntentStart, models.MethodKeyword
	}
	got, err := w.Inbound.AcceptInbound(w.ctx, in)
	require.NoError(w.t, err)
	return got
}

// The conversation goes on under the new number; the old one is a stranger's.
func TestChangePhone(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		before := w.enrolled()
		w.inbound("SM1", 1, "hello")
		ready := w.turn(1, wire.TurnPlan{Kind: wire.TurnReply}, 2)
		p, err := w.changePhone(newPhone, 3)
		require.NoError(t, err)
		require.Equal(t, []any{newPhone, before.Version + 1, wire.StatusActive}, []any{p.Phone, p.Version, p.Status})
		require.Equal(t, "phone_number", w.text("SELECT detail FROM audit WHERE action = 'update'"))
		require.NotContains(t, w.dump(), "5558675310")
		require.NotContains(t, w.dump(), "2025550143")

		claim, err := w.Outbox.ClaimSend(w.ctx, ready, at(4))
		require.NoError(t, err)
		require.Equal(t, newPhone, claim.To, "a reply that was ready goes to the new number")
		got := w.from(newPhone, "SM2", "it is me", 5)
		require.Equal(t, []any{"p1", int64(2)}, []any{got.Inbound.ParticipantID, got.Inbound.Seq})
		require.Empty(t, w.from(phone, "SM3", "hello?", 6).Inbound.ParticipantID)

		_, err = w.People.Enroll(w.ctx, person("p2", phone), "operator")
		require.NoError(t, err, "the old number may be enrolled again")
		_, err = w.changePhone(phone, 7)
		var taken *models.PhoneTakenError
		require.ErrorAs(t, err, &taken)
		require.ErrorIs(t, err, models.ErrConflict)
		require.Equal(t, "p2", taken.ParticipantID)
		require.Equal(t, 1, w.count("SELECT count(*) FROM former_phones"))
	})
}

// An opt-out belongs to the person and to the number.
func TestChangePhoneKeepsConsent(t *testing.T) {
	status := func(w *world, id string) wire.Status {
		p, err := w.People.Participant(w.ctx, id)
		require.NoError(w.t, err)
		return p.Status
	}
	t.Run("the person opted out", func(t *testing.T) {
		onBoth(t, func(t *testing.T, w *world) {
			w.enrolled()
			w.from(phone, "SM1", "STOP", 1)
			p, err := w.changePhone(newPhone, 2)
			require.NoError(t, err)
			require.Equal(t, wire.StatusOptedOut, p.Status)
			require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(3)))
			for i, number := range []string{newPhone, phone} {
				again, err := w.People.Enroll(w.ctx, person(fmt.Sprintf("p%d", i+2), number), "operator")
				require.NoError(t, err)
				require.Equal(t, wire.StatusOptedOut, again.Status, number)
			}
			w.from(newPhone, "SM2", "START", 4)
			require.Equal(t, wire.StatusActive, status(w, "p2"))
			require.Equal(t, wire.StatusOptedOut, status(w, "p3"), "START is of its own number")
		})
	})
	t.Run("the number opted out", func(t *testing.T) {
		onBoth(t, func(t *testing.T, w *world) {
			w.enrolled()
			w.from(newPhone, "SM1", "STOP", 1)
			ready := w.turn(1, wire.TurnPlan{Kind: wire.TurnReply}, 2)
			p, err := w.changePhone(newPhone, 3)
			require.NoError(t, err)
			require.Equal(t, wire.StatusOptedOut, p.Status)
			require.Equal(t, []models.NoticeKind{models.NoticeStart, models.NoticeUpdate}, w.noticeKinds())
			got, code := w.outbox(ready)
			require.Equal(t, []any{wire.OutboxCanceled, "opted_out"}, []any{got, code})
			w.from(newPhone, "SM2", "START", 4)
			require.Equal(t, wire.StatusActive, status(w, "p1"))
			row := w.turn(2, wire.TurnPlan{Kind: wire.TurnReply}, 5)
			w.sent(row, 6)
		})
	})
	t.Run("came back before", func(t *testing.T) {
		onBoth(t, func(t *testing.T, w *world) {
			w.enrolled()
			w.from(phone, "SM1", "STOP", 1)
			w.from(phone, "SM2", "START", 2)
			p, err := w.changePhone(newPhone, 3)
			require.NoError(t, err)
			require.Equal(t, wire.StatusActive, p.Status)
			w.sent(w.turn(1, wire.TurnPlan{Kind: wire.TurnReply}, 4), 5)
		})
	})
}

// A text that is being sent when the number changes is looked up where it was posted,
// and what its report says of the old number does not touch the person.
func TestChangePhoneWithSendsUnderWay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		taken := w.turn(1, wire.TurnPlan{Kind: wire.TurnReply}, 1)
		w.sent(taken, 2)
		blocked := w.turn(2, wire.TurnPlan{Kind: wire.TurnReply}, 2)
		w.sent(blocked, 3)
		lost := w.turn(3, wire.TurnPlan{Kind: wire.TurnReply}, 3)
		require.Equal(t, phone, w.post(lost, 4).To)
		claimed := w.turn(4, wire.TurnPlan{Kind: wire.TurnReply}, 4)
		before, err := w.Outbox.ClaimSend(w.ctx, claimed, at(5))
		require.NoError(t, err)
		_, err = w.changePhone(newPhone, 5)
		require.NoError(t, err)
		_, err = w.Outbox.StartPost(w.ctx, before, at(6))
		require.ErrorIs(t, err, models.ErrStale, "not written to the old number")

		claim, err := w.Outbox.ClaimSend(w.ctx, lost, at(6))
		require.NoError(t, err)
		require.True(t, claim.Resumed)
		require.Equal(t, phone, claim.To, "looked up at the number that it was posted to")
		require.NoError(t, w.Outbox.ReleaseMissing(w.ctx, w.ref(lost), at(7)))
		claim, err = w.Outbox.ClaimSend(w.ctx, lost, at(8))
		require.NoError(t, err)
		require.Equal(t, []any{newPhone, false}, []any{claim.To, claim.Resumed})
		_, err = w.Outbox.StartPost(w.ctx, claim, at(8))
		require.NoError(t, err)
		claim, err = w.Outbox.ClaimSend(w.ctx, lost, at(9))
		require.NoError(t, err)
		require.Equal(t, []any{newPhone, true}, []any{claim.To, claim.Resumed})

		for id, report := range map[string]models.StatusCallback{
			taken:   {Status: wire.OutboxUndelivered, ErrorCode: "30005", Class: models.CarrierBadNumber},
			blocked: {Status: wire.OutboxFailed, ErrorCode: "21610", Class: models.CarrierConsent},
		} {
			report.OutboxID, report.At = id, at(10)
			for range 2 {
				found, err := w.Outbox.AcceptStatus(w.ctx, report)
				require.NoError(t, err)
				require.True(t, found)
			}
		}
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Nil(t, p.UnreachableAt)
		require.Equal(t, wire.StatusActive, p.Status)
		require.Equal(t, 1, w.count("SELECT count(*) FROM consents WHERE method = 'carrier_error'"))
		next, err := w.People.Enroll(w.ctx, person("p2", phone), "operator")
		require.NoError(t, err)
		require.Equal(t, wire.StatusOptedOut, next.Status, "the carrier blocks the old number")
	})
}
