package activities_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"coachline/activities"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// noticeStore is the part of the store that the starter's texts need.
type noticeStore struct {
	claim   models.HintClaim
	results []models.HintResult
	asked   []models.LimitNotice
	asks    []models.Ask
	intent  models.Intent
	status  wire.Status
	row     string
	locale  string
	hint    models.HintText
	// check is where the hint stands before it is written; empty is sending.
	check    wire.OutboxStatus
	checkErr error
}

func (d *noticeStore) ReaderOf(context.Context, int64) (models.Participant, error) {
	return models.Participant{PersonTexts: models.PersonTexts[string]{Name: "Ada Lovelace"}, Phone: "+12025550123", Locale: d.locale, Status: d.status}, nil
}

func (d *noticeStore) ClaimHint(context.Context, string, time.Time) (models.HintClaim, error) {
	return d.claim, nil
}

func (d *noticeStore) CheckHint(context.Context, string, time.Time) (wire.OutboxStatus, error) {
	return cmp.Or(d.check, wire.OutboxSending), d.checkErr
}

func (d *noticeStore) SettleHint(_ context.Context, r models.HintResult) error {
	d.results = append(d.results, r)
	return nil
}

func (d *noticeStore) HintText(context.Context, string) (models.HintText, error) {
	return d.hint, nil
}

func (d *noticeStore) QueueLimitNotice(_ context.Context, n models.LimitNotice) (string, error) {
	d.asked = append(d.asked, n)
	return d.row, nil
}

func (d *noticeStore) AskedIntent(context.Context, int64) (models.Intent, error) {
	return d.intent, nil
}

func (d *noticeStore) QueueAsk(_ context.Context, a models.Ask) (string, error) {
	d.asks = append(d.asks, a)
	return d.row, nil
}

// hintCarrier takes a hint, or refuses it.
type hintCarrier struct {
	sent []models.SMS
	err  error
}

func (w *hintCarrier) Send(ctx context.Context, sms models.SMS) (models.Receipt, error) {
	if err := sms.MayWrite(ctx); err != nil {
		return models.Receipt{}, err
	}
	w.sent = append(w.sent, sms)
	return models.Receipt{ProviderSID: "SM1", Status: wire.OutboxQueued}, w.err
}

func newFront(t *testing.T, d *noticeStore, w *hintCarrier) *activities.NoticeActivities {
	t.Helper()
	library, err := prompts.Load("")
	require.NoError(t, err)
	return &activities.NoticeActivities{Store: d, Carrier: w, Prompts: library, Programme: "Steps", Now: func() time.Time { return now }}
}

func TestSendHint(t *testing.T) {
	d := &noticeStore{claim: models.HintClaim{To: "+15550001111", Post: true}}
	w := &hintCarrier{}
	status, err := newFront(t, d, w).SendHint(t.Context(), wire.SendHintInput{HintID: "hint-1"})
	require.NoError(t, err)
	require.Equal(t, wire.OutboxQueued, status)
	require.Len(t, w.sent, 1)
	require.Equal(t, "+15550001111", w.sent[0].To)
	require.Contains(t, w.sent[0].Body, "Steps answers people who are enrolled")
	require.Contains(t, w.sent[0].Body, "STOP")
	require.Equal(t, []models.HintResult{{ID: "hint-1", Status: wire.OutboxQueued, ProviderSID: "SM1", Segments: 2, Now: now}}, d.results)
}

func TestSendHintThatMayNotGo(t *testing.T) {
	d := &noticeStore{claim: models.HintClaim{To: "+15550001111", Status: wire.OutboxUnknown}}
	w := &hintCarrier{}
	status, err := newFront(t, d, w).SendHint(t.Context(), wire.SendHintInput{HintID: "hint-1"})
	require.NoError(t, err)
	require.Equal(t, wire.OutboxUnknown, status)
	require.Empty(t, w.sent)
	require.Empty(t, d.results)
}

func TestSendHintRefused(t *testing.T) {
	tests := []struct {
		name  string
		class models.CarrierClass
		want  wire.OutboxStatus
		again bool
	}{
		{"busy", models.CarrierRetry, wire.OutboxReady, true},
		{"slow down", models.CarrierSlowDown, wire.OutboxReady, true},
		{"unknown fate", models.CarrierAmbiguous, wire.OutboxUnknown, false},
		{"opted out", models.CarrierConsent, wire.OutboxFailed, false},
		{"bad number", models.CarrierBadNumber, wire.OutboxFailed, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &noticeStore{claim: models.HintClaim{To: "+15550001111", Post: true}}
			_, err := newFront(t, d, &hintCarrier{err: &models.CarrierError{Class: tt.class, Code: "1"}}).
				SendHint(t.Context(), wire.SendHintInput{HintID: "hint-1"})
			var failed *temporal.ApplicationError
			require.Equal(t, tt.again, err != nil)
			if tt.again {
				require.ErrorAs(t, err, &failed)
				require.False(t, failed.NonRetryable())
			}
			require.Equal(t, tt.want, d.results[0].Status)
		})
	}
}

// A sender who opts out, or is enrolled, while the connection is made gets no
// hint; a check that fails has it tried again.
func TestSendHintIsCheckedBeforeItIsWritten(t *testing.T) {
	for _, tt := range []struct {
		name    string
		check   wire.OutboxStatus
		err     error
		status  wire.OutboxStatus
		settled []wire.OutboxStatus
	}{
		{"opted out", wire.OutboxCanceled, nil, wire.OutboxCanceled, nil},
		{"no answer of the database", "", errors.New("down"), "", []wire.OutboxStatus{wire.OutboxReady}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &noticeStore{claim: models.HintClaim{To: "+15550001111", Post: true}, check: tt.check, checkErr: tt.err}
			w := &hintCarrier{}
			status, err := newFront(t, d, w).SendHint(t.Context(), wire.SendHintInput{HintID: "hint-1"})
			require.Equal(t, tt.err != nil, err != nil)
			require.Equal(t, tt.status, status)
			require.Empty(t, w.sent)
			var settled []wire.OutboxStatus
			for _, result := range d.results {
				settled = append(settled, result.Status)
			}
			require.Equal(t, tt.settled, settled)
		})
	}
}

func TestSendLimitNoticeTooLate(t *testing.T) {
	d := &noticeStore{}
	out, err := newFront(t, d, &hintCarrier{}).SendLimitNotice(t.Context(), wire.SendLimitInput{InboundID: 7})
	require.NoError(t, err)
	require.Equal(t, wire.OutboxCanceled, out.Status)
	require.Equal(t, int64(7), d.asked[0].InboundID)
	require.Contains(t, d.asked[0].Body, "Too many texts at once")
	require.Contains(t, d.asked[0].Body, "wait a minute and")
	for hours, want := range map[int]string{1: "wait an hour and", 5: "wait 5 hours and"} {
		_, err = newFront(t, d, &hintCarrier{}).SendLimitNotice(t.Context(), wire.SendLimitInput{InboundID: 7, Hours: hours})
		require.NoError(t, err)
		require.Contains(t, d.asked[len(d.asked)-1].Body, want)
	}
}

// Each question has its own text, in the participant's language.
func TestSendAsk(t *testing.T) {
	for intent, want := range map[models.Intent]string{
		models.IntentUnclear: "keine SMS mehr von Steps?", models.IntentWrongNumber: "Falsche Nummer?",
		models.IntentDoubted: "Ist das noch Ada?",
	} {
		d := &noticeStore{intent: intent, locale: "de-DE"}
		result, err := newFront(t, d, &hintCarrier{}).SendAsk(t.Context(), wire.SendAskInput{InboundID: 7})
		require.NoError(t, err)
		require.Equal(t, wire.OutboxCanceled, result.Status, "no row: it came too late")
		require.Len(t, d.asks, 1)
		require.Equal(t, int64(7), d.asks[0].InboundID)
		require.Contains(t, d.asks[0].Body, want)
		require.NotContains(t, d.asks[0].Body, "Lovelace")
	}
	for status, want := range map[wire.Status]string{
		wire.StatusOptedOut: "mit START kommst du zurück. Kosten", wire.StatusCompleted: "Deine Teilnahme ist beendet", wire.StatusPaused: "Gerade ist Pause",
	} {
		d := &noticeStore{intent: models.IntentHelp, locale: "de-DE", status: status}
		_, err := newFront(t, d, &hintCarrier{}).SendAsk(t.Context(), wire.SendAskInput{InboundID: 7})
		require.NoError(t, err)
		require.Contains(t, d.asks[0].Body, want)
		require.True(t, d.asks[0].IsHelp)
	}
	d := &noticeStore{locale: "de-DE", status: wire.StatusCompleted}
	_, err := newFront(t, d, &hintCarrier{}).SendAsk(t.Context(), wire.SendAskInput{InboundID: 7})
	require.NoError(t, err)
	require.Contains(t, d.asks[0].Body, "Deine Zeit mit Steps ist zu Ende")
}

// The relay gives up an attempt that sends no heartbeat, so each of its
// activities begins with one.
func TestNoticeActivitiesHeartbeat(t *testing.T) {
	source, err := os.ReadFile("notices.go")
	require.NoError(t, err)
	starts := regexp.MustCompile(`func \(f \*NoticeActivities\) (Send\w+)\([^\n]*\n([^\n]*)`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, starts, 5)
	for _, start := range starts {
		require.Equal(t, "\tdefer startHeartbeat(ctx)()", start[2], start[1])
	}
}

// What a person who wants to join gets is their study's, in the consent's language.
func TestJoinTexts(t *testing.T) {
	for name, c := range map[string]struct {
		hint models.HintText
		want []string
	}{
		"asks with a link": {
			models.HintText{Purpose: models.HintJoin, Locale: "en", About: "Texts about sleep.", Link: "https://example.org/consent"},
			[]string{"Texts about sleep.", "Msg & data rates may apply", "https://example.org/consent", "Reply YES", "STOP", "HELP"},
		},
		"asks with the text":        {models.HintText{Purpose: models.HintJoin, Locale: "de", About: "SMS zum Schlaf.", Consent: "Du willigst ein."}, []string{"SMS zum Schlaf.", "Du willigst ein.", "Antworte mit JA", "STOP"}},
		"asks for a plain yes":      {models.HintText{Purpose: models.HintJoinAgain, Locale: "fr"}, []string{"OUI", "STOP"}},
		"asks for another text":     {models.HintText{Purpose: models.HintJoin, Locale: "en", About: "Texts about sleep.", Consent: "You agree.", IsChanged: true}, []string{"has changed since we asked", "You agree.", "Reply YES"}},
		"help":                      {models.HintText{Purpose: models.HintHelp, Locale: "en"}, []string{"reply YES to agree", "In danger?", "STOP"}},
		"help for a stranger":       {models.HintText{Locale: "de", AsksHelp: true, IsFormer: true}, []string{"Diese Nummer ist nicht angemeldet", "In Gefahr?"}},
		"a former participant":      {models.HintText{Locale: "de", IsFormer: true}, []string{"Deine Zeit mit Steps ist zu Ende"}},
		"a stranger":                {models.HintText{}, []string{"people who are enrolled"}},
		"crisis":                    {models.HintText{Purpose: models.HintCrisis, StudyID: "sleep", Locale: "en", Phone: "+12025550123"}, []string{"988"}},
		"crisis of a stranger":      {models.HintText{Purpose: models.HintCrisis, Locale: "es-MX"}, []string{"911", "800 911 2000", "Lo que escribes"}},
		"about another person":      {models.HintText{Purpose: models.HintCrisis, Locale: "de", Phone: "+4915112345678", Safety: models.SafetyAnother}, []string{"Bleib bei ihr", "0800 111 0 111"}},
		"a weak sign of a stranger": {models.HintText{Purpose: models.HintCrisis, Locale: "en", Phone: "+447400123456", Safety: models.SafetyMedical, Weak: true}, []string{"How are you right now", "call 999"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, w := &noticeStore{claim: models.HintClaim{To: "+15550001", Post: true}, hint: c.hint}, &hintCarrier{}
			status, err := newFront(t, d, w).SendHint(t.Context(), wire.SendHintInput{HintID: "hint-join-1-join-1"})
			require.NoError(t, err)
			require.Equal(t, wire.OutboxQueued, status)
			require.Len(t, w.sent, 1)
			for _, part := range c.want {
				require.Contains(t, w.sent[0].Body, part)
			}
		})
	}
}
