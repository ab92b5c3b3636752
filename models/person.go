package models

import (
	"iter"
	"strings"
	"unicode"
)

// PersonField says what one text about a person is, and where it goes. All that
// handles such texts goes over PersonFields.
type PersonField struct {
	// Name is the field's name in the API, in files of people and in the audit,
	// Column that of its column.
	Name, Column string
	// Length is the most characters that it may have; HasLines says that they may
	// stand in several lines.
	Length   int
	HasLines bool
	// IsPersonal keeps it from callers who may not see personal data.
	IsPersonal bool
	// IsToldToModel lets a model see it, disarmed and masked.
	IsToldToModel bool
	// IsClearable lets null clear it.
	IsClearable bool
	// IsStratum gives its value to a stratum of its name.
	IsStratum bool

	of func(*Participant) *string
}

// PersonFields lists the texts about a person that operators give and change, in the
// order in which they are shown.
func PersonFields() []PersonField {
	return []PersonField{
		{Name: "phone_number", Column: "phone", Length: 40, IsPersonal: true, of: func(p *Participant) *string { return &p.Phone }},
		{Name: "name", Column: "name", Length: 100, IsPersonal: true, IsToldToModel: true, IsClearable: true, of: func(p *Participant) *string { return &p.Name }},
		{
			Name: "gender", Column: "gender", Length: 100, IsPersonal: true, IsToldToModel: true, IsClearable: true, IsStratum: true,
			of: func(p *Participant) *string { return &p.Gender },
		},
		{
			Name: "ethnicity", Column: "ethnicity", Length: 100, IsPersonal: true, IsToldToModel: true, IsClearable: true, IsStratum: true,
			of: func(p *Participant) *string { return &p.Ethnicity },
		},
		{
			Name: "background", Column: "background", Length: 2000, HasLines: true, IsPersonal: true, IsToldToModel: true, IsClearable: true,
			of: func(p *Participant) *string { return &p.Background },
		},
		{Name: "timezone", Column: "timezone", Length: 64, of: func(p *Participant) *string { return &p.Timezone }},
		{
			Name: "locale", Column: "locale", Length: 35, IsToldToModel: true, IsClearable: true, IsStratum: true,
			of: func(p *Participant) *string { return &p.Locale },
		},
	}
}

// Texts goes over the texts about the person, each with what it is.
func (p *Participant) Texts() iter.Seq2[PersonField, *string] {
	return func(yield func(PersonField, *string) bool) {
		for _, field := range PersonFields() {
			if !yield(field, field.of(p)) {
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
