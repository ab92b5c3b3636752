package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func budgetCommand(p *program) *cobra.Command {
	return groupCommand("budget", "Bound what the programme, a study or a person may cost", budgetSet(p),
		callCommand(p, "list", "List budgets and what is spent of them", func(_ []string) request { return request{path: budgetsPath} }, func(w io.Writer, list api.BudgetList) error {
			return renderBudgets(w, list.Budgets)
		}),
		budgetDelete(p))
}

func budgetSet(p *program) *cobra.Command {
	var person, study, period string
	body := api.NewBudget{Scope: models.BudgetProgramme}
	c := &cobra.Command{
		Use: "set AMOUNT", Short: "Set a budget in the place of the one for the same period", Args: exactArgs(1),
		Long: "Sets what may be spent in the currency of COACH_PRICES_FILE. Once it is spent the model is stopped\n" +
			"within a minute and fixed texts are sent; crisis, STOP and HELP are answered as ever.",
	}
	c.Flags().StringVar(&person, "participant", "", "id of the person that it is for; the whole programme where empty")
	c.Flags().StringVar(&study, "study", "", "id of the study that it is for")
	c.Flags().StringVar(&period, "period", string(models.BudgetMonth), "day, month or total")
	c.Flags().Int64Var(&body.WarnPercent, "warn", 80, "percent at which operators are warned")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if person != "" && study != "" {
			return usageError{errors.New("--participant and --study exclude each other")}
		}
		if body.Micros, err = api.ParseMoney(args[0]); err != nil {
			return usageError{err}
		}
		switch body.Period = models.BudgetPeriod(period); body.Period {
		case models.BudgetDay, models.BudgetMonth, models.BudgetTotal:
		default:
			return usageError{errors.New("--period must be day, month or total")}
		}
		if person != "" {
			body.Scope, body.ParticipantID = models.BudgetParticipant, person
		}
		if study != "" {
			body.Scope, body.StudyID = models.BudgetStudy, study
		}
		return callAndShow(c.Context(), p, request{method: http.MethodPut, path: budgetsPath, body: body}, func(w io.Writer, b models.Budget) error {
			return renderBudgets(w, []models.Budget{b})
		})
	}
	return c
}

func budgetDelete(p *program) *cobra.Command {
	return verb("delete BUDGET", "Remove a budget", func(c *cobra.Command, args []string) error {
		id, err := parseNumber("budget", args[0])
		if err != nil {
			return err
		}
		r := request{method: http.MethodDelete, path: budgetsPath + "/" + strconv.FormatInt(id, 10)}
		return callAndShow(c.Context(), p, r, func(w io.Writer, _ struct{}) error {
			_, err := fmt.Fprintf(w, "Budget %d is removed.\n", id)
			return err
		})
	})
}

const budgetsPath = "/budgets"

func renderBudgets(w io.Writer, list []models.Budget) error {
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
