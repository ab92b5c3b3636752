package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"coachline/internal/api"
	"coachline/models"
)

func renderTurns(w io.Writer, page api.TurnPage) error {
	if len(page.Turns) == 0 {
		_, err := fmt.Fprintln(w, "No turns yet.")
		return err
	}
	rows := [][]string{{"TURN", "STARTED", "KIND", "MODE", "OUTCOME", "ROUNDS", "TOKENS", "CACHED", "TOOLS"}}
	for _, t := range page.Turns {
		rows = append(rows, []string{
			t.ID, at(t.StartedAt), string(t.Kind), string(t.Mode), outcome(t), fmt.Sprint(t.Rounds),
			fmt.Sprint(t.Tokens.Prompt + t.Tokens.Completion), fmt.Sprint(t.Tokens.Cached), cmp.Or(strings.Join(t.Tools, ", "), "-"),
		})
	}
	return table(w, rows)
}

func outcome(t api.TurnSummary) string {
	return cmp.Or(strings.ReplaceAll(t.Outcome, "_", " "), "running")
}

func renderTurn(w io.Writer, v api.Turn) error {
	p := &printer{w: w}
	p.table(turnFacts(v))
	p.texts("IN", v.In)
	for _, round := range v.Rounds {
		p.round(round)
	}
	for _, sub := range v.Subagents {
		p.subagent(sub)
	}
	p.stages("ASKED BESIDE THE ROUNDS", v.Stages)
	p.texts("OUT", v.Out)
	p.printDeliveries(v.Sent)
	return p.err
}

func turnFacts(v api.Turn) [][]string {
	t := v.Turn
	rows := [][]string{
		{"turn", t.ID}, {"kind", string(t.Kind)}, {"mode", string(t.Mode)}, {"outcome", outcome(t)}, {"started", at(t.StartedAt)},
		{"finished", ""}, {"prompt", v.PromptID}, {"prompt version", t.PromptVersion}, {"rounds", fmt.Sprint(t.Rounds)},
		{"tools", strings.Join(t.Tools, ", ")}, {"tokens", tokens(t.Tokens)},
	}
	if t.FinishedAt != nil {
		rows[5][1] = at(*t.FinishedAt)
	}
	return slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" })
}

func tokens(u models.Usage) string {
	if u == (models.Usage{}) {
		return ""
	}
	return fmt.Sprintf("%d in (%d cached), %d out", u.Prompt, u.Cached, u.Completion)
}

// printer writes one section after another and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, text)
	}
}

func (p *printer) table(rows [][]string) {
	if p.err == nil {
		p.err = table(p.w, rows)
	}
}

// block is a text below its title; nothing for an empty one.
func (p *printer) block(title, text string) {
	if text == "" {
		return
	}
	p.line(title)
	p.line(indent(text))
}

func (p *printer) texts(title string, list []api.Text) {
	if len(list) == 0 {
		return
	}
	p.line("\n" + title)
	for _, text := range list {
		p.block(at(text.At)+"  "+string(text.Kind), text.Text)
	}
}

func (p *printer) round(r api.Round) {
	head := fmt.Sprintf("\nROUND %d  %s  %s", r.Number, at(r.At), oneLine(r.Model))
	p.line(strings.TrimRight(head, " "))
	rows := [][]string{{"finish", r.Finish}, {"tokens", tokens(r.Tokens)}}
	if r.Given != nil {
		rows = append(rows, []string{"tools offered", strings.Join(r.Given.Tools, ", ")}, []string{"chosen by", r.Given.ChosenBy})
	}
	p.table(slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
	if r.Given != nil {
		p.block("plan", strings.Join(r.Given.Plan, "\n"))
		p.block("what the model knew", r.Given.Memory)
		if older := r.Given.Older; older != nil {
			p.block(fmt.Sprintf("the first %d messages, summarised", older.Count), older.Text)
		}
	}
	p.stages("", r.Stages)
	for _, call := range r.Calls {
		p.block(fmt.Sprintf("call %s  %s", oneLine(call.Name), call.State), call.Arguments)
		p.block("result", call.Result)
	}
	p.block("text", r.Text)
}

// subagent is a task that was given away: where it comes from, then its rounds.
func (p *printer) subagent(s api.Subagent) {
	p.line("\nSUBAGENT " + s.Turn.ID)
	p.table(slices.DeleteFunc([][]string{
		{"started by", fmt.Sprintf("%s, turn %s, round %d, call %d, of %s over %s", s.Origin.Tool, s.Origin.Turn, s.Origin.Round, s.Origin.Call, s.Origin.Workflow, s.Origin.Channel)},
		{"label", oneLine(s.Label)}, {"outcome", outcome(s.Turn)}, {"tokens", tokens(s.Turn.Tokens)},
	}, func(row []string) bool { return row[1] == "" }))
	p.block("task", s.Task)
	for _, round := range s.Rounds {
		p.round(round)
	}
}

func (p *printer) stages(title string, list []api.Stage) {
	if len(list) == 0 {
		return
	}
	if title != "" {
		p.line("\n" + title)
	}
	rows := [][]string{{"STAGE", "DECISION", "MODEL", "TOKENS", "MS"}}
	for _, s := range list {
		row := []string{string(s.Name), s.Decision, "-", "-", "-"}
		if s.Model != "" {
			row = []string{string(s.Name), s.Decision, s.Model, cmp.Or(tokens(s.Tokens), "-"), fmt.Sprint(s.Millis)}
		}
		rows = append(rows, row)
	}
	p.table(rows)
}

func (p *printer) printDeliveries(list []api.Delivery) {
	if len(list) == 0 {
		return
	}
	p.line("\nSENT")
	rows := [][]string{{"ID", "STATUS", "ATTEMPTS", "CHANGED", "CODE"}}
	for _, d := range list {
		code := d.ErrorCode
		if d.Meaning != "" {
			code += ": " + d.Meaning
		}
		rows = append(rows, []string{d.ID, string(d.Status), fmt.Sprint(d.Attempts), at(d.ChangedAt), cmp.Or(code, "-")})
	}
	p.table(rows)
}

func renderConsents(w io.Writer, list []api.Consent) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "The ledger has no entry.")
		return err
	}
	rows := [][]string{{"AT", "ACTION", "METHOD", "BY", "TEXT"}}
	for _, c := range list {
		rows = append(rows, []string{at(c.At), string(c.Action), string(c.Method), c.Actor, cmp.Or(c.Text, "-")})
	}
	return table(w, rows)
}

func renderMemories(w io.Writer, m api.Memory) error {
	p := &printer{w: w}
	if len(m.Facts)+len(m.Notes) == 0 && m.Summary.Text == "" {
		p.line("Nothing is remembered.")
		return p.err
	}
	if len(m.Facts) > 0 {
		rows := [][]string{{"FACT", "VERSION", "KIND", "STORED", "TURN", "TEXT"}}
		for _, f := range m.Facts {
			rows = append(rows, []string{f.ID, fmt.Sprint(f.Version), string(f.Kind), at(f.At), f.TurnID, f.Text})
			for _, old := range f.Before {
				rows = append(rows, []string{"  before", fmt.Sprint(old.Version), string(old.Kind), at(old.At), old.TurnID, old.Text})
			}
		}
		p.table(rows)
	}
	for _, note := range m.Notes {
		p.block("\nNOTE "+oneLine(note.LocalDate), note.Text)
	}
	p.block("\nSUMMARY", m.Summary.Text)
	return p.err
}
