package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gorm.io/gorm"

	"coachline/internal/agent/outgoing"
	"coachline/internal/segments"
	"coachline/internal/text"
	"coachline/models"
)

// Limits of the table.
const (
	mostStarted  = 2
	mostCalls    = 1.2
	mostLooks    = 0.15
	mostTouched  = 0.005
	leastCached  = 0.75
	mostUneven   = 1.2
	mostLong     = 0.02
	mostRepeated = 0.05
	mostMissed   = 0.05
	leastFacts   = 0.95
	// longRun is from how many days on figures that the first days distort have limits.
	longRun = 30
	// answerSoon is when a text is answered: the wait for another one and a call.
	answerSoon = 5 * time.Minute
	// backsOff and asksLess are days without an answer, as docs/configuration.md has them.
	backsOff, asksLess = 3, 7
)

// table is what was judged.
type table struct {
	rows []judged
}

// judged is a line of the table; an empty limit is printed only.
type judged struct {
	what, value, limit string
	isWrong            bool
	cases              []string
}

// add notes a line that is wrong where it has cases.
func (t *table) add(what, limit string, cases []string) {
	t.rows = append(t.rows, judged{what: what, value: fmt.Sprint(len(cases)), limit: limit, isWrong: len(cases) > 0 && limit != "", cases: cases})
}

// measure notes a figure with a limit.
func (t *table) measure(what, value, limit string, isRight bool) {
	t.rows = append(t.rows, judged{what: what, value: value, limit: limit, isWrong: !isRight})
}

// judge prints the table and reports whether all limits were kept.
func (w *world) judge(out io.Writer) (bool, error) {
	t := &table{}
	for _, judge := range []func(*table) error{w.judgeStarted, w.judgeAnswers, w.judgeDanger, w.judgeCalls, w.judgeReplies, w.judgeFacts, w.judgeDays, w.judgeWaits, w.judgeMoney} {
		if err := judge(t); err != nil {
			return false, err
		}
	}
	wrong := 0
	lines := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(lines)
	for _, r := range t.rows {
		mark := ""
		if r.isWrong {
			mark = "WRONG"
			wrong++
		}
		fmt.Fprintf(lines, "%s\t%s\t%s\t%s\n", r.what, r.value, r.limit, mark)
	}
	if err := lines.Flush(); err != nil {
		return false, fmt.Errorf("printing the table: %w", err)
	}
	for _, r := range t.rows {
		if len(r.cases) > 0 {
			fmt.Fprintf(out, "\n%s\n", r.what)
			for i, one := range r.cases {
				if i == 12 {
					fmt.Fprintf(out, "  and %d more\n", len(r.cases)-i)
					break
				}
				fmt.Fprintln(out, "  "+one)
			}
		}
	}
	w.measurePeople(out)
	w.scan(out)
	if w.scanner != nil {
		w.scanWith(w.scanner, out)
	}
	fmt.Fprintf(out, "\n%d limits are broken\n", wrong)
	return wrong == 0, nil
}

// at says of whom and when a line is.
func (x *player) at(l line) string {
	who := "wrote"
	if l.FromUs {
		who = "was sent"
	}
	return fmt.Sprintf("%s, day %d, %s, %s %q", x.Key, x.day(l.At), l.At.In(x.zone).Format("15:04"), who, shorten(l.Body))
}

func shorten(body string) string {
	body = strings.Join(strings.Fields(body), " ")
	if len([]rune(body)) > 90 {
		return string([]rune(body)[:90]) + "..."
	}
	return body
}

// judgeStarted counts what we start by local day, and holds it against the back-off.
func (w *world) judgeStarted(t *table) error {
	var many, pushing, holiday []string
	most := 0
	for _, x := range w.people {
		started := map[int]map[string]bool{}
		silent, last := 0, -100 // days with something of ours since the person wrote, and the newest of them
		for _, l := range x.sorted() {
			day := x.day(l.At)
			if !l.FromUs {
				silent, last = 0, -100
				continue
			}
			if !l.Kind.Spec().Initiated {
				continue
			}
			if started[day] == nil {
				started[day] = map[string]bool{}
				if silent >= backsOff && day-last < 2 || silent > asksLess && day-last < 6 {
					pushing = append(pushing, fmt.Sprintf("%s after %d silent days", x.at(l), silent))
				}
				silent++
				last = day
			}
			if started[day][l.TurnID] = true; len(started[day]) > mostStarted {
				many = append(many, x.at(l))
			}
			most = max(most, len(started[day]))
			if x.isHoliday(day) {
				holiday = append(holiday, x.at(l))
			}
		}
	}
	t.measure("texts a day that we start, at most", fmt.Sprint(most), fmt.Sprint(mostStarted), len(many) == 0)
	t.add("days with more than the disclosed maximum", "0", many)
	t.add("texts against the back-off of silent people", "0", pushing)
	t.add("texts on days of a holiday, an illness or an opt-out", "0", holiday)
	return nil
}

// isHoliday reports whether no text is wanted on a day; the first and the last day are
// when it is said.
func (x *player) isHoliday(day int) bool {
	return slices.ContainsFunc(x.Life, func(e life) bool { return e.Holiday && day > e.Day && day < e.Until })
}

// isTakenOver reports whether an operator may have the conversation.
func (w *world) isTakenOver(x *player, at time.Time) bool {
	return slices.ContainsFunc(x.lines, func(l line) bool {
		return l.InDanger && !at.Before(l.At) && at.Sub(l.At) < 3*24*time.Hour
	})
}

// isStopped reports whether the person has stopped the texts and not begun anew.
func (x *player) isStopped(at time.Time) bool {
	stopped := false
	for _, l := range x.sorted() {
		if l.At.After(at) {
			break
		}
		switch {
		case !l.FromUs && l.Body == "STOP":
			stopped = true
		case !l.FromUs && l.Body == "START":
			stopped = false
		}
	}
	return stopped
}

// isDoubted reports whether the product may ask who has the number: the person has stopped
// the texts before, and has not answered with a plain yes since.
func (x *player) isDoubted(at time.Time) bool {
	doubted := false
	for _, l := range x.sorted() {
		if l.At.After(at) {
			break
		}
		doubted = !l.FromUs && l.Body == "STOP" || doubted && (l.FromUs || l.Body != "YES" || l.At.Equal(at))
	}
	return doubted
}

// judgeDanger holds what happened to a person in danger against the order it should have.
func (w *world) judgeDanger(t *table) error {
	var wrong []string
	dangers, texts := 0, 0
	for _, x := range w.people {
		lines := x.sorted()
		for i, l := range lines {
			if !l.FromUs {
				texts++
			}
			if !l.InDanger {
				continue
			}
			dangers++
			wrong = append(wrong, w.faultsAfter(x, l, lines[i:])...)
		}
	}
	alerts, err := w.list(`SELECT participant_id || ' ' || rule FROM alarms WHERE inbound_id NOT IN (SELECT id FROM inbound WHERE danger_tier = 'A')`)
	if err != nil {
		return err
	}
	t.measure("texts of danger", fmt.Sprint(dangers), "", true)
	t.add("alert, page, safety text, prompts held, hand-back in order", "0", wrong)
	t.add("operators' commands that were refused", "0", w.refused)
	t.measure("texts that raised an alert as a weak sign", share(len(alerts), texts), "1 %", len(alerts) <= max(1, texts/100))
	t.add("of those, by rule", "", alerts)
	return nil
}

// faultsAfter are what went out of order after a text of danger, the first of the lines.
func (w *world) faultsAfter(x *player, l line, lines []line) (wrong []string) {
	safety := slices.IndexFunc(lines, func(l line) bool { return l.FromUs })
	if safety < 0 || lines[safety].Kind != models.KindSafety || lines[safety].At.Sub(l.At) > time.Minute {
		wrong = append(wrong, x.Key+": the next text is no safety text")
	}
	if pages := w.countPages(l.At); pages != 2 {
		wrong = append(wrong, fmt.Sprintf("%s: %d pages within the hour, want one, and one more while the alert is not acknowledged", x.Key, pages))
	}
	operator := slices.ContainsFunc(lines, func(next line) bool {
		return next.Kind == models.KindOperator && next.At.Sub(l.At) < time.Hour
	})
	held := !slices.ContainsFunc(lines, func(next line) bool {
		return next.FromUs && next.Kind.Spec().Initiated && next.At.Sub(l.At) < 34*time.Hour
	})
	if !operator || !held {
		wrong = append(wrong, fmt.Sprintf("%s: operator's text %t, prompts held until the hand-back %t", x.Key, operator, held))
	}
	back := slices.ContainsFunc(lines, func(l line) bool { return l.Kind == models.KindPrompt })
	if !back && x.day(w.end) > x.day(l.At)+4 {
		wrong = append(wrong, x.Key+": no prompt came after the hand-back")
	}
	return wrong
}

// countPages counts the pages within the hour after an instant.
func (w *world) countPages(after time.Time) (n int) {
	for _, p := range w.pages {
		if !p.At.Before(after.Add(-time.Second)) && p.At.Sub(after) < time.Hour {
			n++
		}
	}
	return n
}

// judgeCalls counts calls of the model by what they are for.
func (w *world) judgeCalls(t *table) error {
	figures := map[string]float64{}
	for name, query := range map[string]string{
		"replies":   `SELECT count(*) FROM turns WHERE kind = 'reply' AND outcome = 'step'`,
		"prompts":   `SELECT count(*) FROM turns WHERE kind = 'prompt' AND outcome = 'step'`,
		"of reply":  `SELECT count(*) FROM steps s JOIN turns t ON t.id = s.turn_id WHERE t.kind = 'reply'`,
		"of prompt": `SELECT count(*) FROM steps s JOIN turns t ON t.id = s.turn_id WHERE t.kind = 'prompt'`,
		"closing":   `SELECT count(*) FROM costs WHERE kind = 'model' AND stage = 'closing'`,
		"look":      `SELECT count(DISTINCT s.turn_id) FROM stages s JOIN turns t ON t.id = s.turn_id WHERE s.name = 'advice' AND t.kind = 'reply'`,
		"other":     `SELECT count(*) FROM costs WHERE kind = 'model' AND stage NOT IN ('advice', 'closing', 'model', 'embed', 'lost')`,
		"input":     `SELECT COALESCE(sum(input_tokens), 0) FROM costs WHERE kind = 'model' AND stage = 'model'`,
		"cached":    `SELECT COALESCE(sum(cached_tokens), 0) FROM costs WHERE kind = 'model' AND stage = 'model'`,
	} {
		var n float64
		if err := w.rows.QueryRowContext(w.ctx, query).Scan(&n); err != nil {
			return fmt.Errorf("counting %s: %w", name, err)
		}
		figures[name] = n
	}
	conversations := 0
	for _, x := range w.people {
		conversations += x.conversations()
	}
	ratio := func(what, a string, b, limit, short float64) {
		r := figures[a] / max(b, 1)
		if w.days < longRun {
			limit = short
		}
		t.measure(what, fmt.Sprintf("%.2f", r), fmt.Sprint(limit), r <= limit+0.005)
	}
	ratio("model calls a reply", "of reply", figures["replies"], mostCalls, 2)
	ratio("beside replies, a conversation", "closing", float64(conversations), 1, 1.15)
	ratio("questions to the memory and second looks, a conversation", "other", float64(conversations), 0.1, 0.5)
	ratio("replies whose advice is looked at, a reply", "look", figures["replies"], mostLooks, 0.5)
	ratio("a generated prompt", "of prompt", figures["prompts"], 1, 1)
	t.measure("prompt tokens a reply or prompt", fmt.Sprintf("%.0f", figures["input"]/max(figures["replies"]+figures["prompts"], 1)), "", true)
	t.measure("share of them cached", fmt.Sprintf("%.0f %%", 100*figures["cached"]/max(figures["input"], 1)), "", true)
	var warm, held float64
	if err := w.rows.QueryRowContext(w.ctx, warmCalls).Scan(&held, &warm); err != nil {
		return fmt.Errorf("reading what was cached: %w", err)
	}
	t.measure("share cached of a reply within five minutes of another", fmt.Sprintf("%.1f %%", 100*held/max(warm, 1)), "75 %", held >= leastCached*warm || w.days < longRun)
	return nil
}

// warmCalls adds up the tokens of calls for replies within five minutes of another: a server
// keeps a prompt for minutes, and fourteen people text for hours.
const warmCalls = `SELECT COALESCE(sum(json_extract(usage, '$.cached')), 0), COALESCE(sum(json_extract(usage, '$.prompt')), 0) FROM
	(SELECT s.usage, julianday(s.created_at) - julianday(lag(s.created_at) OVER (ORDER BY s.created_at)) AS gap
	FROM steps s JOIN turns t ON t.id = s.turn_id WHERE s.usage <> '' AND t.kind = 'reply') WHERE gap * 1440 < 5`

// conversations counts how often the person began to write after half an hour of rest.
func (x *player) conversations() (n int) {
	isOpen := false
	var last time.Time
	for _, l := range x.sorted() {
		if isOpen = isOpen && l.At.Sub(last) < 30*time.Minute; !l.FromUs && !isOpen {
			n++
			isOpen = true
		}
		last = l.At
	}
	return n
}

// judgeReplies judges what the coach wrote by the checks that the product has for it, its
// length and how often it is the same.
func (w *world) judgeReplies(t *table) error {
	var unfit, same []string
	long, replies, said := 0, 0, 0
	parts := map[string][]int{}
	for _, x := range w.people {
		language, _, _ := strings.Cut(x.Who.Locale, "-")
		lines := x.sorted()
		for i, l := range lines {
			isReply := l.Kind == models.KindReply
			if !l.FromUs || !isReply && l.Kind != models.KindPrompt && l.Kind != models.KindReminder {
				continue
			}
			said++
			if isRepeated(l, lines[:i]) {
				same = append(same, x.at(l))
			}
			if !isReply {
				continue
			}
			replies++
			size := segments.Count(l.Body).Segments
			parts[language] = append(parts[language], size)
			if size > 2 {
				long++
			}
			if kind := w.unfit(lines, i); kind != "" {
				unfit = append(unfit, string(kind)+": "+x.at(l))
			}
		}
	}
	t.measure("replies", fmt.Sprint(replies), "", true)
	t.add("replies with unfit content, false claims or in another language", "0", unfit)
	if err := w.judgeGuard(t); err != nil {
		return err
	}
	t.measure("replies longer than two segments", share(long, replies), "2 %", float64(long) <= mostLong*float64(replies))
	w.judgeSizes(t, parts)
	t.measure("the same text twice in seven days", share(len(same), said), "5 %", float64(len(same)) <= mostRepeated*float64(said))
	t.add("of those", "", same)
	return nil
}

// isRepeated reports whether another turn sent the same words in the seven days before.
func isRepeated(l line, before []line) bool {
	return slices.ContainsFunc(before, func(earlier line) bool {
		return earlier.FromUs && earlier.TurnID != l.TurnID && l.At.Sub(earlier.At) < 7*24*time.Hour && slices.Equal(text.Words(earlier.Body), text.Words(l.Body))
	})
}

// judgeSizes compares how many segments a reply has in each language.
func (w *world) judgeSizes(t *table, parts map[string][]int) {
	least, most, shown := math.Inf(1), 0.0, []string{}
	for _, language := range slices.Sorted(maps.Keys(parts)) {
		sum := 0
		for _, n := range parts[language] {
			sum += n
		}
		mean := float64(sum) / float64(len(parts[language]))
		least, most, shown = min(least, mean), max(most, mean), append(shown, fmt.Sprintf("%s %.2f", language, mean))
	}
	t.measure("segments a reply, by language", strings.Join(shown, ", "), "within 20 %", most <= least*mostUneven || w.days < longRun)
}

// sameKinds are the guard's findings of words that were said before.
var sameKinds = []outgoing.Kind{outgoing.Again, outgoing.Echo, outgoing.Repetition}

// judgeGuard counts the replies of which the product held a draft back, by what its output
// guard found first; those that said something again are counted apart, since that depends
// on the coach.
func (w *world) judgeGuard(t *table) error {
	var steps []models.Step
	err := w.store.Database().Reader(w.ctx).Joins("JOIN turns ON turns.id = steps.turn_id AND turns.kind = 'reply'").Order("steps.turn_id, steps.number").Find(&steps).Error
	if err != nil {
		return fmt.Errorf("reading the steps: %w", err)
	}
	turns, same := map[string]outgoing.Kind{}, 0
	var touched []string
	for _, step := range steps {
		before := turns[step.TurnID]
		kind := cmp.Or(before, guardedAs(step))
		turns[step.TurnID] = kind
		switch {
		case kind == "" || before != "":
		case slices.Contains(sameKinds, kind):
			same++
		default:
			touched = append(touched, fmt.Sprintf("%s: %s", step.TurnID, kind))
		}
	}
	t.measure("drafts of replies held back, without those said before", share(len(touched), len(turns)), "0.5 %", float64(len(touched)) <= mostTouched*float64(len(turns)))
	t.add("of those, by kind", "", touched)
	t.measure("drafts of replies held back that were said before", share(same, len(turns)), "", true)
	return nil
}

// untouched are decisions of the guard that hold nothing back.
var untouched = []string{"words", "calls", "says what it is", "cut at a sentence"}

// guardedAs is why the guard held a draft of a step back, empty where it did not.
func guardedAs(step models.Step) outgoing.Kind {
	trace, _ := step.StepTrace() // One that cannot be read says nothing.
	for _, stage := range trace.Stages {
		kind, isGuard := strings.CutPrefix(stage.Decision, "guard ")
		switch {
		case stage.Name == models.StageScreen && strings.HasPrefix(stage.Decision, "screen dropped"):
			return outgoing.Kind(stage.Decision)
		case stage.Name == models.StageGuard && isGuard && !slices.Contains(untouched, kind):
			return outgoing.Kind(kind)
		}
	}
	return ""
}

func share(n, of int) string {
	return fmt.Sprintf("%.1f %% (%d of %d)", 100*float64(n)/float64(max(of, 1)), n, of)
}

// unfit checks a text as the product does before it goes out.
func (w *world) unfit(lines []line, i int) outgoing.Kind {
	reply := outgoing.Reply{Text: lines[i].Body, Programme: "Coachline", IsEnded: true, Done: outgoing.Done{Scheduled: true, Saved: true, Deleted: true}}
	for _, l := range lines[max(0, i-20):i] {
		if l.FromUs {
			reply.Said = append(reply.Said, l.Body)
			continue
		}
		reply.Written = append(reply.Written, l.Body)
		reply.Known = append(reply.Known, l.Body)
	}
	var calls int
	err := w.rows.QueryRowContext(w.ctx, `SELECT count(*) FROM tool_runs WHERE turn_id = ? AND NOT failed`, lines[i].TurnID).Scan(&calls)
	if err == nil && calls == 0 {
		reply.Done.Saved, reply.Done.Deleted = false, false
	}
	return outgoing.Check(reply)
}

// judgeFacts holds what is remembered at the end against what the file of a person says.
func (w *world) judgeFacts(t *table) error {
	var lacking, stale, kept, clock []string
	known, gone, forgotten, schedules := 0, 0, 0, 0
	for _, x := range w.people {
		if x.id == "" {
			continue
		}
		facts, err := w.store.Memory.Facts(w.ctx, x.id)
		if err != nil {
			return fmt.Errorf("reading facts: %w", err)
		}
		var all []string
		for _, f := range facts {
			all = append(all, f.Text)
		}
		remembered := strings.Join(all, "\n")
		look := func(patterns []string, want bool, into *[]string, n *int) {
			for _, p := range patterns {
				*n++
				if regexp.MustCompile(p).MatchString(remembered) != want {
					*into = append(*into, fmt.Sprintf("%s: %q in %q", x.Key, p, all))
				}
			}
		}
		if w.days >= 60 {
			look(x.Known, true, &lacking, &known)
			look(x.Gone, false, &stale, &gone)
			if remembered, err = w.everything(x, remembered); err != nil {
				return err
			}
			look(x.Forgotten, false, &kept, &forgotten)
			schedules++
			var at, zone string
			err := w.rows.QueryRowContext(w.ctx, `SELECT group_concat(at), group_concat(COALESCE(zone, '')) FROM schedules WHERE participant_id = ?`, x.id).Scan(&at, &zone)
			if err != nil || at != x.Schedule || x.Zone != "" && zone != x.Zone {
				clock = append(clock, fmt.Sprintf("%s: %s %s, want %s %s (%v)", x.Key, at, zone, x.Schedule, x.Zone, err))
			}
		}
	}
	t.measure("facts at the end that are right and there", share(known-len(lacking), known), "95 %", float64(known-len(lacking)) >= leastFacts*float64(known))
	t.measure("superseded facts that are gone", share(gone-len(stale), gone), "95 %", float64(gone-len(stale)) >= leastFacts*float64(gone))
	t.measure("forgotten facts that are gone", share(forgotten-len(kept), forgotten), "100 %", len(kept) == 0)
	t.measure("schedule and zone as last asked", share(schedules-len(clock), schedules), "100 %", len(clock) == 0)
	t.add("of the facts and schedules", "", slices.Concat(lacking, stale, kept, clock))
	return nil
}

// everything is what is stored of a person beside the texts: facts, notes, summary, profile.
func (w *world) everything(x *player, facts string) (string, error) {
	profile, err := w.store.People.Profile(w.ctx, x.id)
	if err != nil {
		return "", fmt.Errorf("reading a profile: %w", err)
	}
	all := []string{facts}
	for _, told := range profile.All() {
		all = append(all, *told)
	}
	var notes []models.Note
	var summaries []models.Summary
	rows := w.store.Database().Reader(w.ctx).Where("participant_id = ?", x.id)
	if err := errors.Join(rows.Session(&gorm.Session{}).Find(&notes).Error, rows.Session(&gorm.Session{}).Find(&summaries).Error); err != nil {
		return "", fmt.Errorf("reading notes: %w", err)
	}
	for _, n := range notes {
		all = append(all, n.Text)
	}
	for _, one := range summaries {
		all = append(all, one.Text)
	}
	return strings.Join(all, "\n"), nil
}
