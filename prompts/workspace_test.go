package prompts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/prompts"
)

// TestWorkspaceFiles: files under the names of other assistants are read as they are.
func TestWorkspaceFiles(t *testing.T) {
	dir := shelved(t, "SOUL.md", "# Voice\r\nDry humour, {{no template}}.")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "HEARTBEAT.md"), []byte("On Mondays ask about the week."), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "IDENTITY.md"), []byte("You work for a clinic in Leeds."), 0o600))
	library := load(t, dir)
	require.Equal(t, []string{"IDENTITY", "SOUL", "HEARTBEAT"}, library.WorkspaceNames())
	require.Equal(t, []prompts.Workspace{{Name: "IDENTITY", Text: "You work for a clinic in Leeds."}, {Name: "SOUL", Text: "## Voice\nDry humour, {{no template}}."}}, library.Workspace())
	require.Equal(t, "On Mondays ask about the week.", library.Heartbeat())
	require.NotEqual(t, load(t, "").Version(), library.Version())
	require.NoError(t, library.CheckTools(offers(t)))
	require.Empty(t, load(t, "").WorkspaceNames())
	require.Empty(t, load(t, "").Heartbeat())
	for file, text := range map[string]string{"AGENTS.md": " \n", "MEMORY.md": strings.Repeat("a", 4_001), "es/SOUL.md": "x", "TOOLS.md": "x"} {
		_, err := prompts.Load(shelved(t, file, text))
		require.ErrorContains(t, err, filepath.Base(file))
	}
	err := load(t, shelved(t, "AGENTS.md", "Call `delete_memory` first.")).CheckTools(offers(t))
	require.ErrorContains(t, err, `AGENTS.md names "delete_memory"`)
}
