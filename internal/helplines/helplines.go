// Package helplines knows which numbers a person in danger can call or text, by the
// country that the person is in.
package helplines

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"

	"coachline/internal/region"
)

// Lines are the numbers of a country for people of a language. What is not known is
// empty. Press is the key to press after Call, Word the word to send to Text.
type Lines struct {
	Country   string
	Emergency string
	// Medical is the number for an ambulance, where there is no own one Emergency.
	Medical     string
	Call, Press string
	Text, Word  string
	Violence    string
	// Eating is for people with an eating disorder.
	Eating string
}

// Numbers lists what can be called or texted, without repetitions.
func (l Lines) Numbers() []string {
	all := []string{l.Emergency, l.Medical, l.Call, l.Text, l.Violence, l.Eating}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(number string) bool { return number == "" })
}

//go:embed helplines.tsv
var ownTable []byte

// row is a line of a table: a number of a country for a use.
type row struct {
	line                                                  int
	country, use, number, word, language, source, checked string
}

// Table has the numbers of countries. A nil one is the programme's own.
type Table struct {
	rows map[string][]row
}

var own = sync.OnceValue(func() *Table {
	table, err := readRows(ownTable)
	if err != nil {
		panic("helplines: " + err.Error()) // a test reads it
	}
	return table
})

// Parse reads an operator's table, whose countries replace those of the programme's own.
// An error names line and field.
func Parse(content []byte) (*Table, error) {
	table, err := readRows(content)
	if err != nil {
		return nil, err
	}
	for country, rows := range own().rows {
		if table.rows[country] == nil {
			table.rows[country] = rows
		}
	}
	for country, rows := range table.rows {
		if target := rows[0]; target.use == asUse && table.rows[target.number] == nil {
			return nil, fmt.Errorf("line %d: number: %s is as %s, which has no numbers", target.line, country, target.number)
		}
	}
	return table, nil
}

// asUse says that a country has the numbers of another.
const asUse = "as"

var (
	uses      = []string{"emergency", "ambulance", "crisis-call", "crisis-text", "violence", "eating", asUse}
	isCountry = regexp.MustCompile(`^[A-Z]{2}$`)
	isNumber  = regexp.MustCompile(`^\*?\d[\d -]{1,18}$`)
	isWord    = regexp.MustCompile(`^[A-Z0-9]{0,12}$`)
)

const fields = 7

func readRows(content []byte) (*Table, error) {
	table := &Table{rows: map[string][]row{}}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != fields {
			return nil, fmt.Errorf("line %d: has %d fields, want %d, divided by tabs: country, use, number, word, language, source, checked", number, len(cells), fields)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		r := row{number, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]}
		if err := r.check(table.rows[r.country]); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		table.rows[r.country] = append(table.rows[r.country], r)
	}
	for country, rows := range table.rows {
		if rows[0].use != asUse && !slices.ContainsFunc(rows, func(r row) bool { return r.use == uses[0] }) {
			return nil, fmt.Errorf("line %d: use: %s has no number for %s", rows[0].line, country, uses[0])
		}
	}
	return table, nil
}

// check says which field of a row is wrong; before are the rows of its country above it.
func (r row) check(before []row) error {
	isSame := func(other row) bool {
		return other.use == r.use && other.language == r.language || r.use == asUse || other.use == asUse
	}
	site, siteErr := url.Parse(r.source)
	_, dayErr := time.Parse(time.DateOnly, r.checked)
	base, languageErr := language.ParseBase(r.language)
	for _, rule := range []struct {
		isBroken bool
		message  string
	}{
		{!isCountry.MatchString(r.country), fmt.Sprintf("country: %q is not two capital letters, such as US", r.country)},
		{!slices.Contains(uses, r.use), fmt.Sprintf("use: %q is none of %s", r.use, strings.Join(uses, ", "))},
		{r.use == asUse && (!isCountry.MatchString(r.number) || r.number == r.country), fmt.Sprintf("number: %q is not another country, which the use %q wants", r.number, asUse)},
		{r.use != asUse && !isNumber.MatchString(r.number), fmt.Sprintf("number: %q is not a number to dial, such as 112 or 0800 111 0 111", r.number)},
		{!isWord.MatchString(r.word), fmt.Sprintf("word: %q is not a word in capitals or a key to press", r.word)},
		{r.language != "" && (languageErr != nil || base.String() != r.language), fmt.Sprintf("language: %q is not a language, such as es", r.language)},
		{siteErr != nil || site.Scheme != "https" || site.Host == "", fmt.Sprintf("source: %q is not an address that begins with https://", r.source)},
		{dayErr != nil, fmt.Sprintf("checked: %q is not a day such as 2026-11-25", r.checked)},
		{slices.ContainsFunc(before, isSame), fmt.Sprintf("use: %s has %s of language %q already", r.country, r.use, r.language)},
	} {
		if rule.isBroken {
			return errors.New(rule.message)
		}
	}
	return nil
}

// Find returns the numbers for a person, by the country of their phone number or else by
// the region of their locale; all are empty for a country that is not known.
func (t *Table) Find(phone, locale string) Lines {
	return t.Of(region.CountryOf(phone, locale), locale)
}

// Of returns the numbers of a country for people of a language.
func (t *Table) Of(country, locale string) Lines {
	out := Lines{Country: country}
	if base, confidence := language.Make(locale).Base(); confidence > language.No {
		for _, of := range []string{"", base.String()} {
			out.fill(t.rowsOf(country), of)
		}
	} else {
		out.fill(t.rowsOf(country), "")
	}
	if out.Medical == "" {
		out.Medical = out.Emergency
	}
	return out
}

func (l *Lines) fill(rows []row, of string) {
	for _, r := range rows {
		if r.language != of {
			continue
		}
		switch r.use {
		case "emergency":
			l.Emergency = r.number
		case "ambulance":
			l.Medical = r.number
		case "crisis-call":
			l.Call, l.Press = r.number, r.word
		case "crisis-text":
			l.Text, l.Word = r.number, r.word
		case "violence":
			l.Violence = r.number
		case "eating":
			l.Eating = r.number
		}
	}
}

func (t *Table) rowsOf(country string) []row {
	if t == nil {
		t = own()
	}
	rows := t.rows[country]
	if len(rows) > 0 && rows[0].use == asUse {
		return t.rows[rows[0].number]
	}
	return rows
}

// Countries lists the countries that there are numbers for, sorted.
func (t *Table) Countries() []string {
	if t == nil {
		t = own()
	}
	return slices.Sorted(maps.Keys(t.rows))
}

// Has reports whether there are numbers for a country.
func (t *Table) Has(country string) bool { return len(t.rowsOf(country)) > 0 }
