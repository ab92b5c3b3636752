package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func (p *program) budgetCommand() *cobra.Command {
	return groupCommand("budget", "Bound what the programme, a study or a person may cost", p.budgetSet(), p.budgetList(), p.budgetDelete())
}

func (p *program) budgetSet() *cobra.Command {
	var person, study, period string
	body := api.NewBudget{Scope: models.BudgetProgramme}
	c := &cobra.Command{
		Use: "set AMOUNT", Short: "Set a budget in the place of the one for the same period", Args: exactArgs(1),
		Long: "Sets what may be spent in the currency of COACH_PRICES_FILE. Once it is spent the model is stopped\n" +
			"within a minute and fixed texts are sent; crisis, STOP and HELP are answered as ever.",
	}
	c.Flags().StringVar(&person, "participant", "", "id of the person that it is for; the whole programme where empty")
	c.Flags().StringVar(&study, "study", "", "id of the study that it is for")
	c.MarkFlagsMutuallyExclusive("participant", "study")
	c.Flags().StringVar(&period, "period", string(models.BudgetMonth), "day, month or total")
	c.Flags().Int64Var(&body.WarnPercent, "warn", 80, "percent at which operators are warned")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
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
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.SetBudget(c.Context(), body)
	}
	return c
}

func (p *program) budgetList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List budgets and what is spent of them", Args: exactArgs(0)}
	c.RunE = func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListBudgets(c.Context())
	}
	return c
}

func (p *program) budgetDelete() *cobra.Command {
	c := &cobra.Command{Use: "delete BUDGET", Short: "Remove a budget", Args: exactArgs(1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || id < 1 {
			return usageError{fmt.Errorf("%q is not the number of a budget; see coachline budget list", args[0])}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.DeleteBudget(c.Context(), id)
	}
	return c
}
