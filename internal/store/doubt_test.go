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

const days = 24 * hours

// asksWhose delivers the question of a doubted message.
func (w *inboundWorld) asksWhose(out models.AcceptedInbound, seconds int) {
	w.t.Helper()
	require.Equal(w.t, models.IntentDoubted, out.Inbound.Intent)
	require.NotZero(w.t, out.NoticeID)
	claim, err := w.Outbox.ClaimSend(w.ctx, w.ask(out, seconds), inboundAt(seconds))
	require.NoError(w.t, err)
	require.True(w.t, claim.Post)
}

// TestNumberMayHaveGoneToAnother: after a silence, a long STOP or "who is this" a message
// gets the question whether this is still the person and no turn, until a yes to it.
func TestNumberMayHaveGoneToAnother(t *testing.T) {
	for name, before := range map[string]func(w *inboundWorld) int{
		"who is this": func(w *inboundWorld) int {
			w.asksWhose(w.text(10, "Hi, who is this?"), 11)
			return 25 * hours
		},
		"silence": func(w *inboundWorld) int {
			w.text(10, "I walked today")
			return 61 * days
		},
		"opted out": func(w *inboundWorld) int {
			w.text(10, "STOP")
			require.Equal(w.t, models.IntentStart, w.text(25*hours, "START").Inbound.Intent)
			return 26 * hours
		},
	} {
		t.Run(name, func(t *testing.T) {
			inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
				at := before(w)
				require.Equal(w.t, wire.StatusActive, w.ann().Status)
				first := w.text(at, "what do you know about me")
				require.Zero(w.t, first.Inbound.Seq, "no turn")
				w.asksWhose(first, at+1)
				require.NotNil(w.t, w.ann().DoubtedAt)
				require.NotZero(w.t, w.text(at+2, "hello?").Inbound.Seq, "a turn, which knows nothing of the person")
				yes := w.text(at+20, "yes it's me")
				require.Nil(w.t, w.ann().DoubtedAt)
				require.NotZero(w.t, yes.Inbound.Seq, "a turn")
				require.NotZero(w.t, w.text(at+30, "thanks a lot").Inbound.Seq)
			})
		})
	}
}

// TestNoQuestionBesideThatOfADoubt: what else we would ask of our own would take the yes.
func TestNoQuestionBesideThatOfADoubt(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		isSkipped := func(n int, kind wire.TurnKind) bool {
			out, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{
				ParticipantID: "ann", TurnID: models.TurnID("ann", n), Number: n, Mode: wire.ModeFeedback, Plan: wire.TurnPlan{Kind: kind}, Now: inboundAt(60),
			})
			require.NoError(w.t, err)
			return out.Skip
		}
		w.asksWhose(w.text(10, "Hi, who is this?"), 11)
		for n, kind := range []wire.TurnKind{wire.TurnReminder, wire.TurnFeedbackQuestion, wire.TurnFeedbackFollowup, wire.TurnAskLess} {
			require.True(w.t, isSkipped(n+1, kind), kind)
		}
		w.text(90, "yes")
		require.Nil(w.t, w.ann().DoubtedAt)
		require.False(w.t, isSkipped(9, wire.TurnFeedbackQuestion))
	})
}

// TestQuestionIsAskedOnceADay: who does not say yes is answered, without what is known of
// the person, and asked again the next day.
func TestQuestionIsAskedOnceADay(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.asksWhose(w.text(10, "Hi, who is this?"), 11)
		for hour := 1; hour < 24; hour += 5 {
			require.NotZero(w.t, w.text(hour*hours, fmt.Sprint("walked to the shop ", hour)).Inbound.Seq)
		}
		require.NotNil(w.t, w.ann().DoubtedAt)
		w.asksWhose(w.text(25*hours, "and to the park"), 25*hours+1)
		w.text(25*hours+5, "nice weather here")
		w.sent(900, 25*hours+6, models.KindReply, "Enjoy it. Did you walk?")
		w.text(25*hours+7, "yes")
		require.NotNil(w.t, w.ann().DoubtedAt, "a yes to the coach")
		require.NotZero(w.t, w.text(25*hours+20, "yes it's still me").Inbound.Seq)
		require.Nil(w.t, w.ann().DoubtedAt)
	})
}

// A number that is silent for less, or has stopped for less than a day, is the person's.
func TestNumberIsStillThePersons(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.text(10, "I walked today")
		require.NotZero(w.t, w.text(59*days, "and again today").Inbound.Seq)
		w.text(59*days+10, "STOP")
		w.text(59*days+20*hours, "START")
		require.NotZero(w.t, w.text(59*days+21*hours, "here I am again").Inbound.Seq)
		require.Nil(w.t, w.ann().DoubtedAt)
	})
}

// A yes counts as an answer to the question only.
func TestYesToAnotherQuestionEndsNoDoubt(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.text(0, "I walked today")
		out := w.text(61*days, "yes")
		w.asksWhose(out, 61*days+1)
		require.NotNil(w.t, w.ann().DoubtedAt)
	})
}

// A no opts the number out, and leaves what is stored of the person.
func TestNumberOfAnother(t *testing.T) {
	for _, body := range []string{"No, I'm Ben", "sorry, wrong number"} {
		inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
			w.text(0, "I walked today")
			w.asksWhose(w.text(61*days, "hello there"), 61*days+1)
			out := w.text(61*days+10, body)
			require.Equal(w.t, models.IntentWrongNumber, out.Inbound.Intent)
			p := w.ann()
			require.Equal(w.t, wire.StatusOptedOut, p.Status)
			require.Equal(w.t, wire.AttentionWrongNumber, p.Attention)
			require.NotNil(w.t, p.DoubtedAt, "a START of the new owner is asked again")
			require.Contains(w.t, w.newNotices(), models.NoticeConsent)
			w.text(61*days+20, "START")
			require.Equal(w.t, wire.StatusActive, w.ann().Status)
			require.Equal(w.t, models.IntentDoubted, w.text(61*days+30, "what did I say about my knee").Inbound.Intent)
		})
	}
}

// An operator who gives the person another number ends the doubt.
func TestOperatorEndsTheDoubt(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.text(0, "I walked today")
		w.text(61*days, "hello there")
		require.NotNil(w.t, w.ann().DoubtedAt)
		number := "+12025550188"
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{
			ID: "ann", Patch: models.ParticipantPatch{Phone: &number}, Actor: "operator", Now: inboundAt(61*days + 5),
		})
		require.NoError(w.t, err)
		require.Nil(w.t, w.ann().DoubtedAt)
	})
}

// An unreachable number may be given to another person.
func TestUnreachableNumberIsDoubted(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.enrolled()
		w.raw(func(db *sql.DB) {
			_, err := db.ExecContext(w.ctx, "UPDATE participants SET unreachable_at = enrolled_at, unreachable_code = '30005'")
			require.NoError(t, err)
		})
		require.Equal(t, models.IntentDoubted, w.inbound("SM1", 1, "hello there").Inbound.Intent)
	})
}
