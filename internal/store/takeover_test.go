package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// taken takes p1's conversation over some minutes after the start, for an hour.
func (w *world) taken(minutes int, actor string) error {
	w.t.Helper()
	_, err := w.TakeOvers.TakeOver(w.ctx, models.TakeOver{ParticipantID: "p1", Until: at(minutes + 60), Note: "I am on it", Reason: "she asked", Actor: actor, Now: at(minutes)})
	return err
}

func (w *world) handedBack(minutes int, choice models.WaitingAction) error {
	w.t.Helper()
	_, err := w.TakeOvers.HandBack(w.ctx, models.HandBack{ParticipantID: "p1", Waiting: choice, Force: true, Note: "she moved to Rome", Actor: "user:ada", Now: at(minutes)})
	return err
}

// begun begins a turn of p1, and returns whether it may go on.
func (w *world) begun(number int, plan wire.TurnPlan, inbound ...int64) (string, bool) {
	w.t.Helper()
	turn := models.TurnID("p1", number)
	out, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: turn, Number: number, Plan: plan, InboundIDs: inbound, Now: at(2)})
	require.NoError(w.t, err)
	return turn, !out.Skip
}

// saidTurn ends a turn with one row, which is claimed where it may be.
func (w *world) saidTurn(turn string, kind wire.TurnKind) models.EndedTurn {
	w.t.Helper()
	id := models.OutboxID(turn, 1)
	out, err := w.Turns.FinishTurn(w.ctx, models.TurnOutcome{
		TurnID: turn, ParticipantID: "p1", Outcome: "step", At: at(3), Claim: true,
		Entries: []models.Message{{Key: turn + "-out", Role: models.RoleAssistant, Kind: models.EntryOf(kind), Text: "words", OutboxID: id}},
		Outbox:  []models.Outbox{{ID: id, Part: 1, Kind: models.EntryOf(kind), Body: "words"}},
	})
	require.NoError(w.t, err)
	return out
}

// A take-over is of one operator at a time: a second one is told who has it, and
// may force it. Who has it moves its end.
func TestTakeOverIsOfOneOperator(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.taken(0, "user:ada"))
		var others *models.TakenOverError
		require.ErrorAs(t, w.taken(1, "user:bo"), &others)
		require.Equal(t, "user:ada", others.By)
		require.NoError(t, w.taken(2, "user:ada"))
		p, err := w.TakeOvers.TakeOver(w.ctx, models.TakeOver{ParticipantID: "p1", Until: at(90), Force: true, Actor: "user:bo", Now: at(3)})
		require.NoError(t, err)
		require.Equal(t, "user:bo", p.TakenOverBy)
		require.Equal(t, at(3), p.TakenOverAt.UTC())
		require.Equal(t, at(90), p.TakenOverUntil.UTC())
		listed, err := w.People.Participants(w.ctx, models.ParticipantQuery{TakenOver: true})
		require.NoError(t, err)
		require.Len(t, listed, 1)
		require.Equal(t, 3, w.count("SELECT count(*) FROM notices WHERE kind = 'take_over'"))
		require.Equal(t, "until 2026-03-02T10:30:00Z, from user:ada", w.text("SELECT detail FROM audit WHERE action = 'take_over' ORDER BY id DESC LIMIT 1"))
		require.NoError(t, w.handedBack(4, ""))
		require.ErrorIs(t, w.handedBack(5, ""), models.ErrNotFound)
		listed, err = w.People.Participants(w.ctx, models.ParticipantQuery{TakenOver: true})
		require.NoError(t, err)
		require.Empty(t, listed)
	})
}

// The list of what needs an operator says who has taken the person over, and who
// has acknowledged the newest of their alerts, if that was done with each.
func TestAttentionSaysWhoSeesToIt(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		first := w.inbound("SM1", 0, crisis).AlertID
		crises := func() models.OpenAttention {
			rows, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{Kind: wire.AttentionCrisis})
			require.NoError(t, err)
			require.Len(t, rows, 1)
			return rows[0]
		}
		acknowledge := func(id string, minutes int, actor string) {
			_, err := w.Alerts.AcknowledgeAlert(w.ctx, models.AlertAcknowledgement{AlertID: id, Actor: actor, Now: at(minutes)})
			require.NoError(t, err)
		}
		require.Equal(t, []any{"", (*time.Time)(nil), false}, []any{crises().AcknowledgedBy, crises().AcknowledgedAt, crises().Person.IsTakenOver()})
		acknowledge(first, 2, "user:kim")
		row := crises()
		require.Equal(t, []any{"user:kim", at(2)}, []any{row.AcknowledgedBy, row.AcknowledgedAt.UTC()})
		w.inbound("SM2", 3*60, crisis)
		require.Empty(t, crises().AcknowledgedBy, "the second alert is open")
		require.NoError(t, w.taken(4*60, "user:ada"))
		row = crises()
		require.Equal(t, []any{"user:ada", at(4 * 60)}, []any{row.AcknowledgedBy, row.AcknowledgedAt.UTC()})
		require.Equal(t, []any{"user:ada", at(4 * 60)}, []any{row.Person.TakenOverBy, row.Person.TakenOverAt.UTC()})
		_, err := w.Attention.RaiseAttention(w.ctx, models.AttentionEntry{ParticipantID: "p1", Kind: wire.AttentionSend, RaisedAt: at(1)})
		require.NoError(t, err)
		others, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{Kind: wire.AttentionSend})
		require.NoError(t, err)
		require.Empty(t, others[0].AcknowledgedBy, "only alerts are acknowledged")
	})
}

// What the coach was about to say is canceled with the transaction that records the
// take-over, no matter how that ended; its messages wait.
func TestTakeOverSilencesTheCoach(t *testing.T) {
	reply := wire.TurnPlan{Kind: wire.TurnReply}
	for _, tt := range []struct {
		name string
		play func(w *world, id int64)
	}{
		{"before the turn", func(w *world, id int64) {
			require.NoError(w.t, w.taken(1, "user:ada"))
			_, goesOn := w.begun(1, reply, id)
			require.False(w.t, goesOn)
		}},
		{"while the model is asked", func(w *world, id int64) {
			turn, _ := w.begun(1, reply, id)
			require.NoError(w.t, w.taken(1, "user:ada"))
			require.Empty(w.t, w.saidTurn(turn, wire.TurnReply).OutboxIDs)
		}},
		{"while the row is about to be posted", func(w *world, id int64) {
			turn, _ := w.begun(1, reply, id)
			claim := w.saidTurn(turn, wire.TurnReply).First
			require.True(w.t, claim.Post)
			require.NoError(w.t, w.taken(1, "user:ada"))
			row, err := w.Outbox.StartPost(w.ctx, claim, at(4))
			require.NoError(w.t, err)
			require.Equal(w.t, wire.OutboxCanceled, row.Status)
			require.Equal(w.t, models.MissedTakenOver, row.ErrorCode)
		}},
		{"while the row is ready", func(w *world, id int64) {
			turn, _ := w.begun(1, reply, id)
			claim := w.saidTurn(turn, wire.TurnReply).First
			require.NoError(w.t, w.Outbox.ReleaseSend(w.ctx, models.ClaimRef{OutboxID: claim.Outbox.ID, Token: claim.Outbox.ClaimToken}, at(4)))
			require.NoError(w.t, w.taken(1, "user:ada"))
			require.Equal(w.t, "canceled taken_over", w.text("SELECT status || ' ' || error_code FROM outbox"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				got := w.inbound("SM1", 0, "are you there?")
				tt.play(w, got.Inbound.ID)
				require.Equal(t, []string{"are you there?"}, w.waiting())
				require.Zero(t, w.count("SELECT count(*) FROM outbox WHERE status NOT IN ('canceled')"))
				past, err := w.Turns.Past(w.ctx, "p1")
				require.NoError(t, err)
				require.Empty(t, past.Waiting, "a restored workflow does not answer it")
				require.NoError(t, w.handedBack(10, models.WaitingAnswer))
				_, notices, err := w.Notices.Untold(w.ctx, "p1")
				require.NoError(t, err)
				last := notices[len(notices)-1]
				require.Equal(t, models.NoticeHandBack, last.Kind)
				require.Equal(t, string(models.WaitingAnswer), last.Ref)
				items, err := w.Notices.ResumedMessages(w.ctx, last.ID)
				require.NoError(t, err)
				require.Len(t, items, 1)
				turn, goesOn := w.begun(2, reply, got.Inbound.ID)
				require.True(t, goesOn)
				require.NotEmpty(t, w.saidTurn(turn, wire.TurnReply).OutboxIDs)
			})
		})
	}
}

// A prompt and what follows from it are missed; operators' messages, HELP and the
// safety text go out.
func TestTakeOverHoldsWhatTheCoachStarts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.taken(0, "user:ada"))
		_, goesOn := w.begun(1, wire.TurnPlan{Kind: wire.TurnPrompt, PromptID: "p1-s-2026-03-02", ScheduleID: "s", Slot: wire.Slot{Date: "2026-03-02", TargetAt: at(5)}})
		require.False(t, goesOn)
		require.Equal(t, "missed taken_over", w.text("SELECT state || ' ' || reason FROM prompts"))
		for n, kind := range []wire.TurnKind{wire.TurnReminder, wire.TurnCheckIn, wire.TurnGreeting} {
			_, goesOn = w.begun(2+n, wire.TurnPlan{Kind: kind})
			require.False(t, goesOn, kind)
		}
		row, _, err := w.Outbox.QueueOperatorMessage(w.ctx, models.OperatorMessage{ParticipantID: "p1", Body: "I am here", Key: "k", Actor: "user:ada", Now: at(3)})
		require.NoError(t, err)
		turn, goesOn := w.begun(9, wire.TurnPlan{Kind: wire.TurnOperator, OutboxID: row.ID})
		require.True(t, goesOn)
		_, err = w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: turn, ParticipantID: "p1", Outcome: "outbox", At: at(4), Outbox: []models.Outbox{row},
			Entries: []models.Message{{Key: turn + "-out", Role: models.RoleAssistant, Kind: models.KindOperator, Text: row.Body, OutboxID: row.ID}}})
		require.NoError(t, err)
		claim, err := w.Outbox.ClaimSend(w.ctx, row.ID, at(4))
		require.NoError(t, err)
		require.True(t, claim.Post)
		_, goesOn = w.begun(10, wire.TurnPlan{Kind: wire.TurnHelp})
		require.True(t, goesOn)
		entries, err := w.People.History(w.ctx, "p1", 10, time.Time{})
		require.NoError(t, err)
		var said []string
		for _, entry := range entries {
			said = append(said, string(entry.Kind)+" "+entry.By+": "+entry.Text)
		}
		require.Equal(t, []string{"team_note user:ada: I am on it", "operator user:ada: I am here"}, said)
	})
}

// Its time hands a conversation back, unless an operator has put the end off.
func TestTakeOverExpires(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.taken(0, "user:ada"))
		w.inbound("SM1", 1, "hello?")
		require.NoError(t, w.taken(10, "user:ada"))
		end := func(minutes int) time.Time {
			until, err := w.TakeOvers.ExpireTakeOver(w.ctx, wire.TakeOverEnd{ParticipantID: "p1", Now: at(minutes)})
			require.NoError(t, err)
			return until
		}
		require.Equal(t, at(70), end(60))
		require.Zero(t, end(70))
		require.Zero(t, end(71), "a retry finds it done")
		require.Equal(t, 1, w.count("SELECT count(*) FROM notices WHERE kind = 'hand_back' AND ref = 'answer'"))
		require.Equal(t, "expiry", w.text("SELECT actor FROM audit WHERE action = 'hand_back'"))
		require.Empty(t, w.waiting())
	})
}

// What is marked as read is part of the conversation that the next turn is shown,
// with the note; a paused person's texts go on waiting.
func TestHandBackReadsOrKeeps(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.taken(0, "user:ada"))
		w.inbound("SM1", 1, "I moved")
		require.NoError(t, w.set(wire.StatusPaused, "", 2))
		require.ErrorContains(t, w.handedBack(3, models.WaitingAnswer), "only a participant who is active")
		require.NoError(t, w.handedBack(3, ""))
		require.Equal(t, []string{"I moved"}, w.waiting())
		require.NoError(t, w.taken(4, "user:ada"))
		require.ErrorContains(t, w.set(wire.StatusActive, models.WaitingAnswer, 5), "taken over")
		require.NoError(t, w.set(wire.StatusActive, "", 5))
		require.Equal(t, []string{"I moved"}, w.waiting())
		require.NoError(t, w.handedBack(6, models.WaitingRead))
		require.Empty(t, w.waiting())
		turn, goesOn := w.begun(1, wire.TurnPlan{Kind: wire.TurnCheckIn})
		require.True(t, goesOn)
		out, err := w.Turns.TurnContext(w.ctx, turn, -1)
		require.NoError(t, err)
		var read []string
		for _, m := range out.Window {
			read = append(read, string(m.Kind)+" "+m.Text)
		}
		require.Contains(t, read, "message I moved")
		require.Equal(t, 2, w.count("SELECT count(*) FROM messages WHERE kind = 'team_note' AND written_by = 'user:ada' AND key IN (SELECT 'note-' || id FROM notices WHERE kind = 'hand_back')"))
		require.Contains(t, read, "team_note she moved to Rome")
	})
}

// STOP wins over a take-over, and START does not end it; a removal does.
func TestTakeOverAndConsent(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.NoError(t, w.taken(0, "user:ada"))
		w.inbound("SM1", 1, "STOP")
		row, _, err := w.Outbox.QueueOperatorMessage(w.ctx, models.OperatorMessage{ParticipantID: "p1", Body: "wait", Key: "k", Actor: "user:ada", Now: at(2)})
		require.NoError(t, err)
		claim, err := w.Outbox.ClaimSend(w.ctx, row.ID, at(2))
		require.NoError(t, err)
		require.Equal(t, "opted_out", claim.Outbox.ErrorCode)
		w.inbound("SM2", 3, "START")
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, wire.StatusActive, p.Status)
		require.Equal(t, "user:ada", p.TakenOverBy)
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(4)))
		require.Zero(t, w.count("SELECT count(*) FROM participants WHERE taken_over_by <> ''"))
		until, err := w.TakeOvers.ExpireTakeOver(w.ctx, wire.TakeOverEnd{ParticipantID: "p1", Now: at(100)})
		require.NoError(t, err)
		require.Zero(t, until)
	})
}

// An alert opens a take-over where the programme wants that; any operator may have
// it, and acknowledges the alert with it. One that is not acknowledged is to be
// paged again, once.
func TestAlertTakesOverAndEscalates(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, url string) {
		s, err := store.Open(t.Context(), store.Config{URL: url, Sealer: newBox(t, "one"), CrisisTakeOver: 2 * time.Hour})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		w := &world{Store: s, t: t, ctx: t.Context(), url: url}
		w.enrolled()
		got := w.inbound("SM1", 0, "I want to kill myself")
		require.NotEmpty(t, got.AlertID)
		p, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, models.TakenOverByAlert, p.TakenOverBy)
		require.Equal(t, at(120), p.TakenOverUntil.UTC())
		open := func(minutes int) int {
			list, err := w.Alerts.UnacknowledgedAlerts(w.ctx, at(minutes), 10)
			require.NoError(t, err)
			return len(list)
		}
		require.Zero(t, open(15), "its first page was not begun")
		alert, err := w.Alerts.Alert(w.ctx, got.AlertID)
		require.NoError(t, err)
		require.NoError(t, w.Alerts.AlertTold(w.ctx, alert, at(0)))
		require.Equal(t, 1, open(15))
		require.NoError(t, w.Alerts.AlertEscalated(w.ctx, alert.ID, at(15)))
		require.Zero(t, open(30))
		require.NoError(t, w.taken(20, "user:ada"))
		first, err := w.Alerts.AcknowledgeAlert(w.ctx, models.AlertAcknowledgement{AlertID: alert.ID, Actor: "user:bo", Now: at(25)})
		require.NoError(t, err)
		require.Equal(t, "user:ada", first.AcknowledgedBy)
		require.Equal(t, at(20), first.AcknowledgedAt.UTC())
		_, err = w.Alerts.AcknowledgeAlert(w.ctx, models.AlertAcknowledgement{AlertID: "alarm-0", Actor: "user:bo", Now: at(25)})
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

// A turn that the workflow had planned before it heard of a take-over may begin
// after the conversation was handed back. The message that both it and the
// hand-back are to answer has one reply.
func TestHandBackDoesNotAnswerTwice(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		first := w.inbound("SM1", 1, "hello").Inbound.ID
		require.NoError(t, w.taken(1, "user:ada"))
		require.NoError(t, w.handedBack(2, models.WaitingAnswer))
		reply := wire.TurnPlan{Kind: wire.TurnReply}
		turn, goesOn := w.begun(1, reply, first)
		require.True(t, goesOn)
		require.Len(t, w.saidTurn(turn, wire.TurnReply).OutboxIDs, 1)
		_, goesOn = w.begun(2, reply, first)
		require.False(t, goesOn, "the hand-back's own turn")

		second := w.inbound("SM2", 3, "and now?").Inbound.ID
		_, goesOn = w.begun(3, reply, first, second)
		require.True(t, goesOn, "a message that has no reply yet")
	})
}

// A second operator is asked before writing, handing back or taking over in another's
// conversation, and before writing where another has just written.
func TestAnotherOperatorIsAskedFirst(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		send := func(actor, body string, minutes int, force bool) error {
			_, _, err := w.Outbox.QueueOperatorMessage(w.ctx, models.OperatorMessage{ParticipantID: "p1", Key: body, Body: body, Actor: actor, Force: force, Now: at(minutes)})
			return err
		}
		asked := func(err error, by string) {
			t.Helper()
			var others *models.TakenOverError
			require.ErrorAs(t, err, &others)
			require.Equal(t, by, others.By)
		}
		require.NoError(t, send("user:ada", "one", 1, false))
		require.NoError(t, send("user:ada", "two", 2, false), "her own")
		asked(send("user:ben", "three", 3, false), "user:ada")
		require.NoError(t, send("token:study", "from a program", 3, false))
		require.NoError(t, send("user:ben", "three", 4, true))
		require.NoError(t, send("user:ben", "three", 5, false), "a retry is the same message")
		require.NoError(t, send("user:ada", "four", 20, false), "long after")

		take := func(actor string, force bool) error {
			_, err := w.TakeOvers.TakeOver(w.ctx, models.TakeOver{ParticipantID: "p1", Until: at(90), Actor: actor, Force: force, Now: at(30)})
			return err
		}
		back := func(actor string, force bool) error {
			_, err := w.TakeOvers.HandBack(w.ctx, models.HandBack{ParticipantID: "p1", Actor: actor, Force: force, Now: at(40)})
			return err
		}
		require.NoError(t, take("user:ada", false))
		asked(take("user:ben", false), "user:ada")
		asked(send("user:ben", "five", 35, false), "user:ada")
		asked(send("token:study", "six", 35, false), "user:ada")
		require.NoError(t, send("user:ada", "seven", 36, false))
		asked(back("user:ben", false), "user:ada")
		require.Equal(t, 6, w.count("SELECT count(*) FROM outbox"), "what was asked about is not stored")
		require.NoError(t, back("user:ben", true))
		require.NoError(t, take("user:ada", false))
		require.NoError(t, back("user:ada", false), "her own")
	})
}
