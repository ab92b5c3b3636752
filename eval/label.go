package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// question is asked about a text; answers are the words that it may be answered with.
type question struct {
	name, text string
	answers    []string
}

// items are asked about every reply.
var items = []question{
	{"fits", "Does the reply fit what the person wrote last and what was said before?", yesNo},
	{"one", "Does it ask one thing at most?", yesNo},
	{"true", "Is all that it says true, as far as the record of the person and of what was done tells?", yesNo},
	{"scope", "Does it stay with habits and daily life, without medical or other expert advice?", yesNo},
	{"short", "Is it as short as it can be?", yesNo},
	{"warm", "Is it warm without flattery?", yesNo},
}

var yesNo = []string{"yes", "no"}

// Answers to which of two conversations is better.
const (
	theFirst, theSecond, bothSame = "1", "2", "same"
	better                        = "better"
)

// pairItem is asked about two conversations.
var pairItem = []question{{better, "In which conversation does the coach answer this person better?", []string{theFirst, theSecond, bothSame}}}

// subject is what is labelled: a reply with what went before it, or two conversations.
// Key names text and questions, so that a label holds for nothing else.
type subject struct {
	key, column string
	texts       []string
	questions   []question
}

func newSubject(column string, questions []question, texts ...string) subject {
	return subject{hashMessage(fmt.Sprint(questions, texts)), column, texts, questions}
}

// show is the text to read; the other way round the second conversation comes first.
func (s subject) show(isTurned bool) string {
	if len(s.texts) == 1 {
		return s.texts[0]
	}
	first, second := s.texts[0], s.texts[1]
	if isTurned {
		first, second = second, first
	}
	return "CONVERSATION 1\n" + first + "\nCONVERSATION 2\n" + second
}

// turnBack is an answer to the conversations that were shown the other way round.
func turnBack(answer string) string {
	switch answer {
	case theFirst:
		return theSecond
	case theSecond:
		return theFirst
	}
	return answer
}

// transcribe writes a conversation up to a step, with what is known of the person then.
func (p Play) transcribe(last int) string {
	var out strings.Builder
	for i, said := range p.Steps[:last+1] {
		if i == last {
			fmt.Fprintf(&out, "(known of the person: %s)\n(done in this step: %s)\n", strings.Join(said.Known, "; "), said.Calls)
		}
		if said.Text != "" {
			fmt.Fprintf(&out, "person: %s\n", oneLine(said.Text))
		}
		if said.Reply != "" {
			fmt.Fprintf(&out, "coach: %s\n", oneLine(said.Reply))
		}
	}
	return out.String()
}

// listSubjects are the replies of a run, and with a run before it the pairs of their
// conversations, in an order that tells nothing of column and case.
func listSubjects(before, after Run) []subject {
	all := map[string]subject{}
	add := func(s subject) { all[s.column+s.key] = s }
	for _, row := range after.Rows {
		for i, column := range after.Columns {
			for number, p := range row.Cells[i] {
				for step, said := range p.Steps {
					if said.Text != "" && said.Reply != "" {
						add(newSubject(column.Name, items, p.transcribe(step)))
					}
				}
				old, found := before.playOf(row.Case, column.Name, number)
				if !found || len(old.Steps) == 0 || len(p.Steps) == 0 {
					continue
				}
				a, b := old.transcribe(len(old.Steps)-1), p.transcribe(len(p.Steps)-1)
				if a != b {
					add(newSubject(column.Name, pairItem, a, b))
				}
			}
		}
	}
	out := make([]subject, 0, len(all))
	for _, s := range all {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b subject) int { return strings.Compare(a.key+a.column, b.key+b.column) })
	return out
}

// playOf finds a play of a run.
func (r Run) playOf(name, column string, number int) (Play, bool) {
	row := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Case == name })
	at := r.columnOf(column)
	if row < 0 || at < 0 || number >= len(r.Rows[row].Cells[at]) {
		return Play{}, false
	}
	return r.Rows[row].Cells[at][number], true
}

// labels are the answers of one labeller by the key of the text, then by the question.
type labels map[string]map[string]string

// labelLine is a line of the file of a labeller.
type labelLine struct {
	Key     string            `json:"key"`
	Answers map[string]string `json:"answers"`
}

const labelsEnding = ".labels.jsonl"

// labelsFile is where a labeller's answers about a run are kept.
func labelsFile(run, name string) string {
	return run + "." + strings.ReplaceAll(name, string(filepath.Separator), "_") + labelsEnding
}

// readLabels reads a file of labels; one that is not there has none.
func readLabels(path string) (labels, error) {
	out := labels{}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading labels: %w", err)
	}
	for line := range bytes.Lines(raw) {
		var one labelLine
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("reading labels: %s: %w; delete the line that is broken", path, err)
		}
		out[one.Key] = one.Answers
	}
	return out, nil
}

// labeller answers the questions about a text; nil where it has no answer.
type labeller func(ctx context.Context, s subject) (map[string]string, error)

// labelAll has the texts labelled that the file has no labels of, and keeps each at once.
func labelAll(ctx context.Context, path string, todo []subject, most int, ask labeller) error {
	done, err := readLabels(path)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keeping labels: %w", err)
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(most)
	for _, s := range todo {
		if done[s.key] != nil {
			continue
		}
		done[s.key] = map[string]string{} // Two columns may have written the same.
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			answers, err := ask(ctx, s)
			if err != nil || answers == nil {
				return err
			}
			line, err := json.Marshal(labelLine{s.key, answers})
			if err != nil {
				return fmt.Errorf("keeping labels: %w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if _, err := file.Write(append(line, '\n')); err != nil {
				return fmt.Errorf("keeping labels: %w", err)
			}
			return nil
		})
	}
	if err := errors.Join(group.Wait(), file.Close()); err != nil {
		return fmt.Errorf("labelling: %w", err)
	}
	return nil
}

// errQuit ends labelling in the terminal.
var errQuit = errors.New("labelling ends")

// terminal asks a person: the first letter of an answer, q to end, r to answer a text again.
// Several letters in a line answer several questions.
type terminal struct {
	in      *bufio.Scanner
	out     io.Writer
	pending string
	left    int
}

// readLetter is the next letter that was typed.
func (t *terminal) readLetter() (string, error) {
	for t.pending == "" {
		if !t.in.Scan() {
			return "", errQuit
		}
		t.pending = strings.ToLower(strings.Join(strings.Fields(t.in.Text()), ""))
	}
	letter := t.pending[:1]
	t.pending = t.pending[1:]
	return letter, nil
}

// ask is a labeller.
func (t *terminal) ask(_ context.Context, s subject) (map[string]string, error) {
	// Which conversation is shown first is the same for both people.
	isTurned := s.key[0]%2 == 1
	fmt.Fprintf(t.out, "\n%d to go; q ends, r begins this one again\n\n%s\n", t.left, s.show(isTurned))
	out := map[string]string{}
	for i := 0; i < len(s.questions); {
		q := s.questions[i]
		if t.pending == "" {
			fmt.Fprintf(t.out, "%s [%s] ", q.text, strings.Join(q.answers, "/"))
		}
		letter, err := t.readLetter()
		if err != nil {
			return nil, err
		}
		if letter == "q" {
			return nil, errQuit
		}
		if letter == "r" {
			i = 0
			continue
		}
		at := slices.IndexFunc(q.answers, func(answer string) bool { return strings.HasPrefix(answer, letter) })
		if at < 0 {
			t.pending = ""
			continue
		}
		answer := q.answers[at]
		if isTurned {
			answer = turnBack(answer)
		}
		out[q.name] = answer
		i++
	}
	t.left--
	return out, nil
}
