package recall

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"coachline/models"
)

// coveredShare is the share of the query's words in the window from which on a
// search is not worth its cost.
const coveredShare = 0.5

// Ruling is what a plan decides about memory.
type Ruling string

const (
	// RulingOpen: there is no plan; the gate decides.
	RulingOpen Ruling = "open"
	// RulingWanted: the plan asks for memory; the gate is not consulted.
	RulingWanted Ruling = "wanted"
	// RulingUnwanted: there is a plan and it does not ask for memory.
	RulingUnwanted Ruling = "unwanted"
)

// Question is what the gate reads. Window holds the entries of the hot window,
// oldest first; the run of the person's texts at its end is what is being
// answered and does not count.
type Question struct {
	Query  string
	Window []models.Message
	Ruling Ruling
	// Forbidden: mode or channel reads no memory.
	Forbidden bool
}

// Verdict says whether the deep search runs. Reason is a short code without
// personal data.
type Verdict struct {
	Recall bool
	Reason string
}

// Decision returns the code that the record of stages keeps: "gate skip 0.75".
func (v Verdict) Decision() string {
	if v.Recall {
		return "gate recall " + v.Reason
	}
	return "gate skip " + v.Reason
}

// Gate decides without a model whether the deep search runs: not when mode or
// channel forbid it, not when a plan does without it, and not when the window
// holds a tool's result and at least half of the query's content words.
// Anything that it cannot read makes it recall.
func Gate(q Question) Verdict {
	if q.Forbidden {
		return Verdict{Reason: "forbidden"}
	}
	switch q.Ruling {
	case RulingWanted:
		return Verdict{Recall: true, Reason: "plan"}
	case RulingUnwanted:
		return Verdict{Reason: "plan"}
	case RulingOpen:
	}
	seen, err := readWindow(q.Window)
	words := Words(q.Query)
	switch {
	case err != nil:
		return Verdict{Recall: true, Reason: "error"}
	case !seen.tool:
		return Verdict{Recall: true, Reason: "no tool row"}
	case len(words) == 0:
		return Verdict{Recall: true, Reason: "no words"}
	}
	coverage := float64(countShared(words, Words(seen.text))) / float64(len(words))
	return Verdict{Recall: coverage < coveredShare, Reason: fmt.Sprintf("%.2f", coverage)}
}

type window struct {
	text string
	tool bool
}

var errUnreadable = errors.New("tool result is not readable")

// readWindow joins the contents of a window. What a tool was called with is not
// content: a search for a word is no answer about it.
func readWindow(entries []models.Message) (window, error) {
	for len(entries) > 0 && entries[len(entries)-1].Role == models.RoleUser {
		entries = entries[:len(entries)-1]
	}
	var seen window
	var text strings.Builder
	for _, entry := range entries {
		switch {
		case entry.Kind == models.KindDebug || entry.Kind == models.KindToolCall:
		case entry.Kind == models.KindToolResult || entry.Role == models.RoleTool:
			var result models.ToolResult
			if json.Unmarshal([]byte(entry.Text), &result) != nil {
				return window{}, errUnreadable
			}
			seen.tool = true
			text.WriteString(result.Content + "\n")
		default:
			text.WriteString(entry.Text + "\n")
		}
	}
	seen.text = text.String()
	return seen, nil
}
