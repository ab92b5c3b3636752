package cli

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"coachline/internal/api"
)

// idPrefix begins every participant's id.
const idPrefix = "conv_"

// findParticipant returns the id of a participant who is named by id, phone number or
// name. A name must be that of one participant only; case does not count. An id
// is returned as it is, so that removed participants can be named.
func (c *Client) findParticipant(ctx context.Context, ref string) (string, error) {
	if strings.HasPrefix(ref, idPrefix) {
		return ref, nil
	}
	if id := c.found[ref]; id != "" {
		return id, nil
	}
	all, err := listParticipants(ctx, c)
	if err != nil {
		return "", err
	}
	var found []api.Participant
	for _, p := range all {
		if isNamed(p, ref) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no participant has the id, phone number or name %q", ref)
	case 1:
		c.found[ref] = found[0].ID
		return found[0].ID, nil
	}
	var ids []string
	for _, p := range found {
		ids = append(ids, p.ID)
	}
	return "", fmt.Errorf("%d participants are named %q: give one of the ids %s", len(found), ref, strings.Join(ids, ", "))
}

// suggestParticipants lists ids, with the name or else the phone number behind a tab, for
// the shell's completion; at most limit of those whose id, name or number
// begins with prefix.
func (c *Client) suggestParticipants(ctx context.Context, prefix string, limit int) ([]string, error) {
	all, err := listParticipants(ctx, c)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range all {
		label := p.Name
		if label == "" {
			label = p.Phone
		}
		word := ""
		switch {
		case strings.HasPrefix(p.ID, prefix):
			word = p.ID
		case prefix != "" && hasFoldedPrefix(p.Name, prefix):
			word = p.Name
		case prefix != "" && strings.HasPrefix(p.Phone, prefix):
			word = p.Phone
		}
		if word != "" {
			out = append(out, word+"\t"+replaceControls(label))
		}
		if len(out) == limit {
			break
		}
	}
	return out, nil
}

func hasFoldedPrefix(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

func isNamed(p api.Participant, ref string) bool {
	if strings.EqualFold(strings.TrimSpace(ref), p.Name) && p.Name != "" {
		return true
	}
	number := keepDigits(ref)
	return len(number) >= 7 && !strings.ContainsFunc(ref, unicode.IsLetter) && strings.HasSuffix(keepDigits(p.Phone), number)
}

// zoneOf returns the zone of a participant for printing local times; UTC where
// it cannot be known.
func (c *Client) zoneOf(ctx context.Context, id string) *time.Location {
	got, err := c.do(ctx, request{participant: id})
	if err != nil {
		return time.UTC
	}
	var p api.Participant
	if err := got.decodeInto(&p); err != nil {
		return time.UTC
	}
	return loadZone(p.Timezone)
}

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

func keepDigits(phone string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, phone)
}
