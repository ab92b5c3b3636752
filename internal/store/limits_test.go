package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

const (
	stranger = "+15550001111"
	ours     = "+15017122661"
)

var inboundBegin = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// inboundAt is an instant some seconds after the beginning of a test's story.
func inboundAt(seconds int) time.Time { return inboundBegin.Add(time.Duration(seconds) * time.Second) }

// inboundWorld is a store with rules and one participant, ann.
type inboundWorld struct {
	*store.Store
	t   *testing.T
	ctx context.Context
	n   int
}

func inboundOnBoth(t *testing.T, rules store.InboundLimits, test func(w *inboundWorld)) {
	t.Helper()
	inboundWith(t, store.Config{Limits: rules}, test)
}

// inboundWith runs a test on a store with settings of its own.
func inboundWith(t *testing.T, cfg store.Config, test func(w *inboundWorld)) {
	t.Helper()
	open := func(t *testing.T, url string) *inboundWorld {
		ring, err := seal.Parse(testKeys)
		require.NoError(t, err)
		own := cfg
		own.URL, own.Sealer = url, ring
		s, err := store.Open(t.Context(), own)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		w := &inboundWorld{Store: s, t: t, ctx: t.Context()}
		w.enrol("ann", phone)
		return w
	}
	onEachDatabase(t, func(t *testing.T, url string) { test(open(t, url)) })
}

func (w *inboundWorld) enrol(id, phone string) models.Participant {
	w.t.Helper()
	p, err := w.People.Enroll(w.ctx, models.Participant{ID: id, Phone: phone, Timezone: "UTC", Locale: "fr-CA", EnrolledAt: inboundBegin}, "operator")
	require.NoError(w.t, err)
	return p
}

func (w *inboundWorld) take(in models.Inbound) models.AcceptedInbound {
	w.t.Helper()
	w.n++
	in.ProviderSID, in.To = fmt.Sprintf("SM%032d", w.n), ours
	out, err := w.Inbound.AcceptInbound(w.ctx, in)
	require.NoError(w.t, err)
	return out
}

// text is one of ann's.
func (w *inboundWorld) text(seconds int, body string) models.AcceptedInbound {
	w.t.Helper()
	return w.take(models.Inbound{From: phone, Body: body, ReceivedAt: inboundAt(seconds)})
}

func (w *inboundWorld) limits(seconds int, bodies ...string) []models.InboundLimit {
	w.t.Helper()
	var limits []models.InboundLimit
	for i, body := range bodies {
		limits = append(limits, w.text(seconds+i, body).Inbound.Limit)
	}
	return limits
}

func (w *inboundWorld) notices() []models.NoticeKind {
	w.t.Helper()
	_, rows, err := w.Notices.Untold(w.ctx, "ann")
	require.NoError(w.t, err)
	var kinds []models.NoticeKind
	for _, row := range rows {
		kinds = append(kinds, row.Kind)
	}
	return kinds
}

// limitRefs are the references of the notices of a limit.
func (w *inboundWorld) limitRefs() (refs []string) {
	w.t.Helper()
	_, rows, err := w.Notices.Untold(w.ctx, "ann")
	require.NoError(w.t, err)
	for _, row := range rows {
		if row.Kind == models.NoticeLimit {
			refs = append(refs, row.Ref)
		}
	}
	return refs
}

// replied is a reply of ours that the carrier took.
func (w *inboundWorld) replied(n, seconds int) {
	w.t.Helper()
	w.sent(n, seconds, models.KindReply, "hello")
}

// sent is a text of ours that the carrier took.
func (w *inboundWorld) sent(n, seconds int, kind models.EntryKind, body string) {
	w.t.Helper()
	turn := models.TurnID("ann", n)
	_, err := w.Turns.BeginTurn(w.ctx, wire.PrepareTurnInput{ParticipantID: "ann", TurnID: turn, Number: n, Mode: wire.ModeIntake,
		Plan: wire.TurnPlan{Kind: wire.TurnReply}, Now: inboundAt(seconds)})
	require.NoError(w.t, err)
	id := models.OutboxID(turn, 1)
	_, err = w.Turns.FinishTurn(w.ctx, models.TurnOutcome{TurnID: turn, ParticipantID: "ann", Outcome: "reply", At: inboundAt(seconds),
		Outbox: []models.Outbox{{ID: id, Part: 1, Kind: kind, Body: body}}})
	require.NoError(w.t, err)
	_, err = w.Outbox.ClaimSend(w.ctx, id, inboundAt(seconds))
	require.NoError(w.t, err)
	require.NoError(w.t, w.Outbox.RecordAccepted(w.ctx, w.ref(id), models.Receipt{ProviderSID: fmt.Sprintf("SMr%d", n), Status: wire.OutboxSent}, inboundAt(seconds)))
}

func TestTextsPerMinute(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{PerMinute: 3}, func(w *inboundWorld) {
		passed, limited := models.LimitNone, models.LimitRate
		require.Equal(w.t, []models.InboundLimit{passed, passed, passed, limited, limited}, w.limits(0, "a", "b", "c", "d", "e"))
		require.Equal(w.t, []models.NoticeKind{models.NoticeStart, models.NoticeMessage, models.NoticeMessage, models.NoticeMessage,
			models.NoticeLimit, models.NoticeFlags}, w.notices(), "no signal, and one word of it")

		stop := w.take(models.Inbound{From: phone, Body: "help", ReceivedAt: inboundAt(6)})
		require.Equal(w.t, passed, stop.Inbound.Limit, "keywords always pass")
		require.NotZero(w.t, stop.NoticeID)

		again := w.text(61, "f")
		require.Equal(w.t, passed, again.Inbound.Limit, "what was held back does not count")
		require.Equal(w.t, int64(4), again.Inbound.Seq, "numbers have no gaps")

		entries, err := w.People.History(w.ctx, "ann", 3, inboundAt(7))
		require.NoError(w.t, err)
		require.Equal(w.t, []models.InboundLimit{limited, limited, passed}, []models.InboundLimit{entries[0].Limit, entries[1].Limit, entries[2].Limit})
		require.Equal(w.t, "d", entries[0].Text)
	})
}

func TestLimitIsToldOnceAnHour(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{PerDay: 1}, func(w *inboundWorld) {
		told := func(seconds int) bool { return w.text(seconds, fmt.Sprint(seconds)).NoticeID != 0 }
		require.True(w.t, told(0), "the text itself")
		require.True(w.t, told(1))
		require.False(w.t, told(2))
		require.False(w.t, told(3599), "the same window")
		require.True(w.t, told(3599+3601), "after an hour of silence")
		require.Equal(w.t, []string{"2+24", "5+22"}, w.limitRefs(), "how many hours to wait")
		require.Equal(w.t, models.LimitNone, w.text(24*3600+1, "tomorrow").Inbound.Limit)
	})
}

func TestLimitNotice(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{PerMinute: 1}, func(w *inboundWorld) {
		w.text(0, "a")
		over := w.text(1, "b").Inbound.ID
		require.Equal(w.t, []string{"2"}, w.limitRefs(), "a minute")
		reader, err := w.Hints.ReaderOf(w.ctx, over)
		require.NoError(w.t, err)
		require.Equal(w.t, "fr-CA", reader.Locale)
		require.Equal(w.t, models.DefaultStudy, reader.StudyID)
		_, err = w.Hints.ReaderOf(w.ctx, over+99)
		require.ErrorIs(w.t, err, models.ErrNotFound)
		ask := models.LimitNotice{InboundID: over, Body: "too many", Now: inboundAt(2)}
		id, err := w.Hints.QueueLimitNotice(w.ctx, ask)
		require.NoError(w.t, err)
		again, err := w.Hints.QueueLimitNotice(w.ctx, ask)
		require.NoError(w.t, err)
		require.Equal(w.t, id, again)
		claim, err := w.Outbox.ClaimSend(w.ctx, id, inboundAt(2))
		require.NoError(w.t, err)
		require.True(w.t, claim.Post)
		require.Equal(w.t, phone, claim.To)

		late, err := w.Hints.QueueLimitNotice(w.ctx, models.LimitNotice{InboundID: w.text(2, "c").Inbound.ID, Body: "too many", Now: inboundAt(2000)})
		require.NoError(w.t, err)
		require.Empty(w.t, late, "too late to be of use")

		gone, err := w.Hints.QueueLimitNotice(w.ctx, models.LimitNotice{InboundID: w.text(3, "d").Inbound.ID, Body: "too many", Now: inboundAt(4)})
		require.NoError(w.t, err)
		w.take(models.Inbound{From: phone, Body: "stop", ReceivedAt: inboundAt(5)})
		claim, err = w.Outbox.ClaimSend(w.ctx, gone, inboundAt(6))
		require.NoError(w.t, err)
		require.False(w.t, claim.Post, "the consent check holds for it")
	})
}

const away = "I am out of the office"

func TestRepeatsAreALoop(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Mute: time.Hour}, func(w *inboundWorld) {
		none, muted := models.LimitNone, models.LimitMuted
		require.Equal(w.t, []models.InboundLimit{none, none, none, none}, w.limits(0, away, "i am out of the OFFICE ", away, "I am out\u200b of the office"))
		fifth := w.text(10, away)
		require.Equal(w.t, models.LimitLoop, fifth.Inbound.Limit)
		require.Equal(w.t, models.LoopRepeats, fifth.Loop)
		require.Zero(w.t, fifth.NoticeID)
		require.Equal(w.t, []models.InboundLimit{muted, muted}, w.limits(20, "anything", "at all"))

		until, err := w.Inbound.MutedUntil(w.ctx, "ann", inboundAt(30))
		require.NoError(w.t, err)
		require.Equal(w.t, inboundAt(10).Add(time.Hour), until)
		stop := w.take(models.Inbound{From: phone, Body: "help", ReceivedAt: inboundAt(40)})
		require.NotZero(w.t, stop.NoticeID, "keywords pass a mute")
		require.Equal(w.t, none, w.text(3611, "back again").Inbound.Limit)
		until, err = w.Inbound.MutedUntil(w.ctx, "ann", inboundAt(3611))
		require.NoError(w.t, err)
		require.Zero(w.t, until)
	})
}

func TestEverydayAnswersAreNoLoop(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Mute: time.Hour}, func(w *inboundWorld) {
		for i := range 14 {
			require.Equal(w.t, models.LimitNone, w.text(i*20, "Done!").Inbound.Limit, i)
		}
		require.Equal(w.t, models.LimitLoop, w.text(300, "done!").Inbound.Limit, "fifteen in ten minutes are a machine's")
	})
}

func TestSlowRepeatsAreNoLoop(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Mute: time.Hour}, func(w *inboundWorld) {
		for i := range 12 {
			require.Equal(w.t, models.LimitNone, w.text(i*160, away).Inbound.Limit, i)
		}
	})
}

func TestExchangesAreALoop(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Mute: time.Hour}, func(w *inboundWorld) {
		for i := range 20 {
			require.Equal(w.t, models.LimitNone, w.text(i*10, fmt.Sprintf("answer number %d", i)).Inbound.Limit, i)
			w.replied(i+1, i*10+7)
		}
		got := w.text(200, "one more")
		require.Equal(w.t, models.LoopExchanges, got.Loop)
		require.Equal(w.t, models.LimitLoop, got.Inbound.Limit)
	})
}

func TestOnePauseMakesAPerson(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Mute: time.Hour}, func(w *inboundWorld) {
		for i := range 25 {
			seconds := i * 10
			if i == 12 {
				seconds += 3 // six seconds after the reply
			}
			require.Equal(w.t, models.LimitNone, w.text(seconds, fmt.Sprintf("answer number %d", i)).Inbound.Limit, i)
			w.replied(i+1, i*10+7)
		}
	})
}

func TestEmptyTexts(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		require.Equal(w.t, []models.InboundLimit{models.LimitEmpty, models.LimitEmpty}, w.limits(0, "", "\u200b\u2060 \u200f"))
		require.Equal(w.t, []models.NoticeKind{models.NoticeStart}, w.notices())
		picture := w.take(models.Inbound{From: phone, MediaCount: 2, ReceivedAt: inboundAt(2)})
		require.Equal(w.t, models.LimitNone, picture.Inbound.Limit)
		require.NotZero(w.t, picture.NoticeID)
	})
}

// TestHelpHasLimits: one answer in ten minutes and five a day.
func TestHelpHasLimits(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		answered := func(seconds int) bool {
			got := w.text(seconds, "HELP")
			require.Equal(w.t, got.NoticeID == 0, got.Inbound.Limit == models.LimitRate)
			return got.NoticeID != 0
		}
		require.True(w.t, answered(0))
		require.False(w.t, answered(1))
		require.False(w.t, answered(599))
		require.True(w.t, answered(600))
		for i := 2; i < 5; i++ {
			require.True(w.t, answered(i*600))
		}
		require.False(w.t, answered(3600), "five a day")
		require.False(w.t, answered(24*3600-1))
		require.True(w.t, answered(24*3600+1))
		require.NotContains(w.t, w.notices(), models.NoticeLimit, "silence, and no call for attention")
		require.NotContains(w.t, w.notices(), models.NoticeFlags)
	})
}

// TestKeywordsCountForTheMute: what a machine sends again and again mutes it, also where
// rules act on it.
func TestKeywordsCountForTheMute(t *testing.T) {
	for _, tt := range []struct{ name, one, other string }{{"help", "help", "help"}, {"stop", "stop", "stop"}, {"stop and start", "stop", "start"}} {
		t.Run(tt.name, func(t *testing.T) {
			inboundOnBoth(t, store.InboundLimits{Mute: time.Hour}, func(w *inboundWorld) {
				var last models.AcceptedInbound
				n := 14
				if tt.one != tt.other {
					n = 28
				}
				for i := range n + 1 {
					body := tt.one
					if i%2 == 1 {
						body = tt.other
					}
					require.Equal(w.t, models.LoopNone, last.Loop)
					last = w.text(i*10, body)
				}
				require.Equal(w.t, models.LoopRepeats, last.Loop)
				p, err := w.People.Participant(w.ctx, "ann")
				require.NoError(w.t, err)
				require.Equal(w.t, tt.one == "stop", p.Status == wire.StatusOptedOut, "STOP holds in any case")
				if tt.one == tt.other {
					w.text(500, "start")
				}
				require.Equal(w.t, models.LimitMuted, w.text(501, "good morning to you").Inbound.Limit)
			})
		})
	}
	t.Run("exchanges", func(t *testing.T) {
		inboundOnBoth(t, store.InboundLimits{Mute: time.Hour}, func(w *inboundWorld) {
			for i := range 20 {
				require.Equal(w.t, models.LoopNone, w.text(i*10, fmt.Sprintf("answer number %d", i)).Loop, i)
				w.replied(i+1, i*10+7)
			}
			require.Equal(w.t, models.LoopExchanges, w.text(200, "help").Loop)
		})
	})
}

// ref names the newest claim on a row.
func (w *inboundWorld) ref(id string) models.ClaimRef {
	w.t.Helper()
	row, err := w.Outbox.Row(w.ctx, id)
	if errors.Is(err, models.ErrNotFound) {
		return models.ClaimRef{OutboxID: id}
	}
	require.NoError(w.t, err)
	return models.SendClaim{Outbox: row}.Ref()
}
