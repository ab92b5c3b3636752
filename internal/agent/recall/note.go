package recall

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
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
	// Notes are the notes so far, of any days.
	Notes []models.Note
	Zone  *time.Location
}

// NotePlan is one note to write: the first of a local day, or an addition.
type NotePlan struct {
	// Earlier is the note so far, with the person and the day set.
	Earlier  models.Note
	Material string
	// Rewrite: the note has no space left, so the answer replaces it; the request
	// holds all of it.
	Rewrite bool
	// Upto is the newest entry in the material.
	Upto int64
}

// PlanNotes lists the notes that are open, oldest day first, one for each
// local day.
func PlanNotes(d NoteInput) []NotePlan {
	byDay := map[string]*NotePlan{}
	lines := map[string][]string{}
	for _, entry := range d.Entries {
		line, day := noteLine(entry), localDate(entry.At, d.Zone)
		if line == "" || entry.ID <= d.coveredUpto(day) {
			continue
		}
		if byDay[day] == nil {
			earlier := d.noteOf(day)
			full := noteWords-countWords(earlier.Text) < addedWords || noteMost-countChars(earlier.Text) < addedMost
			byDay[day] = &NotePlan{Earlier: earlier, Rewrite: full}
		}
		byDay[day].Upto = max(byDay[day].Upto, entry.ID)
		lines[day] = append(lines[day], line)
	}
	var plans []NotePlan
	for day, plan := range byDay {
		plan.Material = strings.Join(lines[day], "\n")
		plans = append(plans, *plan)
	}
	slices.SortFunc(plans, func(a, b NotePlan) int { return strings.Compare(a.Earlier.LocalDate, b.Earlier.LocalDate) })
	return plans
}

// DayOver reports whether the last day before that of the newest entry has
// something that its note lacks.
func (d NoteInput) DayOver() bool {
	if len(d.Entries) == 0 {
		return false
	}
	today := localDate(d.Entries[len(d.Entries)-1].At, d.Zone)
	for _, entry := range slices.Backward(d.Entries) {
		if day := localDate(entry.At, d.Zone); day != today && noteLine(entry) != "" {
			return entry.ID > d.coveredUpto(day)
		}
	}
	return false
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

// coveredUpto returns the newest entry that the note of a day covers.
func (d NoteInput) coveredUpto(day string) int64 { return d.noteOf(day).UptoMessage }

// countWords returns the number of words of a text.
func countWords(text string) int { return len(strings.Fields(text)) }

// Request asks for the note, or for what to add to it. It fails only when the
// prompt cannot be rendered; then try after the next turn.
func (p NotePlan) Request(lib *prompts.Library, model string) (models.ChatRequest, error) {
	data := prompts.StageData{Earlier: strings.TrimSpace(p.Earlier.Text), Material: p.Material}
	data.Limit = noteWords - countWords(data.Earlier)
	if p.Rewrite {
		data.Limit = noteWords
		data.Material = "Earlier that day:\n" + data.Earlier + "\n\nThen:\n" + data.Material
		data.Earlier = ""
	}
	req, err := renderRequest(lib, prompts.DailyNote, data, model)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering note request: %w", err)
	}
	return req, nil
}

// Merge returns the note to store: what it said so far stays, and the answer is
// added below it, within 200 words; only a rewrite, whose request held all of
// it, replaces it. The answer that nothing is worth a note moves only
// UptoMessage. ok is false when there is no answer: the entries stay open, and
// it is asked for again after the next turn.
func (p NotePlan) Merge(answer string, now time.Time) (note models.Note, ok bool) {
	text := answerText(answer)
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
