package helplines

import (
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"github.com/stretchr/testify/require"
)

// wanted are the countries that must have numbers.
const wanted = "US CA GB IE AU NZ DE AT CH FR BE LU ES MX AR CO CL PE PT BR"

// TestOwnTable holds numbers against those of libphonenumber, whose authors know nothing of
// this table, but for Peru's ambulance, which they lack.
func TestOwnTable(t *testing.T) {
	var none *Table
	for country := range strings.FieldsSeq(wanted) {
		require.True(t, none.Has(country), country)
		lines := none.rowsOf(country)
		for _, r := range lines {
			if (r.use == "emergency" || r.use == "ambulance") && r.country+r.number != "PE106" {
				require.True(t, phonenumbers.IsEmergencyNumber(r.number, country), "%s %s", country, r.number)
			}
		}
	}
	for _, country := range []string{"CO", "PL", ""} {
		require.Empty(t, none.Find("", "xx-"+country).Call, country)
	}
}

func TestFind(t *testing.T) {
	var none *Table
	for name, c := range map[string]struct {
		phone, locale string
		want          Lines
	}{
		"United States":     {"+12025550123", "en-US", Lines{Country: "US", Emergency: "911", Medical: "911", Call: "988", Text: "988", Violence: "1-800-799-7233", Eating: "1-888-375-7767"}},
		"in Spanish":        {"+12025550123", "es-MX", Lines{Country: "US", Emergency: "911", Medical: "911", Call: "988", Press: "2", Text: "988", Word: "AYUDA", Violence: "1-800-799-7233", Eating: "1-888-375-7767"}},
		"Puerto Rico":       {"+17875550123", "es-PR", Lines{Country: "PR", Emergency: "911", Medical: "911", Call: "988", Press: "2", Text: "988", Word: "AYUDA", Violence: "1-800-799-7233", Eating: "1-888-375-7767"}},
		"Canada":            {"+14165550123", "fr-CA", Lines{Country: "CA", Emergency: "911", Medical: "911", Call: "988", Text: "988", Eating: "1-866-633-4220"}},
		"the phone wins":    {"+4915112345678", "en-US", Lines{Country: "DE", Emergency: "112", Medical: "112", Call: "0800 111 0 111", Violence: "116 016", Eating: "0221 892031"}},
		"by region":         {"", "de-AT", Lines{Country: "AT", Emergency: "112", Medical: "144", Call: "142", Violence: "0800 222 555", Eating: "0800 20 11 20"}},
		"by language":       {"", "de", Lines{}},
		"Belgium in French": {"+32470123456", "fr-BE", Lines{Country: "BE", Emergency: "112", Medical: "112", Call: "0800 32 123", Violence: "0800 30 030"}},
		"no entry":          {"+48512345678", "en-GB", Lines{Country: "PL"}},
		"no country":        {"+88312345678901", "pt-BR", Lines{Country: "BR", Emergency: "190", Medical: "192", Call: "188", Violence: "180"}},
		"nothing":           {"", "", Lines{}},
	} {
		require.Equal(t, c.want, none.Find(c.phone, c.locale), name)
	}
	require.Equal(t, []string{"1-866-633-4220", "911", "988"}, none.Find("+14165550123", "").Numbers())
}

func TestParse(t *testing.T) {
	const poland = "PL\temergency\t112\t\t\thttps://www.gov.pl\t2026-11-25\n"
	table, err := Parse([]byte("# ours\n\n" + poland + "US\temergency\t911\t\t\thttps://911.gov\t2026-11-25\nMC\tas\tFR\t\t\thttps://3114.fr\t2026-11-25\r\n"))
	require.NoError(t, err)
	require.Equal(t, Lines{Country: "PL", Emergency: "112", Medical: "112"}, table.Find("+48512345678", "pl"))
	require.Empty(t, table.Find("+12025550123", "en").Call, "the operator's US replaces ours")
	require.Equal(t, "3114", table.Find("", "fr-MC").Call)
	require.Equal(t, "3114", table.Find("", "fr-FR").Call)
	for content, want := range map[string]string{
		"PL\temergency\t112\n": "line 1: has 3 fields, want 7",
		"\nPoland\temergency\t112\t\t\thttps://a.pl\t2026-11-25\n":  "line 2: country: \"Poland\"",
		"PL\tpolice\t112\t\t\thttps://a.pl\t2026-11-25\n":           "line 1: use: \"police\" is none of emergency",
		"PL\temergency\tcall us\t\t\thttps://a.pl\t2026-11-25\n":    "line 1: number: \"call us\"",
		"PL\temergency\t112\t\tpolish\thttps://a.pl\t2026-11-25\n":  "line 1: language: \"polish\"",
		"PL\temergency\t112\thelp me\t\thttps://a.pl\t2026-11-25\n": "line 1: word: \"help me\"",
		"PL\temergency\t112\t\t\ta.pl\t2026-11-25\n":                "line 1: source: \"a.pl\"",
		"PL\temergency\t112\t\t\thttps://a.pl\tlast week\n":         "line 1: checked: \"last week\"",
		poland + poland: "line 2: use: PL has emergency of language \"\" already",
		"PL\tcrisis-call\t116 123\t\t\thttps://a.pl\t2026-11-25\n": "line 1: use: PL has no number for emergency",
		"PL\tas\tXX\t\t\thttps://a.pl\t2026-11-25\n":               "line 1: number: PL is as XX, which has no numbers",
		"PL\tas\tPL\t\t\thttps://a.pl\t2026-11-25\n":               "line 1: number: \"PL\" is not another country",
	} {
		_, err := Parse([]byte(content))
		require.ErrorContains(t, err, want, content)
	}
}
