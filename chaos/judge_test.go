package main

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/chaos/harness"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// scene is a right ledger of one person who texted twice, got a prompt and
// heard from an operator; a case breaks one thing.
type scene struct {
	person *person
	rows   *ledger
	sent   []harness.Sent
	pages  []harness.Page
	status string
	shown  []entry
}

func rightScene() *scene {
	p := &person{name: "p01", number: "+12025550101", id: "conv_1", index: 1, operator: []string{"operator to p01, number 1"}}
	p.texts = []text{{token: "m0001", sid: p.sid(1)}, {token: "m0002", sid: p.sid(2), wish: "12:30"}}
	s := &scene{person: p, status: "active", rows: &ledger{
		outbox: map[string]outboxRow{}, entries: map[int64]string{7: "t2", 8: "t3"}, sends: map[string][]string{},
		inbound: map[string]inboundRow{
			p.sid(1): {id: 7, seq: 1, participant: p.id, at: noon}, p.sid(2): {id: 8, seq: 2, participant: p.id, at: noon},
		},
		schedules: []scheduleRow{{p.id, "s1", "12:30"}},
		prompts:   map[string]promptRow{"pr1": {id: "pr1", participant: p.id, schedule: "s1", state: "pending", sent: sql.NullTime{Time: noon, Valid: true}}},
	}}
	s.send("t1-p1", "t1", "greeting", "hello p01")
	s.send("t2-p1", "t2", "reply", "re: p01 m0001")
	s.send("t3-p1", "t3", "reply", "re: p01 m0002")
	s.send("t4-p1", "t4", "prompt", "prompt for p01")
	s.send("op-1", "t5", "operator", p.operator[0])
	s.shown = []entry{
		{Role: "assistant", Kind: "greeting", Text: "hello p01"}, {Role: "user", Kind: "message", Text: "p01 m0001 hello"}, {Role: "assistant", Kind: "reply", Text: "re: p01 m0001"},
		{Role: "user", Kind: "message", Text: "p01 m0002 daily 12:30"}, {Role: "assistant", Kind: "reply", Text: "re: p01 m0002"},
	}
	return s
}

// send is a text that went out and was recorded.
func (s *scene) send(id, turn, kind, body string) {
	row := outboxRow{id: id, participant: s.person.id, turn: turn, kind: kind, status: "delivered", sid: "SM-" + id}
	row.attempted = sql.NullTime{Time: noon.Add(time.Minute), Valid: true}
	if kind == "prompt" {
		row.prompt = "pr1"
	}
	s.rows.outbox[id] = row
	s.rows.sends[turn] = append(s.rows.sends[turn], id)
	s.sent = append(s.sent, harness.Sent{SID: row.sid, Phone: s.person.number, Body: body, Outbox: id, At: noon.Add(time.Minute)})
}

func (s *scene) change(id string, edit func(*outboxRow)) {
	row := s.rows.outbox[id]
	edit(&row)
	s.rows.outbox[id] = row
}

func (s *scene) verdict() *report {
	c := newChecker(&report{}, s.rows, s.sent, s.pages)
	c.checkOutbound()
	c.checkPages()
	t := c.newTrial(s.person, s.status)
	t.checkLedger()
	if s.status != "" {
		t.checkHistory(s.shown)
	}
	return c.report
}

func TestJudgeAcceptsARightLedger(t *testing.T) {
	r := rightScene().verdict()
	require.Empty(t, r.Violations)
	require.Equal(t, []int{2, 2, 1, 1, 1}, []int{r.Texts, r.Answered, r.Prompts, r.PromptsSent, r.Operator})
}

func TestJudgeFindsWhatIsWrong(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(s *scene)
		want  string
	}{
		{"a text without an answer", func(s *scene) { s.sent[2].Body = "re: p01 m0009"; s.shown[4].Text = s.sent[2].Body }, "never answered"},
		{"two answers to one text", func(s *scene) { s.sent[2].Body = "re: p01 m0001 m0002"; s.shown[4].Text = s.sent[2].Body }, "was answered 2 times"},
		{"one row sent twice", func(s *scene) { s.sent = append(s.sent, s.sent[1]) }, "was sent 2 times"},
		{"answers in the wrong order", func(s *scene) { s.sent[1], s.sent[2] = s.sent[2], s.sent[1] }, "was answered after"},
		{"a text that was taken and not stored", func(s *scene) { delete(s.rows.inbound, s.person.sid(1)) }, "is not in the database"},
		{"texts numbered in the wrong order", func(s *scene) {
			row := s.rows.inbound[s.person.sid(2)]
			row.seq = 1
			s.rows.inbound[s.person.sid(2)] = row
		}, "has number 1 after 1"},
		{"one receipt for two rows", func(s *scene) { s.change("t3-p1", func(r *outboxRow) { r.sid = "SM-t2-p1" }) }, "both recorded as"},
		{"a text recorded that never went out", func(s *scene) { s.sent = s.sent[:4] }, "never took it"},
		{"a text in flight for ever", func(s *scene) { s.change("t3-p1", func(r *outboxRow) { r.status = "sending" }) }, "was left as sending"},
		{"a canceled text that went out", func(s *scene) { s.change("t3-p1", func(r *outboxRow) { r.status = "canceled" }) }, "recorded as canceled"},
		{"a text without a row", func(s *scene) { delete(s.rows.outbox, "t1-p1") }, "has no row"},
		{"an operator's message lost", func(s *scene) { s.person.operator = append(s.person.operator, "operator to p01, number 2") }, "was sent 0 times"},
		{"a prompt without a trace", func(s *scene) { s.rows.prompts = map[string]promptRow{} }, "left no trace"},
		{"a prompt planned for ever", func(s *scene) {
			s.rows.prompts["pr1"] = promptRow{id: "pr1", participant: s.person.id, schedule: "s1", state: "planned"}
		}, "is planned"},
		{"a prompt twice", func(s *scene) { s.send("t6-p1", "t6", "prompt", "prompt for p01 again") }, "went out 2 times"},
		{"a wish without a schedule", func(s *scene) { s.rows.schedules = nil }, "got no schedule"},
		{"a second greeting", func(s *scene) { s.send("t7-p1", "t7", "greeting", "hello again") }, "was greeted 2 times"},
		{"a removal that did not happen", func(s *scene) { s.person.ending, s.person.left = removed, true }, "was removed, but is active"},
		{"a text after the notice", func(s *scene) {
			s.person.ending, s.person.left, s.status = removed, true, ""
			s.send("t8-p1", "t8", "notice", "bye")
			s.send("t9-p1", "t9", "reply", "one more")
		}, "went out after the notice"},
		{"a removal without a notice", func(s *scene) { s.person.ending, s.person.left, s.status = removed, true, "" }, "got 0 notices"},
		{"a text after the stop", func(s *scene) {
			s.person.ending, s.person.left, s.status = stopped, true, "opted_out"
			s.rows.inbound[s.person.stopSID()] = inboundRow{id: 9, seq: 3, participant: s.person.id, at: noon}
		}, "went out after the stop"},
		{"a stop confirmed twice", func(s *scene) {
			s.send("t8-p1", "t8", "consent", "you are out")
			s.send("t9-p1", "t9", "consent", "you are out")
		}, "got 2 confirmations"},
		{"a stop that was not sent", func(s *scene) { s.status = "opted_out" }, "without having left"},
		{"a history that lacks a text", func(s *scene) { s.shown = s.shown[:3] }, "shows 1 texts of 2"},
		{"a history in another order", func(s *scene) { s.shown[1], s.shown[3] = s.shown[3], s.shown[1] }, "in another order"},
		{"a history with other answers", func(s *scene) { s.shown[4].Text = "re: p01 m0003" }, "shows other answers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := rightScene()
			tc.spoil(s)
			r := s.verdict()
			found := ""
			for _, one := range r.Violations {
				found += one + "\n"
			}
			require.Contains(t, found, tc.want)
		})
	}
}

func TestJudgeTakesTheFixedTextForAnAnswer(t *testing.T) {
	s := rightScene()
	s.sent[2].Body, s.shown[4].Text = "I am having trouble just now.", "I am having trouble just now."
	s.rows.schedules, s.person.texts[1].wish = nil, ""
	s.rows.prompts = map[string]promptRow{}
	delete(s.rows.outbox, "t4-p1")
	s.sent = append(s.sent[:3:3], s.sent[4])
	r := s.verdict()
	require.Empty(t, r.Violations)
	require.Equal(t, []int{1, 1}, []int{r.Answered, r.Fallbacks})
}

func TestJudgeLetsWhoLeftGoUnanswered(t *testing.T) {
	s := rightScene()
	s.person.ending, s.person.left, s.status = removed, true, ""
	s.sent = s.sent[:2]
	for _, id := range []string{"t3-p1", "t4-p1", "op-1"} {
		s.change(id, func(r *outboxRow) { r.status = "canceled" })
	}
	s.rows.prompts["pr1"] = promptRow{id: "pr1", participant: s.person.id, schedule: "s1", state: "failed", reason: "removed"}
	s.send("t8-p1", "t8", "notice", "bye")
	r := s.verdict()
	require.Empty(t, r.Violations)
	require.Equal(t, []int{1, 1, 1}, []int{r.Answered, r.Withheld, r.PromptsMissed})
}

func TestJudgeCountsWhatWasGivenUp(t *testing.T) {
	s := rightScene()
	s.sent = append(s.sent[:2:2], s.sent[3:]...)
	s.change("t3-p1", func(r *outboxRow) { r.status, r.sid, r.attempts = "unknown", "", 2 })
	s.shown[4].Delivery = "unknown"
	r := s.verdict()
	require.Empty(t, r.Violations)
	require.Equal(t, []int{1, 1, 1}, []int{r.Answered, r.GivenUp, r.Unknown})
	s.change("t3-p1", func(r *outboxRow) { r.status, r.reason = "canceled", "newer_reply" })
	s.shown[4].Delivery = "canceled"
	r = s.verdict()
	require.Empty(t, r.Violations)
	require.Equal(t, 1, r.GivenUp)
	s.change("t3-p1", func(r *outboxRow) { r.attempts = 1 })
	require.NotEmpty(t, s.verdict().Violations, "one post is not enough")
}
