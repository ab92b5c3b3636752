// Package cohort reads a file of people who are to be enrolled together: which
// column is what, what is wrong with which cell, and who stands in it twice. What
// the installation knows of the numbers is checked by its callers.
package cohort

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"coachline/internal/coach"
	"coachline/internal/screening"
	"coachline/internal/sheet"
	"coachline/internal/sms"
	"coachline/models"
)

// MaxRows is the most people of one file.
const MaxRows = 20000

// Options say how a file is read.
type Options struct {
	// IgnoreUnknown leaves out columns whose name is not known.
	IgnoreUnknown bool
	// Region is the ISO 3166 code that a number without a country code belongs to,
	// Zone that of people whose zone is not known.
	Region, Zone string
	// OurNumbers are the programme's own, which cannot be enrolled.
	OurNumbers []string
}

// List is what a file says.
type List struct {
	// Rows counts the people in the file, with those who have faults.
	Rows int
	// IsBroken: the file could not be read to its end, so that even the rows without
	// a fault are not to be used.
	IsBroken bool
	// People are those without a fault, in the order of the file.
	People []models.CohortRow
	// Faults are the first ones, in the order of the file; FaultCount counts all,
	// except that reading stops where the file is no table any more.
	Faults     []models.CohortFault
	FaultCount int
}

// AddFault counts a fault and keeps it while there is room.
func (l *List) AddFault(fault models.CohortFault) {
	l.FaultCount++
	l.IsBroken = l.IsBroken || fault.Kind == models.FaultFile || fault.Kind == models.FaultColumn
	if len(l.Faults) < models.MaxCohortFault {
		l.Faults = append(l.Faults, fault)
	}
}

// SortFaults puts the faults into the order of the file.
func (l *List) SortFaults() {
	slices.SortStableFunc(l.Faults, func(a, b models.CohortFault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// field is a column that is known: its name in the API, other names of it, and how
// many characters its cells may have.
type field struct {
	name    string
	aliases []string
	most    int
	set     func(*models.CohortRow, string)
	// lines: cells may have several.
	lines bool
}

const (
	phoneField  = "phone_number"
	zoneField   = "timezone"
	localeField = "locale"
	// What the person has agreed to, where their study has a consent text.
	consentVersionField = "consent_version"
	consentLocaleField  = "consent_locale"
	consentDateField    = "consent_date"
)

// fields lists the columns that are known.
var fields = newFields()

func newFields() []field {
	known := []field{{name: phoneField, aliases: []string{"phone", "mobile"}, set: func(p *models.CohortRow, s string) { p.Phone = s }}}
	var texts models.PersonTexts[string]
	for text := range texts.All() {
		known = append(known, field{name: text.Name, set: func(p *models.CohortRow, s string) { *p.Text(text.Name) = s }})
	}
	known = append(known, []field{
		{name: zoneField, aliases: []string{"tz"}, set: func(p *models.CohortRow, s string) { p.Timezone = s }},
		{name: localeField, aliases: []string{"language"}, set: func(p *models.CohortRow, s string) { p.Locale = s }},
		{name: consentVersionField, most: 9, set: func(p *models.CohortRow, s string) { p.ConsentVersion, _ = strconv.Atoi(s) }},
		{name: consentLocaleField, most: 35, set: func(p *models.CohortRow, s string) { p.ConsentLocale = s }},
		{name: consentDateField, most: 35, set: func(p *models.CohortRow, s string) { p.ConsentDate = s }},
	}...)
	for _, text := range models.PersonFields() {
		for i := range known {
			if known[i].name == text.Name {
				known[i].most, known[i].lines = text.Length, text.HasLines
			}
		}
	}
	return known
}

// Columns lists the names of columns that are known, each with its other names.
func Columns() string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
		if len(f.aliases) > 0 {
			names[i] += " (or " + strings.Join(f.aliases, ", ") + ")"
		}
	}
	return strings.Join(append(names, stratumPrefix+"NAME"), ", ")
}

// stratumPrefix begins the names of columns that hold the level of a stratum; what
// follows is the stratum's name. Which strata there are is for the study to say.
const stratumPrefix = "stratum:"

// fieldOf returns the field that a column's name stands for; nil for none.
func fieldOf(name string) *field {
	name = strings.TrimSpace(name)
	if prefix, stratum, found := strings.Cut(name, ":"); found && strings.EqualFold(prefix+":", stratumPrefix) && strings.TrimSpace(stratum) != "" {
		return newStratumField(strings.TrimSpace(stratum))
	}
	name = strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(name))
	for i, f := range fields {
		if name == f.name || slices.Contains(f.aliases, name) {
			return &fields[i]
		}
	}
	return nil
}

func newStratumField(stratum string) *field {
	const most = 100
	return &field{name: stratumPrefix + stratum, most: most, set: func(p *models.CohortRow, level string) {
		if level == "" {
			return // not known yet
		}
		if p.Strata == nil {
			p.Strata = map[string]string{}
		}
		p.Strata[stratum] = level
	}}
}

// Parse reads a file. What is wrong with it is among the faults.
func Parse(raw []byte, options Options) List {
	p := parser{options: options, lineOf: map[string]int{}, zones: map[string]string{}}
	table, err := sheet.Read(raw, func(name string) bool { return fieldOf(name) != nil }, models.MaxCohortFault)
	if err != nil {
		p.list.AddFault(models.CohortFault{Kind: models.FaultFile, Message: err.Error()})
		return p.list
	}
	for _, fault := range table.Faults {
		kind := models.FaultRow
		if fault.Ends {
			kind = models.FaultFile
		}
		p.addFault(kind, fault.At, "", fault.Message)
	}
	switch {
	case len(table.Rows) == 0 && len(table.Faults) == 0:
		p.list.AddFault(models.CohortFault{Kind: models.FaultFile, Message: "the file is empty"})
	case len(table.Rows) > 0 && p.readHeader(table.Rows[0]):
		p.readPeople(table.Rows[1:])
	}
	p.list.SortFaults()
	return p.list
}

type parser struct {
	options Options
	list    List
	// columns are the fields of the columns; nil for one that is left out.
	columns []*field
	// lineOf is where a number was first.
	lineOf map[string]int
	zones  map[string]string // what is wrong with a name
}

func (p *parser) addFault(kind string, at sheet.Position, name, message string) {
	p.list.AddFault(models.CohortFault{Line: at.Line, Column: at.Column, Kind: kind, Field: name, Message: message})
}

// readHeader finds out which column is what; false where that is not known, so
// that the rows cannot be read.
func (p *parser) readHeader(header []sheet.Cell) bool {
	before := p.list.FaultCount
	seen := map[string]bool{}
	for _, cell := range header {
		name := strings.TrimSpace(cell.Text)
		found := fieldOf(name)
		p.columns = append(p.columns, found)
		switch {
		case found == nil && name != "" && !p.options.IgnoreUnknown:
			p.addFault(models.FaultColumn, cell.At, "", fmt.Sprintf("column %q is not known; the columns are %s", shorten(name), Columns()))
		case found != nil && seen[found.name]:
			p.addFault(models.FaultColumn, cell.At, found.name, fmt.Sprintf("column %q is there twice", found.name))
		}
		if found != nil {
			seen[found.name] = true
		}
	}
	if !seen[phoneField] {
		p.addFault(models.FaultColumn, header[0].At, phoneField, "the first row names no column "+phoneField+" (or phone, mobile)")
	}
	return p.list.FaultCount == before
}

func (p *parser) readPeople(rows [][]sheet.Cell) {
	if len(rows) == 0 {
		p.list.AddFault(models.CohortFault{Kind: models.FaultFile, Message: "the file names no person"})
	}
	for i, row := range rows {
		if i == MaxRows {
			p.addFault(models.FaultFile, row[0].At, "", fmt.Sprintf("the file has more than %d people; divide it", MaxRows))
			return
		}
		p.list.Rows++
		before := p.list.FaultCount
		person := p.readPerson(row)
		if p.list.FaultCount == before {
			p.list.People = append(p.list.People, person)
		}
	}
}

func (p *parser) readPerson(row []sheet.Cell) models.CohortRow {
	var person models.CohortRow
	if len(row) < len(p.columns) {
		p.addFault(models.FaultRow, row[0].At, "", fmt.Sprintf("the row has %d cells, the first row %d", len(row), len(p.columns)))
		return person
	}
	var phone sheet.Cell
	for i, cell := range row {
		text := strings.TrimSpace(cell.Text)
		if i >= len(p.columns) || p.columns[i] == nil {
			p.checkUnnamed(i, cell)
			continue
		}
		f := p.columns[i]
		f.set(&person, text)
		p.checkText(f, cell.At, text)
		switch f.name {
		case phoneField:
			phone = cell
		case zoneField:
			p.checkZone(cell.At, text)
		case consentVersionField:
			if text != "" && person.ConsentVersion < 1 {
				p.addFault(models.FaultCell, cell.At, f.name, "must be a whole number from 1")
			}
		case consentDateField:
			if _, err := models.ParseConsentDate(text); err != nil {
				p.addFault(models.FaultCell, cell.At, f.name, err.Error())
			}
		case localeField:
			if text != "" && !screening.HasRules(text) {
				p.addFault(models.FaultCell, cell.At, localeField,
					"must be a locale such as es-MX in a language that is screened: "+strings.Join(screening.Languages(), ", "))
			}
		}
	}
	p.readPhone(&person, phone)
	return person
}

// checkUnnamed refuses a cell of a column that has no name; columns whose name is
// not known were refused before, or are left out.
func (p *parser) checkUnnamed(column int, cell sheet.Cell) {
	if column >= len(p.columns) && strings.TrimSpace(cell.Text) != "" {
		p.addFault(models.FaultRow, cell.At, "", fmt.Sprintf("the row has more cells than the %d of the first row", len(p.columns)))
	}
}

func (p *parser) checkText(f *field, at sheet.Position, text string) {
	if utf8.RuneCountInString(text) > f.most {
		p.addFault(models.FaultCell, at, f.name, fmt.Sprintf("has more than %d characters", f.most))
	}
	if err := models.CheckText(f.name, text, f.lines); err != nil {
		p.addFault(models.FaultCell, at, f.name, strings.TrimPrefix(err.Error(), f.name+": "))
	}
}

func (p *parser) checkZone(at sheet.Position, name string) {
	if name == "" {
		return
	}
	problem, known := p.zones[name]
	if !known {
		if err := coach.CheckZoneName(name, time.LoadLocation); err != nil {
			problem = err.Error()
		}
		p.zones[name] = problem
	}
	if problem != "" {
		p.addFault(models.FaultCell, at, zoneField, problem)
	}
}

// readPhone writes the number in its one form, finds repetitions, and suggests a
// zone where the file says none.
func (p *parser) readPhone(person *models.CohortRow, cell sheet.Cell) {
	person.Line, person.Column = cell.At.Line, cell.At.Column
	phone, message := p.canonical(strings.TrimSpace(cell.Text))
	if message != "" {
		p.addFault(models.FaultCell, cell.At, phoneField, message)
		return
	}
	if first, repeated := p.lineOf[phone]; repeated {
		p.list.AddFault(models.CohortFault{
			Line: cell.At.Line, Column: cell.At.Column, Kind: models.FaultRepeated, Field: phoneField, Value: phone,
			Message: fmt.Sprintf("the same number as in line %d", first),
		})
		return
	}
	p.lineOf[phone] = cell.At.Line
	person.Phone = phone
	if person.Timezone != "" {
		return
	}
	person.ZoneAssumed, person.Timezone = true, p.options.Zone
	if zone, found := sms.SuggestZone(phone); found {
		person.ZoneSuggested, person.Timezone = true, zone
	}
}

func (p *parser) canonical(text string) (phone, message string) {
	if isRounded(text) {
		return "", "was made a rounded number by a spreadsheet; format the column as text"
	}
	phone, err := sms.Canonical(text, p.options.Region)
	if err != nil {
		return "", strings.TrimPrefix(err.Error(), phoneField+": ")
	}
	if slices.Contains(p.options.OurNumbers, phone) {
		return "", "is the programme's own number"
	}
	return phone, ""
}

// isRounded recognises how spreadsheets write large numbers, such as 1.55587E+10.
func isRounded(text string) bool {
	digits, exponent, found := strings.Cut(strings.ToUpper(text), "E+")
	isDigits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return found && isDigits(exponent) && isDigits(strings.NewReplacer(".", "", ",", "").Replace(digits))
}

// shorten keeps a name of a column from filling the message.
func shorten(name string) string {
	const most = 40
	runes := []rune(name)
	if len(runes) <= most {
		return name
	}
	return string(runes[:most]) + "..."
}
