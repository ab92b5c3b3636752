package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

const (
	// completionLimit bounds the time that the shell waits for names.
	completionLimit = 2 * time.Second
	// completions is how many names are offered.
	completions = 50
)

// completeParticipants offers ids and names of participants for the first
// argument. Where the API cannot be reached it offers nothing.
func (p *program) completeParticipants(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	parent := c.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, completionLimit)
	defer cancel()
	names, err := p.client.suggestParticipants(ctx, typed, completions)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// offerParticipants has every command below c whose first argument is ID
// complete it.
func offerParticipants(p *program, c *cobra.Command) {
	if takesParticipant(c) && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = p.completeParticipants
	}
	for _, child := range c.Commands() {
		offerParticipants(p, child)
	}
}
