package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/web/mcp"
)

// TestOfferIsTold: doctor lists the tools, playbooks, focuses, workspace files and memory of
// an installation.
func TestOfferIsTold(t *testing.T) {
	cfg, err := config.Load(nil, nil)
	require.NoError(t, err)
	said, err := checkOffer(cfg)
	require.NoError(t, err)
	require.Regexp(t, `^\d+ tools \(ask_for_person, .*save_user_profile.*\); 12 playbooks \(after-a-slip, .*\); memory after$`, said)
	for _, off := range []string{"web_fetch", "web_search", "message,", "spawn", "focuses", "workspace"} {
		require.NotContains(t, said, off)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SOUL.md"), []byte("Calm."), 0o600))
	cfg.Worker.PromptsDir, cfg.Replies.Focuses, cfg.Web.Fetch, cfg.Replies.MemoryStep = dir, config.SwitchOn, config.SwitchOn, "off"
	cfg.Web.Servers = []mcp.Server{{Name: "clock", Tools: []mcp.Allowed{{Name: "cityTime"}}}}
	said, err = checkOffer(cfg)
	require.NoError(t, err)
	for _, part := range []string{"web_fetch", "mcp_clock_cityTime)", "2 focuses (habit, setback)", "1 workspace (SOUL)", "memory off"} {
		require.Contains(t, said, part)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nonsense.md"), []byte("x"), 0o600))
	_, err = checkOffer(cfg)
	require.ErrorContains(t, err, "COACH_PROMPTS_DIR")
}
