package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"coachline/eval/cases"
	"coachline/models"
	"coachline/models/wire"
)

// setPeople plays five people with sixteen texts each, and counts what reached their
// phones.
const setPeople = "people"

//go:embed people/*.yaml
var peopleFiles embed.FS

func loadPeople() ([]cases.Case, error) {
	files, err := fs.Sub(peopleFiles, "people")
	if err != nil {
		return nil, fmt.Errorf("reading people: %w", err)
	}
	return cases.Load(files)
}

// handset is what reached one person's phone.
type handset struct {
	locale string
	texts  int
	// replies came from the model, fixed stood in for it; unanswered texts got neither.
	replies, fixed, unanswered int
	// unfit counts replies of the model by what is wrong with them.
	unfit map[string]int
	said  []string
	wrote []string
	cost  Cost
	took  time.Duration
}

// The kinds of replies that are unfit, in the order of the table.
const (
	unfitSame        = "the same text as before"
	unfitEcho        = "echo of the person"
	unfitPlaceholder = "placeholder"
	unfitOutage      = "our own outage text"
	unfitSelf        = "invented self"
	unfitLanguage    = "other language"
	unfitPromise     = "promise without a call"
	unfitOptOut      = "false opt-out"
	unfitData        = "data"
)

var unfitKinds = []string{unfitSame, unfitEcho, unfitPlaceholder, unfitOutage, unfitSelf, unfitLanguage, unfitPromise, unfitOptOut, unfitData}

// unfitTexts find what no coach may write. They are apart from the product's own checks,
// so that these cannot hide what they miss.
var unfitTexts = map[string]*regexp.Regexp{
	unfitPlaceholder: regexp.MustCompile(`\[[A-Za-z][^\]\n]*\]|\{\{|<[a-z_ ]+>|\bX{3,}\b`),
	unfitOutage:      regexp.MustCompile(`(?i)technical (problem|difficult|issue)|try again later|could not answer|can't answer (right )?now|out of service`),
	unfitSelf: regexp.MustCompile(`(?i)\bI('m| am) (also )?(a|an) (\w+ )?(trainer|nurse|doctor|teacher|student|mother|father|mom|dad|runner|person|human|man|woman)\b|` +
		`\bmy (own )?(husband|wife|kids|son|daughter|children|dog|cat|mom|mother|dad|father|job|boss)\b|\bwhen I was\b`),
	unfitOptOut: regexp.MustCompile(`(?i)opted out|unsubscribed|removed from (the|our) list`),
	unfitData:   regexp.MustCompile(`\{[^{}]*"[^"]*"\s*:[^{}]*"[^"]*"\s*:|(?m)(^\s*\w+: .+\n){3}`),
}

// mostAlike is the share of words from which two texts say the same.
const mostAlike = 0.8

func isAlike(a, b string) bool {
	one, other := words(a), words(b)
	if len(one) < fewWords || len(other) < fewWords {
		return len(one) > 0 && slices.Equal(one, other)
	}
	shared := 0
	for _, word := range one {
		if slices.Contains(other, word) {
			shared++
		}
	}
	return float64(shared) >= mostAlike*float64(max(len(one), len(other)))
}

// judge names what is wrong with a reply of the model, empty for nothing.
func (p *handset) judge(e Exchange, reply string) string {
	alike := func(other string) bool { return isAlike(other, reply) }
	switch {
	case slices.ContainsFunc(p.said, alike):
		return unfitSame
	case slices.ContainsFunc(p.wrote, alike):
		return unfitEcho
	case otherLanguage(reply, p.locale) != "":
		return unfitLanguage
	case falseClaim(e) != "":
		return unfitPromise
	}
	for _, kind := range unfitKinds {
		if pattern := unfitTexts[kind]; pattern != nil && pattern.MatchString(reply) {
			return kind
		}
	}
	return ""
}

// add takes one exchange into account, and writes a line about it.
func (p *handset) add(out io.Writer, e Exchange) {
	p.cost = p.cost.Add(e.Cost)
	if e.Text == "" {
		return
	}
	p.texts++
	p.wrote = append(p.wrote, e.Text)
	note, reply := "nothing", ""
	for _, sent := range e.Sent {
		if sent.Kind == models.KindReply {
			reply = strings.TrimSpace(reply + "\n" + sent.Body)
		}
	}
	switch {
	case reply == "":
		p.unanswered++
	case e.Outcome == string(wire.SourceFallback):
		note = "fixed"
		p.fixed++
	default:
		p.replies++
		if note = p.judge(e, reply); note != "" {
			p.unfit[note]++
			note = "UNFIT " + note
		}
		p.said = append(p.said, reply)
	}
	if note != "" && len(e.Guards) > 0 {
		note += " (" + strings.Join(e.Guards, ", ") + ") "
	}
	fmt.Fprintf(out, "  > %s\n  %s< %s\n", e.Text, note, oneLine(reply))
}

// playPeople plays the people in every column, prints what was said, and then the table.
func (g environment) playPeople(ctx context.Context, o options, out io.Writer) error {
	people, err := loadPeople()
	if err != nil {
		return err
	}
	for _, column := range g.columns(o) {
		driver, err := New(Config{Column: column, Settings: g.settings})
		if err != nil {
			return err
		}
		driver.rests = true
		fmt.Fprintln(out, nameOf(column))
		var all []*handset
		for _, one := range o.matching(people) {
			began := time.Now()
			played := &handset{locale: one.Person.Locale, unfit: map[string]int{}}
			fmt.Fprintf(out, "%s, %s\n", one.Person.Name, one.About)
			steps, err := driver.Play(ctx, one)
			for _, step := range steps {
				played.add(out, step)
			}
			if err != nil {
				return fmt.Errorf("playing %s: %w", one.Name, err)
			}
			played.took = time.Since(began)
			all = append(all, played)
		}
		if err := writePhones(out, all); err != nil {
			return err
		}
	}
	return nil
}

// writePhones writes the table: what was answered by whom, what was unfit, and what it cost.
func writePhones(out io.Writer, all []*handset) error {
	total := handset{unfit: map[string]int{}}
	for _, one := range all {
		total.texts += one.texts
		total.replies += one.replies
		total.fixed += one.fixed
		total.unanswered += one.unanswered
		total.took += one.took
		total.cost = total.cost.Add(one.cost)
		for kind, n := range one.unfit {
			total.unfit[kind] += n
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\ntexts\t%d\nreplies of the model\t%d\nfixed texts\t%d\nnot answered\t%d\n", total.texts, total.replies, total.fixed, total.unanswered)
	for _, kind := range unfitKinds {
		fmt.Fprintf(table, "unfit: %s\t%d\n", kind, total.unfit[kind])
	}
	fmt.Fprintf(table, "calls a text\t%.2f, %.2f of them before the reply, %d without an answer\nprompt tokens a text\t%d, cached %.0f%%\nseconds a text\t%.1f\n",
		float64(total.cost.Calls)/float64(max(total.texts, 1)), float64(total.cost.Calls-total.cost.Background)/float64(max(total.texts, 1)), total.cost.Failed,
		total.cost.Prompt/max(total.texts, 1), percent(total.cost.Cached, max(total.cost.Prompt, 1)), total.took.Seconds()/float64(max(total.texts, 1)))
	return table.Flush()
}
