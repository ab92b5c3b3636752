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
	// spaces, in characters (J51).
	noteWords = 200
	noteMost  = 1400
	// addedWords and addedMost are the least room for an addition; with less,
	// the note is written anew from itself and what came.
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
	// Rewrite: the note has no room left, so the answer replaces it; the
	// request holds all of it.
	Rewrite bool
	// Upto is the newest entry in the material.
	Upto int64
}

// PlanNotes lists the notes that are open, oldest day first, one for each
// local day (J51, P44).
func PlanNotes(d NoteInput) []NotePlan {
	byDay := map[string]*NotePlan{}
	lines := map[string][]string{}
	for _, entry := range d.Entries {
		line, day := noted(entry), localDate(entry.At, d.Zone)
		if line == "" || entry.ID <= d.covered(day) {
			continue
		}
		if byDay[day] == nil {
			earlier := d.note(day)
			full := noteWords-words(earlier.Text) < addedWords || noteMost-chars(earlier.Text) < addedMost
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
		if day := localDate(entry.At, d.Zone); day != today && noted(entry) != "" {
			return entry.ID > d.covered(day)
		}
	}
	return false
}

// noted is the line of an entry in a note; empty for what does not belong there.
// Tool rows never do (J17).
func noted(entry models.Message) string {
	if entry.Kind == models.KindToolCall || entry.Kind == models.KindToolResult || entry.Role == models.RoleTool {
		return ""
	}
	return lineOf(entry)
}

func (d NoteInput) note(day string) models.Note {
	for _, note := range d.Notes {
		if note.ParticipantID == d.ParticipantID && note.LocalDate == day {
			return note
		}
	}
	return models.Note{ParticipantID: d.ParticipantID, LocalDate: day}
}

func (d NoteInput) covered(day string) int64 { return d.note(day).UptoMessage }

func words(text string) int { return len(strings.Fields(text)) }

// Request asks for the note, or for what to add to it. It fails only when the
// prompt cannot be rendered; then try after the next turn.
func (p NotePlan) Request(lib *prompts.Library, model string) (models.ChatRequest, error) {
	data := prompts.StageData{Earlier: strings.TrimSpace(p.Earlier.Text), Material: p.Material}
	data.Limit = noteWords - words(data.Earlier)
	if p.Rewrite {
		data.Limit = noteWords
		data.Material = "Earlier that day:\n" + data.Earlier + "\n\nThen:\n" + data.Material
		data.Earlier = ""
	}
	req, err := render(lib, prompts.DailyNote, data, model)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering note request: %w", err)
	}
	return req, nil
}

// Merge is the note to store: what it said so far stays, and the answer is
// added below it, within 200 words; only a rewrite, whose request held all of
// it, replaces it (P46). The answer that nothing is worth a note moves only
// UptoMessage. ok is false when there is no answer: the entries stay open, and
// it is asked for again after the next turn.
func (p NotePlan) Merge(answer string, now time.Time) (note models.Note, ok bool) {
	text := said(answer)
	if text == "" {
		return p.Earlier, false
	}
	note = p.Earlier
	note.UptoMessage, note.UpdatedAt = max(p.Upto, note.UptoMessage), now.UTC()
	earlier := strings.TrimSpace(note.Text)
	switch {
	case isNone(text):
	case p.Rewrite || earlier == "":
		note.Text = short(text, noteWords, noteMost)
	default:
		// An answer that repeats the note is not stored twice.
		text = strings.TrimSpace(strings.TrimPrefix(text, earlier))
		added := short(text, noteWords-words(earlier), noteMost-chars(earlier)-1)
		note.Text = strings.TrimSpace(earlier + "\n" + added)
	}
	return note, true
}

// short keeps whole lines while they fit, and cuts the first that does not.
func short(body string, mostWords, mostChars int) string {
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
		if chars(line) > mostChars {
			line = text.Truncate(line, mostChars-1)
		}
		out = append(out, line)
		mostWords -= len(fields)
		mostChars -= chars(line) + 1
	}
	return strings.Join(out, "\n")
}
