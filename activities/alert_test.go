package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/internal/segments"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// alerts is the part of the store that keeps alerts, and the pager.
type alerts struct {
	weak  bool
	kind  models.SafetyKind
	rule  string
	asked []models.SafetyText
	pages []models.AlertPage
	paged []string
	off   bool
	err   error
	// acknowledgedAt is when an operator said that they see to the alert.
	acknowledgedAt *time.Time
	folded         string
}

func (a *alerts) Alert(_ context.Context, id string) (models.Alert, error) {
	return models.Alert{ID: id, ParticipantID: "conv_1", Safety: a.kind, Rule: a.rule, Pages: !a.weak, Answer: true, CreatedAt: now, AcknowledgedAt: a.acknowledgedAt}, nil
}

func (a *alerts) AlertText(ctx context.Context, id string) (models.AlertMessage, error) {
	row, err := a.Alert(ctx, id)
	row.FoldedInto = a.folded
	row.Rule, row.LookReason = "en.want-die", "means it, call 202-555-0123"
	return models.AlertMessage{Alert: row, Phone: "+12025550101", Text: "Hi, I want to die. My number is 202-555-0199"}, err
}

func (a *alerts) QueueSafetyText(_ context.Context, s models.SafetyText) (string, error) {
	a.asked = append(a.asked, s)
	return "", nil
}

func (a *alerts) AlertPaged(_ context.Context, id string, _ time.Time) error {
	a.paged = append(a.paged, id)
	return nil
}

func (a *alerts) Page(_ context.Context, page models.AlertPage) (bool, error) {
	a.pages = append(a.pages, page)
	return !a.off, a.err
}

func TestSendPage(t *testing.T) {
	for _, tt := range []struct {
		name  string
		a     alerts
		sent  bool
		paged []string
	}{
		{"taken", alerts{}, true, []string{"alarm-7"}},
		{"no address to page", alerts{off: true}, false, nil},
		{"not taken", alerts{err: errors.New("status 500")}, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			front := newFront(t, &noticeStore{}, &hintCarrier{})
			front.Alerts, front.Pager = &tt.a, &tt.a
			sent, err := front.SendPage(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
			require.ErrorIs(t, err, tt.a.err)
			require.Equal(t, tt.sent, sent)
			require.Equal(t, tt.paged, tt.a.paged)
			require.Equal(t, []models.AlertPage{{ID: "alarm-7", ParticipantID: "conv_1", Kind: "crisis", At: now.UTC(), Rule: "en.want-die", Link: "/console/people/conv_1"}}, tt.a.pages)
		})
	}
}

// A page has the words that were recognised, masked, the reason of the second look, and
// an address that opens the person in the console.
func TestPageSaysWhy(t *testing.T) {
	a := &alerts{}
	front := newFront(t, &noticeStore{}, &hintCarrier{})
	front.Alerts, front.Pager, front.PublicURL, front.HasWords = a, a, "https://coach.example.org", true
	_, err := front.SendPage(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
	require.NoError(t, err)
	require.Equal(t, "want to die.", a.pages[0].Words)
	require.Equal(t, "en.want-die", a.pages[0].Rule)
	require.Contains(t, a.pages[0].Reason, "means it")
	require.NotContains(t, a.pages[0].Reason, "0123")
	require.Equal(t, "https://coach.example.org/console/people/conv_1", a.pages[0].Link)
}

// An alert that is counted on the page of another one sends no page of its own.
func TestFoldedAlertPagesNobody(t *testing.T) {
	a := &alerts{folded: "alarm-6"}
	front := newFront(t, &noticeStore{}, &hintCarrier{})
	front.Alerts, front.Pager = a, a
	sent, err := front.SendPage(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
	require.NoError(t, err)
	require.False(t, sent)
	require.Empty(t, a.pages)
}

// The text says whether a person is told, the emergency number and 988, in two
// segments at most, also with the longest name that a programme may have.
func TestSafetyText(t *testing.T) {
	a := &alerts{}
	front := newFront(t, &noticeStore{}, &hintCarrier{})
	front.Alerts, front.Programme = a, "A programme with a name of 40 characters"
	out, err := front.SendSafetyText(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
	require.NoError(t, err)
	require.Equal(t, wire.OutboxCanceled, out.Status, "there is nothing to answer")
	require.Len(t, a.asked, 1)
	for _, part := range []string{front.Programme, "911", "988", "no person may read this soon"} {
		require.Contains(t, a.asked[0].Body, part)
	}
	front.AlertsTeam = true
	_, err = front.SendSafetyText(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
	require.NoError(t, err)
	require.Contains(t, a.asked[1].Body, "A person on the A programme with a name of 40 characters team is being told")
	require.Len(t, segments.Split(a.asked[0].Body, segments.Options{}).Texts, 1, prompts.Crisis)
}

// The alert's kind chooses the text, and the person's phone the numbers.
func TestSafetyTextOfEachKind(t *testing.T) {
	for kind, part := range map[models.SafetyKind]string{
		models.SafetyOneself: "You matter.", models.SafetyAnother: "Stay with them", models.SafetyViolence: "To talk to someone: 1-800-799-7233",
		models.SafetyMedical: "This may be a medical emergency. Call 911 now",
	} {
		a := &alerts{kind: kind}
		front := newFront(t, &noticeStore{}, &hintCarrier{})
		front.Alerts = a
		_, err := front.SendSafetyText(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
		require.NoError(t, err)
		require.Contains(t, a.asked[0].Body, part)
	}
}

// A weak sign pages no person, and the safety text promises none.
func TestWeakSignPromisesNoPerson(t *testing.T) {
	a := &alerts{weak: true}
	front := newFront(t, &noticeStore{}, &hintCarrier{})
	front.Alerts, front.Pager, front.AlertsTeam = a, a, true
	_, err := front.SendSafetyText(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
	require.NoError(t, err)
	require.Len(t, a.asked, 1)
	require.NotContains(t, a.asked[0].Body, "is being told")
	require.Contains(t, a.asked[0].Body, "Are you safe right now")
	a.weak = false
	_, err = front.SendSafetyText(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
	require.NoError(t, err)
	require.Contains(t, a.asked[1].Body, "is being told")
}

// The second page has an id of its own and says so; once an operator sees to the
// alert there is none.
func TestSendPageAgain(t *testing.T) {
	a := &alerts{}
	front := newFront(t, &noticeStore{}, &hintCarrier{})
	front.Alerts, front.Pager = a, a
	sent, err := front.SendPage(t.Context(), wire.AlertInput{AlertID: "alarm-7", Again: true})
	require.NoError(t, err)
	require.True(t, sent)
	require.Equal(t, "alarm-7-again", a.pages[0].ID)
	require.True(t, a.pages[0].Again)
	a.acknowledgedAt = &now
	sent, err = front.SendPage(t.Context(), wire.AlertInput{AlertID: "alarm-7", Again: true})
	require.NoError(t, err)
	require.False(t, sent)
	require.Len(t, a.pages, 1)
}

// TestEatingIsReferred: who tells of purging or days without food is told a line for eating
// disorders too, in two segments at most; of other dangers none.
func TestEatingIsReferred(t *testing.T) {
	for rule, isTold := range map[string]bool{screening.RuleBody: true, "en.no-reason": false} {
		a := &alerts{weak: true, rule: rule}
		front := newFront(t, &noticeStore{}, &hintCarrier{})
		front.Alerts = a
		_, err := front.SendSafetyText(t.Context(), wire.AlertInput{AlertID: "alarm-7"})
		require.NoError(t, err)
		require.Equal(t, isTold, strings.Contains(a.asked[0].Body, "about eating 1-888-375-7767"), a.asked[0].Body)
		require.LessOrEqual(t, segments.Count(a.asked[0].Body).Segments, 2)
	}
}
