package main

import (
	"fmt"
	"slices"
	"strings"
)

// point is one call that a role makes, or that is made to a role, while a
// scenario runs. It is known by who makes it, what it is, and how many of its
// kind came before: a number in the order of time would differ from run to run.
type point struct {
	Role string // worker or starter
	Kind string // sql, engine, http or webhook
	Name string // statement, method or address
	N    int    // occurrence, from 1
}

func (p point) String() string { return fmt.Sprintf("%s %s %s #%d", p.Role, p.Kind, p.Name, p.N) }

// effect says what a call leaves behind when its answer is lost.
type effect int

const (
	// reads changes nothing, or nothing that outlives a failed transaction.
	reads effect = iota
	writes
	// posts sends a text to the carrier.
	posts
)

// fault is what goes wrong at a point.
type fault string

const (
	none fault = ""
	// before: an error, and nothing was done.
	before fault = "before"
	// after: it was done, and the answer was lost.
	after fault = "after"
	// hang: it was done where that is possible, and no answer comes.
	hang fault = "hang"
	// kill: it was done, and the process that asked for it is killed.
	kill fault = "kill"
	// codedBefore and codedAfter are answers with status 5xx and a code of the
	// carrier, which does not say whether it took the text.
	codedBefore fault = "5xx-before"
	codedAfter  fault = "5xx-after"
)

// observedPoint is a point as the run without faults passed it.
type observedPoint struct {
	point
	effect effect
}

// faults are those that make a difference there. Of a read that is made again
// and again, the first one hangs or is the last for its process.
func (s observedPoint) faults() []fault {
	switch {
	case s.effect == reads && s.N > 1:
		return []fault{before}
	case s.effect == reads:
		return []fault{before, hang, kill}
	case s.effect == posts:
		return []fault{before, after, hang, kill, codedBefore, codedAfter}
	}
	return []fault{before, after, hang, kill}
}

// counter numbers the calls of a run. The installation guards it.
type counter map[point]int

func (c counter) count(p point) point {
	p.N = 0
	c[p]++
	p.N = c[p]
	return p
}

// statementName is the verb and the table of a statement: "UPDATE outbox". Other
// statements are named by their first word.
func statementName(query string) (name string, write bool) {
	words := strings.Fields(query)
	if len(words) == 0 {
		return "", false
	}
	verb, marker := strings.ToUpper(words[0]), ""
	switch verb {
	case "SELECT", "DELETE":
		marker = "FROM"
	case "INSERT":
		marker = "INTO"
	case "UPDATE":
		marker = "UPDATE"
	default:
		return verb, false
	}
	at := slices.IndexFunc(words, func(word string) bool { return strings.EqualFold(word, marker) })
	if at < 0 || at+1 >= len(words) {
		return verb, verb != "SELECT"
	}
	table, _, _ := strings.Cut(strings.TrimLeft(words[at+1], "("), "(")
	return verb + " " + strings.Trim(table, "\"`;"), verb != "SELECT"
}
