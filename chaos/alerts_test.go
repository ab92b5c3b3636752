package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/chaos/harness"
	"coachline/internal/screening"
	"coachline/models"
)

// What people in danger say is of the tier that the judge expects, with the marks
// of a text around it, and what the others say is no alert.
func TestCriesAreOfTheirTier(t *testing.T) {
	tier := func(text string) models.DangerTier {
		return screening.Screen(screening.Message{Body: "p01 m0007 " + text}).Tier
	}
	require.Equal(t, models.TierA, tier(grave.dangerText()))
	require.Equal(t, models.TierB, tier(weak.dangerText()))
	for _, text := range []string{"hello", "and one more", "again", "daily 14:05"} {
		require.Equal(t, models.TierNone, tier(text), text)
	}
}

// alertScene is a right ledger of one person who texted that they are in danger:
// a weak sign that the safety text answers, a second one that is grave and for
// the model, and in between an ordinary text.
func alertScene() *scene {
	s := rightScene()
	s.person.danger = weak
	s.person.texts = append(s.person.texts, text{token: "m0003", sid: s.person.sid(3), isDanger: true}, text{token: "m0004", sid: s.person.sid(4), isDanger: true})
	s.rows.inbound[s.person.sid(3)] = inboundRow{id: 9, participant: s.person.id, at: noon}
	s.rows.inbound[s.person.sid(4)] = inboundRow{id: 10, seq: 3, participant: s.person.id, at: noon}
	s.rows.entries[10] = "t6"
	s.rows.alarms = map[int64]alarmRow{
		9:  {id: "alarm-9", participant: s.person.id, tier: "B", inbound: 9, answer: true},
		10: {id: "alarm-10", participant: s.person.id, tier: "A", inbound: 10, pages: true, escalated: true, paged: true},
	}
	s.send("conv_1-safety-9", "", "safety", "call 988")
	s.send("t6-p1", "t6", "reply", "re: p01 m0004")
	page := harness.Page{Key: "alarm-10", ID: "alarm-10", ParticipantID: s.person.id, Link: apiPath + "/" + s.person.id}
	s.pages = []harness.Page{page, page} // one request was repeated
	s.shown = append(s.shown,
		entry{Role: "user", Kind: "message", Text: "p01 m0003 i feel worthless"}, entry{Role: "assistant", Kind: "safety", Text: "call 988"},
		entry{Role: "user", Kind: "message", Text: "p01 m0004 i feel worthless"}, entry{Role: "assistant", Kind: "reply", Text: "re: p01 m0004"})
	return s
}

func (s *scene) changeAlarm(id int64, edit func(*alarmRow)) {
	row := s.rows.alarms[id]
	edit(&row)
	s.rows.alarms[id] = row
}

func TestJudgeAcceptsAlerts(t *testing.T) {
	s := alertScene()
	r := s.verdict()
	require.Empty(t, r.Violations)
	require.Equal(t, []int{2, 1, 1, 1, 1, 3}, []int{r.Alerts, r.Paged, r.PagesAgain, r.SafetyTexts, r.Safe, r.Answered})
	s.sent = append(s.sent, s.sent[len(s.sent)-2])
	require.Empty(t, s.verdict().Violations, "a safety text may go out twice")
}

func TestJudgeFindsWrongAlerts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(s *scene)
		want  string
	}{
		{"an alert without a page", func(s *scene) { s.pages = nil }, "no page was sent for alarm-10"},
		{"a page that is not recorded", func(s *scene) { s.changeAlarm(10, func(r *alarmRow) { r.paged = false }) }, "is not recorded"},
		{"a page of a weak sign", func(s *scene) { s.pages[0].ID = "alarm-9" }, "is a weak sign and was paged"},
		{"a page of no alarm", func(s *scene) { s.pages[0].ID = "alarm-8" }, `the page "alarm-8" has no alarm`},
		{"a page under another key", func(s *scene) { s.pages[1].Key = "alarm-11" }, "is not that of alarm-10"},
		{"a page with another link", func(s *scene) { s.pages[1].Link = "/" }, "is not that of alarm-10"},
		{"a text of danger without an alarm", func(s *scene) { delete(s.rows.alarms, 9) }, "m0003: has an alarm: false"},
		{"an alarm without danger", func(s *scene) { s.person.texts[3].isDanger = false }, "m0004: has an alarm: true"},
		{"a first weak sign that is grave", func(s *scene) { s.changeAlarm(9, func(r *alarmRow) { r.tier, r.pages = "A", true }) }, "alarm-9 has tier A"},
		{"a second weak sign that stays weak", func(s *scene) {
			s.changeAlarm(10, func(r *alarmRow) { r.tier, r.pages, r.escalated = "B", false, false })
		}, "alarm-10 has tier B"},
		{"a safety text that did not go out", func(s *scene) {
			s.change("conv_1-safety-9", func(r *outboxRow) { r.status = "canceled" })
			s.sent = append(s.sent[:5:5], s.sent[6:]...)
		}, "was not sent"},
		{"a safety text without a row", func(s *scene) {
			delete(s.rows.outbox, "conv_1-safety-9")
			s.sent = append(s.sent[:5:5], s.sent[6:]...)
		}, "was not sent"},
		{"a text of danger that nothing answers", func(s *scene) {
			s.changeAlarm(9, func(r *alarmRow) { r.answer = false })
			s.rows.inbound[s.person.sid(3)] = inboundRow{id: 9, seq: 3, participant: s.person.id, at: noon}
		}, "m0003 was never answered"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := alertScene()
			tc.spoil(s)
			require.Contains(t, strings.Join(s.verdict().Violations, "\n"), tc.want)
		})
	}
}

// The receiver of pages remembers what it read, whether or not it says so.
func TestPagerFaults(t *testing.T) {
	for _, tc := range []struct {
		fault  harness.Fault
		status int
		taken  int
	}{{"", http.StatusNoContent, 1}, {harness.FaultError, http.StatusInternalServerError, 0}, {harness.FaultReset, 0, 0}, {harness.FaultResetAfter, 0, 1}} {
		trace := harness.NewTrace()
		board := harness.NewBoard(harness.NewFleet(t.TempDir(), trace), trace)
		pager := harness.NewPager(board, trace)
		server := httptest.NewServer(pager)
		if tc.fault != "" {
			board.Spoil(harness.TargetPager, tc.fault)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(`{"id":"alarm-1","participant_id":"p","link":"/p"}`))
		require.NoError(t, err)
		req.Header.Set("Idempotency-Key", "alarm-1")
		res, err := http.DefaultClient.Do(req)
		status := 0
		if err == nil {
			status = res.StatusCode
			require.NoError(t, res.Body.Close())
		}
		require.Equal(t, tc.status, status, tc.fault)
		require.Len(t, pager.Pages(), tc.taken, tc.fault)
		if tc.taken > 0 {
			require.Equal(t, harness.Page{Key: "alarm-1", ID: "alarm-1", ParticipantID: "p", Link: "/p"}, pager.Pages()[0])
		}
		server.Close()
	}
}
