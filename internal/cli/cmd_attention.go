package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coachline/models"
)

func (p *program) attentionCommand() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use: "attention", Short: "List what operators should look at, oldest first", Args: exactArgs(0),
		Long: "Lists what operators should look at, oldest first. `coachline participant attend ID` ends it.\n" +
			"  crisis       a message may be a crisis; prompts are held until it is ended\n" +
			"  unreachable  the carrier cannot reach the number\n" +
			"  send         an answer was given up undelivered\n" +
			"  refusal      the model refused to answer\n" +
			"  flood        more messages came than are answered\n" +
			"  wrong_number the number may be another person's; coaching is paused\n" +
			"  erasure      the carrier has not deleted an erased person's messages; it ends by itself",
	}
	c.Flags().StringVar(&kind, "kind", "", "only "+attentionKinds())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if kind != "" && !slices.Contains(models.Attentions(), models.Attention(kind)) {
			return usageError{fmt.Errorf("--kind: %q is none of %s", kind, attentionKinds())}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.ListAttention(c.Context(), models.Attention(kind))
	}
	return c
}

func attentionKinds() string {
	var names []string
	for _, kind := range models.Attentions() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

func (p *program) attendCommand() *cobra.Command {
	var note string
	c := &cobra.Command{Use: "attend ID", Short: "End what an operator should look at; prompts go on", Args: exactArgs(1)}
	c.Flags().StringVar(&note, "note", "", "what was done, kept sealed with the alarm of a crisis")
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, id, err := p.commandsFor(c.Context(), args[0])
		if err != nil {
			return err
		}
		return commands.ClearAttention(c.Context(), id, note)
	}
	return c
}
