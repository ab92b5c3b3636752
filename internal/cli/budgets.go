package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"coachline/internal/api"
)

const budgetsPath = "/budgets"

// ListBudgets prints all budgets.
func (c *Commands) ListBudgets(ctx context.Context) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: budgetsPath}, func(w io.Writer, list api.BudgetList) error {
		return renderBudgets(w, list.Budgets)
	})
}

// SetBudget sets a budget in the place of the one of the same scope and period.
func (c *Commands) SetBudget(ctx context.Context, body api.NewBudget) error {
	return callAndShow(ctx, c, request{method: http.MethodPut, path: budgetsPath, body: body}, func(w io.Writer, b api.Budget) error {
		return renderBudgets(w, []api.Budget{b})
	})
}

// DeleteBudget removes a budget.
func (c *Commands) DeleteBudget(ctx context.Context, id int64) error {
	r := request{method: http.MethodDelete, path: budgetsPath + "/" + strconv.FormatInt(id, 10)}
	return callAndShow(ctx, c, r, func(w io.Writer, _ struct{}) error {
		_, err := fmt.Fprintf(w, "Budget %d is removed.\n", id)
		return err
	})
}

func renderBudgets(w io.Writer, list []api.Budget) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No budgets are set.")
		return err
	}
	rows := [][]string{{"BUDGET", "FOR", "PERIOD", "STATE", "SPENT", "OF", "WARN"}}
	for _, b := range list {
		scope := string(b.Scope)
		if b.ParticipantID != "" {
			scope = b.ParticipantID
		}
		if b.StudyID != "" {
			scope = "study " + b.StudyID
		}
		rows = append(rows, []string{
			strconv.FormatInt(b.ID, 10), scope, string(b.Period), string(b.State), api.FormatMoney(b.Spent, b.Currency),
			api.FormatMoney(b.Micros, b.Currency), strconv.FormatInt(b.WarnPercent, 10) + "%",
		})
	}
	return writeTable(w, rows)
}
