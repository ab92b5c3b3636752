package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/consort"
	"coachline/models"
)

// showProgress is how a study goes. It names no person.
func showProgress(v *viewer) (page, error) {
	s, err := get[api.Study](v, studyAPI(v), nil)
	if err != nil {
		return page{}, err
	}
	p, err := get[api.StudyProgress](v, studyAPI(v)+"/progress", nil)
	if err != nil {
		return page{}, err
	}
	flow, err := flowSection(p.Flow)
	if err != nil {
		return page{}, err
	}
	return page{title: "Progress of " + s.Name, section: "studies", body: []g.Node{
		h.H1(g.Text("Progress of " + s.Name)),
		h.P(h.A(h.Href(Path+"studies/"+s.ID), g.Text("The study")), g.Text(". Counted at "), instantOf(&p.At, time.UTC),
			g.Text(" UTC; load the page again to count anew. Testers are left out.")),
		h.P(g.Text("Shares have bounds in brackets that hold the true share at all looks together with a probability of 95 %, so looking every day is legal.")),
		recruitmentSection(p), flow, retentionSection(p.Retention), responseSection(p), promptSection(p.Prompts), textSection(p.Texts),
		balanceSection(p.Balance), availabilitySection(p.Decisions), studyCostSection(p.Costs), concernSection(p),
	}}, nil
}

// progressSection is a part of the page under a heading.
func progressSection(id, title string, body ...g.Node) g.Node {
	return h.Section(append([]g.Node{h.Aria("labelledby", id), h.H2(h.ID(id), g.Text(title))}, body...)...)
}

func formatCount(n int64) string { return strconv.FormatInt(n, 10) }

func recruitmentSection(p api.StudyProgress) g.Node {
	if len(p.Recruitment) == 0 {
		return nil
	}
	most := max(float64(p.Enrolled), float64(p.Planned), 1)
	c := curve{
		label: fmt.Sprintf("People enrolled until each day: %d now", p.Enrolled), first: p.Recruitment[0].Day, last: p.Recruitment[len(p.Recruitment)-1].Day,
		top: strconv.FormatFloat(most, 'f', 0, 64), most: most,
	}
	said := fmt.Sprintf("%d people are enrolled.", p.Enrolled)
	if p.Planned > 0 {
		said = fmt.Sprintf("%d of %d planned people are enrolled.", p.Enrolled, p.Planned)
	}
	var rows [][]string
	for i, day := range p.Recruitment {
		c.points = append(c.points, curvePoint{at: float64(i), value: float64(day.Enrolled), planned: day.Planned})
		planned := "–"
		if day.Planned != nil {
			planned = strconv.FormatFloat(*day.Planned, 'f', 1, 64)
		}
		rows = append(rows, []string{day.Day, formatCount(day.Enrolled), planned})
	}
	if p.Recruitment[0].Planned != nil {
		said += " The dashed line is the plan."
	}
	return progressSection("recruitment", "Recruitment", h.P(g.Text(said)), c.draw(),
		h.Details(h.Summary(g.Text("Recruitment by day")), numberTable("Recruitment by day", []string{"Until the end of (UTC)", "Enrolled", "Planned"}, rows)))
}

// flowSection draws the diagram of the export.
func flowSection(flow []api.FlowStep) (g.Node, error) {
	var steps []consort.Step
	var rows [][]string
	for _, step := range flow {
		steps = append(steps, consort.Step{Name: step.Step, People: step.People})
		rows = append(rows, []string{step.Step, formatCount(step.People)})
	}
	var drawn strings.Builder
	if err := consort.WriteDiagram(&drawn, steps); err != nil {
		return nil, err
	}
	return progressSection("consort", "CONSORT diagram", h.Div(h.Class("consort"), g.Raw(drawn.String())),
		h.Details(h.Summary(g.Text("Figures of the diagram")), numberTable("Figures of the CONSORT diagram", []string{"Step", "People"}, rows))), nil
}

func formatPercent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func shareCells(name string, p api.Proportion) []string {
	return []string{name, formatCount(p.People), formatCount(p.Answered), fmt.Sprintf("%s (%s to %s)", formatPercent(p.Share), formatPercent(p.Low), formatPercent(p.High))}
}

func sharePoint(at int, p api.Proportion) curvePoint {
	return curvePoint{at: float64(at), value: p.Share, bounds: &[2]float64{p.Low, p.High}}
}

func retentionSection(weeks []api.WeekRetention) g.Node {
	said := h.P(g.Text("Of the people who have a week of the study behind them, so many wrote in it; those who left count as silent."))
	if len(weeks) == 0 {
		return progressSection("retention", "Retention", said, h.P(g.Text("No person has a week behind them yet.")))
	}
	c := curve{label: "Share of people who wrote, by study week", first: "week 1", last: fmt.Sprintf("week %d", len(weeks)), top: "100 %", most: 1}
	var rows [][]string
	for _, w := range weeks {
		c.points = append(c.points, sharePoint(w.Week, w.Proportion))
		rows = append(rows, shareCells(strconv.Itoa(w.Week), w.Proportion))
	}
	return progressSection("retention", "Retention", said, c.draw(),
		h.Details(h.Summary(g.Text("Retention by week")), numberTable("Retention by week", []string{"Week", "People", "Wrote", "Share"}, rows)))
}

// armDays are the study days of one arm, or of all people.
type armDays struct {
	arm  string
	days []api.StudyDay
}

func responseSection(p api.StudyProgress) g.Node {
	said := h.P(g.Text("Of the people who were sent a prompt on a day of the study, which is 24 hours from their enrolment, so many answered one within 24 hours. Days whose answers still have time are left out."))
	if len(p.Response) == 0 {
		return progressSection("response", "Response by study day", said, h.P(g.Text("No day is over yet.")))
	}
	groups := []armDays{{days: p.Response}}
	for _, row := range p.ArmResponse {
		i := len(groups) - 1
		for i > 0 && groups[i].arm != row.Arm {
			i--
		}
		if i == 0 {
			groups = append(groups, armDays{arm: row.Arm})
			i = len(groups) - 1
		}
		groups[i].days = append(groups[i].days, row.StudyDay)
	}
	return progressSection("response", "Response by study day", said, g.Map(groups, responseCurve))
}

func responseCurve(group armDays) g.Node {
	title := "All people"
	if group.arm != "" {
		title = "Arm " + group.arm
	}
	days := group.days
	c := curve{
		label: title + ": share of people who answered, by study day", first: fmt.Sprintf("day %d", days[0].Day), last: fmt.Sprintf("day %d", days[len(days)-1].Day),
		top: "100 %", most: 1,
	}
	var rows [][]string
	for _, day := range days {
		c.points = append(c.points, sharePoint(day.Day, day.Proportion))
		rows = append(rows, shareCells(strconv.Itoa(day.Day), day.Proportion))
	}
	return g.Group{h.H3(g.Text(title)), c.draw(), h.Details(h.Summary(g.Text(title+": response by day")),
		numberTable(title+": response by day", []string{"Day", "Sent a prompt", "Answered", "Share"}, rows))}
}

func promptSection(p api.PromptCounts) g.Node {
	var rows [][]string
	for _, late := range p.Lateness {
		rows = append(rows, []string{late.Describe(), formatCount(late.Prompts)})
	}
	for _, row := range p.Unsent {
		what := "not sent, " + string(row.State)
		if row.Reason != "" {
			what += ": " + row.Reason
		}
		rows = append(rows, []string{what, formatCount(row.Prompts)})
	}
	for _, reported := range p.Reported {
		rows = append(rows, []string{reported.Describe(), formatCount(reported.Prompts)})
	}
	return progressSection("lateness", "Prompts", numberTable("Prompts by lateness and by what was reported", []string{"Prompts", "Number"}, rows))
}

func textSection(t api.TextCounts) g.Node {
	return progressSection("texts", "Delivery of texts", numberTable("Texts by outcome", []string{"Texts", "Number"}, [][]string{
		{"delivered", formatCount(t.Delivered)}, {"failed", formatCount(t.Failed)}, {"outcome not known", formatCount(t.Unknown)},
		{"canceled before they were sent", formatCount(t.Canceled)}, {"under way", formatCount(t.Underway)},
	}))
}

func balanceSection(balance []models.ArmBalance) g.Node {
	if len(balance) == 0 {
		return nil // without arms, or not for this viewer
	}
	var rows [][]string
	for _, row := range balance {
		rows = append(rows, []string{row.Stratum, row.Arm, formatCount(row.People)})
	}
	return progressSection("balance", "Balance of arms", numberTable("People by stratum and arm", []string{"Stratum", "Arm", "People"}, rows))
}

func availabilitySection(d api.DecisionCounts) g.Node {
	if d.Points == 0 {
		return nil
	}
	rows := [][]string{{"available", formatCount(d.Available)}}
	for _, row := range d.Unavailable {
		rows = append(rows, []string{"not available: " + row.Reason, formatCount(row.Points)})
	}
	return progressSection("availability", "Decision points", numberTable("Decision points by availability", []string{"People were", "Decision points"}, rows))
}

func studyCostSection(costs *api.StudyCosts) g.Node {
	if costs == nil {
		return nil
	}
	if len(costs.Sums) == 0 {
		return progressSection("cost", "Cost", h.P(g.Text("Nothing was spent yet.")))
	}
	var rows [][]string
	for _, row := range costs.Sums {
		rows = append(rows, []string{string(row.Kind), api.FormatMoney(row.Micros, row.Currency), formatCount(row.Unpriced)})
	}
	for _, row := range costs.PerPerson {
		rows = append(rows, []string{"a person", api.FormatMoney(row.Micros, row.Currency), ""})
	}
	return progressSection("cost", "Cost", numberTable("Cost by kind", []string{"Kind", "Money", "Without a price"}, rows))
}

func concernSection(p api.StudyProgress) g.Node {
	rows := [][]string{{"Alerts that no operator has acknowledged", strconv.Itoa(p.Alerts)}}
	for _, row := range p.Attention {
		rows = append(rows, []string{"People who need an operator: " + string(row.Kind), strconv.Itoa(row.People)})
	}
	return progressSection("alerts", "Alerts", numberTable("Alerts and people who need an operator", []string{"What", "Number"}, rows))
}
