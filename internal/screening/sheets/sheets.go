// Package sheets reads the labelled texts that screening is trained on and
// scored with. Every text belongs to one of two halves by a hash of its words:
// the open half may be read and trained on, the scored half only gives figures.
package sheets

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"coachline/internal/wrap"

	"golang.org/x/text/unicode/norm"
)

// Names of the sheets that each language has.
const (
	Crisis   = "crisis"   // must raise an alert
	Negative = "negative" // resembles a crisis and is none
	OptOut   = "optout"   // asks to end, keywords, unclear and wrong numbers
	Ordinary = "ordinary" // everyday replies
)

// Text is one labelled text.
type Text struct {
	Language string
	Sheet    string
	Kind     string
	Body     string
}

// IsOpen reports whether the text belongs to the half that may be read. The hash
// does not depend on the rules of screening, so that a change of a rule moves no
// text from one half to the other.
func (t Text) IsOpen() bool {
	sum := sha256.Sum256([]byte(t.Plain()))
	return sum[0]&1 == 0
}

// Plain is the text in lower case without accents, spaces and punctuation. A text
// of symbols alone stays as it is. Texts that have it in common are the same.
func (t Text) Plain() string {
	var out strings.Builder
	for _, r := range norm.NFKD.String(t.Body) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out.WriteRune(unicode.ToLower(r))
		}
	}
	if out.Len() == 0 {
		return t.Body
	}
	return out.String()
}

// Read reads all files <language>/<sheet>.<part>.tsv of one language, in the
// order of their names. Lines are a kind, a tab and a text; lines that begin
// with # are comments.
func Read(files fs.FS, language string) ([]Text, error) {
	names, err := fs.Glob(files, language+"/*.tsv")
	if err != nil {
		return nil, fmt.Errorf("find sheets of %s: %w", language, err)
	}
	slices.Sort(names)
	var texts []Text
	for _, name := range names {
		sheet, _, _ := strings.Cut(path.Base(name), ".")
		read, err := readFile(files, name, Text{Language: language, Sheet: sheet})
		if err != nil {
			return nil, err
		}
		texts = append(texts, read...)
	}
	return texts, nil
}

func readFile(files fs.FS, name string, like Text) ([]Text, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open sheet: %w", err)
	}
	defer func() { _ = file.Close() }()
	var texts []Text
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		kind, body, ok := strings.Cut(line, "\t")
		if !ok || kind == "" || body == "" {
			return nil, fmt.Errorf("%s:%d: want a kind, a tab and a text", name, n)
		}
		text := like
		text.Kind, text.Body = kind, body
		texts = append(texts, text)
	}
	err = lines.Err()
	return texts, wrap.Error(err, "read sheet")
}

// ReadMessages reads the ordinary messages <name>.<language>.txt of a folder, one a
// line, in the order of the names. Of each two lines the first may be read and trained
// on, the second is scored only. A folder without a file of the language has none.
func ReadMessages(files fs.FS, language string) (open, scored []string, err error) {
	names, err := fs.Glob(files, "*."+language+".txt")
	if err != nil {
		return nil, nil, fmt.Errorf("find messages of %s: %w", language, err)
	}
	slices.Sort(names)
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, nil, fmt.Errorf("read messages: %w", err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
			if i%2 == 0 {
				open = append(open, line)
			} else {
				scored = append(scored, line)
			}
		}
	}
	return open, scored, nil
}

// ReadAnswers reads the answers to questions of ours in a language, in lines of a
// question, the language and an answer. Of each two lines the first may be trained on,
// the second is scored only.
func ReadAnswers(files fs.FS, language string) (open, scored []string, err error) {
	return readLastColumn(files, language+".tsv", language, 1)
}

// ReadNoRequests reads the texts of a language that have the words of requests to end
// and ask for nothing, in lines of the language and a text, and halves them alike.
func ReadNoRequests(files fs.FS, language string) (open, scored []string, err error) {
	return readLastColumn(files, "not_requests.tsv", language, 0)
}

// readLastColumn reads the texts of the lines that have a language in a column.
func readLastColumn(files fs.FS, name, language string, column int) (open, scored []string, err error) {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, nil, fmt.Errorf("read texts: %w", err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		columns := strings.Split(line, "\t")
		if columns[column] != language {
			continue
		}
		if text := columns[len(columns)-1]; i%2 == 0 {
			open = append(open, text)
		} else {
			scored = append(scored, text)
		}
	}
	return open, scored, nil
}

// wilsonZ is the normal quantile of a two-sided interval of 95 %.
const wilsonZ = 1.959963984540054

// Wilson gives the interval of 95 % of a share of hits in n trials.
func Wilson(hits, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	share, trials := float64(hits)/float64(n), float64(n)
	z2 := wilsonZ * wilsonZ
	middle := share + z2/(2*trials)
	spread := wilsonZ * math.Sqrt(share*(1-share)/trials+z2/(4*trials*trials))
	return (middle - spread) / (1 + z2/trials), (middle + spread) / (1 + z2/trials)
}
