package starter

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/prices"
	"coachline/internal/store"
	"coachline/models"
)

const (
	costsPath   = "/costs"
	budgetsPath = "/budgets"
	budgetPath  = budgetsPath + "/{id}"
)

type costsRequest struct {
	From  string `query:"from" format:"date" doc:"First day, of UTC; the first of this month by default."`
	Until string `query:"until" format:"date" doc:"Last day, of UTC; today by default."`
	By    string `query:"by" enum:"day,person,study,model,kind" default:"day"`
}

type newBudgetRequest struct {
	Body api.NewBudget
}

type budgetRequest struct {
	ID int64 `path:"id" minimum:"1" doc:"Id of a budget."`
}

// costRoutes answers what the programme costs, and its budgets.
type costRoutes struct {
	base
	budgets *store.Budgets
	costs   *store.Costs
	prices  *prices.List
}

func (h *costRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: costsPath, id: "list-costs", needs: auth.CostRead, summary: "Tokens, segments and money by day, person, study, model or kind"}, h.listCosts)
	register(router, route{method: http.MethodGet, path: budgetsPath, id: "list-budgets", needs: auth.CostRead, summary: "Budgets and what is spent of them"}, h.listBudgets)
	register(router, route{method: http.MethodPut, path: budgetsPath, id: "set-budget", needs: auth.BudgetChange, summary: "Set the budget of a scope and period",
		errors: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.setBudget)
	register(router, route{method: http.MethodGet, path: budgetPath, id: "get-budget", needs: auth.CostRead, summary: "One budget",
		errors: []int{http.StatusNotFound}}, h.getBudget)
	registerPatch(router, merging[PatchInput, api.BudgetChange, taggedAnswer[models.Budget]]{
		route:   route{path: budgetPath, id: "patch-budget", needs: auth.BudgetChange, summary: "Change some fields of a budget"},
		cleared: map[string]any{"warn_percent": defaultWarnPercent},
		change:  h.changeBudget,
	})
	register(router, route{method: http.MethodDelete, path: budgetPath, id: "delete-budget", needs: auth.BudgetChange, summary: "Remove a budget",
		errors: []int{http.StatusNotFound}}, h.deleteBudget)
}

func (h *costRoutes) listCosts(ctx context.Context, in *costsRequest) (*answer[api.Costs], error) {
	query := models.CostQuery{From: in.From, Until: in.Until, By: models.CostGroup(in.By)}
	if query.From == "" {
		query.From = models.BudgetMonth.FirstDay(h.now())
	}
	if query.Until == "" {
		query.Until = h.now().UTC().Format(time.DateOnly)
	}
	if query.Until < query.From {
		return nil, newFailure(http.StatusBadRequest, "until: must not be before from")
	}
	rows, err := h.costs.Sum(ctx, query)
	if err != nil {
		return nil, h.toFailure("adding up costs", err)
	}
	out := api.Costs{From: query.From, Until: query.Until, By: in.By, Currency: h.prices.Currency(), Rows: copyNonNil(rows)}
	for i := range out.Rows {
		if !canSeePersonal(ctx) {
			out.Rows[i].Name = ""
		}
		addRow(&out.Total, out.Rows[i])
	}
	return newAnswer("", out), nil
}

func addRow(total *models.CostRow, row models.CostRow) {
	total.Calls += row.Calls
	total.InputTokens += row.InputTokens
	total.CachedTokens += row.CachedTokens
	total.OutputTokens += row.OutputTokens
	total.AudioMillis += row.AudioMillis
	total.LostCalls += row.LostCalls
	total.SegmentsOut += row.SegmentsOut
	total.SegmentsIn += row.SegmentsIn
	total.Micros += row.Micros
	total.Unpriced += row.Unpriced
}

func (h *costRoutes) listBudgets(ctx context.Context, _ *noInput) (*answer[api.BudgetList], error) {
	rows, err := h.budgets.List(ctx)
	return newAnswer("", api.BudgetList{Budgets: copyNonNil(rows)}), h.toFailure("listing budgets", err)
}

// checkNewBudget refuses a budget without the id that its scope needs, or with
// another id.
func (h *costRoutes) checkNewBudget(b api.NewBudget) error {
	personal, ofStudy := b.Scope == models.BudgetParticipant, b.Scope == models.BudgetStudy
	switch {
	case h.prices == nil:
		return newFailure(http.StatusBadRequest, "micros: no prices are configured; set COACH_PRICES_FILE first")
	case personal && b.ParticipantID == "":
		return newFailure(http.StatusBadRequest, "participant_id: is required for scope participant")
	case !personal && b.ParticipantID != "":
		return newFailure(http.StatusBadRequest, "participant_id: must be empty for scope %s", b.Scope)
	case ofStudy && b.StudyID == "":
		return newFailure(http.StatusBadRequest, "study_id: is required for scope study")
	case !ofStudy && b.StudyID != "":
		return newFailure(http.StatusBadRequest, "study_id: must be empty for scope %s", b.Scope)
	}
	return nil
}

// setBudget needs prices: without them nothing would ever count against it.
func (h *costRoutes) setBudget(ctx context.Context, in *newBudgetRequest) (*answer[models.Budget], error) {
	if err := h.checkNewBudget(in.Body); err != nil {
		return nil, err
	}
	saved, err := h.budgets.SetBudget(ctx, models.Budget{
		Scope: in.Body.Scope, ParticipantID: in.Body.ParticipantID, StudyID: in.Body.StudyID, Period: in.Body.Period, Micros: in.Body.Micros, WarnPercent: in.Body.WarnPercent,
		Currency: h.prices.Currency(), CreatedBy: actorOf(ctx), UpdatedAt: h.now(),
	})
	if errors.Is(err, models.ErrNotFound) {
		return nil, newFailure(http.StatusNotFound, "%s not found", in.Body.Scope)
	}
	return newAnswer("Budget set; it takes effect within a minute", saved), h.toFailure("setting the budget", err)
}

// defaultWarnPercent is that of api.NewBudget.
const defaultWarnPercent = 80

// getBudget finds a budget among all, which are few.
func (h *costRoutes) getBudget(ctx context.Context, in *budgetRequest) (*taggedAnswer[models.Budget], error) {
	rows, err := h.budgets.List(ctx)
	if err != nil {
		return nil, h.toFailure("reading the budget", err)
	}
	for _, row := range rows {
		if row.ID == in.ID {
			return newTagged(row)
		}
	}
	return nil, newFailure(http.StatusNotFound, "budget not found")
}

func (h *costRoutes) changeBudget(ctx context.Context, in *PatchInput, ifMatch string, body api.BudgetChange) (*taggedAnswer[models.Budget], error) {
	id, err := strconv.ParseInt(in.ID, 10, 64)
	if err != nil {
		return nil, newFailure(http.StatusNotFound, "budget not found")
	}
	saved, err := h.budgets.ChangeBudget(ctx, models.BudgetChange{
		ID: id, Micros: body.Micros, WarnPercent: body.WarnPercent, Actor: actorOf(ctx), Now: h.now(),
		Check: func(row models.Budget) error { return checkTag(ifMatch, row) },
	})
	if err != nil {
		return nil, h.toFailure("changing the budget", asMissing("budget", err))
	}
	return newTagged(saved)
}

func (h *costRoutes) deleteBudget(ctx context.Context, in *budgetRequest) (*answer[api.Empty], error) {
	err := h.budgets.DeleteBudget(ctx, in.ID, actorOf(ctx), h.now())
	if errors.Is(err, models.ErrNotFound) {
		return nil, newFailure(http.StatusNotFound, "budget not found")
	}
	return newAnswer("Budget removed; replies go on within a minute", api.Empty{}), h.toFailure("removing the budget", err)
}
