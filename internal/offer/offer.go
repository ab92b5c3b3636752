// Package offer tells what the coach has in an installation: tools, playbooks, focuses,
// workspace files and memory. Worker, starter and doctor say it.
package offer

import (
	"fmt"
	"slices"
	"strings"

	"coachline/internal/config"
	"coachline/internal/tools"
	"coachline/prompts"
	"coachline/prompts/pages"
)

// Offer is what the coach has in an installation, as its settings say.
type Offer struct {
	Tools, Playbooks, Focuses, Workspace []string
	// Memory says when facts are kept: after, before or off.
	Memory string
}

// New lists what the coach has with these texts; tools of MCP servers are listed as
// allowed, also where their server is down.
func New(cfg config.Config, library *prompts.Library) Offer {
	off := map[string]bool{
		"message": cfg.Replies.MessageTool != config.SwitchOn, "web_search": cfg.Web.SearchURL == "", "web_fetch": cfg.Web.Fetch != config.SwitchOn,
		"spawn": cfg.Replies.Subagents != config.SwitchOn, "subagent": cfg.Replies.Subagents != config.SwitchOn,
	}
	out := Offer{
		Tools:     slices.DeleteFunc(tools.Names(), func(name string) bool { return off[name] }),
		Playbooks: namesOf(library.Playbooks()), Focuses: namesOf(library.Focuses()), Workspace: library.WorkspaceNames(), Memory: cfg.Replies.MemoryStep,
	}
	for _, server := range cfg.Web.Servers {
		for _, tool := range server.Tools {
			out.Tools = append(out.Tools, server.ToolName(tool.Name))
		}
	}
	return out
}

func namesOf(all []pages.Page) []string {
	names := make([]string, len(all))
	for i, page := range all {
		names[i] = page.Name
	}
	return names
}

// Describe says it on one line.
func (o Offer) Describe() string {
	var parts []string
	for _, part := range []struct {
		what  string
		names []string
	}{{"tools", o.Tools}, {"playbooks", o.Playbooks}, {"focuses", o.Focuses}, {"workspace", o.Workspace}} {
		if len(part.names) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", len(part.names), part.what, strings.Join(part.names, ", ")))
		}
	}
	return strings.Join(append(parts, "memory "+o.Memory), "; ")
}
