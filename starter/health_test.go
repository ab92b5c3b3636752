package starter

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOps(t *testing.T) {
	h := start(t, nil)
	require.Contains(t, h.figures(), "\ncoachline_notices_waiting ")
	require.JSONEq(t, `{"status":"ok","result":{"version":"v0-test"}}`, h.do(call{method: "GET", path: "/version"}).raw)
	require.JSONEq(t, `{"database":"ok","temporal":"ok","workers":"ok"}`, string(h.do(call{method: "GET", path: "/readyz"}).body.Result))
	h.engine.fail(func(context.Context, string) error { return errDown })
	h.refused(call{method: "GET", path: "/readyz"}, http.StatusServiceUnavailable, "database ok, temporal unreachable")
	h.faults.fail(errDown)
	h.refused(call{method: "GET", path: "/readyz"}, http.StatusServiceUnavailable, "database unreachable, temporal unreachable")
	require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: "/livez"}).status)
}
