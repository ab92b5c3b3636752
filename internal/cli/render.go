package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"coachline/internal/api"
	"coachline/models"
)

const instant = "2006-01-02 15:04:05Z"

func printJSON(w io.Writer, raw json.RawMessage) error {
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return fmt.Errorf("formatting the API's answer: %w", err)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// table writes rows of cells; nothing that people typed can break its lines.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = oneLine(cell)
		}
		line := strings.TrimRight(strings.Join(cells, "\t"), "\t")
		if _, err := fmt.Fprintln(t, line); err != nil {
			return err
		}
	}
	return t.Flush()
}

// oneLine replaces control characters, which could also steer the terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

func at(t time.Time) string { return t.UTC().Format(instant) }

// atIn prints an instant in UTC, and beside it what clocks show in a zone.
func atIn(t time.Time, zone *time.Location) string {
	if zone == nil || zone == time.UTC {
		return at(t)
	}
	return at(t) + t.In(zone).Format(" (Mon 15:04 MST)")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func renderParticipant(w io.Writer, p Participant) error {
	zone, clock := p.Timezone, zoneNamed(p.Timezone)
	if p.ZoneAssumed {
		zone += " (assumed)"
	}
	unreachable := ""
	if p.UnreachableAt != nil {
		unreachable = "since " + atIn(*p.UnreachableAt, clock) + " (" + p.UnreachableCode + ")"
	}
	greeting := ""
	if p.GreetingAt != nil {
		greeting = atIn(*p.GreetingAt, clock)
	}
	attention := ""
	if p.AttentionAt != nil {
		attention = string(p.Attention) + " since " + atIn(*p.AttentionAt, clock)
	}
	rows := [][]string{
		{"id", p.ID}, {"phone", p.Phone}, {"name", p.Name}, {"gender", p.Gender}, {"ethnicity", p.Ethnicity},
		{"background", p.Background}, {"timezone", zone}, {"locale", p.Locale}, {"channel", string(p.Channel)},
		{"status", string(p.Status)}, {"attention", attention}, {"unreachable", unreachable}, {"mode", string(p.Mode)}, {"tester", yes(p.Tester)}, {"debug", yes(p.Debug)},
		{"enrolled", atIn(p.EnrolledAt, clock)}, {"greeting", greeting}, {"version", fmt.Sprint(p.Version)},
	}
	return table(w, slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
}

func renderRoster(w io.Writer, r roster[Participant]) error {
	if len(r.Participants) == 0 {
		_, err := fmt.Fprintln(w, "No participants.")
		return err
	}
	rows := [][]string{{"ID", "STATUS", "MODE", "NAME", "PHONE", "TIMEZONE", "ENROLLED"}}
	for _, p := range r.Participants {
		rows = append(rows, []string{p.ID, string(p.Status), string(p.Mode), p.Name, p.Phone, p.Timezone, at(p.EnrolledAt)})
	}
	return table(w, rows)
}

func renderMode(w io.Writer, m struct {
	Target models.Mode `json:"target_state"`
	Mode   models.Mode `json:"mode"`
}) error {
	text := "Mode is " + string(m.Mode) + "."
	if m.Mode != m.Target {
		text = "Mode becomes " + string(m.Target) + " when the running turn ends."
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

func renderQueued(w io.Writer, q queued) error {
	return table(w, [][]string{{"id", q.ID}, {"status", string(q.Status)}})
}

func renderTranscript(w io.Writer, list []api.HistoryEntry, zone *time.Location) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "Nothing was said yet.")
		return err
	}
	for _, e := range list {
		head := atIn(e.At, zone) + "  " + string(e.Role) + "  " + string(e.Kind)
		if e.Channel == models.ChannelChat {
			head += "  " + string(e.Channel)
		}
		if e.Delivery != "" {
			head += "  " + string(e.Delivery)
		}
		if e.Danger != models.DangerNone {
			head += "  danger: " + string(e.Danger)
		}
		if e.TurnID != "" {
			head += "  " + e.TurnID
		}
		if _, err := fmt.Fprintf(w, "%s\n%s\n", head, indent(e.Text)); err != nil {
			return err
		}
	}
	return nil
}

func renderWaiting(w io.Writer, list []api.WaitingMessage) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No messages wait.")
		return err
	}
	for _, m := range list {
		head := at(m.At) + "  " + string(m.Channel)
		if m.Danger != models.DangerNone {
			head += "  danger: " + string(m.Danger)
		}
		if _, err := fmt.Fprintf(w, "%s\n%s\n", head, indent(m.Text)); err != nil {
			return err
		}
	}
	return nil
}

func indent(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		out.WriteString("    " + oneLine(line) + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func renderTimers(w io.Writer, s state, zone *time.Location) error {
	facts := [][]string{
		{"mode", string(s.Mode)}, {"status", string(s.Status)},
		{"prompts sent", fmt.Sprint(s.Counters.Prompts)}, {"successes", fmt.Sprint(s.Counters.Successes)},
	}
	if s.LastChannel != "" {
		facts = append(facts, []string{"last channel", string(s.LastChannel)})
	}
	if s.Pending != nil {
		facts = append(facts, []string{"outstanding prompt", s.Pending.PromptID + ", sent " + atIn(s.Pending.SentAt, zone)})
	}
	if s.Waiting > 0 {
		facts = append(facts, []string{"waiting messages", fmt.Sprint(s.Waiting)})
	}
	if s.Hold != nil {
		facts = append(facts, []string{"prompts held", fmt.Sprintf("until %s (hold %d)", atIn(s.Hold.Until, zone), s.Hold.ID)})
	}
	if err := table(w, facts); err != nil {
		return err
	}
	if err := renderDue(w, s.Due, zone); err != nil || len(s.Schedules) == 0 {
		return err
	}
	return renderSchedules(w, s.Schedules)
}

func renderDue(w io.Writer, due []models.Due, zone *time.Location) error {
	if len(due) == 0 {
		_, err := fmt.Fprintln(w, "\nNothing is due.")
		return err
	}
	rows := [][]string{{"DUE AT", "WHAT", "FOR"}}
	for _, d := range sortDue(due) {
		rows = append(rows, []string{atIn(d.At, zone), string(d.Kind), d.Ref})
	}
	return section(w, rows)
}

// section is a table after an empty line.
func section(w io.Writer, rows [][]string) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return table(w, rows)
}

func sortDue(due []models.Due) []models.Due {
	out := slices.Clone(due)
	slices.SortStableFunc(out, func(a, b models.Due) int { return a.At.Compare(b.At) })
	return out
}

func renderSchedules(w io.Writer, list []schedule) error {
	rows := [][]string{{"SCHEDULE", "TYPE", "LOCAL TIME", "TIMEZONE", "NEXT PROMPT"}}
	for _, s := range list {
		local := s.At
		if s.Type == models.ScheduleRandom {
			local = s.From + "-" + s.To
		}
		next := "none"
		if s.NextAt != nil {
			next = atIn(*s.NextAt, zoneNamed(s.Timezone))
		}
		if s.Held {
			next += " (held)"
		}
		rows = append(rows, []string{s.ID, string(s.Type), local, s.Timezone, next})
	}
	return section(w, rows)
}
