package screening_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
	"coachline/models"
)

// wanted is a text with what must become of it, and none that rules or weights were made
// from.
type wanted struct {
	language, group, body string
}

// The groups of texts that gates are about.
const (
	groupOrdinary = "ordinary"
	groupCrisis   = "crisis"
	groupExplicit = "explicit crisis"
	groupInLong   = "crisis within an ordinary message"
	groupRequest  = "clear request"
	groupNone     = "no request"
)

// gate is a limit on a group of texts and its partner the other way round. It holds for
// every language and, where each is set, for every length; a cell fails only
// where with one hit fewer (or more) its interval of 95 % lies on the wrong side, since of
// 100 texts one is 1 %, and 40 cells are looked at. All
// of them together must keep the limit itself.
type gate struct {
	name, group string
	isHit       func(screening.Result) bool
	limit       float64
	isCost      bool // at most the limit, else at least
	each        bool // length
}

func isAlert(found screening.Result) bool { return found.Danger != models.DangerNone }
func isPage(found screening.Result) bool  { return found.Tier == models.TierA }
func isHeard(found screening.Result) bool {
	return found.Intent == models.IntentStop || found.Intent == models.IntentUnclear || isAlert(found)
}
func isStopped(found screening.Result) bool { return isEnded(found) || isPaused(found) }
func isEnded(found screening.Result) bool   { return found.Intent == models.IntentStop }
func isPaused(found screening.Result) bool  { return found.Intent == models.IntentWrongNumber }

var pairedGates = []gate{
	{"ordinary messages are weak signs", groupOrdinary, isAlert, 0.01, true, true},
	{"crises are found", groupCrisis, isAlert, 0.92, false, false},
	{"crises are found in long messages", groupInLong, isAlert, leastInLong, false, true},
	{"ordinary messages page", groupOrdinary, isPage, 0.002, true, true},
	{"ordinary messages end or pause", groupOrdinary, isStopped, 0.005, true, false},
	{"explicit crises are found", groupExplicit, isAlert, leastExplicit, false, false},
	{"explicit crises page", groupExplicit, isPage, leastPaged, false, false},
	{"what is no request ends", groupNone, isEnded, 0.003, true, false},
	{"what is no request pauses", groupNone, isPaused, 0.003, true, false},
	{"clear requests are ended or asked", groupRequest, isHeard, leastRequests, false, false},
	{"clear requests are ended", groupRequest, isEnded, leastEnded, false, false},
}

// What is reached where the issue wants more; docs/screening.md says what is wanted.
const (
	leastExplicit = 0.97
	leastPaged    = 0.88
	leastInLong   = 0.80
	leastRequests = 0.99
	leastEnded    = 0.985
)

// readWanted reads all texts of the gates.
func readWanted(t *testing.T) []wanted {
	t.Helper()
	var all []wanted
	for _, language := range screening.Languages() {
		add := func(group string, bodies ...string) {
			for _, body := range bodies {
				all = append(all, wanted{language, group, body})
			}
		}
		_, ordinary := readOrdinary(t, language)
		_, answers, err := sheets.ReadAnswers(os.DirFS("testdata/answers"), language)
		require.NoError(t, err)
		_, others, err := sheets.ReadNoRequests(os.DirFS("testdata/requests"), language)
		require.NoError(t, err)
		add(groupOrdinary, append(ordinary, joinToLong(ordinary)...)...)
		add(groupOrdinary, answers...)
		add(groupNone, others...)
		texts, err := sheets.Read(os.DirFS("testdata/sheets"), language)
		require.NoError(t, err)
		for i, text := range texts {
			if text.IsOpen() {
				continue
			}
			switch text.Sheet {
			case sheets.Ordinary:
				add(groupOrdinary, text.Body)
				add(groupNone, text.Body)
			case sheets.Negative:
				add(groupNone, text.Body)
			case sheets.Crisis:
				add(groupCrisis, text.Body)
				if slices.Contains(groupsOf(text), explicit) {
					add(groupExplicit, text.Body)
				}
				around := ordinary[i*7%len(ordinary)]
				add(groupInLong, around+" "+text.Body, text.Body+". "+around)
			case sheets.OptOut:
				if answerTo(text.Kind) == models.IntentStop {
					add(groupRequest, text.Body)
				}
			}
		}
	}
	return all
}

// fewest is how many texts a cell must have to be held to its limit.
const fewest = 30

// longText is how many characters a message has that is joined from others: people
// seldom write such long ones.
const longText = 320

// joinToLong joins neighbouring messages to long ones.
func joinToLong(messages []string) []string {
	var all []string
	for i := 0; i+4 < len(messages) && len(all) < 150; i += 5 {
		body := messages[i]
		for k := 1; k < 5 && len(body) < longText; k++ {
			body += " " + messages[i+k]
		}
		all = append(all, body)
	}
	return all
}

// countCells counts what becomes of the texts of each gate, by language and length.
func countCells(t *testing.T) map[string]*shares {
	t.Helper()
	cells := map[string]*shares{}
	for _, text := range readWanted(t) {
		found, class := screening.Screen(screening.Message{Body: text.body}), lengthClass(text.body)
		for _, g := range pairedGates {
			if g.group != text.group || class < 0 {
				continue
			}
			if cells[g.name] == nil {
				cells[g.name] = &shares{}
			}
			cells[g.name].count("all", g.isHit(found))
			cells[g.name].count(text.language, g.isHit(found))
			if g.each {
				cells[g.name].count(fmt.Sprintf("%s under %d", text.language, lengths[class]), g.isHit(found))
				cells[g.name].count(fmt.Sprintf("under %d", lengths[class]), g.isHit(found))
			}
		}
	}
	return cells
}

// The page has the gates with what is reached.
func TestFiguresOfGates(t *testing.T) {
	cells, costs := countCells(t), map[string]bool{}
	var out strings.Builder
	out.WriteString("| | limit, % | all | " + strings.Join(screening.Languages(), " | ") + " |\n|---|---|---|" + strings.Repeat("---|", len(screening.Languages())) + "\n")
	for _, g := range pairedGates {
		costs[g.name] = g.isCost
		most := "at least"
		if g.isCost {
			most = "at most"
		}
		fmt.Fprintf(&out, "| %s | %s %.1f |", g.name, most, 100*g.limit)
		for _, name := range append([]string{"all"}, screening.Languages()...) {
			fmt.Fprintf(&out, " %s |", cell((*cells[g.name])[name]))
		}
		out.WriteString("\n")
	}
	comparePage(t, figuresPage, "gates", out.String(), costs)
}

// Each gate on what must be found has one on what must not be, in each language and for
// each length of messages.
func TestPairedGates(t *testing.T) {
	cells := countCells(t)
	for _, g := range pairedGates {
		t.Run(strings.ReplaceAll(g.name, " ", "-"), func(t *testing.T) {
			require.NotEmpty(t, cells[g.name])
			for _, name := range slices.Sorted(maps.Keys(*cells[g.name])) {
				s := (*cells[g.name])[name]
				t.Logf("%-14s %v", name, s)
				if s.n < fewest {
					continue
				}
				low, _ := sheets.Wilson(max(0, s.hits-1), s.n)
				_, high := sheets.Wilson(min(s.n, s.hits+1), s.n)
				switch reached := float64(s.hits) / float64(s.n); {
				case name == "all" && g.isCost:
					assert.LessOrEqual(t, reached, g.limit, "%s: %v", name, s)
				case name == "all":
					assert.GreaterOrEqual(t, reached, g.limit, "%s: %v", name, s)
				case g.isCost:
					assert.LessOrEqual(t, low, g.limit, "%s: %v", name, s)
				default:
					assert.GreaterOrEqual(t, high, g.limit, "%s: %v", name, s)
				}
			}
			if g.each && g.isCost {
				requireNoGrowth(t, *cells[g.name])
			}
		})
	}
}

// requireNoGrowth holds that no class of lengths has more than twice the share of the
// shortest messages, as far as their numbers tell.
func requireNoGrowth(t *testing.T, cells shares) {
	t.Helper()
	shortest := cells[fmt.Sprintf("under %d", lengths[0])]
	_, most := sheets.Wilson(shortest.hits, shortest.n)
	for _, length := range lengths[1:] {
		name := fmt.Sprintf("under %d", length)
		low, _ := sheets.Wilson(cells[name].hits, cells[name].n)
		assert.LessOrEqual(t, low, 2*most, "%s: %v, the shortest %v", name, cells[name], shortest)
	}
}
