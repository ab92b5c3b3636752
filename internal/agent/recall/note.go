package recall

import (
	"slices"
	"strings"
	"time"

	"coachline/internal/text"
	"coachline/models"
)

const (
	// noteWords and noteMost bound a note, in words and, for scripts without
	// spaces, in characters.
	noteWords = 200
	noteMost  = 1400
	// addedWords and addedMost are the least space for an addition; with less, the
	// note is written anew from itself and what came.
	addedWords = 40
	addedMost  = 280
)

// NoteInput is what the notes of a person are made from.
type NoteInput struct {
	ParticipantID string
	// Entries are the entries of the conversation, oldest first; those that a
	// note covers are skipped.
	Entries []models.Message
	// Notes are the newest notes so far. The furthest entry that one of them
	// covers stands for everything before it, also for days without a note.
	Notes []models.Note
	Zone  *time.Location
	// ContextTokens is the window of the model; 0 is unknown.
	ContextTokens int
}

// NotePlan is the note to write: the first of a local day, or an addition.
type NotePlan struct {
	// Earlier is the note so far, with the person and the day set.
	Earlier  models.Note
	Material string
	// Rewrite: the note has no space left, so the answer replaces it; the request
	// holds all of it.
	Rewrite bool
	// Upto is the newest entry in the material.
	Upto int64

	// from is the newest entry that an earlier note covers, said what the person
	// wrote since.
	from int64
	said []string
}

// PlanNote draws the note of the day of the newest entry from all that is new.
// Where that began on an earlier day, each day is headed by its date. It is not
// open where the person wrote nothing new. What one request should not hold is
// left out, the oldest first.
func PlanNote(d NoteInput) (plan NotePlan, open bool) {
	plan.from = d.coveredUpto()
	var lines []string
	tokens, day := 0, ""
	for _, entry := range slices.Backward(d.Entries) {
		line, own := noteLine(entry), localDate(entry.At, d.Zone)
		if line == "" || entry.ID <= plan.from {
			continue
		}
		tokens += EstimateTokens(line)
		if d.ContextTokens > 0 && float64(tokens) > oversizeShare*float64(d.ContextTokens) {
			break
		}
		if plan.Upto == 0 {
			plan.Earlier, plan.Upto = d.noteOf(own), entry.ID
		} else if own != day {
			lines = append(lines, day+":")
		}
		day = own
		lines = append(lines, line)
		if entry.Role == models.RoleUser {
			plan.said = append(plan.said, text.OneLine(entry.Text))
		}
	}
	if day != plan.Earlier.LocalDate {
		lines = append(lines, day+":")
	}
	slices.Reverse(lines)
	slices.Reverse(plan.said)
	plan.Material = strings.Join(lines, "\n")
	plan.Rewrite = noteWords-countWords(plan.Earlier.Text) < addedWords || noteMost-countChars(plan.Earlier.Text) < addedMost
	return plan, len(plan.said) > 0
}

// noteLine returns the line of an entry in a note; it is empty for what does
// not belong there. Tool rows never do.
func noteLine(entry models.Message) string {
	if entry.Kind == models.KindToolCall || entry.Kind == models.KindToolResult || entry.Role == models.RoleTool {
		return ""
	}
	return lineOf(entry)
}

// noteOf returns the note of a day, or an empty one with the person and the day
// set.
func (d NoteInput) noteOf(day string) models.Note {
	for _, note := range d.Notes {
		if note.ParticipantID == d.ParticipantID && note.LocalDate == day {
			return note
		}
	}
	return models.Note{ParticipantID: d.ParticipantID, LocalDate: day}
}

// coveredUpto returns the newest entry that a note covers.
func (d NoteInput) coveredUpto() int64 {
	upto := int64(0)
	for _, note := range d.Notes {
		if note.ParticipantID == d.ParticipantID {
			upto = max(upto, note.UptoMessage)
		}
	}
	return upto
}

func countWords(text string) int { return len(strings.Fields(text)) }

// wordsLeft returns how many words the answer may have.
func (p NotePlan) wordsLeft() int {
	if p.Rewrite {
		return noteWords
	}
	return noteWords - countWords(p.Earlier.Text)
}

// Merge returns the note to store: what it said so far stays, and the answer is
// added below it, within 200 words; only a rewrite, whose request held all of
// it, replaces it. The answer that nothing is worth a note moves only
// UptoMessage. ok is false when there is no answer.
func (p NotePlan) Merge(answer string, now time.Time) (note models.Note, ok bool) {
	text := keepLines(answerText(answer))
	if text == "" {
		return p.Earlier, false
	}
	note = p.Earlier
	note.UptoMessage, note.UpdatedAt = max(p.Upto, note.UptoMessage), now.UTC()
	earlier := strings.TrimSpace(note.Text)
	switch {
	case isNone(text):
	case p.Rewrite || earlier == "":
		note.Text = truncateLines(text, noteWords, noteMost)
	default:
		// An answer that repeats the note is not stored twice.
		text = strings.TrimSpace(strings.TrimPrefix(text, earlier))
		added := truncateLines(text, noteWords-countWords(earlier), noteMost-countChars(earlier)-1)
		note.Text = strings.TrimSpace(earlier + "\n" + added)
	}
	return note, true
}

// truncateLines keeps whole lines while they fit, and cuts the first that does
// not.
func truncateLines(body string, mostWords, mostChars int) string {
	var out []string
	for line := range strings.Lines(body) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if mostWords <= 0 || mostChars <= 1 {
			break
		}
		line = strings.Join(fields[:min(len(fields), mostWords)], " ")
		if countChars(line) > mostChars {
			line = text.Truncate(line, mostChars-1)
		}
		out = append(out, line)
		mostWords -= len(fields)
		mostChars -= countChars(line) + 1
	}
	return strings.Join(out, "\n")
}
