package screening_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
	"coachline/models"
)

var corpora = flag.String("corpora", "../../../shared/corpora", "folder of ordinary messages of other authors")

// lengths are the classes of texts by characters: up to each, not including it.
var lengths = []int{40, 80, 160, 320, 1601}

func lengthClass(body string) int {
	n := utf8.RuneCountInString(body)
	return slices.IndexFunc(lengths, func(limit int) bool { return n < limit })
}

// readOrdinary reads ordinary messages of a language: those to read, and those that are
// only counted. There are some of other authors, and for the languages without them some
// that were written for this.
func readOrdinary(t *testing.T, language string) (toRead, toCount []string) {
	t.Helper()
	if _, err := os.Stat(*corpora); os.IsNotExist(err) {
		t.Skip("no folder of ordinary messages; -corpora names it")
	}
	for _, dir := range []string{*corpora, "testdata/ordinary"} {
		open, scored, err := sheets.ReadMessages(os.DirFS(dir), language)
		require.NoError(t, err)
		toRead, toCount = append(toRead, open...), append(toCount, scored...)
	}
	return toRead, toCount
}

// ordinaryTable counts what is found in ordinary messages, by length.
func ordinaryTable(t *testing.T, found string, isFound func(screening.Result) bool) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "| %s | all | under 40 | 40 to 79 | 80 to 159 | 160 to 319 | 320 to 1,600 |\n|---|---|---|---|---|---|---|\n", found)
	for _, language := range screening.Languages() {
		_, bodies := readOrdinary(t, language)
		all, classes := &share{}, make([]*share, len(lengths))
		for _, body := range bodies {
			class := lengthClass(body)
			if class < 0 {
				continue
			}
			if classes[class] == nil {
				classes[class] = &share{}
			}
			isHit := isFound(screening.Screen(screening.Message{Body: body}))
			for _, s := range []*share{all, classes[class]} {
				s.n++
				if isHit {
					s.hits++
				}
			}
		}
		fmt.Fprintf(&out, "| %s | %s |", language, cell(all))
		for _, s := range classes {
			fmt.Fprintf(&out, " %s |", cell(s))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// The figures of ordinary messages are not better in docs/screening.md than what is
// measured.
func TestFiguresOfOrdinaryMessages(t *testing.T) {
	for name, isFound := range map[string]func(screening.Result) bool{
		"alerts": func(found screening.Result) bool { return found.Danger != models.DangerNone },
		"pages":  func(found screening.Result) bool { return found.Tier == models.TierA },
		"requests": func(found screening.Result) bool {
			return found.Intent == models.IntentStop || found.Intent == models.IntentWrongNumber
		},
	} {
		comparePage(t, figuresPage, "ordinary "+name, ordinaryTable(t, name+" flagged", isFound), nil)
	}
}
