package worker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"coachline/internal/config"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/internal/web/browse"
	"coachline/internal/web/mcp"
)

const (
	// listEvery is how often a server that did not answer is asked for its tools again, and
	// listAgain after how long one that did.
	listEvery, listAgain = time.Minute, 10 * time.Minute
)

// toolServers keeps the tools of MCP servers in the registry. A tool stays on offer while its
// server is down: a call of it fails, and the reply goes on without it.
type toolServers struct {
	clients  []*mcp.Client
	handler  *browse.Handler
	registry *tools.Registry
	logger   *slog.Logger
	now      func() time.Time

	listed map[string]time.Time
	said   map[string]string
}

func newToolServers(cfg config.Web, rows *store.Store, registry *tools.Registry, logger *slog.Logger) (*toolServers, error) {
	handler, err := newHandler(cfg, rows)
	if err != nil {
		return nil, err
	}
	s := &toolServers{handler: handler, registry: registry, logger: logger, now: time.Now, listed: map[string]time.Time{}, said: map[string]string{}}
	for _, server := range cfg.Servers {
		s.clients = append(s.clients, mcp.New(server, cfg.Allow))
	}
	return s, nil
}

// follow lists the tools at once and then every minute until ctx ends.
func (s *toolServers) follow(ctx context.Context) {
	if len(s.clients) == 0 {
		return
	}
	tick := time.NewTicker(listEvery)
	defer tick.Stop()
	for {
		s.refresh(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// refresh asks the servers that are due. It is called by one goroutine at a time.
func (s *toolServers) refresh(ctx context.Context) {
	for _, client := range s.clients {
		name := client.Server.Name
		if at, ok := s.listed[name]; ok && s.now().Sub(at) < listAgain {
			continue
		}
		listed, missing, err := client.List(ctx)
		var names []string
		for _, tool := range listed {
			if err == nil {
				err = s.registry.Add(s.handler.ServerTool(client, tool))
			}
			names = append(names, client.Server.ToolName(tool.Name))
		}
		if err != nil {
			delete(s.listed, name)
			s.say(name, err.Error(), func() {
				s.logger.Warn("tools of MCP server cannot be listed; asked again in a minute", "server", name, "error", err)
			})
			continue
		}
		s.listed[name] = s.now()
		s.say(name, fmt.Sprint(names, missing), func() {
			s.logger.Info("tools of MCP server", "server", name, "tools", names, "missing", missing)
		})
	}
}

// say logs what is new about a server.
func (s *toolServers) say(server, what string, log func()) {
	if s.said[server] != what {
		s.said[server] = what
		log()
	}
}
