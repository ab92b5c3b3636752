package recall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/models"
)

// minStem and maxEnding let "knees" meet "knee" without a dictionary.
const (
	minStem   = 4
	maxEnding = 3
)

// Listing is what a person sees of their facts: plain text, without words of
// any language beside the facts' own.
type Listing struct {
	// Text holds one fact a line, "2026-11-20 f1: Walks at seven.", and at its
	// end "(+4)" when four more did not fit. It is empty without facts.
	Text string
	// Shown are the ids in the text, in its order.
	Shown []string
}

// List shows the facts that a person has, newest first, for the question what
// is known of them. Fits says whether a text is still short enough to send,
// such as the texts of a reply; a first fact that does not fit is shortened
// until it does, so a listing of some facts shows at least one unless nothing
// fits. A later page is the listing of the facts that were not shown.
func List(facts []models.Fact, zone *time.Location, fits func(text string) bool) Listing {
	facts = slices.DeleteFunc(slices.Clone(facts), func(fact models.Fact) bool {
		return fact.DeletedAt != nil || plainLine(fact.Text) == ""
	})
	slices.SortFunc(facts, newestFirst)
	for shown := len(facts); shown > 0; shown-- {
		listing := listPage(facts, shown, zone)
		if fits(listing.Text) {
			return listing
		}
	}
	if len(facts) == 0 {
		return Listing{}
	}
	first := slices.Clone(facts)
	first[0].Text = plainLine(first[0].Text)
	for chars := utf8.RuneCountInString(first[0].Text) / 2; chars > 0; chars /= 2 {
		first[0].Text = text.TruncateWithin(first[0].Text, chars)
		if listing := listPage(first, 1, zone); fits(listing.Text) {
			return listing
		}
	}
	return Listing{}
}

// listPage shows the first facts of a list, and at its end how many are left.
func listPage(facts []models.Fact, shown int, zone *time.Location) Listing {
	var listing Listing
	var lines []string
	for _, fact := range facts[:shown] {
		lines = append(lines, fmt.Sprintf("%s %s: %s", localDate(fact.UpdatedAt, zone), fact.ID, plainLine(fact.Text)))
		listing.Shown = append(listing.Shown, fact.ID)
	}
	if left := len(facts) - shown; left > 0 {
		lines = append(lines, fmt.Sprintf("(+%d)", left))
	}
	listing.Text = strings.Join(lines, "\n")
	return listing
}

// About finds the facts that a person means by a topic, or by an id, newest
// first. Sure: an id, or every content word of the topic, is in each of them;
// otherwise they share a word at least and should be named to the person
// before anything is deleted. A topic without content words finds nothing.
func About(facts []models.Fact, topic string) (meant []models.Fact, sure bool) {
	words := Words(topic)
	ids := wordRuns(topic)
	var byID, whole, part []models.Fact
	for _, fact := range facts {
		if fact.DeletedAt != nil {
			continue
		}
		n := countMatches(words, Words(fact.Text))
		switch {
		case slices.Contains(ids, strings.ToLower(fact.ID)):
			byID = append(byID, fact)
		case n > 0 && n == len(words):
			whole = append(whole, fact)
		case n > 0:
			part = append(part, fact)
		}
	}
	for _, found := range [][]models.Fact{byID, whole} {
		if len(found) > 0 {
			slices.SortFunc(found, newestFirst)
			return found, true
		}
	}
	slices.SortFunc(part, newestFirst)
	return part, false
}

// countMatches returns how many of the words are like a word of the other list.
func countMatches(words, in []string) int {
	n := 0
	for _, word := range words {
		if slices.ContainsFunc(in, func(other string) bool { return isAlike(word, other) }) {
			n++
		}
	}
	return n
}

// isAlike reports whether two words are equal, or one is the other with a short
// ending.
func isAlike(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == b {
		return true
	}
	return strings.HasPrefix(b, a) && utf8.RuneCountInString(a) >= minStem &&
		utf8.RuneCountInString(b)-utf8.RuneCountInString(a) <= maxEnding
}

// outcomeChars bounds a tool's outcome in a summary, in characters.
const outcomeChars = 160

// lineOf returns an entry as a summary reads it: who said what, and a tool's
// outcome in one line, since a summary without outcomes forgets what was
// agreed. It is empty for entries that say nothing.
func lineOf(entry models.Message) string {
	switch {
	case entry.Kind == models.KindDebug || entry.Kind == models.KindToolCall:
		return ""
	case entry.Kind == models.KindToolResult || entry.Role == models.RoleTool:
		return outcomeLine(entry)
	case text.OneLine(entry.Text) == "":
		return ""
	}
	return speakerName(entry.Role) + ": " + text.OneLine(entry.Text)
}

// speakerName returns how a summary names the author of an entry.
func speakerName(role models.Role) string {
	switch role {
	case models.RoleUser:
		return "person"
	case models.RoleAssistant:
		return "coach"
	case models.RoleTool:
	}
	return "tool"
}

// outcomeLine returns a tool's outcome in one line; it is empty when the entry
// cannot be read.
func outcomeLine(entry models.Message) string {
	var result models.ToolResult
	if json.Unmarshal([]byte(entry.Text), &result) != nil {
		return ""
	}
	state := "done"
	if result.Failed {
		state = "failed"
	}
	return fmt.Sprintf("tool %s %s: %s", orTool(result.Name), state, text.Truncate(text.OneLine(result.Content), outcomeChars))
}
