package worker

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/internal/web/mcp"
)

// TestServersThatComeLater: a server that is down at the start costs its own tools alone, and
// they come when it does.
func TestServersThatComeLater(t *testing.T) {
	made := sdk.NewServer(&sdk.Implementation{Name: "late", Version: "1"}, nil)
	for _, name := range []string{"find", "other"} {
		sdk.AddTool(made, &sdk.Tool{Name: name}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
			return nil, nil, nil
		})
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return made }, nil)
	up := httptest.NewServer(handler)
	t.Cleanup(up.Close)
	late := httptest.NewUnstartedServer(handler)
	at := func(address net.Addr) netip.AddrPort {
		parsed, err := netip.ParseAddrPort(address.String())
		require.NoError(t, err)
		return parsed
	}
	// The late one takes connections and answers none until it is started.
	address := late.Listener.Addr()
	server := func(name, url string) mcp.Server {
		return mcp.Server{Name: name, URL: url, Timeout: time.Second, Tools: []mcp.Allowed{{Name: "find"}}}
	}
	registry, err := tools.New()
	require.NoError(t, err)
	cfg := config.Web{Servers: []mcp.Server{server("late", "http://"+address.String()), server("up", up.URL)}, Allow: []netip.AddrPort{at(address), at(up.Listener.Addr())}}
	servers, err := newToolServers(cfg, &store.Store{}, registry, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	servers.refresh(t.Context())
	has := func(name string) bool { _, there := registry.Lookup(name); return there }
	require.True(t, has("mcp_up_find"))
	require.False(t, has("mcp_up_other"), "nobody allowed it")
	require.False(t, has("mcp_late_find"))
	late.Start()
	t.Cleanup(late.Close)
	servers.refresh(t.Context())
	require.True(t, has("mcp_late_find"))
	outside, compact := registry.Outside()
	require.Equal(t, []string{"mcp_up_find", "mcp_late_find"}, outside)
	require.Empty(t, compact)
}
