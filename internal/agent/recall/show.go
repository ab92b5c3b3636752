package recall

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/prompts"
)

const (
	// userChars, directiveChars and noteChars bound what every request holds.
	userChars      = 1200
	directiveChars = 600
	noteChars      = 1500
	noteDays       = 3
	// factChars bounds a fact in a block.
	factChars = 300
)

// Line returns a fact as a model reads it: "[2026-11-20] Walks at seven. (f1)",
// dated by its last change in the person's zone; nil is UTC.
func Line(fact models.Fact, zone *time.Location) string {
	return fmt.Sprintf("[%s] %s (%s)", localDate(fact.UpdatedAt, zone), text.TruncateWithin(plainLine(fact.Text), factChars), fact.ID)
}

// Lines shows facts in the order they have.
func Lines(facts []models.Fact, zone *time.Location) []string {
	out := make([]string, 0, len(facts))
	for _, fact := range facts {
		out = append(out, Line(fact, zone))
	}
	return out
}

func localDate(at time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	return at.In(zone).Format(time.DateOnly)
}

// Warm is part of every request of a person, for any question, so it may be
// cached until a fact or the profile changes. IDs are the facts in it.
type Warm struct {
	User       string
	Directives string
	IDs        []string
}

// NewWarm chooses, newest first: who the person is, what they want and cannot
// do, after the lines of the profile; and what they prefer, after the lines of
// directives. Events come up by search only. Other people's facts and forgotten
// ones are left out. Whole lines count; what does not fit is left to the
// search.
func NewWarm(in WarmInput) Warm {
	facts := slices.Clone(in.Facts)
	slices.SortFunc(facts, newestFirst)
	user, directives := lineBudget{limit: userChars}, lineBudget{limit: directiveChars}
	for _, line := range in.Profile {
		user.addLine(text.TruncateWithin(plainLine(line), factChars))
	}
	for _, line := range in.Directives {
		directives.addLine(text.TruncateWithin(plainLine(line), factChars))
	}
	var warm Warm
	owner := Bounds{ParticipantID: in.ParticipantID}
	for _, fact := range facts {
		if !owner.canShow(models.FoundFact{Fact: fact, ByWords: true}) || slices.Contains(warm.IDs, fact.ID) {
			continue
		}
		if into := budgetFor(fact.Kind, &user, &directives); into != nil && into.addLine(Line(fact, in.Zone)) {
			warm.IDs = append(warm.IDs, fact.ID)
		}
	}
	warm.User, warm.Directives = user.joinLines(), directives.joinLines()
	return warm
}

// WarmInput is what NewWarm chooses from. Profile and Directives are lines
// that the request does not hold elsewhere; Facts may be in any order.
type WarmInput struct {
	ParticipantID string
	Profile       []string
	Directives    []string
	Facts         []models.Fact
	Zone          *time.Location
}

// budgetFor returns the budget that a kind of fact is shown in; it is nil for
// events.
func budgetFor(kind models.FactKind, user, directives *lineBudget) *lineBudget {
	switch kind {
	case models.FactIdentity, models.FactGoal, models.FactConstraint:
		return user
	case models.FactPreference:
		return directives
	case models.FactEvent:
	}
	return nil
}

// lineBudget takes lines up to a number of characters.
type lineBudget struct {
	limit, used int
	lines       []string
}

// addLine adds a line and reports whether it fitted.
func (r *lineBudget) addLine(line string) bool {
	size := utf8.RuneCountInString(line)
	if len(r.lines) > 0 {
		size++
	}
	if line == "" || r.used+size > r.limit {
		return false
	}
	r.lines = append(r.lines, line)
	r.used += size
	return true
}

func (r *lineBudget) joinLines() string { return strings.Join(r.lines, "\n") }

// NotesText returns the notes of the last three local days up to today, newest
// first, each after its date, at most 1,500 characters; older text is cut
// first. Today is a local date, YYYY-MM-DD.
func NotesText(notes []models.Note, participantID, today string) string {
	notes = slices.DeleteFunc(slices.Clone(notes), func(note models.Note) bool {
		return note.ParticipantID != participantID || strings.TrimSpace(note.Text) == "" || !isRecentDay(note.LocalDate, today)
	})
	slices.SortFunc(notes, func(a, b models.Note) int { return strings.Compare(b.LocalDate, a.LocalDate) })
	var parts []string
	for _, note := range notes[:min(len(notes), noteDays)] {
		parts = append(parts, "["+note.LocalDate+"] "+plainLines(note.Text))
	}
	return text.TruncateWithin(strings.Join(parts, "\n"), noteChars)
}

// isRecentDay reports whether a local date is one of the last three up to
// today.
func isRecentDay(day, today string) bool {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return false
	}
	now, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return false
	}
	age := now.Sub(at)
	return age >= 0 && age < noteDays*24*time.Hour
}

// plainLines keeps the lines of a text and takes from each what would open a
// section; blank ones go.
func plainLines(text string) string {
	var out []string
	for line := range strings.Lines(strings.ToValidUTF8(text, "")) {
		if line = plainLine(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// Framed puts what was remembered behind the sentences that make it reference
// and not instruction, and let the newest entry hold. Parts are blocks such as
// those of Warm, NotesText, Lines and a digest, in order; blank ones are left
// out, and without any the result is empty. It fails only when the prompt
// cannot be rendered.
func Framed(lib *prompts.Library, parts ...string) (string, error) {
	var kept []string
	for _, part := range parts {
		if part = plainLines(part); part != "" {
			kept = append(kept, part)
		}
	}
	if len(kept) == 0 {
		return "", nil
	}
	text, err := lib.Render(prompts.MemoryFraming, prompts.StageData{Material: strings.Join(kept, "\n")})
	return text, wrap.Error(err, "rendering memory section")
}
