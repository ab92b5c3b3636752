package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

func (w *inboundWorld) strange(seconds int, in models.Inbound) models.AcceptedInbound {
	w.t.Helper()
	if in.From == "" {
		in.From = stranger
	}
	in.ReceivedAt = inboundAt(seconds)
	out := w.take(in)
	require.Equal(w.t, models.LimitStranger, out.Inbound.Limit)
	require.Zero(w.t, out.NoticeID)
	return out
}

var (
	hello     = models.Inbound{Body: "hello?"}
	stop      = models.Inbound{Body: "STOP"}
	begunTurn = models.Inbound{Body: "START"}
)

// No workflow, one fixed text a local day.
func TestA59HintOncePerLocalDay(t *testing.T) {
	east := time.FixedZone("east", 10*3600) // 09:00 UTC is 19:00 there
	inboundOnBoth(t, store.InboundLimits{Hints: true, Zone: east}, func(w *inboundWorld) {
		first := w.strange(0, hello).HintID
		require.True(w.t, strings.HasSuffix(first, "-2026-03-02"), first)
		require.NotContains(w.t, first, strings.TrimPrefix(stranger, "+"))
		require.Empty(w.t, w.strange(60, hello).HintID)
		require.Empty(w.t, w.strange(5*3600-1, hello).HintID, "a second before midnight")
		next := w.strange(5*3600, hello).HintID
		require.True(w.t, strings.HasSuffix(next, "-2026-03-03"), next)
		require.NotEqual(w.t, first, w.strange(61, models.Inbound{From: "+15550002222", Body: "hi"}).HintID)
	})
}

func TestNoHint(t *testing.T) {
	tests := []struct {
		name  string
		rules store.InboundLimits
		texts []models.Inbound
	}{
		{"silent", store.InboundLimits{}, []models.Inbound{hello}},
		{"STOP", store.InboundLimits{Hints: true}, []models.Inbound{stop, hello}},
		{"answered by the carrier", store.InboundLimits{Hints: true}, []models.Inbound{{Body: "HELP", OptOutType: "HELP"}}},
		{"short code", store.InboundLimits{Hints: true}, []models.Inbound{{From: "72345", Body: "Your code is 1"}}},
		{"letters", store.InboundLimits{Hints: true}, []models.Inbound{{From: "BANK", Body: "Your code is 1"}}},
		{"ourselves", store.InboundLimits{Hints: true}, []models.Inbound{{From: ours, Body: "hello"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inboundOnBoth(t, tt.rules, func(w *inboundWorld) {
				for i, in := range tt.texts {
					require.Empty(w.t, w.strange(i, in).HintID)
				}
			})
		})
	}
}

func TestNoHintToWhoOptedOut(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		w.take(models.Inbound{From: phone, Body: "stop", ReceivedAt: inboundAt(0)})
		require.NoError(w.t, w.People.RemoveParticipant(w.ctx, "ann", "operator", inboundAt(1)))
		require.Empty(w.t, w.strange(2, models.Inbound{From: phone, Body: "hello"}).HintID, "the ledger outlives the enrolment")
		back := begunTurn
		back.From = phone
		require.NotEmpty(w.t, w.strange(3, back).HintID)
	})
}

// A stranger's STOP is the phone's: it also holds for an enrolment afterwards.
func TestStrangersStopHolds(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		w.strange(0, stop)
		require.Equal(w.t, wire.StatusOptedOut, w.enrol("late", stranger).Status)
		other := stop
		other.From = "+15550002222"
		w.strange(1, other)
		other.Body, other.Intent = "START", models.IntentStart
		w.strange(2, other)
		require.Equal(w.t, wire.StatusActive, w.enrol("back", other.From).Status)
	})
}

func TestClaimHint(t *testing.T) {
	claim := func(w *inboundWorld, id string, seconds int) models.HintClaim {
		out, err := w.Hints.ClaimHint(w.ctx, id, inboundAt(seconds))
		require.NoError(w.t, err)
		return out
	}
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		first := w.strange(0, hello).HintID
		require.Equal(w.t, models.HintClaim{To: stranger, Post: true, Status: wire.OutboxSending}, claim(w, first, 1))
		require.NoError(w.t, w.Hints.SettleHint(w.ctx, models.HintResult{ID: first, Status: wire.OutboxReady, Now: inboundAt(2)}))
		require.True(w.t, claim(w, first, 3).Post, "refused for sure, so tried again")
		require.Equal(w.t, wire.OutboxUnknown, claim(w, first, 4).Status, "an attempt of unknown fate is the last")
		require.False(w.t, claim(w, first, 5).Post)

		day := 24 * 3600
		stale := w.strange(day, hello).HintID
		require.Equal(w.t, wire.OutboxCanceled, claim(w, stale, day+601).Status)
		stopped := w.strange(2*day, hello).HintID
		w.strange(2*day+1, stop)
		require.Equal(w.t, wire.OutboxCanceled, claim(w, stopped, 2*day+2).Status, "a STOP came in between")
		other := w.strange(0, models.Inbound{From: "+15550002222", Body: "hi"}).HintID
		w.enrol("new", "+15550002222")
		require.Equal(w.t, wire.OutboxCanceled, claim(w, other, 1).Status, "enrolled meanwhile")
		_, err := w.Hints.ClaimHint(w.ctx, "hint-none", inboundAt(0))
		require.ErrorIs(w.t, err, models.ErrNotFound)
	})
}

func TestPendingHints(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		id := w.strange(0, hello).HintID
		pending, err := w.Hints.PendingHints(w.ctx, inboundAt(0), 10)
		require.NoError(w.t, err)
		require.Empty(w.t, pending, "too young")
		pending, err = w.Hints.PendingHints(w.ctx, inboundAt(5), 10)
		require.NoError(w.t, err)
		require.Len(w.t, pending, 1)
		require.Equal(w.t, id, pending[0].ID)
		require.NoError(w.t, w.Hints.HintTold(w.ctx, id, inboundAt(6)))
		pending, err = w.Hints.PendingHints(w.ctx, inboundAt(60), 10)
		require.NoError(w.t, err)
		require.Empty(w.t, pending)
	})
}

// A sender who opts out, or is enrolled, while the connection to the carrier is
// made gets no hint.
func TestHintIsCheckedAgain(t *testing.T) {
	for name, happen := range map[string]func(w *inboundWorld){
		"nothing": func(*inboundWorld) {},
		"STOP":    func(w *inboundWorld) { w.strange(1, stop) },
		"enrolled": func(w *inboundWorld) {
			_, err := w.People.Enroll(w.ctx, models.Participant{ID: "eve", Phone: stranger, Timezone: "UTC", EnrolledAt: inboundAt(1)}, "operator")
			require.NoError(w.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
				id := w.strange(0, hello).HintID
				claim, err := w.Hints.ClaimHint(w.ctx, id, inboundAt(0))
				require.NoError(w.t, err)
				require.True(w.t, claim.Post)
				happen(w)
				want := wire.OutboxCanceled
				if name == "nothing" {
					want = wire.OutboxSending
				}
				for range 2 {
					status, err := w.Hints.CheckHint(w.ctx, id, inboundAt(2))
					require.NoError(w.t, err)
					require.Equal(w.t, want, status)
				}
				_, err = w.Hints.CheckHint(w.ctx, "nobody", inboundAt(2))
				require.ErrorIs(w.t, err, models.ErrNotFound)
			})
		})
	}
}

// A stranger in a crisis gets the safety text, also where strangers are not answered,
// and raises one alert a day; a weak sign raises one with the second.
func TestStrangerInCrisis(t *testing.T) {
	for _, hints := range []bool{true, false} {
		inboundOnBoth(t, store.InboundLimits{Hints: hints}, func(w *inboundWorld) {
			w.strange(0, hello)
			first := w.strange(10, models.Inbound{Body: crisis})
			require.NotEmpty(w.t, first.AlertID)
			text, err := w.Hints.HintText(w.ctx, first.HintID)
			require.NoError(w.t, err)
			require.Equal(w.t, models.HintText{Purpose: models.HintCrisis, Phone: "+15550001111", Safety: models.SafetyOneself}, text)
			again := w.strange(20, models.Inbound{Body: crisis})
			require.Empty(w.t, again.HintID)
			require.Empty(w.t, again.AlertID)

			pending, err := w.Alerts.PendingAlerts(w.ctx, inboundAt(60), 10)
			require.NoError(w.t, err)
			require.Len(w.t, pending, 1)
			require.True(w.t, pending[0].Pages)
			require.False(w.t, pending[0].Answer)
			open, err := w.Alerts.StrangerAlerts(w.ctx, 10)
			require.NoError(w.t, err)
			require.Len(w.t, open, 1)
			read, err := w.Alerts.AlertText(w.ctx, first.AlertID)
			require.NoError(w.t, err)
			require.Equal(w.t, stranger, read.Phone)
			require.Equal(w.t, crisis, read.Text)
			_, err = w.Alerts.AcknowledgeAlert(w.ctx, models.AlertAcknowledgement{AlertID: first.AlertID, Actor: "user:kim", Now: inboundAt(70)})
			require.NoError(w.t, err)
			open, err = w.Alerts.StrangerAlerts(w.ctx, 10)
			require.NoError(w.t, err)
			require.Empty(w.t, open)
			_, err = w.Alerts.AlertText(w.ctx, "alarm-0")
			require.ErrorIs(w.t, err, models.ErrNotFound)

			require.NotEmpty(w.t, w.strange(10+24*3600, models.Inbound{Body: crisis}).AlertID, "a day later")
			sign := models.Inbound{From: "+15550002222", Body: weak}
			require.Empty(w.t, w.strange(100, sign).AlertID)
			second := w.strange(200, sign)
			require.NotEmpty(w.t, second.AlertID)
			require.Equal(w.t, models.TierB, second.Inbound.DangerTier)
		})
	}
}

// A stranger who asks for no more texts gets none, and the alert all the same.
func TestStrangerInCrisisWhoOptsOut(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		w.strange(0, stop)
		out := w.strange(10, models.Inbound{Body: crisis})
		require.Empty(w.t, out.HintID)
		require.NotEmpty(w.t, out.AlertID)
	})
}

// A person whose enrolment is over is answered in their language.
func TestStrangerInCrisisWhoWasEnrolled(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		ann := w.ann()
		_, err := w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: ann.ID, Actor: "user:kim", Now: inboundAt(0), Patch: models.ParticipantPatch{Locale: new("es-MX")}})
		require.NoError(w.t, err)
		require.NoError(w.t, w.People.RemoveParticipant(w.ctx, ann.ID, "user:kim", inboundAt(0)))
		text, err := w.Hints.HintText(w.ctx, w.strange(10, models.Inbound{From: ann.Phone, Body: crisis}).HintID)
		require.NoError(w.t, err)
		require.Equal(w.t, "es-MX", text.Locale)
	})
}

// TestHintsHaveACeiling: strangers are answered sixty times an hour in all, and never where a
// text is dear; the safety text goes out all the same.
func TestHintsHaveACeiling(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		say := func(n, seconds int, body string) bool {
			return w.take(models.Inbound{From: fmt.Sprintf("+1212555%04d", n), Body: body, ReceivedAt: inboundAt(seconds)}).HintID != ""
		}
		told := 0
		for n := range 100 {
			if say(n, n, "hello") {
				told++
			}
		}
		require.Equal(w.t, 60, told)
		require.True(w.t, say(200, 101, "I want to kill myself"))
		require.True(w.t, say(201, 3700, "hello"), "the next hour")
		for _, dear := range []string{"+881612345678", "+870773111632", "+19005550123"} {
			require.Empty(w.t, w.take(models.Inbound{From: dear, Body: "hello", ReceivedAt: inboundAt(9000)}).HintID, dear)
		}
	})
}
