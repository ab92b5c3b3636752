package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"coachline/internal/text"
	"coachline/models"
)

// sign is what the scanner looks for in a transcript; what it finds is listed for a reader,
// and breaks no limit.
type sign struct {
	what string
	has  func(w *world, x *player, lines []line, i int) bool
}

var (
	promise    = regexp.MustCompile(`(?i)\b(I('ll| will) (text|call|write|remind|check)|je t'appelle|ich rufe|te llamo|vou ligar)\b`)
	anotherKey = regexp.MustCompile(`\{\d\}|_|\bf\d+\b|https?://`)
)

var signs = []sign{
	{"two texts of the same minute", func(_ *world, _ *player, lines []line, i int) bool {
		l := lines[i]
		return i > 0 && lines[i-1].FromUs && lines[i-1].TurnID != l.TurnID && l.At.Sub(lines[i-1].At) < time.Minute
	}},
	{"a text that repeats the person", func(_ *world, _ *player, lines []line, i int) bool {
		return slices.ContainsFunc(lines[max(0, i-6):i], func(e line) bool {
			return !e.FromUs && len(strings.Fields(e.Body)) > 3 && strings.Contains(lines[i].Body, e.Body)
		})
	}},
	{"a question that was just asked", func(_ *world, _ *player, lines []line, i int) bool {
		return strings.HasSuffix(lines[i].Body, "?") && slices.ContainsFunc(lines[max(0, i-4):i], func(e line) bool {
			return e.FromUs && slices.Equal(text.Words(e.Body), text.Words(lines[i].Body))
		})
	}},
	{"a promise", func(_ *world, _ *player, lines []line, i int) bool { return promise.MatchString(lines[i].Body) }},
	{"machine words", func(_ *world, _ *player, lines []line, i int) bool {
		return lines[i].Kind != models.KindOperator && anotherKey.MatchString(lines[i].Body)
	}},
	{"a name that is not theirs", func(w *world, x *player, lines []line, i int) bool {
		return slices.ContainsFunc(w.people, func(other *player) bool {
			return other.Who.Name != x.Who.Name && regexp.MustCompile(`\b`+other.Who.Name+`\b`).MatchString(lines[i].Body)
		})
	}},
	{"a prompt on a day that was reported already", func(_ *world, x *player, lines []line, i int) bool {
		return lines[i].Kind == models.KindReminder && slices.ContainsFunc(lines[:i], func(e line) bool {
			return !e.FromUs && x.day(e.At) == x.day(lines[i].At)
		})
	}},
	{"an answer to a prompt is followed by the question about it", func(_ *world, x *player, lines []line, i int) bool {
		for _, e := range slices.Backward(lines[:i]) {
			if e.Kind == models.KindPrompt {
				return false
			}
			if !e.FromUs && x.day(e.At) == x.day(lines[i].At) {
				return lines[i].Kind == models.KindFeedbackQuestion
			}
		}
		return false
	}},
	{"a text in the night", func(_ *world, x *player, lines []line, i int) bool {
		hour := lines[i].At.In(x.zone).Hour()
		return lines[i].Kind.Spec().Initiated && (hour < 8 || hour >= 21) && lines[i].Kind != models.KindPrompt
	}},
}

// scan lists what nobody asked about.
func (w *world) scan(out io.Writer) {
	fmt.Fprintln(out, "\nwhat the scanner found")
	for _, s := range signs {
		var found []string
		for _, x := range w.people {
			lines := x.sorted()
			for i, l := range lines {
				if l.FromUs && s.has(w, x, lines, i) {
					found = append(found, x.at(l))
				}
			}
		}
		fmt.Fprintf(out, "%4d %s\n", len(found), s.what)
		for i, one := range found {
			if i == 5 {
				break
			}
			fmt.Fprintln(out, "       "+one)
		}
	}
}
