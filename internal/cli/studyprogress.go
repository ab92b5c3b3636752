package cli

import (
	"fmt"
	"io"
	"strconv"

	"coachline/internal/api"
	"coachline/models"
)

func renderStudyProgress(w io.Writer, p api.StudyProgress) error {
	sections := [][][]string{recruitmentTable(p), {{"CONSORT", "PEOPLE"}}, proportionTable("WEEK", "WROTE"), proportionTable("DAY", "ANSWERED"), proportionTable("ARM, DAY", "ANSWERED")}
	for _, step := range p.Flow {
		sections[1] = append(sections[1], []string{step.Step, formatCount(step.People)})
	}
	for _, row := range p.Retention {
		sections[2] = append(sections[2], proportionCells(strconv.Itoa(row.Week), row.Proportion))
	}
	for _, row := range p.Response {
		sections[3] = append(sections[3], proportionCells(strconv.Itoa(row.Day), row.Proportion))
	}
	for _, row := range p.ArmResponse {
		sections[4] = append(sections[4], proportionCells(row.Arm+", "+strconv.Itoa(row.Day), row.Proportion))
	}
	sections = append(sections, promptTable(p.Prompts), textTable(p.Texts), decisionTable(p.Decisions), balanceTable(p.Balance), costTable(p.Costs), attentionTable(p))
	if _, err := fmt.Fprintf(w, "Study %s at %s\n", p.Study, formatInstant(p.At)); err != nil {
		return err
	}
	for _, rows := range sections {
		if len(rows) < 2 {
			continue // nothing to count, or not for this caller
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := writeTable(w, rows); err != nil {
			return err
		}
	}
	return nil
}

func formatCount(n int64) string { return strconv.FormatInt(n, 10) }

// recruitmentTable shows the last days of the curve; --json has all of it.
func recruitmentTable(p api.StudyProgress) [][]string {
	const shown = 7
	rows := [][]string{{"RECRUITED UNTIL", "PEOPLE", "PLANNED"}}
	for _, day := range p.Recruitment[max(len(p.Recruitment)-shown, 0):] {
		planned := "-"
		if day.Planned != nil {
			planned = strconv.FormatFloat(*day.Planned, 'f', 1, 64)
		}
		rows = append(rows, []string{day.Day, formatCount(day.Enrolled), planned})
	}
	return rows
}

func proportionTable(what, did string) [][]string {
	return [][]string{{what, "PEOPLE", did, "SHARE", "95% AT ALL LOOKS"}}
}

func proportionCells(what string, p api.Proportion) []string {
	return []string{what, formatCount(p.People), formatCount(p.Answered), fmt.Sprintf("%.1f%%", 100*p.Share), fmt.Sprintf("%.1f-%.1f%%", 100*p.Low, 100*p.High)}
}

func promptTable(p api.PromptCounts) [][]string {
	rows := [][]string{{"PROMPTS", "COUNT"}}
	if p.Sent > 0 {
		for _, late := range p.Lateness {
			rows = append(rows, []string{late.Describe(), formatCount(late.Prompts)})
		}
		for _, reported := range p.Reported {
			rows = append(rows, []string{reported.Describe(), formatCount(reported.Prompts)})
		}
	}
	for _, row := range p.Unsent {
		rows = append(rows, []string{joinWords(string(row.State), row.Reason), formatCount(row.Prompts)})
	}
	return rows
}

func joinWords(first, second string) string {
	if second == "" {
		return first
	}
	return first + ": " + second
}

func textTable(t api.TextCounts) [][]string {
	rows := [][]string{{"TEXTS", "COUNT"}}
	for _, row := range []struct {
		what  string
		count int64
	}{{"delivered", t.Delivered}, {"failed", t.Failed}, {"unknown", t.Unknown}, {"canceled", t.Canceled}, {"under way", t.Underway}} {
		rows = append(rows, []string{row.what, formatCount(row.count)})
	}
	return rows
}

func decisionTable(d api.DecisionCounts) [][]string {
	rows := [][]string{{"DECISION POINTS", "COUNT"}}
	if d.Points == 0 {
		return rows
	}
	rows = append(rows, []string{"available", formatCount(d.Available)})
	for _, row := range d.Unavailable {
		rows = append(rows, []string{"not available: " + row.Reason, formatCount(row.Points)})
	}
	return rows
}

func balanceTable(balance []models.ArmBalance) [][]string {
	rows := [][]string{{"STRATUM", "ARM", "PEOPLE"}}
	for _, row := range balance {
		rows = append(rows, []string{row.Stratum, row.Arm, formatCount(row.People)})
	}
	return rows
}

func costTable(costs *api.StudyCosts) [][]string {
	rows := [][]string{{"COST", "MONEY", "WITHOUT A PRICE"}}
	if costs == nil {
		return rows
	}
	for _, row := range costs.Sums {
		rows = append(rows, []string{string(row.Kind), api.FormatMoney(row.Micros, row.Currency), formatCount(row.Unpriced)})
	}
	for _, row := range costs.PerPerson {
		rows = append(rows, []string{"a person", api.FormatMoney(row.Micros, row.Currency)})
	}
	return rows
}

func attentionTable(p api.StudyProgress) [][]string {
	rows := [][]string{{"ATTENTION", "PEOPLE"}, {"alerts not acknowledged", strconv.Itoa(p.Alerts)}}
	for _, row := range p.Attention {
		rows = append(rows, []string{string(row.Kind), strconv.Itoa(row.People)})
	}
	return rows
}
