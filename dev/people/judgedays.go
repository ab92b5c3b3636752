package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"coachline/models"
)

// moving is what a wish for another time means in English.
var moving = regexp.MustCompile(`move my texts to (\d\d:\d\d)(?: in (\S+))?`)

// judgeDays finds local days of which nothing says why there was no prompt.
func (w *world) judgeDays(t *table) error {
	var silent []string
	days := 0
	for _, x := range w.people {
		rows, err := w.list(`SELECT local_date || ' ' || state || ' ' || reason FROM prompts WHERE participant_id = ? ORDER BY target_at`, x.id)
		if err != nil {
			return err
		}
		last := x.day(w.end.Add(-12*time.Hour)) - 1
		for day := x.firstPrompt(); day < last; day++ {
			days++
			date := x.instant(day, "12:00").Format(time.DateOnly)
			found := slices.ContainsFunc(rows, func(row string) bool {
				return strings.HasPrefix(row, date) && !strings.HasSuffix(row, " missed ")
			})
			// On the day of another time the new one may have passed.
			moves := slices.ContainsFunc(x.Life, func(e life) bool { return e.Day == day && moving.MatchString(e.Tells.means) })
			if !found && !moves && !x.isStopped(x.instant(day, "12:00")) {
				silent = append(silent, fmt.Sprintf("%s, day %d, %s", x.Key, day, date))
			}
		}
	}
	t.measure("local days of people", fmt.Sprint(days), "", true)
	t.add("days without a prompt or a reason", "0", silent)
	var late []string
	worst := time.Duration(0)
	for _, x := range w.people {
		lead, err := w.leads(x)
		if err != nil {
			return err
		}
		for _, off := range lead {
			if worst = max(worst, off); off > time.Minute {
				late = append(late, fmt.Sprintf("%s: %s from its usual lead", x.Key, off.Round(time.Second)))
			}
		}
	}
	t.measure("prompts away from their instant, at most", worst.Round(time.Millisecond).String(), "1 minute", len(late) == 0)
	return nil
}

// firstPrompt is the day behind the one on which the schedule was made.
func (x *player) firstPrompt() int {
	for _, l := range x.sorted() {
		if l.Kind == models.KindPrompt {
			return x.day(l.At) + 1
		}
	}
	return 1 << 20
}

// leads returns how far each prompt of a person is from the median lead of its schedule.
func (w *world) leads(x *player) ([]time.Duration, error) {
	rows, err := w.rows.QueryContext(w.ctx, `SELECT schedule_id, target_at, sent_at FROM prompts WHERE participant_id = ? AND sent_at IS NOT NULL`, x.id)
	if err != nil {
		return nil, fmt.Errorf("reading prompts: %w", err)
	}
	defer rows.Close()
	leads := map[string][]time.Duration{}
	for rows.Next() {
		var schedule string
		var target, sent time.Time
		if err := rows.Scan(&schedule, &target, &sent); err != nil {
			return nil, fmt.Errorf("reading a prompt: %w", err)
		}
		leads[schedule] = append(leads[schedule], target.Sub(sent))
	}
	var off []time.Duration
	for _, list := range leads {
		usual := slices.Sorted(slices.Values(list))[len(list)/2]
		for _, one := range list {
			off = append(off, (one - usual).Abs())
		}
	}
	return off, rows.Err() //nolint:wrapcheck // its words are the database's
}

// judgeWaits prints how long people waited for an answer.
func (w *world) judgeWaits(t *table) error {
	var waits []time.Duration
	for _, x := range w.people {
		lines := x.sorted()
		for i, l := range lines {
			if l.FromUs {
				continue
			}
			for _, next := range lines[i+1:] {
				if next.FromUs && next.Kind == models.KindReply && next.At.Sub(l.At) < answerSoon {
					waits = append(waits, next.At.Sub(l.At))
					break
				}
			}
		}
	}
	slices.Sort(waits)
	if len(waits) > 0 {
		t.measure("from text to answer, median and p90 (virtual)", fmt.Sprintf("%s, %s", waits[len(waits)/2].Round(100*time.Millisecond), waits[len(waits)*9/10].Round(100*time.Millisecond)), "", true)
	}
	return nil
}

// judgeMoney prints what a person costs in a month at the price list.
func (w *world) judgeMoney(t *table) error {
	rows, err := w.list(`SELECT kind || ' ' || COALESCE(sum(micros), 0) FROM costs GROUP BY kind ORDER BY kind`)
	if err != nil {
		return err
	}
	for _, row := range rows {
		var kind string
		var micros float64
		if _, err := fmt.Sscan(row, &kind, &micros); err != nil {
			return fmt.Errorf("reading the costs: %w", err)
		}
		t.measure("a person and month, "+kind, fmt.Sprintf("%.2f USD", micros/1e6/float64(len(w.people))/float64(w.days)*30), "", true)
	}
	return nil
}

// list reads a column of texts.
func (w *world) list(query string, args ...any) ([]string, error) {
	rows, err := w.rows.QueryContext(w.ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the tables: %w", err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, fmt.Errorf("reading the tables: %w", err)
		}
		all = append(all, one)
	}
	return all, rows.Err() //nolint:wrapcheck // its words are the database's
}
