package cohort_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/quick"

	"github.com/stretchr/testify/require"

	"coachline/internal/cohort"
	"coachline/internal/sheet"
	"coachline/models"
)

var options = cohort.Options{Region: "US", Zone: "America/Chicago", OurNumbers: []string{"+15017122661"}}

func parse(text string) cohort.List { return cohort.Parse([]byte(text), options) }

// show writes faults as line:column kind field message.
func show(list cohort.List) []string {
	var out []string
	for _, f := range list.Faults {
		message, _, _ := strings.Cut(f.Message, ";")
		out = append(out, strings.TrimRight(fmt.Sprintf("%d:%d %s %s: %s", f.Line, f.Column, f.Kind, f.Field, message), ": "))
	}
	return out
}

func TestParsePeople(t *testing.T) {
	list := parse("Mobile;Name;TZ;Language;Gender;Ethnicity;Background\n" +
		"(212) 555-0101; Ada Quill ;Europe/Berlin;de;woman;;\"plays\nthe cello\"\n" +
		"+49 30 901820;Bo;;;;;\n" +
		"'+1 415 555 0102;=SUM(1);;;;;\n" +
		"+1 800 555 0103;Cy;;;;;\n")
	require.Empty(t, show(list))
	require.Equal(t, 4, list.Rows)
	require.Equal(t, []models.CohortRow{
		{Line: 2, Column: 1, Phone: "+12125550101", PersonTexts: models.PersonTexts[string]{Name: "Ada Quill", Gender: "woman", Background: "plays\nthe cello"}, Timezone: "Europe/Berlin", Locale: "de"},
		{Line: 4, Column: 1, Phone: "+4930901820", PersonTexts: models.PersonTexts[string]{Name: "Bo"}, Timezone: "Europe/Berlin", ZoneAssumed: true, ZoneSuggested: true},
		{Line: 5, Column: 1, Phone: "+14155550102", PersonTexts: models.PersonTexts[string]{Name: "=SUM(1)"}, Timezone: "America/Los_Angeles", ZoneAssumed: true, ZoneSuggested: true},
		{Line: 6, Column: 1, Phone: "+18005550103", PersonTexts: models.PersonTexts[string]{Name: "Cy"}, Timezone: "America/Chicago", ZoneAssumed: true},
	}, list.People)
}

func TestParseFaults(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"no file":         {"", []string{"0:0 file : the file is empty"}},
		"header alone":    {"phone,name\n", []string{"0:0 file : the file names no person"}},
		"UTF-16":          {"\xFF\xFEp\x00", []string{"0:0 file : the file is UTF-16"}},
		"no phone column": {"name,tz\nAda,UTC\n", []string{`1:1 column phone_number: the first row names no column phone_number (or phone, mobile)`}},
		"unknown columns": {"phone,shoe size,name,hat\n+12125550101,1,Ada,2\n", []string{
			`1:7 column : column "shoe size" is not known`, `1:22 column : column "hat" is not known`,
		}},
		"a column twice": {"phone,Mobile\n1,2\n", []string{`1:7 column phone_number: column "phone_number" is there twice`}},
		"all faults, not the first": {"phone,name,tz,locale\n" +
			"12,Ada,EST,xx\n+12125550101,\"a\nb\",Mars/Base,\n+12125550102,Ok,,\n,,UTC,\n", []string{
			"2:1 cell phone_number: not a possible number",
			"2:8 cell timezone: names no place, whose clock changes would count",
			"2:12 cell locale: must be a locale such as es-MX in a language that is screened: de, en, es, fr, pt",
			"3:14 cell name: holds a line end or another control character, or a mark of the direction of writing",
			"4:4 cell timezone: unknown zone",
			"6:1 cell phone_number: required",
		}},
		"repeated numbers": {"phone\n+12125550101\n(212) 555-0101\n+12125550102\n12125550101\n", []string{
			"3:1 repeated phone_number: the same number as in line 2", "5:1 repeated phone_number: the same number as in line 2",
		}},
		"our own number":    {"phone\n+15017122661\n", []string{"2:1 cell phone_number: is the programme's own number"}},
		"rounded number":    {"phone\n1.55587E+10\n", []string{"2:1 cell phone_number: was made a rounded number by a spreadsheet"}},
		"short and long":    {"phone,name\n+12125550101\n+12125550102,a,b\n+12125550103,c,\n", []string{"2:1 row : the row has 1 cells, the first row 2", "3:16 row : the row has more cells than the 2 of the first row"}},
		"long cells":        {"phone,name\n+12125550101," + strings.Repeat("é", 101) + "\n+12125550102," + strings.Repeat("é", 100) + "\n", []string{"2:14 cell name: has more than 100 characters"}},
		"bytes of Latin 1":  {"phone,name\n+12125550101,Zo\xEB\n", []string{"2:16 row : is not UTF-8"}},
		"quote in a cell":   {"phone,name\n+12125550101,a\"b\n+12125550101,c\n12,d\n", []string{`2:15 row : has a " within a cell that does not begin with one`, "4:1 cell phone_number: not a possible number"}},
		"escape sequences":  {"phone,name\n+12125550101,\x1b[2Jx\n", []string{"2:14 cell name: holds a line end or another control character, or a mark of the direction of writing"}},
		"commands as phone": {"phone\n=cmd|'/c calc'!A1\n", []string{"2:1 cell phone_number: only digits, spaces, +, -, (, ), . and / are allowed"}},
	} {
		t.Run(name, func(t *testing.T) {
			list := parse(c.file)
			require.Equal(t, c.want, show(list))
			require.Equal(t, len(c.want), list.FaultCount)
			for _, f := range list.Faults {
				require.NotContains(t, f.Message, "555", "a message repeats a number")
			}
		})
	}
}

func TestParseIgnoresUnknownColumns(t *testing.T) {
	ignore := options
	ignore.IgnoreUnknown = true
	list := cohort.Parse([]byte("shoe size,phone\n42,+12125550101\n"), ignore)
	require.Empty(t, show(list))
	require.Len(t, list.People, 1)
	require.Equal(t, 4, list.People[0].Column)
}

// TestParseIsBroken: a file that was not read to its end is of no use, no matter which rows
// were read before.
func TestParseIsBroken(t *testing.T) {
	require.False(t, parse("phone\n+12125550101\n12\n").IsBroken)
	open := parse("phone,name\n+12125550101,a\n+12125550102,\"b\n+12125550103,c\n")
	require.Equal(t, []string{"3:1 file : has a quoted cell that does not end where a cell can"}, show(open))
	require.True(t, open.IsBroken)
	require.True(t, parse("phone\n"+strings.Repeat("+12125550101\n", cohort.MaxRows+1)).IsBroken)
	require.True(t, parse("phone,hat\n+12125550101,1\n").IsBroken)
}

func TestParseIsBounded(t *testing.T) {
	list := parse("phone\n" + strings.Repeat("12\n", cohort.MaxRows+5))
	require.Len(t, list.Faults, models.MaxCohortFault)
	require.Equal(t, cohort.MaxRows+1, list.FaultCount)
	require.Equal(t, cohort.MaxRows, list.Rows)
	require.LessOrEqual(t, len(parse("phone," + strings.Repeat("x", 5000) + "\n").Faults[0].Message), 400)
}

// TestWrittenPeopleAreRead: what is written as CSV is read as the same people.
func TestWrittenPeopleAreRead(t *testing.T) {
	holds := func(names []string, gender string) bool {
		rows := [][]string{{"phone_number", "name", "gender", "timezone"}}
		plain := func(s string) string {
			s = strings.Map(func(r rune) rune {
				if r == '\uFFFD' || models.CheckText("name", string(r), false) != nil {
					return -1
				}
				return r
			}, s)
			return strings.TrimSpace(string([]rune(s)[:min(len([]rune(s)), 98)]))
		}
		for i, name := range names {
			rows = append(rows, []string{fmt.Sprintf("+1212555%04d", i), plain("=" + name), plain(gender), "UTC"})
		}
		raw, err := sheet.Write(rows)
		if err != nil {
			return false
		}
		list := cohort.Parse(raw, options)
		if len(names) == 0 {
			return list.FaultCount == 1
		}
		for i, p := range list.People {
			if p.Phone != rows[i+1][0] || p.Name != rows[i+1][1] || p.Gender != rows[i+1][2] {
				return false
			}
		}
		return list.FaultCount == 0 && len(list.People) == len(names)
	}
	require.NoError(t, quick.Check(holds, &quick.Config{MaxCount: 300}))
}

func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	text.WriteString("phone,name,tz\n")
	for i := range 10000 {
		fmt.Fprintf(&text, "+1212555%04d,Person %d,\n", i, i)
	}
	for b.Loop() {
		require.Len(b, cohort.Parse([]byte(text.String()), options).People, 10000)
	}
}
