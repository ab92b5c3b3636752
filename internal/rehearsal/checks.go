package rehearsal

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"coachline/internal/wrap"
	"coachline/models"
)

// answersOf says how often each text that reached the coach was answered.
type answersOf struct {
	// Reached texts of people who were coached, of which Once were taken into a turn
	// with one reply that the carrier took, Never into none, and Twice into a turn
	// with more.
	Reached, Once, Never, Twice int
}

// readAnswers joins texts, the turns that took them and the replies of those. A
// reply of several parts counts once, and so does one that was tried again later.
func (r *run) readAnswers(ctx context.Context) (answersOf, error) {
	var out answersOf
	err := r.store.Database().Reader(ctx).Raw(`WITH answered AS (
			SELECT i.id, COUNT(o.id) AS replies FROM inbound i
			LEFT JOIN messages m ON m.participant_id = i.participant_id AND m.key = 'in-' || i.id
			LEFT JOIN outbox o ON o.turn_id = m.turn_id AND o.kind = 'reply' AND o.part = 1 AND o.late_of = '' AND o.provider_sid <> ''
			WHERE i.seq > 0 GROUP BY i.id)
		SELECT COUNT(*) AS reached, COALESCE(SUM(replies = 1), 0) AS once, COALESCE(SUM(replies = 0), 0) AS never, COALESCE(SUM(replies > 1), 0) AS twice FROM answered`).
		Scan(&out).Error
	return out, wrap.Error(err, "reading which texts were answered")
}

// check holds the rules that no study may break.
func (r *run) check(out Report, rows *tables) []Check {
	breaches := r.textsAfterStop()
	doubled := r.doubledPrompts()
	checks := []Check{
		{"each text that reached the coach is answered once", rows.answers.Never == 0 && rows.answers.Twice == 0,
			fmt.Sprintf("%d reached it: %d got one reply, %d none, %d more", rows.answers.Reached, rows.answers.Once, rows.answers.Never, rows.answers.Twice)},
		{"no message that we start comes in quiet hours", len(out.Quiet.Breaches) == 0,
			fmt.Sprintf("%d of %d in quiet hours that the person had not chosen", len(out.Quiet.Breaches), out.Quiet.Started)},
		{"no message reaches a person who opted out", breaches == 0, fmt.Sprintf("%d messages after STOP beside its confirmation", breaches)},
		{"no prompt comes twice", doubled == 0, fmt.Sprintf("%d prompts reached the carrier more than once", doubled)},
		{"totals of carrier and outbox are equal", out.Texts.CarrierTook == out.Texts.OutboxAccepted,
			fmt.Sprintf("%d and %d messages, %d and %d segments", out.Texts.CarrierTook, out.Texts.OutboxAccepted, out.Texts.Segments, out.Texts.OutboxSegments)},
		{"totals of people and inbound rows are equal", out.Texts.PeopleWrote == out.Texts.InboundRows,
			fmt.Sprintf("%d and %d texts", out.Texts.PeopleWrote, out.Texts.InboundRows)},
	}
	if a := rows.allocations; a != nil {
		checks = append(checks, Check{"the record of allocations draws every arm again", a.Problem == "" && a.Rows == int64(len(r.people)),
			fmt.Sprintf("%d of %d people; %s", a.Rows, len(r.people), cmp.Or(a.Problem, "nothing differs"))})
	}
	return checks
}

// textsAfterStop counts what the carrier took for people while they were opted out.
func (r *run) textsAfterStop() int {
	count := 0
	for _, p := range r.people {
		for _, one := range p.carrier.taken {
			if one.kind != models.KindConsent && p.heard.isOptedOutAt(one.at) {
				count++
			}
		}
	}
	return count
}

// isOptedOutAt reports whether the newest keyword before an instant was STOP.
func (c *conversation) isOptedOutAt(at time.Time) bool {
	out := false
	for _, text := range c.texts {
		if !text.at.Before(at) {
			break
		}
		switch text.body {
		case wordStop:
			out = true
		case wordStart:
			out = false
		}
	}
	return out
}

// doubledPrompts counts prompts that the carrier took more than once, without the
// later tries of those that it reported as lost.
func (r *run) doubledPrompts() int {
	doubled := 0
	for _, p := range r.people {
		seen := map[string]bool{}
		for _, one := range p.carrier.taken {
			if one.kind != models.KindPrompt || one.isLate {
				continue
			}
			key := fmt.Sprintf("%s part %d", one.promptID, one.part)
			if seen[key] {
				doubled++
			}
			seen[key] = true
		}
	}
	return doubled
}
