package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

const (
	unclear = "too many texts"
	wrong   = "sorry, wrong number"
)

func (w *inboundWorld) entries() int {
	w.t.Helper()
	history, err := w.People.History(w.ctx, "ann", 50, inboundAt(400*hours))
	require.NoError(w.t, err)
	return len(history)
}

// newNotices are those after the one of the enrolment.
func (w *inboundWorld) newNotices() []models.NoticeKind {
	w.t.Helper()
	return w.notices()[1:]
}

// What may mean STOP is asked about once; after that it is for the coach.
func TestUnclearRequestIsAskedAboutOnce(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		first := w.text(0, unclear)
		require.Equal(w.t, models.IntentUnclear, first.Inbound.Intent)
		require.Zero(w.t, first.Inbound.Seq, "no turn")
		require.Equal(w.t, []models.NoticeKind{models.NoticeAsk}, w.newNotices())
		intent, err := w.Hints.AskedIntent(w.ctx, first.Inbound.ID)
		require.NoError(w.t, err)
		require.Equal(w.t, models.IntentUnclear, intent)
		ask := func(seconds int) string {
			id, err := w.Hints.QueueAsk(w.ctx, models.Ask{InboundID: first.Inbound.ID, Body: "stop?", Now: inboundAt(seconds)})
			require.NoError(w.t, err)
			return id
		}
		id := ask(1)
		require.Equal(w.t, id, ask(2), "a retry finds its row")
		claim, err := w.Outbox.ClaimSend(w.ctx, id, inboundAt(3))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post)
		require.Equal(w.t, 2, w.entries(), "the text and the question")

		second := w.text(10, unclear)
		require.Empty(w.t, second.Inbound.Intent)
		require.Equal(w.t, int64(1), second.Inbound.Seq, "a turn of the coach")
		_, coach, err := w.Turns.OpenTurn(w.ctx, wire.PrepareTurnInput{
			ParticipantID: "ann", TurnID: "ann-t1", Number: 1, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply},
			InboundIDs: []int64{second.Inbound.ID}, Now: inboundAt(12),
		}, 10)
		require.NoError(w.t, err)
		var window []string
		for _, entry := range coach.Window {
			window = append(window, entry.Text)
		}
		require.Equal(w.t, []string{unclear, "stop?", unclear}, window, "the coach knows what was asked")
		require.Equal(w.t, wire.StatusActive, w.ann().Status)
	})
}

func TestQuestionThatComesTooLateIsNotAsked(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		out := w.text(0, unclear)
		id, err := w.Hints.QueueAsk(w.ctx, models.Ask{InboundID: out.Inbound.ID, Body: "stop?", Now: inboundAt(0).Add(models.AnswerValidity + time.Second)})
		require.NoError(w.t, err)
		require.Empty(w.t, id)
	})
}

// A wrong number pauses the programme, and an operator checks it.
func TestWrongNumberPausesAndIsAsked(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		out := w.text(0, wrong)
		require.Equal(w.t, models.IntentWrongNumber, out.Inbound.Intent)
		p := w.ann()
		require.Equal(w.t, wire.StatusPaused, p.Status)
		require.Equal(w.t, wire.AttentionWrongNumber, p.Attention)
		require.Equal(w.t, []models.NoticeKind{models.NoticeFlags, models.NoticePause, models.NoticeAsk}, w.newNotices())
		again := w.text(10, wrong)
		require.Empty(w.t, again.Inbound.Intent)
		require.True(w.t, again.Inbound.Waiting, "it waits for the operator")
		w.text(20, "STOP")
		require.Equal(w.t, wire.StatusOptedOut, w.ann().Status)
	})
}

func (w *inboundWorld) ask(out models.AcceptedInbound, seconds int) string {
	w.t.Helper()
	id, err := w.Hints.QueueAsk(w.ctx, models.Ask{InboundID: out.Inbound.ID, Body: "stop?", Now: inboundAt(seconds)})
	require.NoError(w.t, err)
	return id
}

// set is an operator who pauses ann, or has her go on.
func (w *inboundWorld) set(seconds int, status wire.Status) {
	w.t.Helper()
	_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{
		ID: "ann", Patch: models.ParticipantPatch{Status: &status}, Actor: "operator", Now: inboundAt(seconds),
	})
	require.NoError(w.t, err)
}

// The question to a wrong number goes out although the programme is paused. When
// an operator resumes it, what waited is answered, and a later wrong number pauses
// it again: the number may have gone to another person meanwhile.
func TestWrongNumberAfterResume(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		first := w.text(0, wrong)
		claim, err := w.Outbox.ClaimSend(w.ctx, w.ask(first, 1), inboundAt(2))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post)
		reply := w.text(10, "no wait it is me, I joined on monday")
		require.True(w.t, reply.Inbound.Waiting)
		w.set(20, wire.StatusActive)
		_, notices, err := w.Notices.Untold(w.ctx, "ann")
		require.NoError(w.t, err)
		resumed, err := w.Notices.ResumedMessages(w.ctx, notices[len(notices)-1].ID)
		require.NoError(w.t, err)
		require.Len(w.t, resumed, 1)
		require.Equal(w.t, reply.Inbound.ID, resumed[0].MessageID)
		second := w.text(30, wrong)
		require.Equal(w.t, models.IntentWrongNumber, second.Inbound.Intent)
		require.Equal(w.t, wire.StatusPaused, w.ann().Status)
		require.NotEmpty(w.t, w.ask(second, 31))
	})
}

// Who stopped and came back is asked again; who has stopped is not.
func TestUnclearRequestAfterComingBack(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		require.Equal(w.t, models.IntentUnclear, w.text(0, unclear).Inbound.Intent)
		w.text(10, "STOP")
		before := w.notices()
		out := w.text(20, unclear)
		require.Empty(w.t, out.Inbound.Intent)
		require.NotContains(w.t, w.notices()[len(before):], models.NoticeAsk)
		w.text(30, "START")
		require.Equal(w.t, wire.StatusActive, w.ann().Status)
		require.Equal(w.t, models.IntentUnclear, w.text(40, unclear).Inbound.Intent)
		require.Empty(w.t, w.text(50, unclear).Inbound.Intent)
	})
}

// The question is not sent to who has stopped before it could be.
func TestQuestionAfterStop(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		out := w.text(0, unclear)
		w.text(1, "STOP")
		claim, err := w.Outbox.ClaimSend(w.ctx, w.ask(out, 2), inboundAt(3))
		require.NoError(w.t, err)
		require.False(w.t, claim.Post)
	})
}

// Who is paused by an operator is asked as well, and stays paused.
func TestUnclearRequestDuringAPause(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.set(0, wire.StatusPaused)
		out := w.text(10, unclear)
		require.Equal(w.t, models.IntentUnclear, out.Inbound.Intent)
		require.False(w.t, out.Inbound.Waiting, "the question answers it")
		claim, err := w.Outbox.ClaimSend(w.ctx, w.ask(out, 11), inboundAt(12))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post)
		require.Equal(w.t, wire.StatusPaused, w.ann().Status)
		require.True(w.t, w.text(20, unclear).Inbound.Waiting)
	})
}

// Danger wins over a request that is not clear: the safety text answers, and the
// question is not asked.
func TestDangerWinsOverTheQuestion(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		for i, request := range []string{unclear, wrong} {
			out := w.text(i*3600, request+". "+crisis)
			require.Empty(w.t, out.Inbound.Intent)
			require.NotEmpty(w.t, w.safetyText(out.AlertID, i*3600+1))
		}
		require.NotContains(w.t, w.notices(), models.NoticeAsk)
		require.Equal(w.t, wire.StatusActive, w.ann().Status)
	})
}

// What came by chat is asked about in chat, and what was spoken is asked about
// without a turn.
func TestQuestionFollowsTheChannel(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		chat := w.take(models.Inbound{From: phone, Body: unclear, Channel: wire.ChannelChat, ReceivedAt: inboundAt(0)})
		w.ask(chat, 1)
		history, err := w.People.History(w.ctx, "ann", 10, inboundAt(100))
		require.NoError(w.t, err)
		require.Equal(w.t, []any{wire.ChannelChat, wire.OutboxDelivered}, []any{history[1].Channel, history[1].Delivery})

		out := w.take(models.Inbound{From: phone, MediaCount: 1, Voice: twoNotes, ReceivedAt: inboundAt(60)})
		require.NotZero(w.t, out.Inbound.Seq)
		heard := w.hear(out, 65, 0, wrong)
		require.Equal(w.t, models.IntentWrongNumber, heard.Inbound.Intent)
		require.NotZero(w.t, heard.NoticeID)
		require.Zero(w.t, w.hear(out, 66, 1, wrong).NoticeID, "the second note of the message asks nothing more")
		turn, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
			ParticipantID: "ann", TurnID: "ann-t1", InboundIDs: []int64{out.Inbound.ID}, Plan: wire.TurnPlan{Kind: wire.TurnReply}, Now: inboundAt(70),
		})
		require.NoError(w.t, err)
		require.True(w.t, turn.Skip, "the question has answered it")
	})
}

// A repeated webhook decides nothing anew.
func TestRepeatedWebhookRaisesNothing(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		for _, body := range []string{weak, unclear, wrong} {
			in := models.Inbound{ProviderSID: "again " + body, From: phone, To: ours, Body: body, ReceivedAt: inboundAt(0)}
			first, err := w.Inbound.AcceptInbound(w.ctx, in)
			require.NoError(w.t, err)
			notices, p := w.notices(), w.ann()
			in.ReceivedAt = inboundAt(60)
			again, err := w.Inbound.AcceptInbound(w.ctx, in)
			require.NoError(w.t, err)
			require.True(w.t, again.Duplicate)
			require.Empty(w.t, again.AlertID)
			require.Zero(w.t, again.NoticeID)
			require.Equal(w.t, first.Inbound.DangerTier, again.Inbound.DangerTier)
			require.Equal(w.t, notices, w.notices(), body)
			require.Equal(w.t, p.Version, w.ann().Version, body)
		}
		require.False(w.t, w.alert("alarm-1").Escalated)
	})
}

// A keyword that is also an answer to the question of a step is asked about while such a
// question is the newest text; the carrier's own keywords end at any time.
func TestKeywordThatMayBeAnAnswer(t *testing.T) {
	const ends, asks = models.IntentStop, models.IntentUnclear
	for _, tt := range []struct {
		kind models.EntryKind
		sent string
		body string
		want models.Intent
	}{
		{models.KindFeedbackQuestion, "How did it go?", "Fin!", asks},
		{models.KindFeedbackQuestion, "How did it go?", "raus, danke", asks},
		{models.KindFeedbackFollowup, "Did it work?", "ende", asks},
		{models.KindPrompt, "Time for a walk", "FIM", asks},
		{models.KindCheckIn, "All well?", "terminar", asks},
		{models.KindReply, "What would you do after coffee?", "salir", asks},
		{models.KindReply, "Well done.", "fin", ends},
		{models.KindFeedbackQuestion, "How did it go?", "end", ends},
		{models.KindFeedbackQuestion, "How did it go?", "STOP", ends},
		{models.KindFeedbackQuestion, "How did it go?", "cancel", ends},
		{models.KindFeedbackQuestion, "How did it go?", "unsubscribe", ends},
		{models.KindFeedbackQuestion, "How did it go?", "opt out", ends},
		{models.KindFeedbackQuestion, "How did it go?", "arret", ends},
		{models.KindFeedbackQuestion, "How did it go?", "no me escribas mas", ends},
	} {
		t.Run(string(tt.kind)+" "+tt.body, func(t *testing.T) {
			inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
				w.sent(1, 0, tt.kind, tt.sent)
				out := w.text(10, tt.body)
				require.Equal(w.t, tt.want, out.Inbound.Intent)
				if tt.want == ends {
					require.Equal(w.t, wire.StatusOptedOut, w.ann().Status)
					return
				}
				require.Equal(w.t, wire.StatusActive, w.ann().Status)
				claim, err := w.Outbox.ClaimSend(w.ctx, w.ask(out, 11), inboundAt(12))
				require.NoError(w.t, err)
				require.True(w.t, claim.Post)
				require.Equal(w.t, ends, w.text(20, tt.body).Inbound.Intent, "it answers our question whether to end")
			})
		})
	}
}

// A question about data gets the privacy text, once a day; a request to delete it is shown
// to an operator also beside a STOP.
func TestQuestionsAboutData(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		first := w.text(0, "what data do you store about me?")
		require.Equal(t, models.IntentData, first.Inbound.Intent)
		require.NotZero(t, first.NoticeID)
		require.Zero(t, first.Inbound.Seq, "no turn of the coach answers it")
		require.Empty(t, w.ann().Attention)
		again := w.text(60, "who can read my messages?")
		require.Equal(t, models.IntentNone, again.Inbound.Intent)
		require.NotZero(t, again.Inbound.Seq, "the coach answers the second one of a day")
		w.text(48*3600, "can you delete my data")
		require.Equal(t, wire.AttentionErasure, w.ann().Attention)
		open, err := w.Attention.OpenAttention(w.ctx, models.AttentionQuery{ParticipantID: "ann"})
		require.NoError(t, err)
		require.Len(t, open, 1)
		require.Equal(t, models.ErasureAsked, open[0].Code)
		require.Equal(t, wire.StatusActive, w.ann().Status)
	})
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.text(0, "unsubscribe me and delete my data")
		require.Equal(t, wire.StatusOptedOut, w.ann().Status)
		require.Equal(t, wire.AttentionErasure, w.ann().Attention)
	})
}

// A report beside a question about data is the coach's to answer: the privacy text alone
// would leave it unread.
func TestReportBesideAQuestionAboutData(t *testing.T) {
	for _, body := range []string{"yes, ten minutes, who reads my answers?", "Done. Can you delete my data?", "oui, dix minutes, qui lit mes réponses ?"} {
		inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
			out := w.text(0, body)
			require.NotEqual(w.t, models.IntentNone, out.Inbound.Intent, body)
			require.Equal(w.t, int64(1), out.Inbound.Seq, "a turn of the coach answers it")
			require.Subset(w.t, w.newNotices(), []models.NoticeKind{models.NoticeAsk, models.NoticeMessage}, body)
			require.Equal(w.t, strings.Contains(body, "delete"), w.ann().Attention == wire.AttentionErasure)
		})
	}
}

// A person who is not coached any more is answered once a day; what they write is kept.
func TestWriterAfterTheEndIsAnsweredOnceADay(t *testing.T) {
	for _, status := range []wire.Status{wire.StatusCompleted, wire.StatusWithdrawn} {
		inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
			w.set(0, status)
			asks := func() int {
				return len(slices.DeleteFunc(w.newNotices(), func(kind models.NoticeKind) bool { return kind != models.NoticeAsk }))
			}
			first := w.text(10, "how are you?")
			require.Equal(w.t, int64(1), first.Inbound.Seq)
			require.Equal(w.t, 1, asks())
			w.text(20, "hello?")
			require.Equal(w.t, 1, asks())
			w.text(24*hours+11, "and now?")
			require.Equal(w.t, 2, asks())
			reader, err := w.Hints.ReaderOf(w.ctx, first.Inbound.ID)
			require.NoError(w.t, err)
			require.Equal(w.t, status, reader.Status)
			claim, err := w.Outbox.ClaimSend(w.ctx, w.ask(first, 12), inboundAt(13))
			require.NoError(w.t, err)
			require.True(w.t, claim.Post)
		})
	}
}

// HELP after STOP is answered once a day, and nothing else is.
func TestHelpAfterStop(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		before := w.text(0, unclear)
		w.text(10, "STOP")
		help := w.text(20, "HELP")
		w.text(30, "HELP")
		w.text(40, "hello?")
		want := []models.NoticeKind{models.NoticeAsk, models.NoticeConsent, models.NoticeAsk, models.NoticeMessage}
		require.Equal(w.t, want, w.newNotices())
		id, err := w.Hints.QueueAsk(w.ctx, models.Ask{InboundID: help.Inbound.ID, Body: "help", IsHelp: true, Now: inboundAt(21)})
		require.NoError(w.t, err)
		claim, err := w.Outbox.ClaimSend(w.ctx, id, inboundAt(22))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post)
		w.text(25*hours, "HELP")
		require.Equal(w.t, append(want, models.NoticeAsk), w.newNotices())
		claim, err = w.Outbox.ClaimSend(w.ctx, w.ask(before, 5), inboundAt(25*hours+3))
		require.NoError(w.t, err)
		require.False(w.t, claim.Post, "written before the STOP")
	})
}

// Where the carrier answers its keywords itself, they count as before and are not answered
// by us; other words for the same are.
func TestCarrierAnswersItsKeywords(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{CarrierAnswers: true}, func(w *inboundWorld) {
		for i, want := range []struct {
			body   string
			intent models.Intent
			method models.ConsentMethod
		}{
			{"Stop ", models.IntentStop, models.MethodCarrier}, {"Unstop", models.IntentStart, models.MethodCarrier},
			{"help", models.IntentHelp, models.MethodCarrier}, {"Hilfe", models.IntentHelp, models.MethodKeyword},
			{"please stop texting me", models.IntentStop, models.MethodPhrase},
		} {
			got := w.text(10*i, want.body).Inbound
			require.Equal(w.t, []any{want.intent, want.method}, []any{got.Intent, got.IntentMethod}, want.body)
		}
		require.False(w.t, models.MethodCarrier.Confirms())
	})
}
