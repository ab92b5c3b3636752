package store_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/wire"
)

// wording is a text of each intent.
var wording = map[models.Intent]string{
	models.IntentStop: "stop", models.IntentStart: "start", models.IntentYes: "yes", models.IntentHelp: "help", models.IntentNone: "words",
}

// says delivers a text of p1 that the screening gives an intent.
func (w *world) says(minutes int, intent models.Intent, method models.ConsentMethod) models.AcceptedInbound {
	w.t.Helper()
	in := models.Inbound{ProviderSID: fmt.Sprintf("SMi%d", minutes), From: phone, To: "+15017122661", Body: wording[intent], ReceivedAt: at(minutes)}
	switch method {
	case models.MethodCarrier:
		in.OptOutType = string(intent)
	case models.MethodPhrase:
		in.Body += " please"
	case models.MethodKeyword, models.MethodCarrierError, models.MethodOperator:
	}
	got, err := w.Inbound.AcceptInbound(w.ctx, in)
	require.NoError(w.t, err)
	require.Equal(w.t, []any{intent, method}, []any{got.Inbound.Intent, got.Inbound.IntentMethod})
	return got
}

func (w *world) stops(minutes int) models.AcceptedInbound {
	return w.says(minutes, models.IntentStop, models.MethodKeyword)
}

// entry is a row of the consent ledger as the database has it.
type entry struct {
	action, method, text, by string
	inbound                  int64
}

// ledger reads the entries of p1, opened, and makes sure that they are sealed.
func (w *world) ledger() []entry {
	w.t.Helper()
	var out []entry
	w.raw(func(db *sql.DB) {
		rows, err := db.Query("SELECT action, method, text, recorded_by, inbound_id, at FROM consents WHERE participant_id = 'p1' ORDER BY id")
		require.NoError(w.t, err)
		defer rows.Close()
		for rows.Next() {
			var e entry
			var at time.Time
			require.NoError(w.t, rows.Scan(&e.action, &e.method, &e.text, &e.by, &e.inbound, &at))
			require.NotContains(w.t, e.text, "words")
			if e.text != "" {
				cell := database.Cell{Table: "consents", Column: "text", Row: []any{"p1", e.action, e.method, e.inbound, at}}
				var err error
				e.text, err = database.OpenText(w.Database().Reader(w.ctx).Statement.Context, cell, e.text)
				require.NoError(w.t, err)
			}
			out = append(out, e)
		}
		require.NoError(w.t, rows.Err())
	})
	return out
}

func (w *world) status() wire.Status {
	w.t.Helper()
	p, err := w.People.Participant(w.ctx, "p1")
	require.NoError(w.t, err)
	return p.Status
}

// confirm begins a confirmation turn and sends its text; it returns how far
// that came.
func (w *world) confirm(n, minutes int) string {
	w.t.Helper()
	id := models.TurnID("p1", n)
	begun, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: id, Number: n,
		Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnConsent}, Now: at(minutes)})
	require.NoError(w.t, err)
	if begun.Skip {
		return "skipped"
	}
	ids, err := w.finish(outcome(id, wire.TurnConsent, "", minutes))
	require.NoError(w.t, err)
	require.Len(w.t, ids, 1)
	return w.claim(ids[0], minutes)
}

func (w *world) claim(outboxID string, minutes int) string {
	w.t.Helper()
	claim, err := w.Outbox.ClaimSend(w.ctx, outboxID, at(minutes))
	require.NoError(w.t, err)
	if !claim.Post {
		return claim.Outbox.ErrorCode
	}
	if !claim.Resumed {
		row, err := w.Outbox.StartPost(w.ctx, claim, at(minutes))
		require.NoError(w.t, err)
		require.Equal(w.t, wire.OutboxSending, row.Status)
	}
	return "posted"
}

func TestStopEndsEverythingAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		pending := promptPlan("2026-03-01")
		w.sent(w.turn(1, pending, 0), 0)
		ready := w.turn(2, replyPlan, 1)
		begun := wire.PrepareTurnInput{ParticipantID: "p1", TurnID: "p1-t3", Number: 3, Plan: promptPlan("2026-03-02"), Now: at(1)}
		_, err := w.Turns.BeginTurn(w.ctx, begun)
		require.NoError(t, err)

		got := w.stops(2)
		require.Zero(t, got.Inbound.Seq, "no text for the coach")
		require.NotZero(t, got.NoticeID)
		require.Equal(t, wire.StatusOptedOut, w.status())
		require.Equal(t, []entry{{"opt_out", "keyword", "stop", "participant", got.Inbound.ID}}, w.ledger())
		require.Equal(t, []models.NoticeKind{models.NoticeStart, models.NoticeConsent}, w.noticeKinds())
		status, code := w.outbox(ready)
		require.Equal(t, wire.OutboxCanceled, status)
		require.Equal(t, "opted_out", code)
		require.Equal(t, models.PromptPending, w.promptState(pending.PromptID), "a STOP answers no prompt")
		require.Equal(t, models.PromptFailed, w.promptState(begun.Plan.PromptID))
		require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'opt_out' AND actor = 'participant' AND detail = 'keyword'"))

		ids, err := w.finish(outcome("p1-t3", wire.TurnPrompt, begun.Plan.PromptID, 3))
		require.NoError(t, err)
		require.Empty(t, ids, "the turn under way writes nothing any more")
		require.Equal(t, "canceled", w.text("SELECT outcome FROM turns WHERE id = 'p1-t3'"))

		history, err := w.People.History(w.ctx, "p1", 10, time.Time{})
		require.NoError(t, err)
		require.Equal(t, models.HistoryEntry{Role: models.RoleUser, Kind: models.KindMessage, Text: "stop", At: at(2), Channel: wire.ChannelSMS}, history[len(history)-1])

		require.True(t, w.stops(2).Duplicate)
		again := w.stops(4)
		require.Zero(t, again.NoticeID, "stored, nothing else")
		require.Len(t, w.ledger(), 1)
		require.Equal(t, int64(1), w.inbound("SM9", 5, "hello?").Inbound.Seq, "numbers have no gaps")
	})
}

func TestComingBack(t *testing.T) {
	for _, intent := range []models.Intent{models.IntentStart, models.IntentYes} {
		t.Run(string(intent), func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				before := w.says(1, intent, models.MethodKeyword)
				require.Equal(t, int64(1), before.Inbound.Seq, "an ordinary answer")
				require.Empty(t, w.ledger())
				w.stops(2)
				require.Equal(t, "posted", w.confirm(1, 2))
				back := w.says(3, intent, models.MethodKeyword)
				require.Zero(t, back.Inbound.Seq)
				require.Equal(t, wire.StatusActive, w.status())
				require.Equal(t, entry{"opt_in", "keyword", wording[intent], "participant", back.Inbound.ID}, w.ledger()[1])
				require.Equal(t, "posted", w.confirm(2, 3))
				require.Equal(t, "posted", w.claim(w.turn(3, replyPlan, 4), 4))
				require.Equal(t, int64(2), w.says(5, intent, models.MethodKeyword).Inbound.Seq)
				require.Len(t, w.ledger(), 2)
				require.Equal(t, []models.NoticeKind{models.NoticeStart, models.NoticeMessage, models.NoticeConsent,
					models.NoticeConsent, models.NoticeResume, models.NoticeMessage}, w.noticeKinds(), "the first text was not answered before the opt-out")
			})
		})
	}
}

func TestHelp(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		got := w.says(1, models.IntentHelp, models.MethodKeyword)
		require.NotZero(t, got.NoticeID)
		require.Zero(t, got.Inbound.Seq)
		require.Zero(t, w.says(-20, models.IntentHelp, models.MethodCarrier).NoticeID, "the carrier has answered")
		w.setStatus(wire.StatusPaused)
		require.Equal(t, "posted", w.claim(w.turn(1, wire.TurnPlan{Kind: wire.TurnHelp}, 5), 6), "whoever is paused is answered too")
		w.stops(7)
		require.Zero(t, w.says(8, models.IntentHelp, models.MethodKeyword).NoticeID, "silent")
		require.Equal(t, []models.NoticeKind{models.NoticeStart, models.NoticeHelp, models.NoticePause, models.NoticeConsent}, w.noticeKinds())
		history, err := w.People.History(w.ctx, "p1", 10, time.Time{})
		require.NoError(t, err)
		require.Len(t, history, 5, "all of it is in the conversation")
	})
}

func TestOneConfirmation(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		require.Equal(t, "skipped", w.confirm(1, 1), "nothing to confirm")
		w.stops(2)
		require.Equal(t, "posted", w.confirm(2, 3))
		require.NoError(t, w.Outbox.ReleaseSend(w.ctx, w.ref("p1-t2-p1"), at(3)))
		require.Equal(t, "posted", w.claim("p1-t2-p1", 4), "the same text may be tried again")
		require.Equal(t, "skipped", w.confirm(3, 4))
		w.says(5, models.IntentStart, models.MethodKeyword)
		require.Equal(t, "posted", w.confirm(4, 5))
		w.stops(6)
		require.Equal(t, "superseded", w.claim("p1-t4-p1", 7), "a welcome that was under way does not go out after the next STOP")
		require.Equal(t, "skipped", w.confirm(5, 7), "confirmed within the hour")
		w.says(8, models.IntentStart, models.MethodKeyword)
		w.stops(63)
		require.Equal(t, "posted", w.confirm(6, 63))
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(64)))
		require.Equal(t, "superseded", w.claim("p1-t6-p1", 65))
	})
}

// TestConfirmationsHaveLimits: a machine that sends STOP and START in turn is believed
// each time and answered four times a day.
func TestConfirmationsHaveLimits(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		posted := map[models.Intent]int{}
		for i := range 100 {
			minutes := 10*i + 1
			intent, status := models.IntentStop, wire.StatusOptedOut
			if i%2 == 1 {
				intent, status = models.IntentStart, wire.StatusActive
			}
			w.says(minutes, intent, models.MethodKeyword)
			require.Equal(t, status, w.status(), "honoured")
			if w.confirm(i+1, minutes) == "posted" {
				posted[intent]++
			}
		}
		require.Equal(t, map[models.Intent]int{models.IntentStop: 17, models.IntentStart: 3}, posted, "in 1,000 minutes")
		require.Len(t, w.ledger(), 100)
	})
}

// What the carrier answered, or found out, is not confirmed again by us.
func TestNoConfirmationOfTheCarriers(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.says(1, models.IntentStop, models.MethodCarrier)
		require.Equal(t, "carrier", w.ledger()[0].by)
		require.Equal(t, "skipped", w.confirm(1, 1))
	})
}

// No kind but the confirmation passes the send checks for a participant who opted out,
// with any status that an operator sets afterwards.
func TestNothingReachesWhoOptedOut(t *testing.T) {
	kinds := []models.EntryKind{models.KindMessage, models.KindReply, models.KindGreeting, models.KindPrompt, models.KindReminder,
		models.KindFeedbackQuestion, models.KindFeedbackFollowup, models.KindCheckIn, models.KindOperator, models.KindNotice, models.KindHelp,
		models.KindDebug, models.KindToolCall, models.KindToolResult, "something new"}
	for name, then := range map[string]func(w *world){
		"opted out": func(*world) {},
		"completed": func(w *world) { w.setStatus(wire.StatusCompleted) },
		"withdrawn": func(w *world) { w.setStatus(wire.StatusWithdrawn) },
		"removed": func(w *world) {
			require.NoError(w.t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(6)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := onSQLite(t)
			w.enrolled()
			w.stops(1)
			require.Equal(t, "posted", w.confirm(1, 2))
			then(w)
			w.raw(func(db *sql.DB) {
				for i, kind := range kinds {
					_, err := db.Exec(fmt.Sprintf(`INSERT INTO outbox
						(id, participant_id, turn_id, part, kind, prompt_id, body, status, provider_sid, error_code, attempts, created_at, updated_at)
						SELECT 'o%d', participant_id, 'p1-t1', 1, '%s', '', '', 'ready', '', '', 0, created_at, updated_at
						FROM outbox WHERE id = 'p1-t1-p1'`, i, kind))
					require.NoError(t, err)
				}
			})
			for i, kind := range kinds {
				require.Equal(t, "opted_out", w.claim(fmt.Sprintf("o%d", i), 10), kind)
			}
		})
	}
}

func TestTurnsOfWhoOptedOut(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		in := w.inbound("SM1", 1, "one more thing")
		w.stops(2)
		begun, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: "p1-t1", Number: 1,
			Plan: replyPlan, InboundIDs: []int64{in.Inbound.ID}, Now: at(3)})
		require.NoError(t, err)
		require.True(t, begun.Skip)
		require.Equal(t, 2, w.count("SELECT count(*) FROM messages"), "stored all the same")
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Status: wire.StatusActive, Now: at(3)}))
		require.Equal(t, wire.StatusOptedOut, w.status())
		w.says(4, models.IntentStart, models.MethodKeyword)
		require.NoError(t, w.Turns.SaveState(w.ctx, wire.SaveStateInput{ParticipantID: "p1", Status: wire.StatusOptedOut, Now: at(5)}))
		require.Equal(t, wire.StatusActive, w.status(), "a workflow that has not heard of it changes nothing")
	})
}

// The carrier's refusal repairs what we believe, from the answer and from a
// report alike; its word from before the person came back is old.
func TestTheCarriersRefusal(t *testing.T) {
	refusals := map[string]func(w *world, id string, minutes int){
		"answer": func(w *world, id string, minutes int) {
			require.NoError(w.t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: id, Token: w.ref(id).Token, Status: wire.OutboxFailed, Code: "21610", Class: models.CarrierConsent, Now: at(minutes)}))
		},
		"report": func(w *world, id string, minutes int) {
			_, err := w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, Status: wire.OutboxFailed, ErrorCode: "21610", Class: models.CarrierConsent, At: at(minutes)})
			require.NoError(w.t, err)
		},
	}
	for name, refuse := range refusals {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				w.enrolled()
				first, other := w.turn(1, replyPlan, 1), w.turn(2, replyPlan, 1)
				require.Equal(t, "posted", w.claim(first, 2))
				for range 2 {
					refuse(w, first, 3)
				}
				require.Equal(t, wire.StatusOptedOut, w.status())
				require.Equal(t, []entry{{"opt_out", "carrier_error", "", "carrier", 0}}, w.ledger())
				require.Equal(t, []models.NoticeKind{models.NoticeStart, models.NoticeConsent}, w.noticeKinds())
				status, code := w.outbox(first)
				require.Equal(t, wire.OutboxFailed, status)
				require.Equal(t, "21610", code)
				_, code = w.outbox(other)
				require.Equal(t, "opted_out", code)
				require.Equal(t, "skipped", w.confirm(3, 4))

				w.says(5, models.IntentStart, models.MethodKeyword)
				refuse(w, first, 6)
				require.Equal(t, wire.StatusActive, w.status())
				next := w.turn(4, replyPlan, 7)
				require.Equal(t, "posted", w.claim(next, 7))
				refuse(w, next, 8)
				require.Equal(t, wire.StatusOptedOut, w.status())
			})
		})
	}
}

func TestOperatorsAndConsent(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		ready := w.turn(1, replyPlan, 1)
		out := wire.StatusOptedOut
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Status: &out}, Actor: "eve", Now: at(2)})
		require.NoError(t, err)
		require.Equal(t, []entry{{"opt_out", "operator", "", "eve", 0}}, w.ledger())
		_, code := w.outbox(ready)
		require.Equal(t, "opted_out", code)
		for _, status := range []wire.Status{wire.StatusActive, wire.StatusPaused} {
			_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{Status: &status}, Actor: "eve", Now: at(3)})
			var field *models.FieldError
			require.ErrorAs(t, err, &field)
			require.Contains(t, field.Message, "START")
		}
		require.Equal(t, wire.StatusOptedOut, w.status())
	})
}

// An opt-out belongs to the phone.
func TestEnrollingAPhoneThatOptedOut(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.stops(1)
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(2)))
		again := person("p2", phone)
		again.EnrolledAt = at(3)
		p, err := w.People.Enroll(w.ctx, again, "operator")
		require.NoError(t, err)
		require.Equal(t, wire.StatusOptedOut, p.Status)
		require.Equal(t, 1, w.count("SELECT count(*) FROM consents WHERE participant_id = 'p2' AND action = 'opt_out'"))
		w.says(4, models.IntentStart, models.MethodKeyword)
		p, err = w.People.Participant(w.ctx, "p2")
		require.NoError(t, err)
		require.Equal(t, wire.StatusActive, p.Status)
	})
}

func TestStrangersStop(t *testing.T) {
	w := onSQLite(t)
	w.enrolled()
	got, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM1", From: "+15550001111", Body: "STOP", ReceivedAt: at(1)})
	require.NoError(t, err)
	require.Zero(t, got.NoticeID)
	require.Equal(t, "stop", w.text("SELECT intent FROM inbound"))
	require.Empty(t, w.ledger())
}

// A participant who had opted out before there was a ledger is in it
// afterwards.
func TestLedgerOfOlderDatabases(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.inbound("SM1", 1, "hello")
		w.becomeOlder(1)
		w.raw(exec(t, "UPDATE participants SET status = 'opted_out'"))
		w.Store = openStore(t, w.url)
		require.Equal(t, []entry{{"opt_out", "carrier_error", "", "carrier", 0}}, w.ledger())
		w.says(2, models.IntentStart, models.MethodKeyword)
		require.Equal(t, wire.StatusActive, w.status())
	})
}

// The confirmation of an opt-out is of no use after five minutes.
func TestConfirmationIsBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.stops(1)
		require.Equal(t, "posted", w.confirm(1, 2))
		row, err := w.Outbox.Row(w.ctx, "p1-t1-p1")
		require.NoError(t, err)
		require.NotNil(t, row.SendBefore)
		require.True(t, at(6).Equal(*row.SendBefore), row.SendBefore)
	})
}
