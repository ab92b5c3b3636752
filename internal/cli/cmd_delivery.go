package cli

import "github.com/spf13/cobra"

func (p *program) deliveryCommand() *cobra.Command {
	var days int
	var sender string
	c := &cobra.Command{Use: "delivery", Short: "Print how texts fared: by day, by sender, failures by code, lateness of prompts", Args: exactArgs(0)}
	c.Flags().IntVar(&days, "days", 7, "how many UTC days, today among them; 1 to 90")
	c.Flags().StringVar(&sender, "sender", "", "only texts that this number or messaging service posted")
	c.RunE = func(c *cobra.Command, _ []string) error {
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.Delivery(c.Context(), days, sender)
	}
	return c
}
