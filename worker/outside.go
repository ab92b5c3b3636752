package worker

import (
	"fmt"

	"coachline/activities"
	"coachline/internal/config"
	"coachline/internal/tools"
	"coachline/internal/web"
	"coachline/internal/web/browse"
)

// newTools is the registry, with the web tools that the operator turned on.
func newTools(cfg config.Web, ledger browse.Ledger, shelf tools.Shelf) (*tools.Registry, error) {
	client, err := web.New(web.Config{SearchURL: cfg.SearchURL, SearchKey: cfg.SearchKey.Reveal(), Allow: cfg.Allow})
	if err != nil {
		return nil, fmt.Errorf("COACH_WEB_SEARCH_URL: %w", err)
	}
	desk := browse.New(browse.Config{Web: client, Ledger: ledger, Window: activities.WindowEntries})
	var extras []tools.Extra
	if cfg.SearchURL != "" {
		extras = append(extras, desk.SearchTool())
	}
	if cfg.Fetch == config.SwitchOn {
		extras = append(extras, desk.FetchTool())
	}
	registry, err := tools.New(tools.WithPlaybooks(shelf), tools.With(extras...))
	if err != nil {
		return nil, fmt.Errorf("building tools: %w", err)
	}
	return registry, nil
}
