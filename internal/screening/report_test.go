package screening

import (
	"flag"
	"os"
	"slices"
	"testing"

	"coachline/internal/screening/sheets"
)

var (
	showRules   = flag.Bool("rules", false, "print what each rule finds")
	rulesFolder = flag.String("messages", "testdata/ordinary", "folder of ordinary messages of which the open half is read by the rules")
)

// Each rule with what it hits in ordinary texts that may be read, and what it alone finds
// in texts of danger: a rule that does the first and not the second is to be narrowed or
// deleted. It prints only where -rules asks for it.
func TestRulesOneByOne(t *testing.T) {
	if !*showRules {
		t.Skip("-rules prints what each rule finds")
	}
	hits, alone := map[string][]string{}, map[string]int{}
	for _, language := range languages {
		messages, _, err := sheets.ReadMessages(os.DirFS(*rulesFolder), language)
		if err != nil {
			t.Fatal(err)
		}
		texts, err := sheets.Read(os.DirFS("testdata/sheets"), language)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			switch ids := dangerRules(text.Body); {
			case !text.IsOpen():
			case text.Sheet == sheets.Crisis && len(ids) == 1:
				alone[ids[0]]++
			case text.Sheet == sheets.Ordinary, text.Sheet == sheets.Negative:
				messages = append(messages, text.Body)
			}
		}
		for _, body := range messages {
			for _, id := range dangerRules(body) {
				hits[id] = append(hits[id], body)
			}
		}
	}
	for _, set := range ruleSets() {
		for _, rule := range set.rules {
			if rule.tier.isDanger() {
				t.Logf("%-22s alone in %3d, ordinary %3d %.160q", rule.id, alone[rule.id], len(hits[rule.id]), hits[rule.id])
			}
		}
	}
}

// dangerRules lists the rules of danger that match a text.
func dangerRules(body string) []string {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	var ids []string
	for _, f := range s.scanBody(body) {
		if f.tier.isDanger() {
			ids = append(ids, f.rule.id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
