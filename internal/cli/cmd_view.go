package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"coachline/internal/api"
)

func (p *program) viewCommand() *cobra.Command {
	return groupCommand("view", "Save filters of the list of people under a name", p.viewAdd(), p.viewList(),
		p.onView("show", "List the people whom a view selects", (*Commands).ShowView),
		p.onView("delete", "Remove a view", (*Commands).DeleteView))
}

func (p *program) viewAdd() *cobra.Command {
	var body api.NewPeopleView
	c := &cobra.Command{
		Use: "add NAME --query FILTERS", Short: "Save filters under a name", Args: exactArgs(1),
		Long: "Saves filters as the address of the console's list of people has them, such as 'status=active&silent_days=3'.\n" +
			"They hold nothing personal: no name and no number. The console offers them above the list.",
	}
	c.Flags().StringVar(&body.Query, "query", "", "the filters")
	c.Flags().BoolVar(&body.Shared, "shared", false, "show it to every operator")
	c.RunE = func(c *cobra.Command, args []string) error {
		if body.Query == "" {
			return usageError{errors.New("--query is needed")}
		}
		body.Name = args[0]
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.AddView(c.Context(), body)
	}
	return c
}

func (p *program) viewList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List your views and shared ones", Args: exactArgs(0)}
	c.RunE = func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListViews(c.Context())
	}
	return c
}

// onView builds a verb that needs nothing but the number of a view.
func (p *program) onView(verb, short string, do func(*Commands, context.Context, int64) error) *cobra.Command {
	return &cobra.Command{
		Use: verb + " VIEW", Short: short, Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return usageError{fmt.Errorf("%q is not the number of a view; see coachline view list", args[0])}
			}
			commands, err := p.newCommands()
			if err != nil {
				return err
			}
			return do(commands, c.Context(), id)
		},
	}
}
