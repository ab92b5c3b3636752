package main

import "github.com/spf13/cobra"

func (p *program) attend() *cobra.Command {
	var note string
	c := &cobra.Command{Use: "attend ID", Short: "End the attention that a text called for; prompts go on", Args: exactly(1)}
	c.Flags().StringVar(&note, "note", "", "what was done, kept sealed")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, id, err := p.consoleFor(c.Context(), args[0])
		if err != nil {
			return err
		}
		return api.Attend(c.Context(), id, note)
	}
	return c
}
