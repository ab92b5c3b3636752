package recall

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/text"
	"coachline/models"
)

const (
	// manyEntries and fullShare are when a summary is due.
	manyEntries = 20
	fullShare   = 0.75
	// keptEntries stay as they are, rounded up to whole turns.
	keptEntries = 4
	// oversizeShare is the share of the window from which on an entry is left
	// out with a note, and the most that one summary reads.
	oversizeShare = 0.5
	// summaryChars is what a summary is asked to keep to, summaryMost where it
	// is cut, and summaryTokens what the server may spend.
	summaryChars  = 2000
	summaryMost   = 3000
	summaryTokens = 1024
)

// SummaryInput is what decides whether a summary is due.
type SummaryInput struct {
	// Entries are the entries of the conversation, oldest first. Those that the
	// summary covers are skipped.
	Entries []models.Message
	Summary models.Summary
	// ContextTokens is the window of the model; 0 is unknown, and then only the
	// number of entries counts.
	ContextTokens int
}

// SummaryPlan is what a new summary is made of.
type SummaryPlan struct {
	// Earlier is the summary so far; it is part of every request.
	Earlier models.Summary
	// Material are the lines of the entries that the new one replaces.
	Material string
	// Upto is the newest entry in it. Later entries are in the conversation still,
	// also those that arrive while the model works.
	Upto int64
}

// PlanSummary reports what to summarise: due is true with more than
// 20 entries since the last summary, or when they fill more than 75 % of the
// window by estimate. The last four entries, rounded up to whole turns, are
// left alone. What one request should not hold waits for the next one.
func PlanSummary(s SummaryInput) (plan SummaryPlan, due bool) {
	open := s.openEntries()
	if len(open) <= manyEntries && !s.isFull(open) {
		return SummaryPlan{}, false
	}
	end := turnStart(open, len(open)-keptEntries)
	if end <= 0 {
		return SummaryPlan{}, false
	}
	taken, material := s.takeTurns(open[:end])
	return SummaryPlan{Earlier: s.Summary, Material: material, Upto: taken[len(taken)-1].ID}, true
}

// openEntries returns the entries that no summary holds.
func (s SummaryInput) openEntries() []models.Message {
	return slices.DeleteFunc(slices.Clone(s.Entries), func(entry models.Message) bool {
		return entry.ID <= s.Summary.UptoMessage || entry.Kind == models.KindDebug
	})
}

// isFull reports whether open entries fill the window of the model, by
// estimate.
func (s SummaryInput) isFull(open []models.Message) bool {
	tokens := 0
	for _, entry := range open {
		tokens += EstimateTokens(entry.Text)
	}
	return s.ContextTokens > 0 && float64(tokens) > fullShare*float64(s.ContextTokens)
}

// turnStart moves the place of an entry back to the beginning of its turn.
func turnStart(entries []models.Message, at int) int {
	for at > 0 && !isTurnStart(entries[at-1], entries[at]) {
		at--
	}
	return at
}

// isTurnStart reports whether a turn begins at the second of two entries.
func isTurnStart(before, entry models.Message) bool {
	if before.TurnID != "" && entry.TurnID != "" {
		return before.TurnID != entry.TurnID
	}
	return entry.Role == models.RoleUser && before.Role != models.RoleUser
}

// takeTurns returns the longest run of whole turns, at least one, that a
// request should hold, and its lines. Of a longer turn, the texts that do not
// fit are left out, except for those that are as short as the note in their
// place.
func (s SummaryInput) takeTurns(entries []models.Message) (taken []models.Message, material string) {
	budget := int(oversizeShare * float64(s.ContextTokens))
	var lines []string
	size := 0
	for i, entry := range entries {
		line := lineOf(entry)
		start := turnStart(entries, i)
		if budget > 0 && start > 0 && size+EstimateTokens(line) > budget {
			return entries[:start], joinLines(lines[:start])
		}
		note := fmt.Sprintf("(a text of the %s with %d characters was left out)", speakerName(entry.Role), countChars(entry.Text))
		if budget > 0 && size+EstimateTokens(line) > budget && countChars(note) < countChars(line) {
			line = note
		}
		size += EstimateTokens(line)
		lines = append(lines, line)
	}
	return entries, joinLines(lines)
}

// joinLines joins the lines that are not blank.
func joinLines(lines []string) string { return strings.Join(dropBlank(lines), "\n") }

// Merge returns the summary to store, with the version that it replaces; the
// store raises it. ok is false when the answer is no summary: nothing changes,
// the entries stay open, and it is asked for again with the next closing.
func (p SummaryPlan) Merge(answer string, now time.Time) (summary models.Summary, ok bool) {
	body := keepLines(answerText(answer))
	if body == "" || isNone(body) {
		return p.Earlier, false
	}
	summary = p.Earlier
	summary.Text, summary.UptoMessage, summary.UpdatedAt = text.Truncate(body, summaryMost-1), p.Upto, now.UTC()
	return summary, true
}
