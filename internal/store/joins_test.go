package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

const (
	joiner      = "+12125550177"
	joinKeyword = `{"programme":"Sleep well","join":[{"keyword":"Sleep","locale":"en","about":"Texts about better sleep."}]}`
)

// joinStudy adds a study that recruits by keyword.
func (w *inboundWorld) joinStudy(id, settings string) {
	w.t.Helper()
	for _, add := range []func() error{
		func() error {
			_, err := w.Studies.AddStudy(w.ctx, models.Study{ID: id, Name: "Sleep", Settings: settings, CreatedBy: "user:kim", CreatedAt: inboundAt(0)})
			return err
		},
		func() error { return w.addConsent(id, "You agree to a text a day.") },
		func() error { return w.recruit(id) },
	} {
		require.NoError(w.t, add())
	}
}

func (w *inboundWorld) addConsent(id, body string) error {
	_, err := w.Studies.AddConsentText(w.ctx, models.ConsentText{StudyID: id, Locale: "en", Body: body, CreatedBy: "user:kim", CreatedAt: inboundAt(0)})
	return err
}

func (w *inboundWorld) recruit(id string) error {
	_, err := w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: id, Actor: "user:kim", Now: inboundAt(0), Patch: models.StudyPatch{State: new(models.StudyRecruiting)}})
	return err
}

// joins returns states and reasons of a study's joins, newest first.
func (w *inboundWorld) joins(id string) []string {
	w.t.Helper()
	rows, counts, err := w.Joins.List(w.ctx, id, 0)
	require.NoError(w.t, err)
	var out []string
	var people int64
	for _, row := range rows {
		out = append(out, strings.TrimSpace(string(row.State)+" "+row.Reason))
		if row.State != models.JoinPending {
			require.Empty(w.t, row.Phone, "a join that is over keeps no number")
		}
	}
	for _, count := range counts {
		people += count
	}
	require.Len(w.t, rows, min(int(people), 201))
	return out
}

func (w *inboundWorld) joiner(seconds int, body string) models.AcceptedInbound {
	w.t.Helper()
	return w.strange(seconds, models.Inbound{From: joiner, Body: body})
}

func TestKeywordAndYesEnrol(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		asked := w.joiner(0, " SLEEP! ")
		require.NotEmpty(w.t, asked.HintID)
		text, err := w.Hints.HintText(w.ctx, asked.HintID)
		require.NoError(w.t, err)
		require.Equal(w.t, models.HintText{Purpose: models.HintJoin, Phone: joiner, Safety: models.SafetyOneself, StudyID: "sleep-1", Locale: "en", About: "Texts about better sleep.", Consent: "You agree to a text a day."}, text)
		claim, err := w.Hints.ClaimHint(w.ctx, asked.HintID, inboundAt(1))
		require.NoError(w.t, err)
		require.Equal(w.t, models.HintClaim{To: joiner, Post: true, Status: wire.OutboxSending}, claim)

		unclear := w.joiner(10, "what is this?")
		require.NotEmpty(w.t, unclear.HintID, "asked once for a plain yes")
		require.Empty(w.t, w.joiner(20, "hm").HintID, "and not again")
		require.Empty(w.t, w.joiner(21, "sleep").HintID)
		require.Equal(w.t, []string{"pending"}, w.joins("sleep-1"))

		yes := w.joiner(30, "Yes")
		require.True(w.t, yes.Enrolled)
		require.Empty(w.t, yes.HintID)
		require.Equal(w.t, []string{"enrolled"}, w.joins("sleep-1"))
		p, notices, err := w.Notices.Untold(w.ctx, yes.Inbound.ParticipantID)
		require.NoError(w.t, err)
		require.Len(w.t, notices, 1)
		require.Equal(w.t, models.NoticeStart, notices[0].Kind)
		require.Equal(w.t, []any{"sleep-1", joiner, "en", wire.StatusActive, true, true}, []any{p.StudyID, p.Phone, p.Locale, p.Status, p.ZoneAssumed, p.SignedUp})
		given, err := w.Studies.StudyConsents(w.ctx, p.ID)
		require.NoError(w.t, err)
		require.Len(w.t, given, 1)
		require.Equal(w.t, []any{1, "en", models.MethodKeyword, true, "participant"}, []any{given[0].Version, given[0].Locale, given[0].Method, given[0].Given, given[0].RecordedBy})
		claim, err = w.Hints.ClaimHint(w.ctx, unclear.HintID, inboundAt(31))
		require.NoError(w.t, err)
		require.Equal(w.t, wire.OutboxCanceled, claim.Status, "the request for a yes is out of use")
	})
}

// A carrier that repeats each webhook, also at once, gets one reply and one enrolment,
// and a process that dies before it told Temporal leaves what the sweeps find.
func TestRepeatedWebhooksOfAJoin(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		for _, step := range []models.Inbound{
			{ProviderSID: "SMjoin", From: joiner, Body: "sleep", ReceivedAt: inboundAt(0)},
			{ProviderSID: "SMyes", From: joiner, Body: "YES", ReceivedAt: inboundAt(60)},
		} {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() { _, _ = w.Inbound.AcceptInbound(w.ctx, step) })
			}
			all.Wait()
			out, err := w.Inbound.AcceptInbound(w.ctx, step)
			require.NoError(w.t, err)
			require.True(w.t, out.Duplicate)
		}
		hints, err := w.Hints.PendingHints(w.ctx, inboundAt(100), 10)
		require.NoError(w.t, err)
		require.Len(w.t, hints, 1, "what was never told is found by the sweep")
		require.Equal(w.t, []string{"enrolled"}, w.joins("sleep-1"))
		notices, err := w.Notices.PendingNotices(w.ctx, inboundAt(100), 10)
		require.NoError(w.t, err)
		starts := 0
		for _, notice := range notices {
			if notice.ParticipantID != "ann" && notice.Kind == models.NoticeStart {
				starts++
			}
		}
		require.Equal(w.t, 1, starts)
	})
}

// Keyword texts that come at once under ids of their own make one join.
func TestKeywordsAtOnceMakeOneJoin(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				_, err := w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM" + strings.Repeat("x", i), From: joiner, Body: "sleep", ReceivedAt: inboundAt(0)})
				require.NoError(w.t, err)
			})
		}
		all.Wait()
		require.Equal(w.t, []string{"pending"}, w.joins("sleep-1"))
	})
}

func TestJoinEndsWithoutAYes(t *testing.T) {
	late := int(models.JoinValidity / time.Second)
	for name, c := range map[string]struct {
		text    models.Inbound
		seconds int
		want    string
	}{
		"STOP":           {models.Inbound{Body: "STOP"}, 10, "declined stop"},
		"carrier's STOP": {models.Inbound{Body: "stop", OptOutType: "STOP"}, 10, "declined stop"},
		"late":           {models.Inbound{Body: "yes"}, late, "expired no_answer"},
	} {
		t.Run(name, func(t *testing.T) {
			inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
				w.joinStudy("sleep-1", joinKeyword)
				w.joiner(0, "sleep")
				c.text.From = joiner
				out := w.strange(c.seconds, c.text)
				require.False(w.t, out.Enrolled)
				require.Equal(w.t, []string{c.want}, w.joins("sleep-1"))
				require.False(w.t, w.joiner(c.seconds+1, "yes").Enrolled)
			})
		})
	}
}

func TestStopBeforeAJoinHolds(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		w.joiner(0, "stop")
		require.Empty(w.t, w.joiner(10, "sleep").HintID)
		require.Equal(w.t, []string{"refused opted_out"}, w.joins("sleep-1"))
		w.joiner(20, "START")
		require.NotEmpty(w.t, w.joiner(30, "sleep").HintID)
	})
}

func TestSweepEndsJoins(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		w.joiner(0, "sleep")
		require.NoError(w.t, w.Joins.ExpireJoins(w.ctx, inboundAt(0).Add(models.JoinValidity-time.Second), 10))
		require.Equal(w.t, []string{"pending"}, w.joins("sleep-1"))
		require.NoError(w.t, w.Joins.ExpireJoins(w.ctx, inboundAt(0).Add(models.JoinValidity), 10))
		require.Equal(w.t, []string{"expired no_answer"}, w.joins("sleep-1"))
	})
}

// The screening comes first: who is in danger gets the safety text and no request for a
// yes, HELP is answered, and what the carrier has answered is not.
func TestJoinScreensFirst(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{Hints: true}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		w.joiner(0, "sleep")
		for body, want := range map[string]models.HintPurpose{crisis: models.HintCrisis, "HELP": models.HintHelp} {
			text, err := w.Hints.HintText(w.ctx, w.joiner(10, body).HintID)
			require.NoError(w.t, err)
			require.Equal(w.t, want, text.Purpose)
		}
		require.Empty(w.t, w.strange(20, models.Inbound{From: joiner, Body: "HELP", OptOutType: "HELP"}).HintID)
		require.True(w.t, w.strange(30, models.Inbound{From: joiner, Body: "YES", OptOutType: "START"}).Enrolled, "carriers call a YES a START")
	})
}

// Who said yes to an older text is shown the newest one first.
func TestJoinShowsTheNewestConsentText(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		first := w.joiner(0, "sleep")
		require.NoError(w.t, w.addConsent("sleep-1", "You agree to two texts a day."))
		again := w.joiner(10, "yes")
		require.False(w.t, again.Enrolled)
		require.NotEqual(w.t, first.HintID, again.HintID)
		for id, isChanged := range map[string]bool{first.HintID: false, again.HintID: true} {
			text, err := w.Hints.HintText(w.ctx, id)
			require.NoError(w.t, err)
			require.Equal(w.t, isChanged, text.IsChanged)
		}
		yes := w.joiner(20, "yes")
		given, err := w.Studies.StudyConsents(w.ctx, yes.Inbound.ParticipantID)
		require.NoError(w.t, err)
		require.Equal(w.t, 2, given[0].Version)
	})
}

func TestStudyThatDoesNotRecruitEnrolsNobody(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		w.joiner(0, "sleep")
		_, err := w.Studies.ChangeStudy(w.ctx, models.StudyUpdate{ID: "sleep-1", Actor: "user:kim", Now: inboundAt(1), Patch: models.StudyPatch{State: new(models.StudyRunning)}})
		require.NoError(w.t, err)
		out := w.joiner(10, "yes")
		require.False(w.t, out.Enrolled)
		require.Empty(w.t, out.HintID)
		require.Equal(w.t, []string{"refused study: does not take people in: it is running"}, w.joins("sleep-1"))
		require.Empty(w.t, w.strange(20, models.Inbound{From: "+12125550178", Body: "sleep"}).HintID)
	})
}

func TestJoinLimits(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		for i := range models.JoinsPerNumber {
			require.NotEmpty(w.t, w.joiner(i*10, "sleep").HintID)
			require.NoError(w.t, w.Joins.ExpireJoins(w.ctx, inboundAt(i*10).Add(models.JoinValidity), 10))
		}
		require.Empty(w.t, w.joiner(100, "sleep").HintID)
		for i := range models.JoinsPerStudy - models.JoinsPerNumber {
			_, err := w.Joins.RequestJoin(w.ctx, w.form(fmt.Sprintf("join-f%d", i), fmt.Sprintf("+1646555%04d", i)))
			require.NoError(w.t, err)
		}
		require.Empty(w.t, w.strange(200, models.Inbound{From: "+12125550179", Body: "sleep"}).HintID)
		require.Equal(w.t, "refused study_limit", w.joins("sleep-1")[0])
	})
}

func (*inboundWorld) form(id, number string) models.JoinRequest {
	return models.JoinRequest{ID: id, StudyID: "sleep-1", Phone: number, Locale: "en", Timezone: "America/New_York", Actor: "token:site", Now: inboundAt(50)}
}

func TestFormIsConfirmedByText(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		w.joinStudy("sleep-1", joinKeyword)
		hint, err := w.Joins.RequestJoin(w.ctx, w.form("join-a", joiner))
		require.NoError(w.t, err)
		claim, err := w.Hints.ClaimHint(w.ctx, hint, inboundAt(51))
		require.NoError(w.t, err)
		require.Equal(w.t, joiner, claim.To)
		again, err := w.Joins.RequestJoin(w.ctx, w.form("join-b", joiner))
		require.NoError(w.t, err)
		require.Empty(w.t, again, "asked once")
		enrolled, err := w.Joins.RequestJoin(w.ctx, w.form("join-c", phone))
		require.NoError(w.t, err)
		require.Empty(w.t, enrolled, "the number is enrolled")
		yes := w.joiner(60, "yes")
		p, err := w.People.Participant(w.ctx, yes.Inbound.ParticipantID)
		require.NoError(w.t, err)
		require.Equal(w.t, []any{"America/New_York", false}, []any{p.Timezone, p.ZoneAssumed})
		given, err := w.Studies.StudyConsents(w.ctx, p.ID)
		require.NoError(w.t, err)
		require.Equal(w.t, models.MethodWeb, given[0].Method)
		_, err = w.Joins.RequestJoin(w.ctx, models.JoinRequest{ID: "join-d", StudyID: "none", Phone: joiner, Locale: "en", Now: inboundAt(70)})
		require.ErrorIs(w.t, err, models.ErrNotFound)
	})
}

func TestJoinSettings(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		for settings, field := range map[string]string{
			`{"join":[{"keyword":"stop","locale":"en","about":"a"}]}`:                                                "join[0].keyword",
			`{"join":[{"keyword":"ja","locale":"en","about":"a"}]}`:                                                  "join[0].keyword",
			`{"join":[{"keyword":"two words","locale":"en","about":"a"}]}`:                                           "join[0].keyword",
			`{"join":[{"keyword":"sleep","locale":"en","about":""}]}`:                                                "join[0].about",
			`{"join":[{"keyword":"sleep","locale":"en","about":"a","link":"http://x.org"}]}`:                         "join[0].link",
			`{"locales":["es"],"join":[{"keyword":"sleep","locale":"en","about":"a"}]}`:                              "join[0].locale",
			`{"join":[{"keyword":"sleep","locale":"en","about":"a"},{"keyword":"SLEEP","locale":"es","about":"a"}]}`: "join[1].keyword",
		} {
			_, err := w.Studies.AddStudy(w.ctx, models.Study{ID: "bad-1", Name: "Bad", Settings: settings, CreatedAt: inboundAt(0)})
			var refused *models.FieldError
			require.ErrorAs(w.t, err, &refused, settings)
			require.Equal(w.t, field, refused.Field)
		}
		_, err := w.Studies.AddStudy(w.ctx, models.Study{ID: "bad-1", Name: "Bad", Settings: `{"join":[{"keyword":"suicide","locale":"en","about":"a"}]}`, CreatedAt: inboundAt(0)})
		require.ErrorContains(w.t, err, `"suicide" is read as a crisis (rule `)
		_, err = w.Studies.AddStudy(w.ctx, models.Study{ID: "sleep-2", Name: "Sleep", Settings: joinKeyword, CreatedAt: inboundAt(0)})
		require.NoError(w.t, err)
		require.ErrorContains(w.t, w.recruit("sleep-2"), "has no consent text")
		require.ErrorContains(w.t, w.addConsent("sleep-2", strings.Repeat("long ", 100)), "more than 320 characters")
		require.NoError(w.t, w.addConsent("sleep-2", "Yes to texts."))
		w.joinStudy("sleep-1", joinKeyword)
		require.ErrorContains(w.t, w.recruit("sleep-2"), "is a keyword of study sleep-1")
	})
}
