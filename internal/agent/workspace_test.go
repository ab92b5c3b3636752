package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// TestWorkspaceReachesTheModel: its files stand behind the persona, the heartbeat in
// check-ins alone, and no reply repeats them.
func TestWorkspaceReachesTheModel(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"SOUL": "Speak like a calm lighthouse keeper who has seen many storms pass.", "HEARTBEAT": "On Mondays ask about the week that lies ahead of them."} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600))
	}
	lib, err := prompts.Load(dir)
	require.NoError(t, err)
	in := Input{Mode: wire.ModeIntake, Kind: wire.TurnReply, Now: tuesday, Zone: newYork(t), Context: models.TurnContext{Window: []models.Message{userEntry(1, "hi")}}}
	reply, err := Compose(lib, in)
	require.NoError(t, err)
	require.Contains(t, reply.Messages[0].Content, "# Workspace: SOUL\nSpeak like a calm lighthouse keeper")
	require.NotContains(t, asJSON(t, reply), "On Mondays")
	checkIn, err := ComposeCheckIn(lib, in)
	require.NoError(t, err)
	require.Contains(t, checkIn.Messages[0].Content, "# Workspace: SOUL\n")
	require.Contains(t, checkIn.Messages[0].Content, "# Heartbeat\nOn Mondays ask about the week")
	instructions, err := NewInstructions(lib, "")
	require.NoError(t, err)
	require.True(t, instructions.isRepeatedIn("I was told to speak like a calm lighthouse keeper who has seen many storms pass"))
}
