package worker

import (
	"fmt"

	"coachline/activities"
	"coachline/internal/agent"
	"coachline/internal/config"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/internal/tools/message"
	"coachline/internal/web"
	"coachline/internal/web/browse"
	"coachline/internal/wrap"
)

type toolParts struct {
	rows      *store.Store
	playbooks tools.Playbooks
	events    message.Events
	// instructions are what no text may repeat.
	instructions *agent.Instructions
}

// newTools returns the registry, with the tools that the operator turned on.
func newTools(cfg config.Config, parts toolParts) (*tools.Registry, error) {
	handler, err := newHandler(cfg.Web, parts.rows)
	if err != nil {
		return nil, err
	}
	more := tools.PlaybookTools(parts.playbooks)
	if cfg.Web.SearchURL != "" {
		more = append(more, handler.SearchTool())
	}
	if cfg.Web.Fetch == config.SwitchOn {
		more = append(more, handler.FetchTool())
	}
	if cfg.Replies.MessageTool == config.SwitchOn {
		more = append(more, message.New(message.Config{Ledger: parts.rows.Turns, Events: parts.events, Instructions: parts.instructions}).Tool())
	}
	if cfg.Replies.Subagents == config.SwitchOn {
		more = append(more, tools.Subagents()...)
	}
	registry, err := tools.New(more...)
	return registry, wrap.Error(err, "building tools")
}

func newHandler(cfg config.Web, rows *store.Store) (*browse.Handler, error) {
	client, err := web.New(web.Config{SearchURL: cfg.SearchURL, SearchKey: cfg.SearchKey.Reveal(), Allow: cfg.Allow})
	if err != nil {
		return nil, fmt.Errorf("COACH_WEB_SEARCH_URL: %w", err)
	}
	return browse.New(browse.Config{Web: client, Ledger: rows.Turns, Facts: rows.Memory, Window: activities.WindowEntries}), nil
}
