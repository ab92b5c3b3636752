package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

func (w *world) setStatus(s wire.Status) {
	w.t.Helper()
	_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Status: &s}, Now: at(5)})
	require.NoError(w.t, err)
}

func TestClaimSend(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.Outbox.ClaimSend(w.ctx, "p1-t9-p1", at(1))
		require.ErrorIs(t, err, models.ErrNotFound)
		id := w.turn(1, replyPlan, 1)

		claim, err := w.Outbox.ClaimSend(w.ctx, id, at(2))
		require.NoError(t, err)
		require.True(t, claim.Post)
		require.False(t, claim.Resumed)
		require.Equal(t, phone, claim.To)
		require.Equal(t, wire.OutboxSending, claim.Outbox.Status)
		require.Equal(t, "text of p1-t1", claim.Outbox.Body)
		require.Nil(t, claim.Outbox.AttemptedAt, "nothing is written yet")

		claim, err = w.Outbox.ClaimSend(w.ctx, id, at(3))
		require.NoError(t, err)
		require.True(t, claim.Post)
		require.False(t, claim.Resumed, "an earlier attempt died before it wrote anything")
		_, err = w.Outbox.StartPost(w.ctx, claim, at(4))
		require.NoError(t, err)

		claim, err = w.Outbox.ClaimSend(w.ctx, id, at(5))
		require.NoError(t, err)
		require.True(t, claim.Post)
		require.True(t, claim.Resumed, "an earlier attempt died after it")
		require.Equal(t, 1, claim.Outbox.Attempts)
		require.Equal(t, at(4), *claim.Outbox.AttemptedAt)

		ref := claim.Ref()
		require.NoError(t, w.Outbox.ReleaseSend(w.ctx, ref, at(6)))
		require.NoError(t, w.Outbox.ReleaseSend(w.ctx, ref, at(6)))
		claim = w.post(id, 7)
		require.False(t, claim.Resumed, "refused for sure: a new attempt")
		require.Equal(t, 2, claim.Outbox.Attempts)
		row, err := w.Outbox.Row(w.ctx, id)
		require.NoError(t, err)
		require.Equal(t, []time.Time{at(7), at(7)}, []time.Time{row.AttemptedAt.UTC(), row.UnsettledSince.UTC()})

		w.accepted(id, 8)
		require.NoError(t, w.Outbox.ReleaseSend(w.ctx, claim.Ref(), at(9)))
		status, _ := w.outbox(id)
		require.Equal(t, wire.OutboxQueued, status, "what the carrier has is not released")
		require.ErrorIs(t, w.Outbox.ReleaseSend(w.ctx, models.ClaimRef{OutboxID: "p1-t9-p1"}, at(7)), models.ErrNotFound)
	})
}

// Of many workers that claim one row at once, one may post.
func TestClaimSendAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, replyPlan, 1)
		posts := make([]bool, 12)
		for _, err := range together(len(posts), func(i int) error {
			claim, err := w.Outbox.ClaimSend(w.ctx, id, at(2))
			if err != nil || !claim.Post || claim.Resumed {
				return err
			}
			row, err := w.Outbox.StartPost(w.ctx, claim, at(2))
			posts[i] = err == nil && row.Status == wire.OutboxSending
			if errors.Is(err, models.ErrStale) {
				return nil
			}
			return err
		}) {
			require.NoError(t, err)
		}
		require.Equal(t, 1, countTrue(posts))
	})
}

func countTrue(all []bool) int {
	n := 0
	for _, one := range all {
		if one {
			n++
		}
	}
	return n
}

func TestSendChecks(t *testing.T) {
	all := []models.EntryKind{models.KindReply, models.KindGreeting, models.KindPrompt, models.KindReminder,
		models.KindFeedbackQuestion, models.KindFeedbackFollowup, models.KindCheckIn, models.KindOperator, models.KindNotice, models.KindDebug}
	tests := []struct {
		name   string
		stand  func(w *world)
		code   string
		passes []models.EntryKind
	}{
		{"active", func(*world) {}, "", all},
		{"paused", func(w *world) { w.setStatus(wire.StatusPaused) }, "paused", all[7:]},
		{"completed", func(w *world) { w.setStatus(wire.StatusCompleted) }, "completed", all[7:]},
		{"withdrawn", func(w *world) { w.setStatus(wire.StatusWithdrawn) }, "withdrawn", all[7:]},
		{"opted out", func(w *world) { w.setStatus(wire.StatusOptedOut) }, "opted_out", nil},
		{"removed", func(w *world) {
			require.NoError(w.t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(6)))
		}, "removed", []models.EntryKind{models.KindNotice}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := onSQLite(t)
			w.enrolled()
			pending := promptPlan("2026-03-01")
			w.sent(w.turn(1, pending, 0), 0)
			var ids []string
			for i, kind := range all {
				plan := wire.TurnPlan{Kind: wire.TurnKind(kind), PromptID: pending.PromptID}
				if kind == models.KindPrompt {
					plan = promptPlan("2026-03-02")
				}
				ids = append(ids, w.turn(2+i, plan, 2))
			}
			tt.stand(w)
			var passed []models.EntryKind
			for i, id := range ids {
				claim, err := w.Outbox.ClaimSend(w.ctx, id, at(10))
				require.NoError(t, err)
				if claim.Post {
					passed = append(passed, all[i])
					continue
				}
				require.Equal(t, wire.OutboxCanceled, claim.Outbox.Status, all[i])
				require.Equal(t, tt.code, claim.Outbox.ErrorCode, all[i])
				require.Empty(t, claim.To)
			}
			require.Equal(t, tt.passes, passed)
			if tt.code != "" {
				require.Equal(t, models.PromptFailed, w.promptState(promptPlan("2026-03-02").PromptID))
			}
		})
	}
}

// A text that may have reached the carrier is never called canceled, and
// never sent again to a participant who may not get it any more.
func TestResumedSendIsChecked(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		id := w.turn(1, replyPlan, 1)
		w.post(id, 2)
		w.setStatus(wire.StatusOptedOut)
		claim, err := w.Outbox.ClaimSend(w.ctx, id, at(6))
		require.NoError(t, err)
		require.False(t, claim.Post)
		require.Equal(t, wire.OutboxUnknown, claim.Outbox.Status)
		require.Equal(t, "opted_out", claim.Outbox.ErrorCode)
		found, err := w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, ProviderSID: "SM1", Status: wire.OutboxSent, At: at(7)})
		require.NoError(t, err)
		require.True(t, found)
		status, _ := w.outbox(id)
		require.Equal(t, wire.OutboxSent, status, "the carrier had it after all")
	})
}

func TestReminderIsChecked(t *testing.T) {
	tests := []struct {
		name   string
		happen func(w *world)
		code   string
	}{
		{"answered", func(w *world) { w.inbound("SM1", 20, "done") }, "answered"},
		{"a newer prompt", func(w *world) { w.sent(w.turn(8, promptPlan("2026-03-03"), 20), 21) }, "voided"},
		{"reminded before", func(w *world) {
			w.sent(w.turn(9, wire.TurnPlan{Kind: wire.TurnReminder, PromptID: promptPlan("2026-03-02").PromptID}, 20), 21)
		}, "voided"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				plan := promptPlan("2026-03-02")
				w.sent(w.turn(1, plan, 0), 1)
				reminder := w.turn(2, wire.TurnPlan{Kind: wire.TurnReminder, PromptID: plan.PromptID}, 15)
				tt.happen(w)
				claim, err := w.Outbox.ClaimSend(w.ctx, reminder, at(30))
				require.NoError(t, err)
				require.False(t, claim.Post)
				require.Equal(t, wire.OutboxCanceled, claim.Outbox.Status)
				require.Equal(t, tt.code, claim.Outbox.ErrorCode)
			})
		})
	}
}

func TestRecordAcceptedPrompt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		first, second := promptPlan("2026-03-02"), promptPlan("2026-03-03")
		id := w.turn(1, first, 0)
		w.sent(id, 1)
		w.accepted(id, 50)
		profile, err := w.People.Profile(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, 1, profile.TotalPrompts, "counted once")
		require.Equal(t, at(1), *profile.LastPromptSentAt)
		tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 1)
		require.NoError(t, err)
		sentAt := at(1)
		require.Equal(t, &models.Prompt{ID: first.PromptID, ParticipantID: "p1", ScheduleID: "s1", LocalDate: "2026-03-02",
			TargetAt: at(10), State: models.PromptPending, SentAt: &sentAt}, tc.Outstanding)

		w.sent(w.turn(2, second, 60), 61)
		require.Equal(t, models.PromptVoided, w.promptState(first.PromptID))
		require.Equal(t, models.PromptPending, w.promptState(second.PromptID))
		tc, err = w.Turns.TurnContext(w.ctx, "p1-t2", 1)
		require.NoError(t, err)
		require.Equal(t, second.PromptID, tc.Outstanding.ID)
		require.Equal(t, 2, tc.Profile.TotalPrompts)
		require.ErrorIs(t, w.Outbox.RecordAccepted(w.ctx, w.ref("p1-t9-p1"), models.Receipt{}, at(1)), models.ErrNotFound)
	})
}

// The answer may be stored before the carrier's own answer is.
func TestAnswerOvertakesAcceptance(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		plan := promptPlan("2026-03-02")
		w.inbound("SM0", 0, "too early to be the answer")
		id := w.turn(1, plan, 0)
		w.post(id, 1)
		w.inbound("SM1", 2, "done")
		w.inbound("SM2", 3, "and more")
		w.accepted(id, 4)
		tc, err := w.Turns.TurnContext(w.ctx, "p1-t1", 1)
		require.NoError(t, err)
		require.Equal(t, models.PromptResponded, tc.Outstanding.State)
		require.Equal(t, at(2), *tc.Outstanding.RespondedAt)
	})
}

func TestRecordFailed(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		plan := promptPlan("2026-03-02")
		id := w.turn(1, plan, 0)
		w.post(id, 1)
		fail := models.SendFailure{OutboxID: id, Token: w.ref(id).Token, Status: wire.OutboxFailed, Code: "21610", Class: models.CarrierConsent, Now: at(2)}
		for range 2 {
			require.NoError(t, w.Outbox.RecordFailed(w.ctx, fail))
		}
		status, code := w.outbox(id)
		require.Equal(t, wire.OutboxFailed, status)
		require.Equal(t, "21610", code)
		require.Equal(t, models.PromptFailed, w.promptState(plan.PromptID))
		require.Equal(t, "21610", w.text("SELECT reason FROM prompts"))
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.StatusOptedOut, p.Status)
		require.Equal(t, int64(2), p.Version)
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'opt_out'"))
		require.ErrorIs(t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: "p1-t9-p1"}), models.ErrNotFound)
	})
}

func TestRecordFailedUnknown(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		plan := promptPlan("2026-03-02")
		id := w.turn(1, plan, 0)
		w.post(id, 1)
		require.NoError(t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: id, Token: w.ref(id).Token, Status: wire.OutboxUnknown, Code: "timeout", Now: at(2)}))
		status, _ := w.outbox(id)
		require.Equal(t, wire.OutboxUnknown, status)

		found, err := w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, ProviderSID: "SM1", Status: wire.OutboxDelivered, At: at(3)})
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, models.PromptPending, w.promptState(plan.PromptID), "it went out after all")
		require.NoError(t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: id, Token: w.ref(id).Token, Status: wire.OutboxFailed, Code: "late", Now: at(4)}))
		status, _ = w.outbox(id)
		require.Equal(t, wire.OutboxDelivered, status, "what the carrier has did not fail")
	})
}

func TestQueueOperatorMessage(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		m := models.OperatorMessage{ParticipantID: "p1", Body: "call me", Key: "key-1", Actor: "eve", Now: at(1)}
		outs := make([]models.Outbox, 8)
		created := make([]bool, len(outs))
		for _, err := range together(len(outs), func(i int) (err error) {
			outs[i], created[i], err = w.Outbox.QueueOperatorMessage(w.ctx, m)
			return err
		}) {
			require.NoError(t, err)
		}
		news := 0
		for i := range outs {
			require.Equal(t, outs[0], outs[i])
			if created[i] {
				news++
			}
		}
		require.Equal(t, 1, news)
		require.Regexp(t, `^p1-op-[0-9a-f]{16}$`, outs[0].ID)
		require.Equal(t, models.KindOperator, outs[0].Kind)
		require.Equal(t, wire.OutboxReady, outs[0].Status)
		_, notices, err := w.Notices.Untold(w.ctx, "p1")
		require.NoError(t, err)
		require.Len(t, notices, 2)
		require.Equal(t, models.NoticeSend, notices[1].Kind)
		require.Equal(t, outs[0].ID, notices[1].Ref)
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'send' AND actor = 'eve'"))

		m.Key, m.Body = "key-1", "other words under the same key"
		stored, isNew, err := w.Outbox.QueueOperatorMessage(w.ctx, m)
		require.NoError(t, err)
		require.False(t, isNew)
		require.Equal(t, "call me", stored.Body)
		m.Key = "key-2"
		_, isNew, err = w.Outbox.QueueOperatorMessage(w.ctx, m)
		require.NoError(t, err)
		require.True(t, isNew)
		m.Key = ""
		_, _, err = w.Outbox.QueueOperatorMessage(w.ctx, m)
		require.ErrorContains(t, err, "key")
		_, _, err = w.Outbox.QueueOperatorMessage(w.ctx, models.OperatorMessage{ParticipantID: "nobody", Key: "k", Now: at(1)})
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}
