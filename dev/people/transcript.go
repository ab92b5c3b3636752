package main

import (
	"bufio"
	"cmp"
	"fmt"
	"html/template"
	"os"
	"slices"
	"strings"
)

// sorted returns what was written, in the order of the phone.
func (x *player) sorted() []line {
	lines := slices.Clone(x.lines)
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
	return lines
}

// writeTranscripts writes what each person's phone shows, as text and as a page.
func (w *world) writeTranscripts() error {
	for _, x := range w.people {
		if err := x.writeText(w.file(x.Key + ".txt")); err != nil {
			return err
		}
		if err := x.writePage(w.file(x.Key + ".html")); err != nil {
			return err
		}
	}
	return nil
}

func (x *player) writeText(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing a transcript: %w", err)
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	fmt.Fprintf(out, "%s: %s\n", x.Who.Name, x.About)
	day := -1
	for _, l := range x.sorted() {
		if today := x.day(l.At); today != day {
			day = today
			s := x.stateOn(x.seed, day)
			fmt.Fprintf(out, "\nDay %d, %s (mood %.0f, energy %.0f, drive %.0f)%s\n", day, l.At.In(x.zone).Format("Mon 2 Jan"), s.mood, s.energy, s.drive, x.happens(day))
		}
		who := x.Who.Name
		if l.FromUs {
			who = "coach, " + strings.ReplaceAll(string(l.Kind), "_", " ")
		}
		fmt.Fprintf(out, "  %s %s: %s\n", l.At.In(x.zone).Format("15:04"), who, strings.ReplaceAll(l.Body, "\n", "\n        "))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a transcript: %w", err)
	}
	return nil
}

// happens names the events of life of a day.
func (x *player) happens(day int) string {
	var all []string
	for _, e := range x.Life {
		if day >= e.Day && day < max(e.Until, e.Day+1) && e.What != "" {
			all = append(all, e.What)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, "; ")
}

var pageOf = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Name}}</title><style>
body{font:16px/1.4 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem;background:#f6f6f4;color:#222}
h2{font-size:.85rem;color:#666;margin:1.6rem 0 .4rem;font-weight:600}
p{margin:.25rem 0;padding:.5rem .8rem;border-radius:1rem;max-width:80%;width:fit-content;white-space:pre-wrap;background:#fff}
p.own{background:#d7ebff;margin-left:auto} p.fixed{background:#fff1d6} small{color:#888;display:block;font-size:.72rem}
</style></head><body><h1>{{.Name}}</h1><div>{{.About}}</div>
{{range .Days}}<h2>{{.Head}}</h2>{{range .Lines}}<p class="{{.Class}}">{{.Body}}<small>{{.Foot}}</small></p>
{{end}}{{end}}</body></html>
`))

type pageDay struct {
	Head  string
	Lines []pageLine
}

type pageLine struct{ Class, Body, Foot string }

func (x *player) writePage(file string) error {
	var days []pageDay
	day := -1
	for _, l := range x.sorted() {
		if today := x.day(l.At); today != day {
			day = today
			days = append(days, pageDay{Head: fmt.Sprintf("Day %d, %s%s", day, l.At.In(x.zone).Format("Mon 2 Jan"), x.happens(day))})
		}
		one := pageLine{Class: "own", Body: l.Body, Foot: l.At.In(x.zone).Format("15:04")}
		if l.FromUs {
			one.Class = "coach"
			one.Foot += ", " + strings.ReplaceAll(string(l.Kind), "_", " ")
		}
		last := &days[len(days)-1]
		last.Lines = append(last.Lines, one)
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	defer f.Close()
	if err := pageOf.Execute(f, map[string]any{"Name": x.Who.Name, "About": x.About, "Days": days}); err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	return nil
}
