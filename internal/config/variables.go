package config

import (
	"reflect"
	"slices"
	"strings"
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
