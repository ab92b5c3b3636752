// Package recall prepares what a model is told of the past: when facts are
// looked up and how they are shown, digests of long results and notes, summaries
// of older messages, and what the last step of a turn may add to the facts.
// It is pure; texts that reach it are redacted.
package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"coachline/internal/text"
)

// minWord is the least length of a content word, in characters.
const minWord = 3

// stopWords are English words that carry no topic. Other languages have none
// here: more content words make the gate recall, which is the safe side.
var stopWords = wordSet(`about above after again against ain all also although always among and another any anybody anyone anything
	anyway are aren around because been before being below between both but can cannot could couldn did didn does doesn doing don done
	down during each either else enough even ever every everyone everything few for from further get gets getting got had hadn has
	hasn have haven having her here hers herself him himself his how however into isn its itself just let like likely lot lots made
	make makes many may maybe might mightn more most much must mustn myself near need needs neither never nobody nor not nothing now
	off often once one ones only onto other others ought our ours ourselves out over own perhaps please quite rather really said same
	say says shall shan she should shouldn since some somebody someone something still such take than thank thanks that the their
	theirs them themselves then there these they thing things think this those though through thus too under until upon use very want
	wants was wasn way well were weren what whatever when where whether which while who whom whose why will with within without won
	would wouldn yes yet you your yours yourself yourselves`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// Words lists the distinct content words of a text in their order: lower-cased
// runs of letters, marks and digits of at least three characters, without an
// English stop list and without pure digits. The gate and the search by
// keywords share it. A script without spaces gives one long word a phrase, so
// that the gate recalls.
func Words(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, word := range wordRuns(text) {
		if utf8.RuneCountInString(word) < minWord || stopWords[word] || seen[word] || hasOnlyDigits(word) {
			continue
		}
		seen[word] = true
		out = append(out, word)
	}
	return out
}

// wordRuns returns the lower-cased runs of letters, marks and digits.
func wordRuns(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

// hasOnlyDigits reports whether a word is made of digits alone.
func hasOnlyDigits(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsDigit(r) })
}

// normalText returns the lower-cased words of a text, so that case, signs and
// spaces do not tell two texts apart.
func normalText(text string) string { return strings.Join(wordRuns(text), " ") }

// plainLine keeps a text from being more than a line: it can neither open a
// section of the system message nor pass for another entry.
func plainLine(line string) string { return strings.TrimLeft(text.OneLine(line), "# ") }

// hasPhrase reports whether the words of part follow each other in whole.
func hasPhrase(whole, part string) bool {
	return part != "" && strings.Contains(" "+whole+" ", " "+part+" ")
}

// countShared returns how many words of one list are in the other.
func countShared(words, in []string) int {
	n := 0
	for _, word := range words {
		if slices.Contains(in, word) {
			n++
		}
	}
	return n
}
