package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

var errNotConfirmed = errors.New("the id was not repeated; nothing was erased")

// eraseCommand takes an id only, of people who were removed too, and has it
// typed again.
func (p *program) eraseCommand() *cobra.Command {
	var yes bool
	var reason string
	c := &cobra.Command{
		Use: "erase PARTICIPANT", Short: "Erase a person for ever: rows, histories, the carrier's copies", Args: exactArgs(1),
		Long: "Removes the participant if enrolled, then erases what the tables, Temporal and the carrier hold of the person.\n" +
			"PARTICIPANT is the id, also of a removed participant. Figures stay under the id. It cannot be undone.",
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for the id again")
	c.Flags().StringVar(&reason, "reason", "", "why; kept sealed, so it must not name the person")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !yes {
			if err := p.confirmID(args[0]); err != nil {
				return err
			}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.Erase(c.Context(), args[0], reason)
	}
	return c
}

// confirmID has an id typed again.
func (p *program) confirmID(id string) error {
	if _, err := fmt.Fprintf(p.err, "This cannot be undone. Type %s again: ", id); err != nil {
		return err
	}
	line, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the id: %w", err)
	}
	if strings.TrimSpace(line) != id {
		return errNotConfirmed
	}
	return nil
}

func (p *program) erasureCommand() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List erasures", Args: exactArgs(0)}
	list.RunE = func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListErasures(c.Context())
	}
	show := &cobra.Command{Use: "show PARTICIPANT", Short: "Print the receipt of an erasure", Args: exactArgs(1)}
	show.RunE = func(c *cobra.Command, args []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.Erasure(c.Context(), args[0])
	}
	return groupCommand("erasure", "Receipts of people who were erased", list, show)
}
