package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"coachline/internal/api"
	"coachline/models/wire"
)

// printTimers prints what is due and every schedule with its next run.
func printTimers(ctx context.Context, p *program, id string) error {
	return callAndShow(ctx, p, request{participant: id, path: "/state"}, func(w io.Writer, s api.State) error {
		return renderTimers(w, s, p.client.zoneOf(ctx, id))
	})
}

func renderMode(w io.Writer, m api.ModeChanged) error {
	text := "Mode is " + string(m.Mode) + "."
	if m.Mode != m.Target {
		text = "Mode becomes " + string(m.Target) + " when the running turn ends."
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

func renderTimers(w io.Writer, s api.State, zone *time.Location) error {
	facts := [][]string{
		{"mode", string(s.Mode)}, {"status", string(s.Status)},
		{"prompts sent", fmt.Sprint(s.Counters.Prompts)}, {"successes", fmt.Sprint(s.Counters.Successes)},
	}
	if s.LastChannel != "" {
		facts = append(facts, []string{"last channel", string(s.LastChannel)})
	}
	if s.Feedback != "" {
		facts = append(facts, []string{"feedback", string(s.Feedback)})
	}
	if s.Pending != nil {
		facts = append(facts, []string{"outstanding prompt", s.Pending.PromptID + ", sent " + formatInstantIn(s.Pending.SentAt, zone)})
	}
	if s.Waiting > 0 {
		facts = append(facts, []string{"waiting messages", fmt.Sprint(s.Waiting)})
	}
	if s.Hold != nil {
		facts = append(facts, []string{"prompts held", fmt.Sprintf("until %s (hold %d)", formatInstantIn(s.Hold.Until, zone), s.Hold.ID)})
	}
	if err := writeTable(w, facts); err != nil {
		return err
	}
	if err := renderDue(w, s.Due, zone); err != nil {
		return err
	}
	if len(s.Schedules) > 0 {
		if err := renderSchedules(w, s.Schedules); err != nil {
			return err
		}
	}
	return renderLeftOut(w, s.LeftOut)
}

// renderLeftOut prints what was not sent; nothing for nothing.
func renderLeftOut(w io.Writer, list []api.LeftOut) error {
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"NOT SENT", "WHAT", "WHY"}}
	for _, l := range list {
		rows = append(rows, []string{l.Date, l.What, l.Reason})
	}
	return writeSection(w, rows)
}

func renderDue(w io.Writer, due []api.Due, zone *time.Location) error {
	if len(due) == 0 {
		_, err := fmt.Fprintln(w, "\nNothing is due.")
		return err
	}
	rows := [][]string{{"DUE AT", "WHAT", "FOR"}}
	for _, d := range sortDue(due) {
		rows = append(rows, []string{formatInstantIn(d.At, zone), string(d.Kind), d.Ref})
	}
	return writeSection(w, rows)
}

func sortDue(due []api.Due) []api.Due {
	out := slices.Clone(due)
	slices.SortStableFunc(out, func(a, b api.Due) int { return a.At.Compare(b.At) })
	return out
}

func renderSchedules(w io.Writer, list []api.Schedule) error {
	rows := [][]string{{"SCHEDULE", "TYPE", "LOCAL TIME", "TIMEZONE", "NEXT PROMPT"}}
	for _, s := range list {
		local := s.At
		if s.Type == wire.ScheduleRandom {
			local = s.From + "-" + s.To
		}
		next := "none"
		if s.NextAt != nil {
			next = formatInstantIn(*s.NextAt, loadZone(s.Timezone))
		}
		if s.Held {
			next += " (held)"
		}
		rows = append(rows, []string{s.ID, string(s.Type), local, s.Timezone, next})
	}
	return writeSection(w, rows)
}
