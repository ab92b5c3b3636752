package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// holdBegin is nine in the morning at the carrier's: 17:00 UTC.
var holdBegin = time.Date(2026, 3, 2, 17, 0, 0, 0, time.UTC)

func holdAt(minutes int) time.Time { return holdBegin.Add(time.Duration(minutes) * time.Minute) }

// holdWorld is a store with one participant, ann.
type holdWorld struct {
	*store.Store
	t   *testing.T
	ctx context.Context
	log *bytes.Buffer
	url string
	n   int
}

func holdOnBoth(t *testing.T, test func(w *holdWorld)) {
	t.Helper()
	open := func(t *testing.T, url string) *holdWorld {
		w := &holdWorld{t: t, ctx: t.Context(), log: &bytes.Buffer{}, url: url}
		w.Store = w.open("+15017122661")
		_, err := w.People.Enroll(w.ctx, models.Participant{ID: "ann", Phone: phone, Timezone: "UTC", EnrolledAt: holdBegin}, "operator")
		require.NoError(t, err)
		return w
	}
	onEachDatabase(t, func(t *testing.T, url string) { test(open(t, url)) })
}

// open is a process that texts from a sender.
func (w *holdWorld) open(sender string) *store.Store {
	w.t.Helper()
	ring, err := seal.Parse(testKeys)
	require.NoError(w.t, err)
	s, err := store.Open(w.ctx, store.Config{URL: w.url, Sealer: ring, Sender: sender, Log: slog.New(slog.NewTextHandler(w.log, nil))})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, s.Close()) })
	return s
}

// queue writes a text of ann's that has not been claimed.
func (w *holdWorld) queue(kind wire.TurnKind, minutes int) string {
	w.t.Helper()
	return w.end(kind, minutes, false).OutboxIDs[0]
}

func (w *holdWorld) end(kind wire.TurnKind, minutes int, claim bool) models.EndedTurn {
	w.t.Helper()
	w.n++
	turn := models.TurnID("ann", w.n)
	plan := wire.TurnPlan{Kind: kind}
	if kind == wire.TurnPrompt {
		plan.PromptID, plan.ScheduleID, plan.Slot.Date = turn, "s1", fmt.Sprintf("2026-03-%02d", w.n)
	}
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "ann", TurnID: turn, Number: w.n, Mode: wire.ModeIntake, Plan: plan, Now: holdAt(minutes)})
	require.NoError(w.t, err)
	out, err := w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: turn, ParticipantID: "ann", Outcome: "step", Claim: claim, At: holdAt(minutes),
		Outbox: []models.Outbox{{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.EntryOf(kind), PromptID: plan.PromptID, Body: "hello"}}})
	require.NoError(w.t, err)
	return out
}

// inStudy enrols another person, in a study.
func (w *holdWorld) inStudy(id, study string) {
	w.t.Helper()
	_, err := w.People.Enroll(w.ctx, models.Participant{ID: id, Phone: "+12025550142", Timezone: "UTC", StudyID: study, EnrolledAt: holdBegin}, "operator")
	require.NoError(w.t, err)
}

// queueOf writes a reply to a person that has not been claimed.
func (w *holdWorld) queueOf(id string) string {
	w.t.Helper()
	w.n++
	turn := models.TurnID(id, w.n)
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: id, TurnID: turn, Number: w.n, Mode: wire.ModeIntake, Plan: wire.TurnPlan{Kind: wire.TurnReply}, Now: holdAt(0)})
	require.NoError(w.t, err)
	out, err := w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: turn, ParticipantID: id, Outcome: "step", At: holdAt(0),
		Outbox: []models.Outbox{{ID: models.OutboxID(turn, 1), Part: 1, Kind: models.KindReply, Body: "hello"}}})
	require.NoError(w.t, err)
	return out.OutboxIDs[0]
}

func (w *holdWorld) claim(id string, minutes int) models.SendClaim {
	w.t.Helper()
	return w.claimFrom(id, "", minutes)
}

// claimFrom claims a text and begins to post it from a number of its study.
func (w *holdWorld) claimFrom(id, number string, minutes int) models.SendClaim {
	w.t.Helper()
	claim, err := w.Outbox.ClaimSend(w.ctx, id, holdAt(minutes))
	require.NoError(w.t, err)
	claim.Sender.From = number
	if claim.Post && !claim.Resumed {
		row, err := w.Outbox.StartPost(w.ctx, claim, holdAt(minutes))
		require.NoError(w.t, err)
		require.Equal(w.t, wire.OutboxSending, row.Status)
	}
	return claim
}

// refused is a text that the carrier answers with a refusal.
func (w *holdWorld) refused(id string, class models.CarrierClass, code string, minutes int) {
	w.t.Helper()
	require.True(w.t, w.claim(id, minutes).Post)
	require.NoError(w.t, w.Outbox.HoldSender(w.ctx, models.Refusal{OutboxID: id, Class: class, Code: code, Now: holdAt(minutes)}))
	require.NoError(w.t, w.Outbox.ReleaseSend(w.ctx, w.ref(id), holdAt(minutes)))
}

func (w *holdWorld) held() (models.SenderHold, bool) {
	w.t.Helper()
	held, err := w.Outbox.SenderHolds(w.ctx)
	require.NoError(w.t, err)
	require.LessOrEqual(w.t, len(held), 1)
	if len(held) == 0 {
		return models.SenderHold{}, false
	}
	return held[0], true
}

func TestEachClass(t *testing.T) {
	midnight := time.Date(2026, 3, 3, 8, 0, 0, 0, time.UTC) // Pacific
	for _, tt := range []struct {
		class models.CarrierClass
		code  string
		until time.Time // zero: the sender goes on
	}{
		{models.CarrierWindow, "30023", midnight},
		{models.CarrierWindow, "30027", midnight},
		{models.CarrierWindow, "63038", holdAt(60)},
		{models.CarrierRegistration, "30032", holdAt(10)},
		{models.CarrierRegistration, "30034", holdAt(10)},
		{models.CarrierRegistration, "30024", holdAt(10)},
		{models.CarrierRegistration, "30018", holdAt(10)},
		{models.CarrierAccount, "20003", holdAt(10)},
		{models.CarrierAccount, "30002", holdAt(10)},
		{models.CarrierAccount, "", holdAt(10)},
		{class: models.CarrierAccount, code: "21408"},
		{class: models.CarrierAccount, code: "21608"},
		{class: models.CarrierRetry, code: "20429"},
		{class: models.CarrierSlowDown, code: "30001"},
		{class: models.CarrierRetryOnce, code: "30003"},
		{class: models.CarrierConsent, code: "21610"},
		{class: models.CarrierBadNumber, code: "21211"},
		{class: models.CarrierBlocked, code: "30007"},
		{class: models.CarrierContent, code: "21617"},
		{class: models.CarrierStale, code: "30036"},
		{class: models.CarrierAmbiguous},
	} {
		t.Run(string(tt.class)+" "+tt.code, func(t *testing.T) {
			ring, err := seal.Parse(testKeys)
			require.NoError(t, err)
			s, err := store.Open(t.Context(), store.Config{URL: "sqlite::memory:", Sealer: ring})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			w := &holdWorld{Store: s, t: t, ctx: t.Context()}
			_, err = w.People.Enroll(w.ctx, models.Participant{ID: "ann", Phone: phone, Timezone: "UTC", EnrolledAt: holdBegin}, "operator")
			require.NoError(t, err)
			w.refused(w.queue(wire.TurnReply, 0), tt.class, tt.code, 0)
			held, ok := w.held()
			require.Equal(t, !tt.until.IsZero(), ok)
			require.Equal(t, tt.until, held.UntilAt.UTC())
		})
	}
}

func TestSenderHold(t *testing.T) {
	holdOnBoth(t, func(w *holdWorld) {
		first, second := w.queue(wire.TurnReply, 0), w.queue(wire.TurnPrompt, 0)
		w.refused(first, models.CarrierRegistration, "30034", 0)
		require.Equal(w.t, 5*time.Minute, w.claim(second, 1).Wait, "an operator's release is seen")
		require.Equal(w.t, time.Minute, w.claim(second, 9).Wait)
		for _, kind := range []wire.TurnKind{wire.TurnReply, wire.TurnFeedbackQuestion, wire.TurnNotice, wire.TurnHelp} {
			got := w.end(kind, 2, true).First
			require.Equal(w.t, wire.OutboxReady, got.Outbox.Status, kind)
			require.False(w.t, got.Post)
			require.Positive(w.t, got.Wait)
		}

		require.True(w.t, w.claim(second, 10).Post, "one text passes")
		require.Equal(w.t, 5*time.Minute, w.claim(first, 10).Wait, "and no other")
		require.NoError(w.t, w.Outbox.HoldSender(w.ctx, models.Refusal{OutboxID: second, Class: models.CarrierRegistration, Code: "30034", Now: holdAt(11)}))
		require.True(w.t, w.claim(second, 12).Resumed, "what may be at the carrier is looked up all the same")
		require.NoError(w.t, w.Outbox.ReleaseSend(w.ctx, w.ref(second), holdAt(12)))
		require.Equal(w.t, 5*time.Minute, w.claim(first, 12).Wait)

		require.True(w.t, w.claim(first, 21).Post)
		require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(first), models.Receipt{ProviderSID: "SM1", Status: wire.OutboxQueued}, holdAt(21)))
		_, held := w.held()
		require.False(w.t, held, "the carrier takes texts again")
		require.True(w.t, w.claim(second, 22).Post)

		require.Equal(w.t, 1, strings.Count(w.log.String(), "level=ERROR"), "one alert a hold")
		require.Contains(w.t, w.log.String(), "class=registration code=30034 outbox=ann-t1-p1")
		require.NotContains(w.t, w.log.String(), "+1")
	})
}

func TestSenderHoldByReport(t *testing.T) {
	holdOnBoth(t, func(w *holdWorld) {
		report := func(id string, status wire.OutboxStatus, class models.CarrierClass, code string, minutes int) {
			found, err := w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: id, ProviderSID: "SM-" + id, Status: status, Class: class, ErrorCode: code, At: holdAt(minutes)})
			require.NoError(w.t, err)
			require.True(w.t, found)
		}
		take := func(id string, minutes int) {
			require.True(w.t, w.claim(id, minutes).Post)
			require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(id), models.Receipt{ProviderSID: "SM-" + id, Status: wire.OutboxQueued}, holdAt(minutes)))
		}
		ids := []string{w.queue(wire.TurnReply, 0), w.queue(wire.TurnReply, 0), w.queue(wire.TurnReply, 0)}
		take(ids[0], 0)
		take(ids[1], 1)
		report(ids[0], wire.OutboxUndelivered, models.CarrierRegistration, "30034", 2)
		report(ids[1], wire.OutboxDelivered, "", "", 3)
		held, _ := w.held()
		require.True(w.t, held.Reported, "what was posted before the refusal proves nothing")

		take(ids[2], 12)
		_, ok := w.held()
		require.True(w.t, ok, "nor does it that the carrier takes a text")
		report(ids[2], wire.OutboxDelivered, "", "", 13)
		_, ok = w.held()
		require.False(w.t, ok)
	})
}

func TestProbesAtOnce(t *testing.T) {
	holdOnBoth(t, func(w *holdWorld) {
		w.refused(w.queue(wire.TurnReply, 0), models.CarrierAccount, "20003", 0)
		var ids []string
		for range 6 {
			ids = append(ids, w.queue(wire.TurnReply, 1))
		}
		type result struct {
			claim models.SendClaim
			err   error
		}
		results := make(chan result, len(ids))
		for _, id := range ids {
			go func() {
				claim, err := w.Outbox.ClaimSend(w.ctx, id, holdAt(10))
				results <- result{claim, err}
			}()
		}
		passed := 0
		for range ids {
			got := <-results
			require.NoError(w.t, got.err)
			if got.claim.Post {
				passed++
			}
		}
		require.Equal(w.t, 1, passed)
	})
}

func TestAnotherSenderIsFree(t *testing.T) {
	holdOnBoth(t, func(w *holdWorld) {
		id := w.queue(wire.TurnReply, 0)
		w.refused(id, models.CarrierAccount, "21606", 0)
		claim, err := w.open("+15017122662").Outbox.ClaimSend(w.ctx, id, holdAt(1))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post)
	})
}

// A study with a number of its own is held alone, and goes on while the installation's
// is held; a fault of the whole account holds both.
func TestSenderOfAStudyIsHeldAlone(t *testing.T) {
	const number = "+15017122663"
	holdOnBoth(t, func(w *holdWorld) {
		_, err := w.Studies.AddStudy(w.ctx, models.Study{ID: "sleep", Name: "Sleep", Settings: `{"from":"` + number + `"}`, CreatedBy: "user:kim", CreatedAt: holdBegin})
		require.NoError(w.t, err)
		_, err = w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: "sleep", Actor: "user:kim", Now: holdBegin, Patch: models.StudyPatch{State: new(models.StudyRecruiting)}})
		require.NoError(w.t, err)
		w.inStudy("bo", "sleep")
		ours, theirs := w.queue(wire.TurnReply, 0), w.queueOf("bo")
		w.refused(ours, models.CarrierRegistration, "30034", 0)
		require.Positive(w.t, w.claim(ours, 1).Wait)
		require.True(w.t, w.claimFrom(theirs, number, 1).Post, "another sender")
		_, err = w.Outbox.AcceptStatus(w.ctx, models.StatusCallback{OutboxID: theirs, ProviderSID: "SM1", Status: wire.OutboxUndelivered, Class: models.CarrierRegistration, ErrorCode: "30034", At: holdAt(2)})
		require.NoError(w.t, err)
		held, err := w.Outbox.SenderHolds(w.ctx)
		require.NoError(w.t, err)
		require.Equal(w.t, []string{"+15017122661", number}, []string{held[0].Name, held[1].Name})
		next := w.queueOf("bo")
		require.Positive(w.t, w.claimFrom(next, number, 3).Wait)

		require.True(w.t, w.claim(ours, 10).Post, "the probe of ours")
		require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(ours), models.Receipt{ProviderSID: "SM2", Status: wire.OutboxQueued}, holdAt(10)))
		last, ok := w.held()
		require.True(w.t, ok)
		require.Equal(w.t, number, last.Name, "what went well from ours says nothing of theirs")

		third := w.queue(wire.TurnReply, 10)
		w.refused(third, models.CarrierAccount, "20003", 10)
		require.Positive(w.t, w.claim(third, 11).Wait)
		require.Positive(w.t, w.claimFrom(next, number, 19).Wait, "the account is held")
	})
}

// A hint waits for its sender as every text does.
func TestHintWaitsForItsSender(t *testing.T) {
	holdOnBoth(t, func(w *holdWorld) {
		in, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM9", From: "+12025550177", To: "+15017122661", Body: crisis, ReceivedAt: holdAt(0)})
		require.NoError(w.t, err)
		w.refused(w.queue(wire.TurnReply, 0), models.CarrierRegistration, "30034", 0)
		claim, err := w.Hints.ClaimHint(w.ctx, in.HintID, holdAt(1))
		require.NoError(w.t, err)
		require.False(w.t, claim.Post)
		require.Positive(w.t, claim.Wait)
		claim, err = w.Hints.ClaimHint(w.ctx, in.HintID, holdAt(10))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post, "the probe")
	})
}

func TestUnreachable(t *testing.T) {
	holdOnBoth(t, func(w *holdWorld) {
		fail := func(minutes int) {
			id := w.queue(wire.TurnReply, minutes)
			require.True(w.t, w.claim(id, minutes).Post, "replies are tried")
			require.NoError(w.t, w.Outbox.RecordFailed(w.ctx, models.SendFailure{OutboxID: id, Token: w.ref(id).Token, Status: wire.OutboxFailed,
				Code: "21614", Class: models.CarrierBadNumber, Now: holdAt(minutes)}))
		}
		mark := func() (code string) {
			p, err := w.People.Participant(w.ctx, "ann")
			require.NoError(w.t, err)
			require.Equal(w.t, p.UnreachableCode != "", p.UnreachableAt != nil)
			return p.UnreachableCode
		}
		fail(0)
		fail(1)
		require.Equal(w.t, "21614", mark())
		p, err := w.People.Participant(w.ctx, "ann")
		require.NoError(w.t, err)
		require.Equal(w.t, holdAt(0), p.UnreachableAt.UTC(), "the first refusal counts")
		require.Equal(w.t, int64(3), p.Version, "the mark and the attention")
		for _, kind := range []wire.TurnKind{wire.TurnPrompt, wire.TurnReminder, wire.TurnFeedbackQuestion, wire.TurnFeedbackFollowup} {
			got := w.claim(w.queue(kind, 2), 2).Outbox
			require.Equal(w.t, wire.OutboxCanceled, got.Status, kind)
			require.Equal(w.t, "unreachable", got.ErrorCode)
		}
		require.True(w.t, w.claim(w.queue(wire.TurnOperator, 2), 2).Post)
		_, held := w.held()
		require.False(w.t, held, "one number is no reason to stop the sender")

		sent := w.queue(wire.TurnReply, 3)
		require.True(w.t, w.claim(sent, 3).Post)
		_, err = w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM1", From: phone, Body: "I am here", ReceivedAt: holdAt(4)})
		require.NoError(w.t, err)
		require.Empty(w.t, mark(), "who texts can be reached")
		late := models.StatusCallback{OutboxID: sent, Status: wire.OutboxUndelivered, Class: models.CarrierBadNumber, ErrorCode: "30005", At: holdAt(5)}
		_, err = w.Outbox.AcceptStatus(w.ctx, late)
		require.NoError(w.t, err)
		require.Empty(w.t, mark(), "the report is of a text from before")

		fail(6)
		require.Equal(w.t, "21614", mark())
		active := wire.StatusActive
		_, err = w.People.UpdateParticipant(w.ctx, models.ParticipantUpdate{ID: "ann", Patch: models.ParticipantPatch{Status: &active}, Actor: "operator", Now: holdAt(7)})
		require.NoError(w.t, err)
		require.Empty(w.t, mark(), "an operator looked after it")
	})
}

func TestPostponedOnce(t *testing.T) {
	holdOnBoth(t, func(w *holdWorld) {
		id := w.queue(wire.TurnReply, 0)
		require.Zero(w.t, w.claim(id, 0).Outbox.LateTries)
		require.NoError(w.t, w.Outbox.PostponeSend(w.ctx, w.ref(id), holdAt(1)))
		require.NoError(w.t, w.Outbox.PostponeSend(w.ctx, w.ref(id), holdAt(1)), "a retry counts once")
		claim := w.claim(id, 31)
		require.True(w.t, claim.Post)
		require.Equal(w.t, 1, claim.Outbox.LateTries)
		require.ErrorIs(w.t, w.Outbox.PostponeSend(w.ctx, w.ref("ann-t9-p1"), holdAt(1)), models.ErrNotFound)
		require.ErrorIs(w.t, w.Outbox.HoldSender(w.ctx, models.Refusal{OutboxID: "ann-t9-p1", Class: models.CarrierWindow, Now: holdAt(1)}), models.ErrNotFound)
	})
}

// ref names the newest claim on a row.
func (w *holdWorld) ref(id string) models.ClaimRef {
	w.t.Helper()
	row, err := w.Outbox.Row(w.ctx, id)
	if errors.Is(err, models.ErrNotFound) {
		return models.ClaimRef{OutboxID: id}
	}
	require.NoError(w.t, err)
	return models.SendClaim{Outbox: row}.Ref()
}
