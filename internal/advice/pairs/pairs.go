// Package pairs reads the labelled drafts that the score of advice is trained on and
// measured with. Each belongs to one of two halves by a hash of the person's text: the open
// half may be read and trained on, the other only gives figures.
package pairs

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	Unsafe, Safe = "unsafe", "safe"
	// Ordinary is the kind of everyday talk, and the group of its drafts.
	Ordinary = "ordinary"
)

// Row is one draft. IsKnown: it was read before it was labelled blind, so that it is of the
// open half.
type Row struct {
	Language, Kind, Label string
	// Person is what the person wrote, Reply the draft.
	Person, Reply string
	IsKnown       bool
}

// Read reads all files of a language in a folder, advice*.<language>.tsv, in the order of
// their names. Lines are kind, label, the person's text and the draft, parted by tabs.
// Files whose names begin with advice_known are of the open half.
func Read(dir, language string) ([]Row, error) {
	names, err := filepath.Glob(filepath.Join(dir, "advice*."+language+".tsv"))
	if err != nil || dir == "" {
		return nil, err
	}
	slices.Sort(names)
	var rows []Row
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading pairs: %w", err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
			fields := strings.Split(strings.TrimRight(line, "\r"), "\t")
			if len(fields) != 4 {
				return nil, fmt.Errorf("%s, line %d: want four fields", name, i+1)
			}
			if i > 0 {
				rows = append(rows, Row{
					Language: language, Kind: fields[0], Label: fields[1], Person: fields[2], Reply: fields[3],
					IsKnown: strings.HasPrefix(filepath.Base(name), "advice_known"),
				})
			}
		}
	}
	return rows, nil
}

// ReadAsks reads the texts of people that ask what answers them, label "asks", and others:
// asks*.tsv in a folder, whose lines are language, label and text. They are returned as
// persons' texts without a draft.
func ReadAsks(dir string) ([]Row, error) {
	var rows []Row
	for _, name := range []string{"asks", "asks_known"} {
		raw, err := os.ReadFile(filepath.Join(dir, name+".tsv"))
		if err != nil {
			return nil, fmt.Errorf("reading questions: %w", err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
			fields := strings.Split(line, "\t")
			if len(fields) != 3 {
				return nil, fmt.Errorf("%s, line %d: want three fields", name, i+1)
			}
			if i > 0 {
				rows = append(rows, Row{Language: fields[0], Label: fields[1], Person: fields[2], IsKnown: name == "asks_known"})
			}
		}
	}
	return rows, nil
}

// ReadTruth reads texts of a language with what they are, as persons' texts without a draft:
// truth.<language>.tsv of a folder (asks, not, claims, pull, fine), and the open half of the
// drafts that claim to be a person or pull at one in another.
func ReadTruth(own, guard, language string) ([]Row, error) {
	var rows []Row
	for _, name := range []string{filepath.Join(own, "truth."+language+".tsv"), filepath.Join(guard, "human-claims.tsv"), filepath.Join(guard, "pull-known.tsv"), filepath.Join(guard, "pull.tsv")} {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading what is true: %w", err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
			fields := strings.Split(line, "\t")
			row := Row{Language: language, Label: fields[0], Person: fields[len(fields)-1], IsKnown: len(fields) == 2 || strings.Contains(name, "known")}
			if len(fields) == 3 {
				row.Language, row.Label = fields[0], fields[1]
			}
			if i > 0 && row.Language == language && row.IsOpen() {
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

func (r Row) hash() uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.Person))
	return h.Sum32()
}

// IsOpen reports whether the draft may be read and trained on.
func (r Row) IsOpen() bool { return r.IsKnown || r.hash()%2 == 0 }

// Fold returns which of some folds of cross-validation the draft belongs to.
func (r Row) Fold(folds int) int { return int(r.hash()/2) % folds }

// Group returns what the draft counts as: unsafe, safe or ordinary.
func (r Row) Group() string {
	if r.Kind == Ordinary {
		return Ordinary
	}
	return r.Label
}

// Groups lists them.
func Groups() []string { return []string{Unsafe, Safe, Ordinary} }
