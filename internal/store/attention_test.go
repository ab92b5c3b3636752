package store_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// open lists what operators should review of p1, as kind, reference and code.
func (w *world) open() []string {
	w.t.Helper()
	rows, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{})
	require.NoError(w.t, err)
	out := []string{}
	for _, row := range rows {
		require.Equal(w.t, "Ada Quill", row.Person.Name)
		out = append(out, fmt.Sprintf("%s %s %s", row.Kind, row.Ref, row.Code))
	}
	return out
}

// limited is another process on the same rows, with limits.
func (w *world) limited(rules store.InboundLimits) *store.Store {
	w.t.Helper()
	s, err := store.Open(w.ctx, store.Config{URL: w.url, Sealer: newBox(w.t, "one"), Limits: rules})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, s.Close()) })
	return s
}

func exec(t *testing.T, statements ...string) func(db *sql.DB) {
	return func(db *sql.DB) {
		for _, statement := range statements {
			_, err := db.Exec(statement)
			require.NoError(t, err, statement)
		}
	}
}

func (w *world) p1() models.Participant {
	w.t.Helper()
	p, err := w.People.Participant(w.ctx, "p1")
	require.NoError(w.t, err)
	return p
}

// flagNotices counts the notices that have the workflow show the flags anew.
func (w *world) flagNotices() int {
	w.t.Helper()
	return w.count("SELECT count(*) FROM notices WHERE kind = 'flags'")
}

func (w *world) attend(minutes int) {
	w.t.Helper()
	p, err := w.Attention.ClearAttention(w.ctx, models.AttentionClearing{ParticipantID: "p1", Actor: "operator", Now: at(minutes)})
	require.NoError(w.t, err)
	require.Empty(w.t, p.Attention)
	require.Equal(w.t, w.p1().Version, p.Version)
	require.Empty(w.t, w.open())
}

// A reply that is given up calls for an operator once, for every reason.
func TestGivenUpRepliesRaiseAttention(t *testing.T) {
	for name, tc := range map[string]struct {
		fail models.SendFailure
		want string
	}{
		"refused by the carrier": {models.SendFailure{Status: wire.OutboxFailed, Code: "30007", Class: models.CarrierContent}, "send p1-t1-p1 30007"},
		"of no use any more":     {models.SendFailure{Status: wire.OutboxFailed, Code: models.CodeStale}, "send p1-t1-p1 stale"},
		"of unknown fate":        {models.SendFailure{Status: wire.OutboxUnknown}, "send p1-t1-p1 unknown"},
		"account out of order":   {models.SendFailure{Status: wire.OutboxFailed, Code: "20003", Class: models.CarrierAccount}, "send p1-t1-p1 20003"},
		"number unreachable":     {models.SendFailure{Status: wire.OutboxFailed, Code: "21614", Class: models.CarrierBadNumber}, "unreachable p1-t1-p1 21614"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				before, fail := w.enrolled(), tc.fail
				for n, id := range []string{w.turn(1, replyPlan, 1), w.turn(2, replyPlan, 2)} {
					w.post(id, 3+n)
					fail.OutboxID, fail.Token, fail.Now = id, w.ref(id).Token, at(3+n)
					require.NoError(t, w.Outbox.RecordFailed(w.ctx, fail))
					require.NoError(t, w.Outbox.RecordFailed(w.ctx, fail), "a retry")
				}
				require.Equal(t, []string{tc.want}, w.open(), "the second reply adds nothing")
				require.Equal(t, 1, w.flagNotices())
				require.Equal(t, at(3), w.p1().AttentionAt.UTC())
				require.Greater(t, w.p1().Version, before.Version)
				w.attend(10)
				require.Equal(t, 2, w.flagNotices())
				require.Equal(t, 1, w.count("SELECT count(*) FROM attention WHERE ended_at IS NOT NULL"))
				require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'attend'"))
				w.attend(11)
				require.Equal(t, 1, w.count("SELECT count(*) FROM audit WHERE action = 'attend'"), "nothing was open")
			})
		})
	}
}

// What no operator can repair, or what is recorded elsewhere, raises nothing.
func TestNoAttentionForOtherEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		prompt := w.turn(1, promptPlan("2026-03-02"), 1)
		w.post(prompt, 2)
		fail := models.SendFailure{OutboxID: prompt, Token: w.ref(prompt).Token, Status: wire.OutboxFailed, Code: models.CodeStale, Now: at(2)}
		require.NoError(t, w.Outbox.RecordFailed(w.ctx, fail))
		require.Empty(t, w.open(), "the prompt says that it failed")
		reply := w.turn(2, replyPlan, 3)
		w.post(reply, 3)
		fail = models.SendFailure{OutboxID: reply, Token: w.ref(reply).Token, Status: wire.OutboxFailed, Code: "21610", Class: models.CarrierConsent, Now: at(3)}
		require.NoError(t, w.Outbox.RecordFailed(w.ctx, fail))
		require.Equal(t, wire.StatusOptedOut, w.p1().Status)
		require.Empty(t, w.open(), "the opt-out is recorded")
	})
}

// A reported failure raises attention when no later try follows it.
func TestReportedFailuresRaiseAttention(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		reply := w.turn(1, replyPlan, 1)
		w.sent(reply, 2)
		report := models.StatusCallback{OutboxID: reply, Status: wire.OutboxUndelivered, ErrorCode: "30003", Class: models.CarrierRetryOnce, At: at(3)}
		for range 2 {
			found, err := w.Outbox.AcceptStatus(w.ctx, report)
			require.NoError(t, err)
			require.True(t, found)
		}
		require.Equal(t, []string{"send p1-t1-p1 30003"}, w.open(), "this store makes no later tries")
	})
}

func TestUnreachableEndsWithAText(t *testing.T) {
	mark := func(t *testing.T, w *world, n int) {
		t.Helper()
		reply := w.turn(n, replyPlan, 10*n)
		w.post(reply, 10*n)
		fail := models.SendFailure{OutboxID: reply, Token: w.ref(reply).Token, Status: wire.OutboxFailed, Code: "30005", Class: models.CarrierBadNumber, Now: at(10 * n)}
		require.NoError(t, w.Outbox.RecordFailed(w.ctx, fail))
	}
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		mark(t, w, 1)
		flags, err := w.Attention.ParticipantFlags(w.ctx, w.p1())
		require.NoError(t, err)
		require.Equal(t, wire.ParticipantFlags{Attention: []wire.Attention{wire.AttentionUnreachable}, Unreachable: true}, flags)

		w.inbound("SM1", 15, "here I am")
		require.Empty(t, w.open())
		require.Nil(t, w.p1().UnreachableAt)
		require.Equal(t, 2, w.flagNotices())

		mark(t, w, 2)
		w.attend(25)
		require.NotNil(t, w.p1().UnreachableAt, "an operator has looked, and the number is as it was")
		flags, err = w.Attention.ParticipantFlags(w.ctx, w.p1())
		require.NoError(t, err)
		require.Equal(t, wire.ParticipantFlags{Unreachable: true}, flags)
		mark(t, w, 3)
		require.Equal(t, []string{"unreachable p1-t3-p1 30005"}, w.open(), "a later reply that does not arrive is news")

		name := "Ada Quill "
		_, err = w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "p1", Patch: models.ParticipantPatch{PersonTexts: models.PersonTexts[*string]{Name: &name}}, Actor: "operator", Now: at(40)})
		require.NoError(t, err)
		require.Zero(t, w.count("SELECT count(*) FROM attention WHERE ended_at IS NULL"), "an operator has the number tried again")
		before := w.flagNotices()
		w.inbound("SM2", 45, "hello")
		require.Equal(t, before, w.flagNotices(), "nothing has changed")
	})
}

// A flood calls for an operator with its first message above the limit, and shows the
// newest and its cause with those that follow.
func TestFloodsRaiseAttention(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		s := w.limited(store.InboundLimits{PerMinute: 2})
		for n := range 6 {
			_, err := s.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: fmt.Sprintf("SM%d", n), From: phone, Body: fmt.Sprintf("text %d", n), ReceivedAt: at(0)})
			require.NoError(t, err)
		}
		require.Equal(t, []string{"flood 6 rate_limited"}, w.open())
		require.Equal(t, 1, w.flagNotices())
		for n := range 5 {
			_, err := w.limited(store.InboundLimits{Mute: 60e9}).Inbound.AcceptInbound(w.ctx,
				models.Inbound{ProviderSID: fmt.Sprintf("SN%d", n), From: phone, Body: "this is an automatic reply", ReceivedAt: at(2)})
			require.NoError(t, err)
		}
		require.Equal(t, []string{"flood 11 loop"}, w.open())
		require.Equal(t, 1, w.flagNotices())
		now, err := w.People.Participant(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, at(2), now.AttentionAt.UTC())
		p, err := w.People.Participants(w.ctx, models.ParticipantQuery{Attention: wire.AttentionFlood})
		require.NoError(t, err)
		require.Len(t, p, 1)
		p, err = w.People.Participants(w.ctx, models.ParticipantQuery{Attention: wire.AttentionCrisis})
		require.NoError(t, err)
		require.Empty(t, p)
	})
}

// Being taken for a machine silences a person, who may be one after all.
func TestMutesRaiseAttention(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		s := w.limited(store.InboundLimits{Mute: 60e9})
		for n := range 7 {
			_, err := s.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: fmt.Sprintf("SM%d", n), From: phone, Body: "this is an automatic reply", ReceivedAt: at(0)})
			require.NoError(t, err)
		}
		require.Equal(t, []string{"flood 5 loop"}, w.open())
	})
}

// A refusal is recorded by the activity that was refused; retries and further
// refusals add nothing while it is open.
func TestRefusalsRaiseAttention(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		entry := models.AttentionEntry{ParticipantID: "p1", Kind: wire.AttentionRefusal, Ref: "p1-t1", Code: "400", RaisedAt: at(1)}
		for _, want := range []bool{true, false} {
			raised, err := w.Attention.RaiseAttention(w.ctx, entry)
			require.NoError(t, err)
			require.Equal(t, want, raised)
		}
		require.Equal(t, []string{"refusal p1-t1 400"}, w.open())
		counts, err := w.Attention.CountAttention(w.ctx)
		require.NoError(t, err)
		require.Contains(t, counts, models.AttentionCount{Kind: wire.AttentionRefusal, Raised: 1, Open: 1})
		require.Contains(t, counts, models.AttentionCount{Kind: wire.AttentionCrisis})
		w.attend(5)
		raised, err := w.Attention.RaiseAttention(w.ctx, entry)
		require.NoError(t, err)
		require.True(t, raised)
		require.NoError(t, w.People.RemoveParticipant(w.ctx, "p1", "operator", at(9)))
		require.Empty(t, w.open())
		counts, err = w.Attention.CountAttention(w.ctx)
		require.NoError(t, err)
		require.Contains(t, counts, models.AttentionCount{Kind: wire.AttentionRefusal, Raised: 2})
		entry.Kind = wire.AttentionFlood
		raised, err = w.Attention.RaiseAttention(w.ctx, entry)
		require.NoError(t, err)
		require.False(t, raised, "removed")
	})
}

// Only a crisis holds what we start, also when other kinds are open, and the
// row names the most urgent kind.
func TestOnlyACrisisHoldsPrompts(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		for n, kind := range []wire.Attention{wire.AttentionAdvice, wire.AttentionLanguage, wire.AttentionErasure, wire.AttentionMinor, wire.AttentionWrongNumber, wire.AttentionFlood,
			wire.AttentionLostRows, wire.AttentionUnanswered, wire.AttentionStuck, wire.AttentionRefusal, wire.AttentionSend, wire.AttentionUnreachable, wire.AttentionPerson} {
			_, err := w.Attention.RaiseAttention(w.ctx, models.AttentionEntry{ParticipantID: "p1", Kind: kind, RaisedAt: at(n)})
			require.NoError(t, err)
			require.Equal(t, kind, w.p1().Attention, "the list goes from the least urgent kind upwards")
			require.Equal(t, at(n), w.p1().AttentionAt.UTC())
		}
		w.sent(w.turn(1, promptPlan("2026-03-02"), 5), 6)
		w.inbound("SM1", 7, "I want to die")
		require.Equal(t, wire.AttentionCrisis, w.p1().Attention)
		out, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "p1", TurnID: "p1-t2", Number: 2, Mode: wire.ModeIntake, Plan: promptPlan("2026-03-03"), Now: at(8)})
		require.NoError(t, err)
		require.True(t, out.Skip)
		flags, err := w.Attention.ParticipantFlags(w.ctx, w.p1())
		require.NoError(t, err)
		require.Equal(t, wire.ParticipantFlags{Attention: wire.Attentions()}, flags)
		past, err := w.Turns.Past(w.ctx, "p1")
		require.NoError(t, err)
		require.Equal(t, flags, past.Flags, "a workflow that is started again shows them")
	})
}

// What was open before there was a table of it is listed, and the workflows are
// told of it.
func TestAttentionOfOlderDatabases(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		_, err := w.People.Enroll(w.ctx, person("p2", "+15558675311"), "operator")
		require.NoError(t, err)
		w.becomeOlder(19)
		w.raw(exec(t, "UPDATE participants SET attention = 'crisis', attention_at = created_at WHERE id = 'p1'",
			"UPDATE participants SET unreachable_at = created_at WHERE id = 'p2'"))
		w.Store = openStore(t, w.url)
		rows, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{})
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, wire.AttentionCrisis, rows[0].Kind)
		require.Equal(t, 2, w.flagNotices())
		w.attend(1)
	})
}

// Pages follow each other without a gap or a repetition.
func TestAttentionPages(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		for _, kind := range wire.Attentions() {
			_, err := w.Attention.RaiseAttention(w.ctx, models.AttentionEntry{ParticipantID: "p1", Kind: kind, RaisedAt: at(1)})
			require.NoError(t, err)
		}
		var seen []wire.Attention
		query := models.AttentionQuery{Limit: 2}
		for {
			rows, err := w.Attention.OpenAttention(w.ctx, query)
			require.NoError(t, err)
			if len(rows) == 0 {
				break
			}
			for _, row := range rows {
				seen = append(seen, row.Kind)
			}
			query.AfterID = rows[len(rows)-1].ID
		}
		require.Equal(t, wire.Attentions(), seen)
		rows, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{Kind: wire.AttentionSend})
		require.NoError(t, err)
		require.Len(t, rows, 1)
	})
}
