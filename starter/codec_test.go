package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"

	"coachline/internal/seal"
)

const uiOrigin = "https://temporal.example.org"

// ask posts payloads to the codec endpoint as the Temporal UI's page does; it
// returns the status, the allowed origin and the opened payloads.
func ask(t *testing.T, h *harness, header http.Header, payloads *commonpb.Payloads) (int, string, *commonpb.Payloads) {
	t.Helper()
	body, err := protojson.Marshal(payloads)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+h.server.Addr()+"/codec/decode", bytes.NewReader(body))
	require.NoError(t, err)
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	out := &commonpb.Payloads{}
	if resp.StatusCode == http.StatusOK {
		require.NoError(t, protojson.Unmarshal(raw, out), string(raw))
	}
	return resp.StatusCode, resp.Header.Get("Access-Control-Allow-Origin"), out
}

func TestCodecOpensPayloadsForOperatorsOnly(t *testing.T) {
	key, err := seal.Generate()
	require.NoError(t, err)
	ring, err := seal.Parse(key)
	require.NoError(t, err)
	plain, err := converter.GetDefaultDataConverter().ToPayloads("daily_prompt at 8")
	require.NoError(t, err)
	sealed, err := ring.Codec().Encode(plain.Payloads)
	require.NoError(t, err)
	payloads := &commonpb.Payloads{Payloads: sealed}
	for _, tt := range []struct {
		name   string
		token  string
		header http.Header
		status int
	}{
		{"no token", testToken, http.Header{"Origin": {uiOrigin}}, http.StatusUnauthorized},
		{"wrong token", testToken, http.Header{"Origin": {uiOrigin}, "Authorization": {"Bearer x"}}, http.StatusUnauthorized},
		{"token", testToken, http.Header{"Origin": {uiOrigin}, "Authorization": {"Bearer " + testToken}}, http.StatusOK},
		{"on one machine, the UI's page", "", http.Header{"Origin": {uiOrigin}}, http.StatusOK},
		{"on one machine, a foreign page", "", http.Header{"Origin": {"https://evil.example.org"}}, http.StatusForbidden},
		{"on one machine, a command", "", http.Header{}, http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := start(t, func(cfg *Config) {
				cfg.HTTP.APIToken = tt.token
				cfg.Codec = CodecConfig{Codec: ring.Codec(), Origins: []string{uiOrigin}}
			})
			status, allowed, got := ask(t, h, tt.header, payloads)
			require.Equal(t, tt.status, status)
			if tt.status != http.StatusOK {
				return
			}
			var text string
			require.NoError(t, converter.GetDefaultDataConverter().FromPayload(got.Payloads[0], &text))
			require.Equal(t, "daily_prompt at 8", text)
			if tt.header.Get("Origin") == uiOrigin {
				require.Equal(t, uiOrigin, allowed)
			}
		})
	}
}

func TestCodecIsInTheAPIDocument(t *testing.T) {
	h := start(t, func(cfg *Config) {
		cfg.Codec = CodecConfig{Codec: converter.NewZlibCodec(converter.ZlibCodecOptions{}), Origins: []string{uiOrigin}}
	})
	resp, err := http.Get("http://" + h.server.Addr() + "/openapi.json")
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	var doc struct {
		Paths map[string]any `json:"paths"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&doc))
	require.Contains(t, doc.Paths, "/codec/decode")
}
