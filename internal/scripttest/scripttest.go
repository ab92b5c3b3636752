// Package scripttest has the commands of scripts that drive the program coachline as
// an operator and as people with phones do. testdata/script and dev/testdata/script
// have the scripts, CONTRIBUTING.md says how one is written.
package scripttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

const (
	// PhonesVar names the variable that holds the address of the simulated phones.
	PhonesVar = "PHONES"
	// patience bounds the wait for what a script expects.
	patience = 30 * time.Second
	pause    = 50 * time.Millisecond
)

// Commands returns the commands that scripts have beside those of testscript.
func Commands() map[string]func(*testscript.TestScript, bool, []string) {
	p := &phones{seen: map[string]int{}}
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits": requireExit, "let": setVariable, "until": repeatUntil, "text": p.text, "hears": p.hear, "silent": p.requireSilence,
	}
}

// requireExit runs a program that must end with an exit code: exits 2 coachline dance.
func requireExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := run(ts, args[1:]); got != want {
		ts.Fatalf("%s ended with exit code %d, and not %d", strings.Join(args[1:], " "), got, want)
	}
}

// run runs a program and returns its exit code.
func run(ts *testscript.TestScript, args []string) int {
	var ended *exec.ExitError
	err := ts.Exec(args[0], args[1:]...)
	if errors.As(err, &ended) {
		return ended.ExitCode()
	}
	ts.Check(err)
	return 0
}

// setVariable sets a variable to what the first group of a pattern finds in the last
// output: let ID '^id +(\S+)'.
func setVariable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: let NAME PATTERN")
	}
	found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("the last output has no %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// repeatUntil repeats a command until its output has a pattern: until 'FEEDBACK'
// coachline timers ada.
func repeatUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN PROGRAM [ARGUMENT...]")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	await(ts, args[0], func() bool {
		return run(ts, args[1:]) == 0 && pattern.MatchString(ts.ReadFile("stdout"))
	})
}

// await asks again and again, until patience ends.
func await(ts *testscript.TestScript, what string, is func() bool) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for end := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(end) {
			ts.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// phones are the people's phones. seen counts the texts of each that a script has
// heard; scripts that run at the same time have numbers of their own.
type phones struct {
	mu   sync.Mutex
	seen map[string]int
}

func address(ts *testscript.TestScript, number string) string {
	return ts.Getenv(PhonesVar) + "/phones/" + url.PathEscape(number) + "/messages"
}

// text sends texts from a phone: text +12025550123 'hello there'.
func (p *phones) text(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: text NUMBER WORDS...")
	}
	raw, err := json.Marshal(map[string]string{"body": strings.Join(args[1:], " ")})
	ts.Check(err)
	answer, err := http.Post(address(ts, args[0]), "application/json", bytes.NewReader(raw)) //nolint:noctx // a script runs until it ends
	ts.Check(err)
	ts.Check(answer.Body.Close())
	if answer.StatusCode != http.StatusAccepted {
		ts.Fatalf("the phone network refused the text: %s", answer.Status)
	}
}

// hear waits for the next texts to a phone and requires a pattern of each: hears
// +12025550123 'opted out'.
func (p *phones) hear(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: hears NUMBER PATTERN...")
	}
	for _, pattern := range args[1:] {
		var texts []string
		await(ts, "a text to "+args[0]+" with "+pattern, func() bool {
			texts = p.unheard(ts, args[0])
			return len(texts) > 0
		})
		next := texts[0]
		p.count(ts, args[0])
		ts.Logf("%s hears: %s", args[0], next)
		if !regexp.MustCompile("(?is)" + pattern).MatchString(next) {
			ts.Fatalf("the text has no %s", pattern)
		}
	}
}

// requireSilence requires that no text has come to a phone since the last that was
// heard: silent +12025550123.
func (p *phones) requireSilence(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: silent NUMBER")
	}
	if texts := p.unheard(ts, args[0]); len(texts) > 0 {
		ts.Fatalf("%s was texted: %q", args[0], texts)
	}
}

// unheard lists the texts to a phone that the script has not heard yet.
func (p *phones) unheard(ts *testscript.TestScript, number string) []string {
	texts := received(ts, number)
	p.mu.Lock()
	defer p.mu.Unlock()
	return texts[p.seen[ts.Name()+number]:]
}

// count counts one more text that was heard.
func (p *phones) count(ts *testscript.TestScript, number string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[ts.Name()+number]++
}

// received lists the texts that came to a phone, oldest first.
func received(ts *testscript.TestScript, number string) (texts []string) {
	answer, err := http.Get(address(ts, number)) //nolint:noctx // as above
	ts.Check(err)
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return nil
	}
	var page struct {
		Messages []struct{ Direction, Body string }
	}
	ts.Check(json.NewDecoder(answer.Body).Decode(&page))
	for _, m := range page.Messages {
		if m.Direction == "to_phone" {
			texts = append(texts, m.Body)
		}
	}
	return texts
}
