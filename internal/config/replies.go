package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"coachline/internal/web/mcp"
)

// Replies says how a reply comes about.
type Replies struct {
	// MemoryStep is when what a person told is remembered: after the reply,
	// before it, or never (off).
	MemoryStep string `env:"COACH_MEMORY_STEP" envDefault:"after"`
	// HotWindow is how long a conversation goes on after its newest text.
	HotWindow time.Duration `env:"COACH_HOT_WINDOW" envDefault:"30m"`
	// Router picks the tools that a reply may use: all, by keyword, embedding or
	// model; auto is by words up to nine tools and by a model above.
	Router string `env:"COACH_ROUTER" envDefault:"auto"`
	// Planner and Digests are helps for small models; auto is by the model.
	Planner Switch `env:"COACH_PLANNER" envDefault:"auto"`
	Digests Switch `env:"COACH_DIGESTS" envDefault:"auto"`
	// Advice says which drafts of the model are judged before they are sent; auto is those
	// that rules and a score choose.
	Advice Switch `env:"COACH_ADVICE_CHECK" envDefault:"auto"`
	// ToolDigests shortens what the web tools return in the same way.
	ToolDigests Switch `env:"COACH_TOOL_DIGESTS" envDefault:"off"`
	// Subagents lets the model give tasks away: on or off.
	Subagents Switch `env:"COACH_SUBAGENTS" envDefault:"off"`
	// MessageTool lets the model text a person in the middle of a turn: on or off.
	MessageTool Switch `env:"COACH_MESSAGE_TOOL" envDefault:"off"`
	// Focuses says whether the shipped coaching focuses are there: on or off.
	Focuses Switch `env:"COACH_FOCUSES" envDefault:"off"`
	// RecalledFacts are the most facts that a search of memory adds to a reply.
	RecalledFacts int `env:"COACH_RECALLED_FACTS" envDefault:"6"`
	// CarriedCalls are the most rounds of tool calls of earlier turns that a reply sees, and
	// CarriedChars the most characters of each result.
	CarriedCalls int `env:"COACH_CARRIED_CALLS" envDefault:"2"`
	CarriedChars int `env:"COACH_CARRIED_CHARS" envDefault:"1200"`
	// ToolSearches are the most searches for tools in one reply.
	ToolSearches int `env:"COACH_TOOL_SEARCHES" envDefault:"3"`
	// StageTimeout is how long the small model is awaited, for a COACH_MODEL_TIMEOUT of
	// 60s; the planner has three quarters of it.
	StageTimeout time.Duration `env:"COACH_STAGE_TIMEOUT" envDefault:"8s"`
}

// Web says whether the coach may look things up on the web.
type Web struct {
	// SearchURL is the JSON endpoint of a SearXNG-compatible server; empty is no
	// search. SearchKey is its bearer token, where it wants one.
	SearchURL string `env:"COACH_WEB_SEARCH_URL"`
	SearchKey Secret `env:"COACH_WEB_SEARCH_KEY"`
	// Fetch lets pages be read, on or off.
	Fetch Switch `env:"COACH_WEB_FETCH" envDefault:"off"`
	// Allow lists addresses, HOST:PORT with an IP address, whose pages may be
	// read although they are not public.
	Allow []netip.AddrPort `env:"COACH_WEB_ALLOW"`
	// MCPFile is the path of a file of MCP servers, which Load reads into Servers.
	MCPFile string `env:"COACH_MCP_FILE"`
	Servers []mcp.Server
}

const (
	mcpFile        = "COACH_MCP_FILE"
	mcpFileExample = `{"servers": [{"name": "weather", "url": "https://HOST/mcp", "tools": [{"name": "forecast"}]}]}`
)

// loadServers reads the file of MCP servers where one is named.
func (w *Web) loadServers() []error {
	if w.MCPFile == "" {
		return nil
	}
	content, err := readLimited(w.MCPFile)
	if err == nil {
		w.Servers, err = mcp.Parse(content, readLimited)
	}
	if err != nil {
		return []error{fmt.Errorf("%s: %w; want the path of a file like %s", mcpFile, err, mcpFileExample)}
	}
	return nil
}

// Switch is on, off, or left to the program.
type Switch string

const (
	SwitchAuto Switch = "auto"
	SwitchOn   Switch = "on"
	SwitchOff  Switch = "off"
)

// Forced is nil where the switch is left to the program.
func (s Switch) Forced() *bool {
	on := s == SwitchOn
	if s == SwitchAuto {
		return nil
	}
	return &on
}

func (c *Config) checkReplies(bad map[string]bool) []error {
	var problems []error
	for _, one := range []struct {
		name, value string
		known       []string
	}{
		{"COACH_MEMORY_STEP", c.Replies.MemoryStep, []string{"after", "before", "off"}},
		{"COACH_MODEL_SIZE", string(c.Model.Size), []string{"auto", "small", "large"}},
		{"COACH_PROTOCOL", string(c.Model.Protocol), []string{"auto", "native", "text", "two_phase"}},
		{"COACH_ROUTER", c.Replies.Router, []string{"auto", "all", "keyword", "embedding", "model"}},
		{"COACH_PLANNER", string(c.Replies.Planner), []string{"auto", "on", "off"}},
		{"COACH_DIGESTS", string(c.Replies.Digests), []string{"auto", "on", "off"}},
		{"COACH_ADVICE_CHECK", string(c.Replies.Advice), []string{"auto", "on", "off"}},
		{"COACH_TOOL_DIGESTS", string(c.Replies.ToolDigests), []string{"auto", "on", "off"}},
		{"COACH_WEB_FETCH", string(c.Web.Fetch), []string{"on", "off"}},
		{"COACH_SUBAGENTS", string(c.Replies.Subagents), []string{"on", "off"}},
		{"COACH_MESSAGE_TOOL", string(c.Replies.MessageTool), []string{"on", "off"}},
		{"COACH_FOCUSES", string(c.Replies.Focuses), []string{"on", "off"}},
	} {
		if !slices.Contains(one.known, one.value) {
			problems = append(problems, refuse(one.name, one.value, "one of "+strings.Join(one.known, ", ")))
		}
	}
	for _, one := range []struct {
		name               string
		value, least, most int
	}{
		{"COACH_RECALLED_FACTS", c.Replies.RecalledFacts, 1, 50},
		{"COACH_CARRIED_CALLS", c.Replies.CarriedCalls, 1, 20},
		{"COACH_CARRIED_CHARS", c.Replies.CarriedChars, 200, 10_000},
		{"COACH_TOOL_SEARCHES", c.Replies.ToolSearches, 1, 20},
	} {
		if !bad[one.name] && (one.value < one.least || one.value > one.most) {
			problems = append(problems, refuse(one.name, fmt.Sprint(one.value), fmt.Sprintf("a whole number of %d to %d", one.least, one.most)))
		}
	}
	if wait := c.Replies.StageTimeout; !bad["COACH_STAGE_TIMEOUT"] && (wait < time.Second || wait > time.Minute) {
		problems = append(problems, refuse("COACH_STAGE_TIMEOUT", wait.String(), "a duration of 1s to 1m"))
	}
	if !bad["COACH_HOT_WINDOW"] && c.Replies.HotWindow <= 0 {
		problems = append(problems, refuse("COACH_HOT_WINDOW", c.Replies.HotWindow.String(), "a positive duration such as 30m"))
	}
	return append(problems, c.checkWeb()...)
}

// checkWeb shows neither address nor key, because operators put keys into
// addresses.
func (c *Config) checkWeb() []error {
	var problems []error
	address, err := url.Parse(c.Web.SearchURL)
	plain := err == nil && plainURL(strings.SplitN(c.Web.SearchURL, "?", 2)[0]) && address.Fragment == ""
	if c.Web.SearchURL != "" && !plain {
		problems = append(problems, fmt.Errorf("%s: want an http:// or https:// address with a host and without user or fragment", webSearchURL))
	}
	key := c.Web.SearchKey.Reveal()
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		problems = append(problems, errors.New("COACH_WEB_SEARCH_KEY: it holds characters that no header may hold"))
	}
	if key != "" && c.Web.SearchURL == "" && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("COACH_WEB_SEARCH_KEY: it is set and %s is not; set it too or remove the key", webSearchURL))
	}
	return problems
}

const webSearchURL = "COACH_WEB_SEARCH_URL"
