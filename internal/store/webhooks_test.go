package store_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// webhook adds a webhook for some types of a study's events.
func (w *world) webhook(id, study string, types ...string) models.Webhook {
	w.t.Helper()
	hook, err := w.Webhooks.AddWebhook(w.ctx, models.Webhook{
		ID: id, URL: "https://example.org/" + id, StudyID: study, Events: models.JoinEventTypes(types), Secret: "whsec_c2VjcmV0",
		State: models.WebhookActive, CreatedBy: "user:kim", CreatedAt: start,
	})
	require.NoError(w.t, err)
	return hook
}

// events lists what a webhook is to be told, oldest first, as "type status".
func (w *world) events(id string) (out []string) {
	w.t.Helper()
	rows, err := w.Webhooks.Deliveries(w.ctx, models.DeliveryQuery{WebhookID: id})
	require.NoError(w.t, err)
	for _, row := range rows {
		out = append([]string{row.Type + " " + row.Status}, out...)
	}
	return out
}

// TestEventsOfAParticipant takes a person through the programme: each transaction
// leaves its event, in order, and without a word of theirs.
func TestEventsOfAParticipant(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.webhook("whk_all", "")
		w.webhook("whk_status", "", "participant.status", "participant.removed")
		w.webhook("whk_study", models.DefaultStudy, "message.status")
		w.enrolled()
		require.Equal(t, []string{"participant.enrolled active"}, w.events("whk_all"))
		w.inbound("SM1", 1, "canary words of the person")
		outbox := w.turn(1, replyPlan, 2)
		w.sent(outbox, 3)
		require.Contains(t, w.events("whk_all"), "message.received ")
		require.Equal(t, []string{"message.status queued"}, w.events("whk_study"))

		w.inbound("SM2", 4, "i want to kill myself")
		require.Contains(t, w.events("whk_all"), "alert.opened ")
		status := wire.StatusOptedOut
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Actor: "user:kim", Patch: models.ParticipantPatch{Status: &status}, Now: at(5)})
		require.NoError(t, err)
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "user:kim", at(6)))
		require.Equal(t, []string{"participant.status opted_out", "participant.removed withdrawn"}, w.events("whk_status"))

		rows, err := w.Webhooks.Deliveries(w.ctx, models.DeliveryQuery{WebhookID: "whk_all"})
		require.NoError(t, err)
		text, err := json.Marshal(rows)
		require.NoError(t, err)
		for _, canary := range []string{"canary", "kill", phone[1:], "Quill"} {
			require.NotContains(t, string(text), canary)
		}
		for _, row := range rows {
			require.Equal(t, models.DefaultStudy, row.StudyID)
			require.Equal(t, "p1", row.ParticipantID)
			require.False(t, row.At.IsZero(), row.Type)
		}
	})
}

// TestEventsOfAStudy tells one webhook of one study's people only, and a disabled one
// of nothing. What is taken back leaves no event.
func TestEventsOfAStudy(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy("walk", `{}`)
		hook := w.webhook("whk_walk", "walk")
		disabled := models.WebhookDisabled
		w.webhook("whk_off", "")
		_, err := w.Webhooks.ChangeWebhook(w.ctx, models.WebhookChange{ID: "whk_off", State: &disabled, Actor: "user:kim", Now: at(1)})
		require.NoError(t, err)
		w.enrolled()
		require.Empty(t, w.events("whk_walk"))
		state := models.StudyClosed
		_, err = w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: "walk", Patch: models.StudyPatch{State: &state}, Actor: "user:kim", Now: at(2)})
		require.NoError(t, err)
		require.Equal(t, []string{"study.state closed"}, w.events("whk_walk"))
		require.Empty(t, w.events("whk_off"))

		_, err = w.People.Enroll(w.ctx, person("p1", "+12025550199"), "operator")
		require.ErrorIs(t, err, models.ErrConflict)
		require.Empty(t, w.events("whk_off"))

		var field *models.FieldError
		_, err = w.Webhooks.AddWebhook(w.ctx, models.Webhook{ID: "whk_none", StudyID: "none", State: models.WebhookActive, CreatedAt: start})
		require.ErrorAs(t, err, &field)
		old := hook.Version - 1
		_, err = w.Webhooks.ChangeWebhook(w.ctx, models.WebhookChange{ID: hook.ID, IfMatch: &old, Now: at(3)})
		require.ErrorIs(t, err, models.ErrStale)
	})
}

// TestClaimsOfDeliveries: of each participant one delivery at a time, the oldest, and
// each for one of several processes only.
func TestClaimsOfDeliveries(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.webhook("whk_1", "", "message.received")
		w.enrolled()
		_, err := w.People.Enroll(w.ctx, person("p2", "+12025550142"), "operator")
		require.NoError(t, err)
		for n, sid := range []string{"SM1", "SM2", "SM3"} {
			w.inbound(sid, n, "hello")
		}
		w.from("+12025550142", "SM4", "hello", 1)

		var mu sync.Mutex
		var claims []models.WebhookDelivery
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				rows, err := w.Webhooks.ClaimDeliveries(context.WithoutCancel(w.ctx), "whk_1", at(10), at(12), 8)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				claims = append(claims, rows...)
			})
		}
		work.Wait()
		require.Len(t, claims, 2, "one of p1, one of p2")
		require.Equal(t, 1, claims[0].Attempts)

		none, err := w.Webhooks.ClaimDeliveries(w.ctx, "whk_1", at(11), at(13), 8)
		require.NoError(t, err)
		require.Empty(t, none, "the lease is not over")
		again, err := w.Webhooks.ClaimDeliveries(w.ctx, "whk_1", at(12), at(14), 8)
		require.NoError(t, err)
		require.Len(t, again, 2, "a process that ended in the middle gives them back")
		require.NoError(t, w.Webhooks.RecordDelivery(w.ctx, models.WebhookAttempt{Delivery: claims[0], Answer: 204, Now: at(12)}))
		open, err := w.Webhooks.Deliveries(w.ctx, models.DeliveryQuery{WebhookID: "whk_1", OnlyOpen: true})
		require.NoError(t, err)
		require.Len(t, open, 4, "the process whose lease is over has no say")
		first := again[0]
		if first.ParticipantID != "p1" {
			first = again[1]
		}

		require.NoError(t, w.Webhooks.RecordDelivery(w.ctx, models.WebhookAttempt{Delivery: first, Error: "no answer", Next: at(60), Now: at(13)}))
		hook, err := w.Webhooks.Webhook(w.ctx, "whk_1")
		require.NoError(t, err)
		require.NotNil(t, hook.FailingSince)
		third, err := w.Webhooks.ClaimDeliveries(w.ctx, "whk_1", at(60), at(62), 1)
		require.NoError(t, err)
		require.NoError(t, w.Webhooks.RecordDelivery(w.ctx, models.WebhookAttempt{Delivery: third[0], Answer: 204, Now: at(61)}))
		next, err := w.Webhooks.ClaimDeliveries(w.ctx, "whk_1", at(61), at(63), 1)
		require.NoError(t, err)
		require.Len(t, next, 1)
		hook, err = w.Webhooks.Webhook(w.ctx, "whk_1")
		require.NoError(t, err)
		require.Nil(t, hook.FailingSince)

		count, err := w.Webhooks.ReplayDeliveries(w.ctx, "whk_1", "user:kim", at(0), at(70))
		require.NoError(t, err)
		require.EqualValues(t, 4, count)
		pruned, err := w.Webhooks.PruneDeliveries(w.ctx, at(2), 100)
		require.NoError(t, err)
		require.EqualValues(t, 3, pruned)
		require.NoError(t, w.Webhooks.RecordDelivery(w.ctx, models.WebhookAttempt{Delivery: first, Answer: 410, Error: "gone", Gone: true, Next: at(90), Now: at(80)}))
		hook, err = w.Webhooks.Webhook(w.ctx, "whk_1")
		require.NoError(t, err)
		require.Equal(t, models.WebhookDisabled, hook.State)
		require.NoError(t, w.Webhooks.RemoveWebhook(w.ctx, "whk_1", "user:kim", at(90)))
		_, err = w.Webhooks.Webhook(w.ctx, "whk_1")
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

// TestEventsWithoutAParticipant: an alert of a number that is not enrolled is told to
// webhooks of all studies. What fails for one object holds up no other.
func TestEventsWithoutAParticipant(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.newStudy("walk", `{}`)
		w.webhook("whk_all", "")
		w.webhook("whk_walk", "walk")
		alert := w.from("+12025550142", "SM1", "i want to kill myself", 1).AlertID
		require.NotEmpty(t, alert)
		_, err := w.Alerts.AcknowledgeAlert(w.ctx, models.AlertAcknowledgement{AlertID: alert, Actor: "user:kim", Now: at(2)})
		require.NoError(t, err)
		require.Equal(t, []string{"alert.opened ", "alert.acknowledged "}, w.events("whk_all"))
		require.Empty(t, w.events("whk_walk"))

		state := models.StudyClosed
		_, err = w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: "walk", Patch: models.StudyPatch{State: &state}, Actor: "user:kim", Now: at(3)})
		require.NoError(t, err)
		_, err = w.Webhooks.AddTestDelivery(w.ctx, "whk_all", "user:kim", at(4))
		require.NoError(t, err)
		claims, err := w.Webhooks.ClaimDeliveries(w.ctx, "whk_all", at(10), at(12), 8)
		require.NoError(t, err)
		var types []string
		for _, row := range claims {
			require.Empty(t, row.ParticipantID)
			types = append(types, row.Type)
		}
		require.ElementsMatch(t, []string{"alert.opened", "study.state", models.WebhookTest}, types, "the second event of the alert waits")
	})
}

// TestReplayDuringADelivery: an event that is being posted when a replay is asked for
// is posted again.
func TestReplayDuringADelivery(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.webhook("whk_1", "", "participant.enrolled")
		w.enrolled()
		claim, err := w.Webhooks.ClaimDeliveries(w.ctx, "whk_1", at(10), at(12), 8)
		require.NoError(t, err)
		require.Len(t, claim, 1)
		count, err := w.Webhooks.ReplayDeliveries(w.ctx, "whk_1", "user:kim", at(-1), at(11))
		require.NoError(t, err)
		require.EqualValues(t, 1, count)
		require.NoError(t, w.Webhooks.RecordDelivery(w.ctx, models.WebhookAttempt{Delivery: claim[0], Answer: 204, Now: at(11)}))
		again, err := w.Webhooks.ClaimDeliveries(w.ctx, "whk_1", at(11), at(13), 8)
		require.NoError(t, err)
		require.Len(t, again, 1)
		require.Equal(t, claim[0].ID, again[0].ID)
		require.NoError(t, w.Webhooks.RecordDelivery(w.ctx, models.WebhookAttempt{Delivery: again[0], Answer: 204, Now: at(12)}))
		done, err := w.Webhooks.Deliveries(w.ctx, models.DeliveryQuery{WebhookID: "whk_1", OnlyOpen: true})
		require.NoError(t, err)
		require.Empty(t, done)
	})
}

// TestSecretOfAWebhookIsSealed and kept for a day when a new one is drawn.
func TestSecretOfAWebhookIsSealed(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		hook := w.webhook("whk_1", "")
		require.NotContains(t, w.text("SELECT secret FROM webhooks"), "whsec")
		secret := "whsec_YW5vdGhlci1zZWNyZXQ="
		hook, err := w.Webhooks.ChangeWebhook(w.ctx, models.WebhookChange{ID: hook.ID, Secret: &secret, Actor: "user:kim", Now: at(1)})
		require.NoError(t, err)
		require.Equal(t, []string{"whsec_YW5vdGhlci1zZWNyZXQ=", "whsec_c2VjcmV0"}, hook.Secrets(at(2)))
		require.Equal(t, []string{"whsec_YW5vdGhlci1zZWNyZXQ="}, hook.Secrets(at(1).Add(25*time.Hour)))
		require.NotContains(t, w.text("SELECT secret FROM webhooks"), "YW5vdGhlci")
	})
}
