package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"coachline/internal/api"
	"coachline/models"
)

// turnPage is a page of turns as they came.
type turnPage struct {
	Turns []json.RawMessage `json:"turns"`
	Next  *int              `json:"next_before"`
}

// printTurns prints a participant's newest limit turns, newest first; with a limit
// above the API's page it asks for more pages.
func printTurns(ctx context.Context, p *program, id string, limit int) error {
	const most = 200
	all := turnPage{Turns: []json.RawMessage{}}
	query := url.Values{}
	for len(all.Turns) < limit {
		query.Set("limit", strconv.Itoa(min(limit-len(all.Turns), most)))
		got, err := p.client.do(ctx, request{participant: id, path: "/turns", query: query})
		if err != nil {
			return err
		}
		var page turnPage
		if err := got.decodeInto(&page); err != nil {
			return err
		}
		all.Turns, all.Next = append(all.Turns, page.Turns...), page.Next
		if page.Next == nil {
			break
		}
		query.Set("before", strconv.Itoa(*page.Next))
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding the turns: %w", err)
	}
	return showResult(p, result{raw: raw}, renderTurns)
}

func renderTurns(w io.Writer, page api.TurnPage) error {
	if len(page.Turns) == 0 {
		_, err := fmt.Fprintln(w, "No turns yet.")
		return err
	}
	rows := [][]string{{"TURN", "STARTED", "KIND", "MODE", "OUTCOME", "STEPS", "TOKENS", "CACHED", "TOOLS"}}
	for _, t := range page.Turns {
		rows = append(rows, []string{
			t.ID, formatInstant(t.StartedAt), string(t.Kind), string(t.Mode), formatOutcome(t), fmt.Sprint(t.Steps),
			fmt.Sprint(t.Tokens.Prompt + t.Tokens.Completion), fmt.Sprint(t.Tokens.Cached), cmp.Or(strings.Join(t.Tools, ", "), "-"),
		})
	}
	return writeTable(w, rows)
}

func formatOutcome(t models.TurnSummary) string {
	return cmp.Or(strings.ReplaceAll(t.Outcome, "_", " "), "running")
}

func renderTurn(w io.Writer, v api.Turn) error {
	p := &printer{w: w}
	p.writeTable(listTurnFields(v))
	p.writeTexts("IN", v.In)
	for _, step := range v.Steps {
		p.writeStep(step)
	}
	for _, sub := range v.Subagents {
		p.writeSubagent(sub)
	}
	p.writeStages("ASKED BESIDE THE STEPS", v.Stages)
	p.writeTexts("OUT", v.Out)
	p.writeDeliveries(v.Sent)
	return p.err
}

func listTurnFields(v api.Turn) [][]string {
	t := v.Turn
	rows := [][]string{
		{"turn", t.ID}, {"kind", string(t.Kind)}, {"mode", string(t.Mode)}, {"outcome", formatOutcome(t)}, {"started", formatInstant(t.StartedAt)},
		{"finished", ""}, {"reason", v.Reason}, {"prompt", v.PromptID}, {"prompt version", t.PromptVersion}, {"arm", t.Arm}, {"study version", formatVersion(t.StudyVersion)}, {"steps", fmt.Sprint(t.Steps)},
		{"tools", strings.Join(t.Tools, ", ")}, {"tokens", formatTokens(t.Tokens)},
	}
	if t.FinishedAt != nil {
		rows[5][1] = formatInstant(*t.FinishedAt)
	}
	return slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" })
}

// formatVersion writes a version; empty for none.
func formatVersion(version int64) string {
	if version == 0 {
		return ""
	}
	return strconv.FormatInt(version, 10)
}

func formatTokens(u models.Usage) string {
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

func (p *printer) writeLine(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, text)
	}
}

func (p *printer) writeTable(rows [][]string) {
	if p.err == nil {
		p.err = writeTable(p.w, rows)
	}
}

// writeBlock writes a text below its title; nothing for an empty one.
func (p *printer) writeBlock(title, text string) {
	if text == "" {
		return
	}
	p.writeLine(title)
	p.writeLine(indentText(text))
}

func (p *printer) writeTexts(title string, list []api.Text) {
	if len(list) == 0 {
		return
	}
	p.writeLine("\n" + title)
	for _, text := range list {
		p.writeBlock(formatInstant(text.At)+"  "+string(text.Kind), text.Text)
	}
}

func (p *printer) writeStep(r api.Round) {
	head := fmt.Sprintf("\nSTEP %d  %s  %s", r.Number, formatInstant(r.At), replaceControls(r.Model))
	p.writeLine(strings.TrimRight(head, " "))
	rows := [][]string{{"finish", r.Finish}, {"tokens", formatTokens(r.Tokens)}}
	if r.Given != nil {
		rows = append(rows, []string{"tools offered", strings.Join(r.Given.Tools, ", ")}, []string{"chosen by", r.Given.ChosenBy})
	}
	p.writeTable(slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
	if r.Given != nil {
		p.writeBlock("plan", strings.Join(r.Given.Plan, "\n"))
		p.writeBlock("what the model knew", r.Given.Memory)
		if older := r.Given.Older; older != nil {
			p.writeBlock(fmt.Sprintf("the first %d messages, summarised", older.Count), older.Text)
		}
	}
	p.writeStages("", r.Stages)
	for _, call := range r.Calls {
		p.writeBlock(fmt.Sprintf("call %s  %s", replaceControls(call.Name), call.State), call.Arguments)
		p.writeBlock("result", call.Result)
	}
	p.writeBlock("text", r.Text)
}

// writeSubagent writes a task that was given away: where it comes from, then its steps.
func (p *printer) writeSubagent(s api.Subagent) {
	p.writeLine("\nSUBAGENT " + s.Turn.ID)
	p.writeTable(slices.DeleteFunc([][]string{
		{"started by", fmt.Sprintf("%s, turn %s, step %d, call %d, of %s over %s", s.Origin.Tool, s.Origin.Turn, s.Origin.Step, s.Origin.Call, s.Origin.Workflow, s.Origin.Channel)},
		{"label", replaceControls(s.Label)}, {"outcome", formatOutcome(s.Turn)}, {"tokens", formatTokens(s.Turn.Tokens)},
	}, func(row []string) bool { return row[1] == "" }))
	p.writeBlock("task", s.Task)
	for _, step := range s.Steps {
		p.writeStep(step)
	}
}

func (p *printer) writeStages(title string, list []api.Stage) {
	if len(list) == 0 {
		return
	}
	if title != "" {
		p.writeLine("\n" + title)
	}
	rows := [][]string{{"STAGE", "DECISION", "MODEL", "TOKENS", "MS"}}
	for _, s := range list {
		row := []string{string(s.Name), s.Decision, "-", "-", "-"}
		if s.Model != "" {
			row = []string{string(s.Name), s.Decision, s.Model, cmp.Or(formatTokens(s.Tokens), "-"), fmt.Sprint(s.Millis)}
		}
		rows = append(rows, row)
	}
	p.writeTable(rows)
	for _, s := range list {
		if s.Text != "" {
			p.writeBlock("DRAFT, "+s.Decision, s.Text)
		}
	}
}

func (p *printer) writeDeliveries(list []api.Delivery) {
	if len(list) == 0 {
		return
	}
	p.writeLine("\nSENT")
	rows := [][]string{{"ID", "STATUS", "ATTEMPTS", "CHANGED", "CODE"}}
	for _, d := range list {
		code := d.ErrorCode
		if d.Meaning != "" {
			code += ": " + d.Meaning
		}
		rows = append(rows, []string{d.ID, string(d.Status), fmt.Sprint(d.Attempts), formatInstant(d.ChangedAt), cmp.Or(code, "-")})
	}
	p.writeTable(rows)
}
