// Package models holds table rows, what the store is asked and answers, and the tables of
// kinds and channels. What the histories of workflows hold is in package wire, the only
// other one that it imports beside the standard library.
package models

import (
	"cmp"
	"iter"
	"strconv"
	"strings"
	"unicode"
)

// PersonTexts are the texts by which a person is described. T is string where all of
// them are given, and *string in a change, in which nil keeps what is there.
type PersonTexts[T any] struct {
	Name       T `json:"name,omitempty" gorm:"serializer:sealed" maxLength:"100"`
	Gender     T `json:"gender,omitempty" gorm:"serializer:sealed" maxLength:"100"`
	Ethnicity  T `json:"ethnicity,omitempty" gorm:"serializer:sealed" maxLength:"100"`
	Location   T `json:"location,omitempty" gorm:"serializer:sealed" maxLength:"100"`
	Background T `json:"background,omitempty" gorm:"serializer:sealed" maxLength:"2000"`
	BirthYear  T `json:"birth_year,omitempty" gorm:"serializer:sealed" maxLength:"100"`
}

// PersonShown has the same texts, for an answer that holds them also where they are
// empty. One converts to the other, so that neither lacks a field.
type PersonShown struct {
	Name       string `json:"name"`
	Gender     string `json:"gender"`
	Ethnicity  string `json:"ethnicity"`
	Location   string `json:"location"`
	Background string `json:"background"`
	BirthYear  string `json:"birth_year"`
}

func (t *PersonTexts[T]) list() []*T {
	return []*T{&t.Name, &t.Gender, &t.Ethnicity, &t.Location, &t.Background, &t.BirthYear}
}

var personTexts = []PersonField{
	{Name: "name", Label: "Name", Length: 100},
	{Name: "gender", Label: "Gender", Length: 100, IsStratum: true},
	{Name: "ethnicity", Label: "Ethnicity", Length: 100, IsStratum: true},
	{Name: "location", Label: "Location", Meaning: "the city or place where they live", Length: 100, WhenEmpty: "unknown"},
	{Name: "background", Label: "Background", Meaning: "what the coach should know", Length: 2000, HasLines: true},
	{Name: "birth_year", Label: "Birth year", Meaning: "the year of birth, in four figures", Length: 100},
}

// PersonField says what one text about a person is, and where it goes. All that
// handles such texts goes over PersonFields.
type PersonField struct {
	// Name is the field's name in the API, in files of people, in flags and in the
	// audit, Column that of its column.
	Name, Column string
	// Label is what people read before its value, Meaning what it is for where the
	// label does not say so.
	Label, Meaning string
	// Length is the most characters that it may have; HasLines says that they may
	// stand in several lines.
	Length   int
	HasLines bool
	// IsPersonal keeps it from callers who may not see personal data; its column is
	// sealed.
	IsPersonal bool
	// IsToldToModel lets a model see it, disarmed and masked.
	IsToldToModel bool
	// WhenEmpty is what a model reads where nothing is given; "" leaves the line out.
	WhenEmpty string
	// IsClearable lets null clear it.
	IsClearable bool
	// IsStratum gives its value to a stratum of its name.
	IsStratum bool

	// Of is the field of a participant, ChangeOf that of a change.
	Of       func(*Participant) *string
	ChangeOf func(*ParticipantPatch) **string
}

// Usage says in the help of a flag what the field is.
func (f PersonField) Usage() string { return cmp.Or(f.Meaning, strings.ToLower(f.Label)) }

var personFields = newPersonFields()

// PersonalColumns lists the columns of personal texts, which are sealed.
func PersonalColumns() []string {
	var columns []string
	for _, field := range personFields {
		if field.IsPersonal {
			columns = append(columns, field.Column)
		}
	}
	return columns
}

// PersonFields lists the texts about a person that operators give and change.
func PersonFields() []PersonField { return personFields }

func newPersonFields() []PersonField {
	fields := []PersonField{{
		Name: "phone_number", Column: "phone", Label: "Phone", Length: 40, IsPersonal: true,
		Of:       func(p *Participant) *string { return &p.Phone },
		ChangeOf: func(c *ParticipantPatch) **string { return &c.Phone },
	}}
	for i := range personTexts {
		text := &personTexts[i]
		text.Column, text.IsPersonal, text.IsToldToModel, text.IsClearable = text.Name, true, true, true
		text.Of = func(p *Participant) *string { return p.list()[i] }
		text.ChangeOf = func(c *ParticipantPatch) **string { return c.list()[i] }
		fields = append(fields, *text)
	}
	return append(fields, PersonField{
		Name: "timezone", Column: "timezone", Label: "Time zone", Length: 64,
		Of:       func(p *Participant) *string { return &p.Timezone },
		ChangeOf: func(c *ParticipantPatch) **string { return &c.Timezone },
	}, PersonField{
		Name: "locale", Column: "locale", Label: "Locale", Length: 35, IsToldToModel: true, IsClearable: true, IsStratum: true,
		Of:       func(p *Participant) *string { return &p.Locale },
		ChangeOf: func(c *ParticipantPatch) **string { return &c.Locale },
	})
}

// All goes over the texts, each with what it is.
func (t *PersonTexts[T]) All() iter.Seq2[PersonField, *T] {
	return func(yield func(PersonField, *T) bool) {
		for i, text := range t.list() {
			if !yield(personTexts[i], text) {
				return
			}
		}
	}
}

// Text returns the text of a name, nil for another name.
func (t *PersonTexts[T]) Text(name string) *T {
	for field, text := range t.All() {
		if field.Name == name {
			return text
		}
	}
	return nil
}

// Texts goes over all texts about the person, each with what it is.
func (p *Participant) Texts() iter.Seq2[PersonField, *string] {
	return func(yield func(PersonField, *string) bool) {
		for _, field := range personFields {
			if !yield(field, field.Of(p)) {
				return
			}
		}
	}
}

// WithoutPersonal returns the participant without personal data; the id is the
// pseudonym.
func (p Participant) WithoutPersonal() Participant {
	for field, text := range p.Texts() {
		if field.IsPersonal {
			*text = ""
		}
	}
	return p
}

// CheckText refuses control characters and direction marks in a field of one line,
// and those other than line ends and tabs where hasLines. The error is a *FieldError.
func CheckText(field, text string, hasLines bool) error {
	const lineEnds = "\n\r\t"
	if !strings.ContainsFunc(text, func(r rune) bool { return !isWritten(r) && (!hasLines || !strings.ContainsRune(lineEnds, r)) }) {
		return nil
	}
	return BadField(field, "holds a line end or another control character, or a mark of the direction of writing")
}

// isWritten reports whether a character belongs to a text of one line: no control
// character or line end, and no mark that turns the direction of what follows.
func isWritten(r rune) bool {
	isDirection := r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
	return !unicode.IsControl(r) && !isDirection && r != '\u2028' && r != '\u2029'
}

// Counters of the workflow, without the ending that Prometheus gives them.
const (
	// MetricDrained counts texts that were received just before a run continued
	// as new, MetricUnhandled signals that were lost there.
	MetricDrained   = "coachline_drained_signals"
	MetricUnhandled = "coachline_unhandled_signals"
)

const workflowIDPrefix = "participant-"

// WorkflowID is the workflow id of a participant; it never holds a phone
// number, because ids are visible in lists and outside the payload codec.
func WorkflowID(participantID string) string { return workflowIDPrefix + participantID }

// ParticipantIDOf is the inverse of WorkflowID; ok is false for other ids.
func ParticipantIDOf(workflowID string) (id string, ok bool) {
	return strings.CutPrefix(workflowID, workflowIDPrefix)
}

// TurnID names a turn of a participant: "<participant>-t42".
func TurnID(participantID string, number int) string {
	return participantID + "-t" + strconv.Itoa(number)
}

// ParseTurnID is the inverse of TurnID; ok is false for other texts.
func ParseTurnID(id string) (participantID string, number int, ok bool) {
	at := strings.LastIndex(id, "-t")
	if at < 1 {
		return "", 0, false
	}
	number, err := strconv.Atoi(id[at+2:])
	if err != nil || number < 0 || TurnID(id[:at], number) != id {
		return "", 0, false
	}
	return id[:at], number, true
}

// OutboxID names part n (from 1) of what a turn sends.
func OutboxID(turnID string, part int) string {
	return turnID + "-p" + strconv.Itoa(part)
}
