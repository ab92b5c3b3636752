package worker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/store"
	"coachline/prompts"
)

// TestWebToolsAreOffByDefault: what the operator did not turn on is no tool.
func TestWebToolsAreOffByDefault(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	for _, tt := range []struct {
		name string
		cfg  config.Web
		want []string
	}{
		{"off", config.Web{Fetch: config.SwitchOff}, nil},
		{"search", config.Web{SearchURL: "http://searx:8080/search?format=json", Fetch: config.SwitchOff}, []string{"web_search"}},
		{"pages", config.Web{Fetch: config.SwitchOn}, []string{"web_fetch"}},
		{"both", config.Web{SearchURL: "http://searx:8080/search", Fetch: config.SwitchOn}, []string{"web_search", "web_fetch"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			registry, err := newTools(config.Config{Web: tt.cfg}, toolParts{rows: &store.Store{}, playbooks: library})
			require.NoError(t, err)
			outside, _ := registry.Outside()
			require.Equal(t, tt.want, outside)
		})
	}
	_, err = newTools(config.Config{Web: config.Web{SearchURL: "search.example"}}, toolParts{rows: &store.Store{}, playbooks: library})
	require.ErrorContains(t, err, "COACH_WEB_SEARCH_URL")
}

func TestMessageToolIsOffByDefault(t *testing.T) {
	library, err := prompts.Load("")
	require.NoError(t, err)
	for _, setting := range []config.Switch{config.SwitchOff, config.SwitchOn} {
		cfg := config.Config{Replies: config.Replies{MessageTool: setting}}
		registry, err := newTools(cfg, toolParts{rows: &store.Store{}, playbooks: library})
		require.NoError(t, err)
		_, there := registry.Lookup("message")
		require.Equal(t, setting == config.SwitchOn, there)
	}
}
