package store_test

import (
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// beginErasure begins the erasure of p1.
func (w *world) beginErasure(minutes int) models.Erasure {
	w.t.Helper()
	e, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p1", Actor: "user:eve", Reason: "she asked for it", Now: at(minutes)})
	require.NoError(w.t, err)
	return e
}

// opened is everything that the tables hold, with sealed columns opened.
func (w *world) opened() string {
	w.t.Helper()
	var out strings.Builder
	tx := w.Database().Reader(w.ctx)
	for _, row := range append(modelRows(), memoryRows()...) {
		rows := reflect.New(reflect.SliceOf(reflect.TypeOf(row).Elem()))
		require.NoError(w.t, tx.Find(rows.Interface()).Error)
		fmt.Fprintf(&out, "%+v\n", rows.Elem().Interface())
	}
	return out.String()
}

// live has p1 do what leaves something in the tables: texts, turns, facts, a
// changed number, an operator's note, a crisis.
func (w *world) live() {
	w.t.Helper()
	ctx := w.ctx
	p := person("p1", phone)
	p.Name, p.Background = "Thessalonika "+canary, "keeps "+canary+" fish"
	_, err := w.Inbound.AcceptInbound(ctx, models.Inbound{ProviderSID: "SM-before", From: phone, To: "+15017122661", Body: "hello from " + canary, ReceivedAt: at(-9)})
	require.NoError(w.t, err)
	_, err = w.People.EnrollOnce(ctx, p, models.Enrolment{Actor: "operator", Key: canary, Body: canary})
	require.NoError(w.t, err)
	w.inbound("SM-in", 1, "I want to die, says "+canary)
	turn := wire.TurnPlan{Kind: wire.TurnReply}
	id := models.TurnID("p1", 1)
	_, err = w.Turns.BeginTurn(ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: id, Number: 1, Mode: wire.ModeIntake, Plan: turn, Now: at(2)})
	require.NoError(w.t, err)
	require.NoError(w.t, w.saveStep(models.Step{TurnID: id, Number: 1, Text: canary, Trace: canary, CreatedAt: at(2)}))
	end := outcome(id, wire.TurnReply, "", 2)
	end.Entries[0].Text, end.Outbox[0].Body = "hello "+canary, "hello "+canary
	ids, err := w.finish(end)
	require.NoError(w.t, err)
	w.sent(ids[0], 3)
	memories := w.Memory
	_, err = memories.SaveFact(ctx, models.Fact{ParticipantID: "p1", Kind: models.FactGoal, Text: "loves " + canary, TurnID: id, CreatedAt: at(4)}, nil)
	require.NoError(w.t, err)
	name, number := "Ida "+canary, "+15558675311"
	_, err = w.People.UpdateParticipant(models.WithOrigin(ctx, models.Origin{Reason: canary + " moved"}), models.ParticipantUpdate{
		ID: "p1", Actor: "user:eve", Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: &name}, Phone: &number}, Now: at(5),
	})
	require.NoError(w.t, err)
	_, _, err = w.Outbox.QueueOperatorMessage(ctx, models.OperatorMessage{ParticipantID: "p1", Key: "k", Body: canary, Actor: "user:eve", Now: at(6)})
	require.NoError(w.t, err)
	_, err = w.Attention.ClearAttention(ctx, models.AttentionClearing{ParticipantID: "p1", Actor: "user:eve", Note: canary + " is well", Now: at(7)})
	require.NoError(w.t, err)
}

// TestErasedPersonIsFoundNowhere is the canary search of the tables, raw and
// opened; the figures stay.
func TestErasedPersonIsFoundNowhere(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.live()
		require.Contains(t, w.opened(), canary)
		require.Contains(t, w.opened(), phone)
		messages, sent := w.count("SELECT count(*) FROM messages"), w.count("SELECT count(*) FROM outbox WHERE accepted_at IS NOT NULL")

		e := w.beginErasure(8)
		require.Equal(t, models.ErasureEnding, e.State)
		again, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p1", Actor: "user:mallory", Now: at(9)})
		require.NoError(t, err)
		require.Equal(t, "user:eve", again.RequestedBy)
		require.Contains(t, w.opened(), canary)
		e = w.eraseAll("p1", 10)

		for _, needle := range []string{canary, "Thessalonika", "5558675310", "5558675311", "cello"} {
			require.NotContains(t, w.opened(), needle)
			require.Empty(t, w.findings(needle))
		}
		require.Equal(t, "she asked for it", e.Reason)
		require.Equal(t, int64(3), e.CarrierMessages)
		require.Positive(t, e.Rows["facts"])
		require.Positive(t, e.Rows["inbound"])
		require.Equal(t, at(11), e.FinishedAt.UTC())
		require.Equal(t, messages, w.count("SELECT count(*) FROM messages"))
		require.Equal(t, sent, w.count("SELECT count(*) FROM outbox WHERE accepted_at IS NOT NULL"))
		require.Zero(t, w.count("SELECT count(*) FROM inbound WHERE from_index <> ''"))

		counts := e.Rows
		require.NoError(t, w.Erasures.EraseRows(w.ctx, "p1", at(12)))
		e, err = w.Erasures.Erasure(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, counts, e.Rows, "what is done is not repeated")
	})
}

// TestAuditOfErasedPeople: rows of the audit may be empty only where the
// participant was erased.
func TestAuditOfErasedPeople(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.live()
		w.record(models.AuditRow{ParticipantID: "p2", Actor: "eve", Action: "update", Reason: "two", At: at(8)})
		w.beginErasure(8)
		w.eraseAll("p1", 9)
		chain, err := w.Audit.CheckAudit(w.ctx)
		require.NoError(t, err)
		require.Zero(t, chain.BrokenAt, chain.Problem)
		require.Positive(t, chain.Erased)

		w.raw(exec(t, "UPDATE audit SET reason = '', change = '' WHERE participant_id = 'p2'"))
		chain, err = w.Audit.CheckAudit(w.ctx)
		require.NoError(t, err)
		require.Positive(t, chain.BrokenAt)
		require.Equal(t, "reason and change are empty, and no erasure of the participant is recorded", chain.Problem)
	})
}

// TestErasedRowsOfTheAuditCannotBeFilled: what stands in an emptied row is found.
func TestErasedRowsOfTheAuditCannotBeFilled(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.live()
		w.beginErasure(8)
		w.eraseAll("p1", 9)
		w.raw(exec(t, "UPDATE audit SET reason = 'AAAA', change = 'AAAA' WHERE seq = 1"))
		chain, err := w.Audit.CheckAudit(w.ctx)
		require.NoError(t, err)
		require.Equal(t, int64(1), chain.BrokenAt)
	})
}

// TestOptOutOutlivesTheErasure: a number that opted out stays so, known as a keyed
// hash only, until the person texts START.
func TestOptOutOutlivesTheErasure(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.inbound("SM-stop", 1, "STOP")
		w.beginErasure(2)
		require.True(t, w.eraseAll("p1", 3).Suppressed)
		require.Equal(t, 1, w.count("SELECT count(*) FROM suppressions"))
		require.Empty(t, w.findings("5558675310"))

		again := person("p2", phone)
		again.EnrolledAt = at(4)
		p, err := w.People.Enroll(w.ctx, again, "operator")
		require.NoError(t, err)
		require.Equal(t, wire.StatusOptedOut, p.Status)
		w.inbound("SM-start", 5, "START")
		p, err = w.People.Participant(w.ctx, "p2")
		require.NoError(t, err)
		require.Equal(t, wire.StatusActive, p.Status)

		_, err = w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p2", Actor: "user:eve", Now: at(6)})
		require.NoError(t, err)
		require.False(t, w.eraseAll("p2", 7).Suppressed)
		require.Zero(t, w.count("SELECT count(*) FROM suppressions"))
	})
}

// TestErasureOfLostKeys: what cannot be opened any more can be erased.
func TestErasureOfLostKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.inbound("SM-in", 1, "hello")
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "user:eve", at(2)))
		w.raw(exec(t, "UPDATE participants SET name = 'AAAAAAAAAAAA'", "UPDATE inbound SET body = 'AAAAAAAAAAAA'"))
		w.beginErasure(3)
		w.eraseAll("p1", 4)
		require.Empty(t, w.findings("AAAAAAAAAAAA"))
	})
}

func TestErasureReasonNamesNobody(t *testing.T) {
	w := onSQLite(t)
	w.enrolled()
	for _, reason := range []string{"Mrs QUILL asked", "call of (1) 555-867-5310"} {
		_, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p1", Actor: "user:eve", Reason: reason, Now: at(1)})
		var field *models.FieldError
		require.ErrorAs(t, err, &field, reason)
		require.Equal(t, "reason", field.Field)
	}
	_, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: "p9", Actor: "user:eve", Now: at(1)})
	require.ErrorIs(t, err, models.ErrNotFound)
}

// TestErasureProblemCallsAnOperatorOnce and ends with the erasure.
func TestErasureProblemCallsAnOperatorOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.live()
		w.beginErasure(8)
		step := models.ErasureStep{ParticipantID: "p1", From: models.ErasureEnding, To: models.ErasureRows, Now: at(9)}
		require.NoError(t, w.Erasures.EndErasureStep(w.ctx, step))
		require.NoError(t, w.Erasures.EraseRows(w.ctx, "p1", at(9)))
		require.NoError(t, w.Erasures.FinishErasure(w.ctx, "p1", at(9)))
		for minute := range 3 {
			require.NoError(t, w.Erasures.NoteErasureProblem(w.ctx, "p1", "carrier account", at(10+minute)))
		}
		open, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{Kind: wire.AttentionErasure})
		require.NoError(t, err)
		require.Len(t, open, 1)
		require.Empty(t, open[0].Person.Name)
		e, err := w.Erasures.Erasure(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, models.ErasureCarrier, e.State, "the carrier has copies")
		require.Equal(t, "carrier account", e.Problem)

		copies, err := w.Erasures.CarrierCopies(w.ctx, "p1", 200)
		require.NoError(t, err)
		for _, c := range append(copies, copies...) {
			require.NoError(t, w.Erasures.CopyErased(w.ctx, "p1", c))
		}
		require.NoError(t, w.Erasures.FinishErasure(w.ctx, "p1", at(20)))
		e, err = w.Erasures.Erasure(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, models.ErasureDone, e.State)
		require.Empty(t, e.Problem)
		require.Equal(t, int64(len(copies)), e.CarrierMessages)
		open, err = w.Attention.OpenAttention(w.ctx, models.AttentionQuery{})
		require.NoError(t, err)
		require.Empty(t, open)
	})
}

func TestExpiredParticipantsAndPages(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for i := range 3 {
			id := fmt.Sprint("p", i+1)
			_, err := w.People.Enroll(w.ctx, person(id, fmt.Sprint("+1555867530", i)), "operator")
			require.NoError(t, err)
			require.NoError(t, w.People.RemoveParticipant(w.ctx, id, "operator", at(i)))
		}
		ids, err := w.Erasures.ExpiredParticipants(w.ctx, at(2), 9)
		require.NoError(t, err)
		require.Equal(t, []string{"p1", "p2"}, ids)
		for i, id := range ids {
			_, err := w.Erasures.BeginErasure(w.ctx, models.ErasureRequest{ParticipantID: id, Actor: "retention", Now: at(10 + i)})
			require.NoError(t, err)
		}
		ids, err = w.Erasures.ExpiredParticipants(w.ctx, at(2).Add(time.Minute), 9)
		require.NoError(t, err)
		require.Equal(t, []string{"p3"}, ids)
		page, err := w.Erasures.List(w.ctx, models.ErasureQuery{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, "p2", page[0].ParticipantID)
		page, err = w.Erasures.List(w.ctx, models.ErasureQuery{Limit: 5, Before: "p2"})
		require.NoError(t, err)
		require.Len(t, page, 1)
		require.Equal(t, "p1", page[0].ParticipantID)
		settled, err := w.Erasures.IsSettled(w.ctx, "p1")
		require.NoError(t, err)
		require.False(t, settled, "the workflow was not told")
		w.raw(func(db *sql.DB) {
			_, err := db.Exec("UPDATE notices SET delivered_at = created_at")
			require.NoError(t, err)
		})
		settled, err = w.Erasures.IsSettled(w.ctx, "p1")
		require.NoError(t, err)
		require.True(t, settled)
	})
}
