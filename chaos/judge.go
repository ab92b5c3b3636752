package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coachline/chaos/harness"
)

// judge compares three sides: what the carrier took, what the database holds,
// and what the API shows.
func (s *system) judge(ctx context.Context, people []*person) (*report, error) {
	l, err := s.ledger(ctx)
	if err != nil {
		return nil, err
	}
	c := newChecker(newReport(s), l, s.carrier.Sent(), s.pager.Pages())
	c.checkOutbound()
	c.checkPages()
	for _, p := range people {
		status, err := s.api.status(ctx, p.id)
		if err != nil {
			return nil, err
		}
		t := c.newTrial(p, status)
		t.checkLedger()
		if status == "" {
			continue
		}
		entries, err := s.api.history(ctx, p.id)
		if err != nil {
			return nil, err
		}
		t.checkHistory(entries)
	}
	return c.report, nil
}

// checker is everything that the verdict is made from.
type checker struct {
	report   *report
	rows     *ledger
	sent     []harness.Sent
	pages    []harness.Page
	byOutbox map[string][]harness.Sent
}

func newChecker(r *report, l *ledger, sent []harness.Sent, pages []harness.Page) *checker {
	c := &checker{report: r, rows: l, sent: sent, pages: pages, byOutbox: map[string][]harness.Sent{}}
	for _, one := range sent {
		c.byOutbox[one.Outbox] = append(c.byOutbox[one.Outbox], one)
	}
	return c
}

// checkOutbound checks every row of the outbox against the carrier's list: sent once
// or not at all, with a report; and that nothing was sent without a row.
func (c *checker) checkOutbound() {
	sids := map[string]string{}
	for id, row := range c.rows.outbox {
		taken := c.byOutbox[id]
		if len(taken) > 1 && row.kind != "safety" {
			c.report.Duplicates += len(taken) - 1
			c.report.violate("%s (%s) was sent %d times", id, row.kind, len(taken))
		}
		if other := sids[row.sid]; row.sid != "" && other != "" {
			c.report.violate("%s and %s are both recorded as the carrier's %s", id, other, row.sid)
		}
		sids[row.sid] = id
		c.checkStatus(row, taken)
	}
	for _, one := range c.sent {
		if _, ok := c.rows.outbox[one.Outbox]; !ok {
			c.report.violate("the carrier's %s has no row (%q)", one.SID, one.Outbox)
		}
	}
}

func (c *checker) checkStatus(row outboxRow, taken []harness.Sent) {
	switch row.status {
	case "delivered":
		if len(taken) == 0 || !slices.ContainsFunc(taken, func(one harness.Sent) bool { return one.SID == row.sid }) {
			c.report.violate("%s is recorded as delivered, but the carrier never took it", row.id)
		}
	case "canceled", "failed":
		if len(taken) > 0 {
			c.report.violate("%s is recorded as %s, but the carrier took it", row.id, row.status)
		}
	case "unknown":
		c.report.Unknown++
	default:
		c.report.violate("%s was left as %s", row.id, row.status)
	}
}

// personCheck is about one person.
type personCheck struct {
	*checker
	p *person
	// gone: removed, or the STOP was obeyed; what was not answered before that
	// may stay unanswered.
	gone bool
	sent []harness.Sent
}

func (c *checker) newTrial(p *person, status string) *personCheck {
	t := &personCheck{checker: c, p: p, gone: status == "" || status == "opted_out"}
	for _, one := range c.sent {
		if one.Phone == p.number {
			t.sent = append(t.sent, one)
		}
	}
	switch status {
	case "":
		c.report.Removed++
	case "opted_out":
		c.report.Stopped++
	}
	if p.ending == removed && p.left && status != "" {
		c.report.violate("%s was removed, but is %s", p.name, status)
	}
	if !p.left && status != "active" {
		c.report.violate("%s is %q without having left", p.name, status)
	}
	return t
}

// checkLedger checks everything but the API's side.
func (t *personCheck) checkLedger() {
	t.checkAnswers()
	t.checkOrder()
	t.checkAlerts()
	t.checkOperator()
	t.checkPrompts()
	t.checkParting()
}

// checkAnswers verifies that each text is answered once, by the model's text, by the fixed one that stands in
// for it, or by the safety text, which the model may mention.
func (t *personCheck) checkAnswers() {
	times := map[string]int{}
	for _, one := range t.sent {
		for _, token := range answeredTokens(one.Body) {
			times[token]++
		}
	}
	for _, one := range t.p.texts {
		t.report.Texts++
		switch n := times[one.token]; {
		case t.isSafe(one):
			t.report.Safe++
		case n == 1:
			t.report.Answered++
		case n > 1:
			t.report.Duplicates += n - 1
			t.report.violate("%s %s was answered %d times", t.p.name, one.token, n)
		case t.fallback(one):
			t.report.Fallbacks++
		case t.gone:
			t.report.Withheld++
		case t.givenUp(one):
			t.report.GivenUp++
		default:
			t.report.Lost++
			t.report.violate("%s %s was never answered (inbound %d, turn %q)", t.p.name, one.token,
				t.rows.inbound[one.sid].id, t.rows.entries[t.rows.inbound[one.sid].id])
		}
		if _, stored := t.rows.inbound[one.sid]; !stored {
			t.report.violate("%s %s was taken with 200 and is not in the database", t.p.name, one.token)
		}
	}
}

// answeredTokens lists the texts that an answer answers.
func answeredTokens(body string) []string {
	if !strings.HasPrefix(body, harness.AnswerMark) {
		return nil
	}
	return harness.Token.FindAllString(body, -1)
}

// fallback says whether the turn of a text sent text that is not the model's.
func (t *personCheck) fallback(one text) bool {
	turn := t.rows.entries[t.rows.inbound[one.sid].id]
	if turn == "" {
		return false
	}
	return slices.ContainsFunc(t.rows.sends[turn], func(id string) bool {
		return t.rows.outbox[id].kind == "reply" && len(t.byOutbox[id]) > 0 && len(answeredTokens(t.byOutbox[id][0].Body)) == 0
	})
}

// givenUp says whether the answer to a text was posted again without reaching
// the carrier: the product then leaves the row to the operator as unknown, or
// cancels it because a newer reply has gone out and the model was told.
func (t *personCheck) givenUp(one text) bool {
	turn := t.rows.entries[t.rows.inbound[one.sid].id]
	return slices.ContainsFunc(t.rows.sends[turn], func(id string) bool {
		row := t.rows.outbox[id]
		ended := row.status == "unknown" || row.status == "canceled" && row.reason == "newer_reply"
		return turn != "" && row.kind == "reply" && ended && row.attempts > 1 && len(t.byOutbox[id]) == 0
	})
}

// checkOrder verifies that the answers come in the order of the texts, and the texts were
// numbered in the order they came.
func (t *personCheck) checkOrder() {
	last := ""
	safe := map[string]bool{}
	for _, one := range t.p.texts {
		safe[one.token] = t.isSafe(one)
	}
	for _, one := range t.sent {
		for _, token := range answeredTokens(one.Body) {
			if safe[token] {
				continue
			}
			if token <= last {
				t.report.Disorder++
				t.report.violate("%s: %s was answered after %s", t.p.name, token, last)
			}
			last = token
		}
	}
	seq := int64(0)
	for _, one := range t.p.texts {
		row, stored := t.rows.inbound[one.sid]
		if stored && row.participant == t.p.id && row.seq <= seq && !safe[one.token] {
			t.report.Disorder++
			t.report.violate("%s: %s has number %d after %d", t.p.name, one.token, row.seq, seq)
		}
		seq = max(seq, row.seq)
	}
}

// checkOperator verifies that each of the operator's messages was sent once.
func (t *personCheck) checkOperator() {
	for _, body := range t.p.operator {
		n := 0
		for _, one := range t.sent {
			if one.Body == body {
				n++
			}
		}
		if n == 1 || n == 0 && t.gone {
			t.report.Operator++
			continue
		}
		t.report.violate("%s: %q was sent %d times", t.p.name, body, n)
	}
}

// checkPrompts verifies that every prompt that fell due was sent once, or is recorded as missed
// or failed; and every wish for one became a schedule.
func (t *personCheck) checkPrompts() {
	times := map[string]bool{}
	for _, schedule := range t.rows.schedules {
		if schedule.participant != t.p.id {
			continue
		}
		times[schedule.at] = true
		if t.gone {
			continue
		}
		if !slices.ContainsFunc(t.promptRows(), func(row promptRow) bool { return row.schedule == schedule.id }) {
			t.report.PromptsLost++
			t.report.violate("%s: the prompt of schedule %s fell due and left no trace", t.p.name, schedule.id)
		}
	}
	for _, one := range t.p.texts {
		if one.wish != "" && !times[one.wish] && !t.gone && !t.fallback(one) {
			t.report.violate("%s: %s asked for a prompt at %s and got no schedule", t.p.name, one.token, one.wish)
		}
	}
	for _, row := range t.promptRows() {
		t.checkPrompt(row)
	}
}

func (t *personCheck) promptRows() []promptRow {
	var rows []promptRow
	for _, row := range t.rows.prompts {
		if row.participant == t.p.id {
			rows = append(rows, row)
		}
	}
	return rows
}

func (t *personCheck) checkPrompt(row promptRow) {
	t.report.Prompts++
	sent := map[string]int{}
	for id, out := range t.rows.outbox {
		if out.prompt == row.id {
			sent[out.kind] += len(t.byOutbox[id])
		}
	}
	if sent["prompt"] > 1 || sent["reminder"] > 1 {
		t.report.Duplicates++
		t.report.violate("%s: prompt %s went out %d times, its reminder %d times", t.p.name, row.id, sent["prompt"], sent["reminder"])
	}
	switch {
	case row.sent.Valid && sent["prompt"] == 1:
		t.report.PromptsSent++
	case (row.state == "missed" || row.state == "failed") && sent["prompt"] == 0:
		t.report.PromptsMissed++
	case t.gone:
	default:
		t.report.PromptsLost++
		t.report.violate("%s: prompt %s is %s and went out %d times", t.p.name, row.id, row.state, sent["prompt"])
	}
}

// checkHistory verifies that the API shows each text once and in order, and exactly the answers
// that the carrier took.
func (t *personCheck) checkHistory(entries []entry) {
	said, heard := tokensOf(entries)
	if !slices.IsSorted(said) || len(slices.Compact(slices.Clone(said))) != len(said) {
		t.report.violate("%s: the history shows texts twice or in another order: %v", t.p.name, said)
	}
	if t.gone {
		return
	}
	if len(said) != len(t.p.texts) {
		t.report.violate("%s: the history shows %d texts of %d", t.p.name, len(said), len(t.p.texts))
	}
	var taken []string
	for _, one := range t.sent {
		if t.rows.outbox[one.Outbox].kind == "reply" {
			taken = append(taken, one.Body)
		}
	}
	if !slices.Equal(heard, taken) {
		t.report.violate("%s: the history shows other answers than the carrier took (%d and %d)", t.p.name, len(heard), len(taken))
	}
}

// tokensOf are the numbers of the texts in a history and the answers that went
// out, as far as the records tell.
func tokensOf(entries []entry) (said, heard []string) {
	for _, one := range entries {
		switch token := harness.Token.FindString(one.Text); {
		case one.Role == "user" && token != "":
			said = append(said, token)
		case one.Kind == "reply" && one.Delivery != "unknown" && one.Delivery != "canceled":
			heard = append(heard, one.Text)
		}
	}
	return said, heard
}

// checkParting verifies one greeting for each participant; after a removal one notice and
// nothing more; after a stop that was obeyed at most its confirmation.
func (t *personCheck) checkParting() {
	kinds := map[string]int{}
	for i, one := range t.sent {
		kinds[t.rows.outbox[one.Outbox].kind]++
		t.checkAfterLeaving(i)
	}
	if n := kinds["greeting"]; n > 1 || n == 0 && !t.gone {
		t.report.violate("%s was greeted %d times", t.p.name, n)
	}
	if n := kinds["notice"]; t.p.ending == removed && t.p.left && n != 1 {
		t.report.violate("%s was removed and got %d notices", t.p.name, n)
	}
	if n := kinds["consent"]; n > 1 {
		t.report.violate("%s stopped once and got %d confirmations", t.p.name, n)
	}
}

// checkAfterLeaving verifies that nothing follows a notice. What was being posted when a stop
// was acknowledged may be on its way; what is posted later may not go out, the
// confirmation of the stop aside.
func (t *personCheck) checkAfterLeaving(i int) {
	one, row := t.sent[i], t.rows.outbox[t.sent[i].Outbox]
	switch t.p.ending {
	case stays:
	case removed:
		if row.kind == "notice" && i+1 < len(t.sent) {
			t.report.AfterStop += len(t.sent) - i - 1
			t.report.violate("%s: %s went out after the notice", t.p.name, t.sent[i+1].Outbox)
		}
	case stopped:
		late := row.attempted.Valid && row.attempted.Time.After(t.p.leftAt) && one.At.After(t.p.leftAt)
		if t.gone && row.kind != "consent" && late {
			t.report.AfterStop++
			t.report.violate("%s: %s (%s) went out after the stop", t.p.name, row.id, row.kind)
		}
	}
}

func (p *person) stopSID() string { return p.sid(len(p.texts) + 1) }

func (p *person) sid(n int) string { return fmt.Sprintf("SM%032x", 1<<62|p.index<<20|n) }
