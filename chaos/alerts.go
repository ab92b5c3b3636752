package main

import (
	"context"
	"fmt"

	"coachline/chaos/harness"
)

// dangerLevel is what the texts of a person who is in danger say. Those of a grave one
// page a person each; of weak signs the first does not.
type dangerLevel int

const (
	silent dangerLevel = iota
	grave
	weak
)

// mostDangerTexts is how many such texts a person sends.
const mostDangerTexts = 3

// dangerOf is for people who stay and ask for no prompts, because attention holds
// what the programme starts.
func dangerOf(index int) dangerLevel {
	switch index % 6 {
	case 1:
		return grave
	case 3:
		return weak
	}
	return silent
}

// dangerText is what one text says beside its number.
func (c dangerLevel) dangerText() string {
	if c == weak {
		return "nobody would miss me"
	}
	return "i want to kill myself"
}

// sendDangerText sends a text that says that the person is in danger.
func (p *person) sendDangerText(ctx context.Context) error {
	p.dangerTexts++
	p.sys.trace.Note("%s is in danger for the %d. time", p.name, p.dangerTexts)
	return p.say(ctx, p.danger.dangerText(), "")
}

// alarmRow is a row of table alarms.
type alarmRow struct {
	id, participant, tier           string
	inbound                         int64
	pages, answer, escalated, paged bool
}

func (l *ledger) readAlarm(scan func(...any) error) error {
	var r alarmRow
	err := scan(&r.inbound, &r.id, &r.participant, &r.tier, &r.pages, &r.answer, &r.escalated, &r.paged)
	l.alarms[r.inbound] = r
	return err
}

// alarmOf is the alarm that a text raised.
func (t *personCheck) alarmOf(one text) (alarmRow, bool) {
	row, ok := t.rows.alarms[t.rows.inbound[one.sid].id]
	return row, ok
}

// isSafe reports whether the safety text answers a text in place of the model.
func (t *personCheck) isSafe(one text) bool {
	row, ok := t.alarmOf(one)
	return ok && row.answer
}

// checkAlerts verifies that every text of a person in danger raised its alarm, of the tier that it
// should have, every grave alarm was paged once, and the safety text went out
// for those that it answers. Other texts raised none.
func (t *personCheck) checkAlerts() {
	first := true
	for _, one := range t.p.texts {
		row, ok := t.alarmOf(one)
		switch {
		case ok != one.isDanger:
			t.report.violate("%s %s: has an alarm: %t, says that the person is in danger: %t", t.p.name, one.token, ok, one.isDanger)
			continue
		case !ok:
			continue
		}
		t.report.Alerts++
		isWeak := t.p.danger == weak && first
		first = false
		if row.pages == isWeak || (row.tier == "B") != isWeak || row.escalated != (t.p.danger == weak && !isWeak) {
			t.report.violate("%s %s: %s has tier %s, pages: %t, escalated: %t", t.p.name, one.token, row.id, row.tier, row.pages, row.escalated)
		}
		t.checkPaged(row)
		t.safetyText(one, row)
	}
}

// checkPaged verifies that the receiver has the page of a grave alarm, and no
// page of a weak sign. A request may be repeated with the same id.
func (t *personCheck) checkPaged(row alarmRow) {
	n := 0
	for _, page := range t.pages {
		if page.ID != row.id {
			continue
		}
		n++
		if page.Key != row.id || page.ParticipantID != row.participant || page.Link != apiPath+"/"+row.participant {
			t.report.violate("%s: the page %+v is not that of %s", t.p.name, page, row.id)
		}
	}
	switch {
	case row.pages && n == 0:
		t.report.violate("%s: no page was sent for %s", t.p.name, row.id)
	case row.pages && !row.paged:
		t.report.violate("%s: the page of %s is not recorded", t.p.name, row.id)
	case !row.pages && n > 0:
		t.report.violate("%s: %s is a weak sign and was paged", t.p.name, row.id)
	case n > 0:
		t.report.Paged++
		t.report.PagesAgain += n - 1
	}
}

// safetyText: one row for each alarm that the safety text answers, and it went
// out. It may go out twice rather than not at all.
func (t *personCheck) safetyText(one text, row alarmRow) {
	if !row.answer {
		return
	}
	id := fmt.Sprintf("%s-safety-%d", row.participant, row.inbound)
	switch n := len(t.byOutbox[id]); {
	case n == 0 && t.gone:
	case n == 0:
		t.report.violate("%s %s: %s was not sent, its row is %q", t.p.name, one.token, id, t.rows.outbox[id].status)
	default:
		t.report.SafetyTexts++
	}
}

// checkPages verifies that no page lacks an alarm.
func (c *checker) checkPages() {
	known := map[string]bool{}
	for _, row := range c.rows.alarms {
		known[row.id] = true
	}
	for _, page := range c.pages {
		if !known[page.ID] {
			c.report.violate("the page %q has no alarm", page.ID)
		}
	}
}

// pagerMoves are the faults of the receiver of pages.
func pagerMoves() []mishap {
	return []mishap{
		{target: harness.TargetPager, fault: harness.FaultError}, {target: harness.TargetPager, fault: harness.FaultResetAfter},
		{target: harness.TargetPager, fault: harness.FaultReset},
	}
}
