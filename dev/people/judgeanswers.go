package main

import (
	"fmt"
	"slices"
	"time"

	"coachline/models"
)

// fixedKinds are what rules and operators say.
var fixedKinds = []models.EntryKind{models.KindSafety, models.KindHelp, models.KindConsent, models.KindNotice}

// judgeAnswers finds texts that got no answer, or one of something else than the coach.
func (w *world) judgeAnswers(t *table) error {
	var other, none, missed []string
	texts, questions := 0, 0
	for _, x := range w.people {
		lines := x.sorted()
		for i, l := range lines {
			if !x.wantsAnswer(l) {
				continue
			}
			texts++
			asked, asks := question(l.Asks)
			answer, isThere := answerTo(l, lines[i+1:], asks && asked.IsRuled)
			switch {
			case isThere && slices.Contains(fixedKinds, answer.Kind):
				other = append(other, fmt.Sprintf("%s, answered by %s: %q", x.at(l), answer.Kind, shorten(answer.Body)))
			case !isThere && !w.isTakenOver(x, l.At) && !x.isStopped(l.At) && w.end.Sub(l.At) > time.Hour:
				none = append(none, x.at(l))
			}
			if !asks || answer.Kind != models.KindReply {
				continue
			}
			if questions++; !asked.wants.MatchString(answer.Body) {
				missed = append(missed, fmt.Sprintf("%s, answered %q", x.at(l), shorten(answer.Body)))
			}
		}
	}
	fallbacks, err := w.list(`SELECT t.participant_id || ' turn ' || t.number || ': ' || t.outcome FROM turns t WHERE t.kind = 'reply' AND t.outcome NOT IN ('step', '') ORDER BY t.started_at`)
	if err != nil {
		return err
	}
	t.measure("texts of people that a coach should answer", fmt.Sprint(texts), "", true)
	t.add("answered by something else than the coach without cause", "0", other)
	t.add("not answered", "0", none)
	t.measure("questions that were not answered", share(len(missed), questions), "5 %", float64(len(missed)) <= mostMissed*float64(questions))
	t.add("of those", "", missed)
	t.add("replies that are a fixed text", "0", fallbacks)
	return nil
}

// answerTo finds what a text was answered with, among the later lines; isRuled passes over
// what a rule says to a question beside the coach's reply.
func answerTo(l line, later []line, isRuled bool) (answer line, isThere bool) {
	i := slices.IndexFunc(later, func(next line) bool {
		return next.FromUs && (!isRuled || next.Kind != models.KindHelp) && !next.Kind.Spec().Initiated && next.At.Sub(l.At) < answerSoon
	})
	if i < 0 {
		return line{}, false
	}
	return later[i], true
}

// wantsAnswer reports whether a line is a text of the person that the coach should answer.
func (x *player) wantsAnswer(l line) bool { return !l.FromUs && !l.IsFixed && !x.isDoubted(l.At) }
