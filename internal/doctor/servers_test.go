package doctor

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/web/mcp"
)

// TestProbeServer: doctor lists an MCP server's tools, and a server that is down or lacks
// one is a warning.
func TestProbeServer(t *testing.T) {
	made := sdk.NewServer(&sdk.Implementation{Name: "clock", Version: "1"}, nil)
	sdk.AddTool(made, &sdk.Tool{Name: "cityTime"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		return nil, nil, nil
	})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return made }, nil))
	t.Cleanup(server.Close)
	at, err := netip.ParseAddrPort(server.Listener.Addr().String())
	require.NoError(t, err)
	cfg := config.Config{Web: config.Web{Allow: []netip.AddrPort{at}, Servers: []mcp.Server{
		{Name: "clock", URL: server.URL, Timeout: 5 * time.Second, Tools: []mcp.Allowed{{Name: "cityTime"}}},
		{Name: "other", URL: server.URL, Timeout: 5 * time.Second, Tools: []mcp.Allowed{{Name: "cityTime"}, {Name: "dance"}}},
	}}}
	checks := List(cfg, nil)
	clock, other := checks[len(checks)-2], checks[len(checks)-1]
	require.Equal(t, "mcp clock", clock.Name)
	said, err := clock.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, "mcp_clock_cityTime", said)
	var warning connect.Warning
	_, err = other.Run(t.Context())
	require.ErrorAs(t, err, &warning)
	require.ErrorContains(t, err, "no tool called dance")
	server.Close()
	_, err = clock.Run(t.Context())
	require.ErrorAs(t, err, &warning)
	require.ErrorContains(t, err, "goes on without its tools")
	require.NotContains(t, err.Error(), server.URL)
}
