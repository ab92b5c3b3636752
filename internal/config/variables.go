package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"coachline/internal/prices"
)

// variable is one documented name and the field it fills.
type variable struct {
	name   string
	field  string
	kind   reflect.Type
	index  []int
	preset string
	secret bool
	asURL  bool
}

const (
	fileSuffix     = "_FILE"
	ownPrefix      = "COACH_"
	quietHours     = "COACH_QUIET_HOURS"
	temporalAPIKey = "TEMPORAL_API_KEY"
)

// variables lists the tree's tagged fields in the order they are declared.
func variables() []variable {
	var out []variable
	collect(reflect.TypeFor[Config](), nil, &out)
	return out
}

func collect(t reflect.Type, index []int, out *[]variable) {
	for i := range t.NumField() {
		field := t.Field(i)
		path := append(slices.Clone(index), i)
		name, tagged := field.Tag.Lookup("env")
		switch {
		case tagged:
			*out = append(*out, variable{
				name: name, field: field.Name, kind: field.Type, index: path,
				preset: field.Tag.Get("envDefault"), asURL: field.Tag.Get("show") == "url",
				secret: field.Type == reflect.TypeFor[Secret]() || field.Type == reflect.TypeFor[Secrets](),
			})
		case field.IsExported() && field.Type.Kind() == reflect.Struct:
			collect(field.Type, path, out)
		}
	}
}

// secretNames lists the names that may also be given as NAME_FILE. Temporal's
// key is read by Temporal's own loader and is a secret all the same.
func secretNames() []string {
	names := []string{temporalAPIKey}
	for _, v := range variables() {
		if v.secret {
			names = append(names, v.name)
		}
	}
	return names
}

// ownNames lists every known name with our prefix.
func ownNames() []string {
	var names []string
	for _, v := range variables() {
		if !strings.HasPrefix(v.name, ownPrefix) {
			continue
		}
		names = append(names, v.name)
		if v.secret {
			names = append(names, v.name+fileSuffix)
		}
	}
	return names
}

// slips is how many edits make a name another's misspelling.
const slips = 2

// nearest is the candidate that takes the fewest edits, the first on a tie; empty where
// all take more than slips.
func nearest(name string, candidates []string) string {
	best, fewest := "", slips+1
	for _, candidate := range candidates {
		if d := edits(name, candidate); d < fewest {
			best, fewest = candidate, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two ASCII names.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

const (
	pricesFile        = "COACH_PRICES_FILE"
	turnLimit         = "COACH_TURN_LIMIT"
	personDayLimit    = "COACH_PERSON_DAY_LIMIT"
	strangerHourLimit = "COACH_STRANGER_HOUR_LIMIT"
)

// loadPrices reads the price list where one is named.
func (c *Costs) loadPrices() []error {
	if c.PricesFile == "" {
		return nil
	}
	content, err := readLimited(c.PricesFile)
	if err == nil {
		c.Prices, err = prices.Parse(content)
	}
	if err != nil {
		return []error{fmt.Errorf("%s: %w; want a file like deploy/prices.example.json", pricesFile, err)}
	}
	return nil
}

// regions lists the ISO 3166 codes whose numbering plans the phone-number library
// knows; a test compares the two.
const regions = `
AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE
BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC CD CF
CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO
DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG
GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL
IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW
KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH
MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF
NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR PS PT
PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM
SN SO SR SS ST SV SX SY SZ TA TC TD TG TH TJ TK TL TM TN TO
TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK
YE YT ZA ZM ZW
`
