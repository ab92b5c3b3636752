package workflows_test

import (
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/web/browse"
	"coachline/internal/web/mcp"
	"coachline/models"
)

// startExample runs the SDK's own example of a server, which knows the time of three cities.
func startExample(t *testing.T) (server *exec.Cmd, at netip.AddrPort) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "example")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/modelcontextprotocol/go-sdk/examples/http").CombinedOutput()
	require.NoError(t, err, string(out))
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at, err = netip.ParseAddrPort(taken.Addr().String())
	require.NoError(t, err)
	require.NoError(t, taken.Close())
	_, port, err := net.SplitHostPort(at.String())
	require.NoError(t, err)
	server = exec.CommandContext(t.Context(), program, "-host", "127.0.0.1", "-port", port, "server")
	require.NoError(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill() })
	return server, at
}

// TestServerOfTheSDK: a person gets an answer with a server's help, and one without it when
// the server is killed in the middle of the conversation.
func TestServerOfTheSDK(t *testing.T) {
	t.Parallel()
	server, at := startExample(t)
	client := mcp.New(mcp.Server{Name: "clock", URL: "http://" + at.String(), Timeout: 10 * time.Second, Tools: []mcp.Allowed{{Name: "cityTime", Keywords: "clock"}}}, []netip.AddrPort{at})
	var listed []mcp.Listed
	require.Eventually(t, func() bool {
		found, _, err := client.List(t.Context())
		listed = found
		return err == nil
	}, 30*time.Second, 20*time.Millisecond)

	w := newWorld(t, func(w *world, _ *coach.Rules) {
		handler := browse.New(browse.Config{Ledger: w.store.Turns, Facts: w.store.Memory, Window: 50})
		w.features = append(w.features, handler.ServerTool(client, listed[0]))
	})
	asked := call("mcp_clock_cityTime", map[string]any{"city": "boston"})
	w.model.answer = steps(asks(asked), say("It is early in Boston."), asks(asked), say("I cannot look at the clock right now."))
	w.text(0, "what does the clock say in boston?")
	w.at(30*time.Minute, func() {
		require.NoError(t, server.Process.Kill())
		_ = server.Wait()
	})
	w.text(31*time.Minute, "and what does the clock say now?")
	w.run(time.Hour)
	require.Equal(t, []string{"It is early in Boston.", "I cannot look at the clock right now."}, w.carrier.bodies())

	results := func(turn int) models.ToolResult {
		runs := w.turnContext(turn).Runs
		require.Len(t, runs, 1)
		result, err := runs[0].ToolResult()
		require.NoError(t, err)
		return result
	}
	first := results(1)
	require.False(t, first.Failed)
	require.Contains(t, first.Content, "<<<WEB CONTENT BY STRANGERS")
	require.Contains(t, first.Content, "The current time in Boston is")
	second := results(2)
	require.True(t, second.Failed)
	require.Contains(t, second.Content, "out of order right now")
}
