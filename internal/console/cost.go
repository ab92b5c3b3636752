package console

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// costGroups are the ways in which costs are added up, and their labels.
var costGroups = []struct {
	by    models.CostGroup
	label string
}{
	{models.CostByDay, "Day"}, {models.CostByPerson, "Person"}, {models.CostByStudy, "Study"}, {models.CostByModel, "Model"}, {models.CostByKind, "Kind"},
}

// costQuery is what the address asks for; empty fields are the API's defaults.
func costQuery(v *viewer) url.Values {
	query := url.Values{}
	for _, name := range []string{"from", "until", "by"} {
		if value := v.query(name); value != "" {
			query.Set(name, value)
		}
	}
	return query
}

func showCost(v *viewer) (page, error) {
	query := costQuery(v)
	costs, err := get[api.Costs](v, "/costs", query)
	if err != nil {
		return page{}, err
	}
	budgets, err := get[api.BudgetList](v, "/budgets", nil)
	if err != nil {
		return page{}, err
	}
	return page{title: "Cost", section: "cost", body: []g.Node{
		h.H1(g.Text("Cost")),
		g.If(costs.Currency == "", h.P(g.Text("No prices are configured, so tokens and segments are counted and no money. Set COACH_PRICES_FILE."))),
		budgetSection(v, budgets.Budgets, costs.Currency),
		h.H2(g.Text("Spent")),
		costForm(costs),
		costTable(costs),
		h.P(h.A(h.Href(Path+"cost.csv?"+query.Encode()), g.Text("Download as CSV"))),
	}}, nil
}

func costForm(costs api.Costs) g.Node {
	return h.Form(h.Method("get"), h.Action(Path+"cost"), h.Class("row"),
		field("from", "First day (UTC)", h.Input(h.ID("from"), h.Name("from"), h.Type("date"), h.Value(costs.From))),
		field("until", "Last day (UTC)", h.Input(h.ID("until"), h.Name("until"), h.Type("date"), h.Value(costs.Until))),
		field("by", "Added up by", h.Select(h.ID("by"), h.Name("by"), g.Map(costGroups, func(group struct {
			by    models.CostGroup
			label string
		}) g.Node {
			return h.Option(h.Value(string(group.by)), g.If(string(group.by) == costs.By, h.Selected()), g.Text(group.label))
		}))),
		h.Button(h.Type("submit"), g.Text("Show")))
}

func costTable(costs api.Costs) g.Node {
	if len(costs.Rows) == 0 {
		return h.P(g.Text("Nothing was spent in these days."))
	}
	return g.Group{lostCalls(costs.Total.LostCalls), h.Div(h.Class("scroll"), h.Role("region"), h.Aria("label", "Costs"), h.TabIndex("0"), h.Table(
		h.THead(h.Tr(h.Th(h.Scope("col"), g.Text(costLabel(costs.By))), g.Map([]string{
			"Tokens in", "of these cached", "Tokens out", "Segments sent", "Segments received", "Money", "Without a price",
		}, func(label string) g.Node { return h.Th(h.Scope("col"), h.Class("number"), g.Text(label)) }))),
		h.TBody(g.Map(costs.Rows, func(row models.CostRow) g.Node {
			return costLine(costs, row, costKey(costs.By, row))
		})),
		h.TFoot(costLine(costs, costs.Total, g.Text("Total"))),
	))}
}

// lostCalls says what the sums lack; nothing where no answer was lost.
func lostCalls(count int64) g.Node {
	return g.If(count > 0, h.P(g.Textf("The answers of %d calls of a model were lost, as with a worker that was killed. "+
		"The provider may have charged for them; they are counted without tokens and without a price.", count)))
}

func costLabel(by string) string {
	for _, group := range costGroups {
		if string(group.by) == by {
			return group.label
		}
	}
	return by
}

func costKey(by string, row models.CostRow) g.Node {
	switch {
	case row.Key == "":
		return g.Text("People who are not enrolled")
	case by == string(models.CostByPerson):
		name := row.Name
		if name == "" {
			name = row.Key
		}
		return h.A(h.Href(Path+"people/"+row.Key), g.Text(name))
	}
	return g.Text(row.Key)
}

func costLine(costs api.Costs, row models.CostRow, key g.Node) g.Node {
	money := "unknown"
	if costs.Currency != "" {
		money = api.FormatMoney(row.Micros, costs.Currency)
	}
	cell := func(text string) g.Node { return h.Td(h.Class("number"), g.Text(text)) }
	count := func(n int64) g.Node { return cell(countText(n)) }
	return h.Tr(h.Th(h.Scope("row"), key), count(row.InputTokens), count(row.CachedTokens), count(row.OutputTokens),
		count(row.SegmentsOut), count(row.SegmentsIn), cell(money), count(row.Unpriced))
}

func budgetSection(v *viewer, budgets []models.Budget, currency string) g.Node {
	return g.Group{
		h.H2(g.Text("Budgets")),
		g.If(len(budgets) == 0, h.P(g.Text("No budgets are set."))),
		h.Ul(g.Map(budgets, func(b models.Budget) g.Node { return budgetItem(v, b) })),
		g.Iff(currency != "" && v.can(auth.BudgetChange), func() g.Node { return budgetForm(v, currency) }),
	}
}

func budgetName(b models.Budget) string {
	scope := "The programme"
	if b.ParticipantID != "" {
		scope = b.ParticipantID
	}
	if b.StudyID != "" {
		scope = "Study " + b.StudyID
	}
	switch b.Period {
	case models.BudgetDay:
		return scope + ", each day"
	case models.BudgetMonth:
		return scope + ", each month"
	case models.BudgetTotal:
	}
	return scope + ", in total"
}

// budgetAlert says what a crossed level means; empty while a budget is open.
func budgetAlert(state models.BudgetState) string {
	switch state {
	case models.BudgetWarned:
		return "The warning level is crossed."
	case models.BudgetSpent:
		return "Spent: the model is stopped and people get fixed texts. Crisis, STOP and HELP are answered as ever."
	case models.BudgetOpen:
	}
	return ""
}

func budgetItem(v *viewer, b models.Budget) g.Node {
	id := strconv.FormatInt(b.ID, 10)
	sums := api.FormatMoney(b.Spent, b.Currency) + " of " + api.FormatMoney(b.Micros, b.Currency)
	alert := budgetAlert(b.State)
	return h.Li(
		h.P(h.Strong(g.Text(budgetName(b))), g.Text(": "+sums+", warning at "+strconv.FormatInt(b.WarnPercent, 10)+" %")),
		h.Meter(h.Aria("label", budgetName(b)+": "+sums), h.Min("0"), h.Max(strconv.FormatInt(b.Micros, 10)), h.Value(strconv.FormatInt(min(b.Spent, b.Micros), 10))),
		g.If(alert != "", h.P(h.Class("problem"), g.Text(alert))),
		g.Iff(v.can(auth.BudgetChange), func() g.Node {
			return h.Details(h.Summary(g.Text("Remove budget "+id)),
				postForm("cost/budgets/"+id+"/delete", h.Class("stack"),
					h.P(g.Text("Nothing bounds these costs any more; a stopped model goes on within a minute.")),
					reasonField(v, "reason-"+id), h.Button(h.Type("submit"), g.Text("Remove"))))
		}),
	)
}

func budgetForm(v *viewer, currency string) g.Node {
	return h.Details(g.If(v.problem != "", g.Attr("open")), h.Summary(g.Text("Set a budget")),
		postForm("cost/budgets", h.Class("stack"),
			h.P(g.Text("It takes the place of a budget of the same person and period. Once it is spent, the model is stopped within a minute and fixed texts are sent.")),
			field("participant", "Id of the person (empty: the whole programme)", h.Input(h.ID("participant"), h.Name("participant"), h.MaxLength("64"), h.Value(v.value("participant")))),
			field("study", "Id of the study (empty: the whole programme)", h.Input(h.ID("study"), h.Name("study"), h.MaxLength("40"), h.Value(v.value("study")))),
			field("period", "Period (UTC)", h.Select(h.ID("period"), h.Name("period"),
				h.Option(h.Value("month"), g.Text("Each month")), h.Option(h.Value("day"), g.Text("Each day")), h.Option(h.Value("total"), g.Text("In total")))),
			field("amount", "Amount in "+currency, h.Input(h.ID("amount"), h.Name("amount"), h.Required(), g.Attr("inputmode", "decimal"), h.Value(v.value("amount")))),
			field("warn", "Warn at percent", h.Input(h.ID("warn"), h.Name("warn"), h.Type("number"), h.Min("1"), h.Max("100"), h.Value(valueOr(v, "warn", "80")))),
			reasonField(v, "reason-budget"),
			h.Button(h.Type("submit"), g.Text("Set budget"))))
}

// valueOr is what a field of a refused form held, or its first value.
func valueOr(v *viewer, name, first string) string {
	if value := v.value(name); value != "" {
		return value
	}
	return first
}

func setBudget(v *viewer) (string, error) {
	form := v.request.PostForm
	micros, err := api.ParseMoney(form.Get("amount"))
	if err != nil {
		return "", &refusal{status: http.StatusBadRequest, message: "amount: " + err.Error()}
	}
	percent, err := strconv.ParseInt(form.Get("warn"), 10, 64)
	if err != nil {
		return "", &refusal{status: http.StatusBadRequest, message: "warn: must be a number of percent"}
	}
	body := api.NewBudget{Scope: models.BudgetProgramme, Period: models.BudgetPeriod(form.Get("period")), Micros: micros, WarnPercent: percent}
	study, person := form.Get("study"), form.Get("participant")
	switch {
	case study != "" && person != "":
		return "", &refusal{status: http.StatusBadRequest, message: "study: name a study or a person, not both"}
	case study != "":
		body.Scope, body.StudyID = models.BudgetStudy, study
	case person != "":
		body.Scope, body.ParticipantID = models.BudgetParticipant, person
	}
	_, err = send[models.Budget](v, api.Request{Method: http.MethodPut, Path: "/budgets", Body: body, Reason: form.Get("reason")})
	if isRefusal(err, http.StatusNotFound) {
		return "", &refusal{status: http.StatusBadRequest, message: string(body.Scope) + ": this id is not known"}
	}
	return "cost", err
}

func deleteBudget(v *viewer) (string, error) {
	_, err := send[api.Empty](v, api.Request{Method: http.MethodDelete, Path: "/budgets/" + url.PathEscape(v.path("id")), Reason: v.request.PostForm.Get("reason")})
	return "cost", err
}

// downloadCost writes the rows of the screen as CSV, without names.
func (c *Console) downloadCost(w http.ResponseWriter, r *http.Request) {
	v, ok := c.viewerOf(w, r)
	if !ok {
		return
	}
	costs, err := get[api.Costs](v, "/costs", costQuery(v))
	if err != nil {
		c.explain(w, v, err)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="costs-`+costs.From+"-"+costs.Until+`.csv"`)
	out := csv.NewWriter(w)
	// A failed write means that the browser has gone.
	_ = out.Write([]string{costs.By, "calls", "input_tokens", "cached_tokens", "output_tokens", "audio_ms", "lost_calls", "segments_out", "segments_in", "micros", "currency", "unpriced"})
	for _, row := range costs.Rows {
		line := []string{row.Key}
		for _, n := range []int64{row.Calls, row.InputTokens, row.CachedTokens, row.OutputTokens, row.AudioMillis, row.LostCalls, row.SegmentsOut, row.SegmentsIn, row.Micros} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		_ = out.Write(append(line, costs.Currency, strconv.FormatInt(row.Unpriced, 10)))
	}
	out.Flush()
}

// crossedBudgets lists the budgets that are past their warning; none for viewers
// who may not see costs.
func crossedBudgets(v *viewer) ([]models.Budget, error) {
	if !v.can(auth.CostRead) {
		return nil, nil
	}
	list, err := get[api.BudgetList](v, "/budgets", nil)
	return slices.DeleteFunc(list.Budgets, func(b models.Budget) bool { return b.State == models.BudgetOpen }), err
}
