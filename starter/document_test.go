package starter

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/converter"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
)

// TestOpenAPI compares the routes and the statuses that each can answer with
// with the recorded ones.
func TestOpenAPI(t *testing.T) {
	h := start(t, nil)
	got := h.do(call{method: "GET", path: "/openapi.json"})
	require.Equal(t, "application/openapi+json", got.header.Get("Content-Type"))
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			Security  []map[string][]string      `json:"security"`
			Responses map[string]json.RawMessage `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.raw), &doc))
	require.Equal(t, "3.1.0", doc.OpenAPI)
	var found []string
	for path, operations := range doc.Paths {
		for method, op := range operations {
			codes := make([]string, 0, len(op.Responses))
			for code := range op.Responses {
				codes = append(codes, code)
			}
			slices.Sort(codes)
			found = append(found, method+" "+path+": "+strings.Join(codes, " "))
			isOpen := slices.Contains([]string{"/livez", "/readyz", "/version", "/metrics", "/openapi.json", inboundPath, statusPath}, path)
			require.Equal(t, !isOpen, len(op.Security) == 1 && len(op.Security[0]) == 1, path)
		}
	}
	slices.Sort(found)
	const golden = "testdata/routes.golden"
	if goldens.ShouldRecord() {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(found, "\n")+"\n"), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, strings.Split(strings.TrimSpace(string(want)), "\n"), found, "record a new route: make record RUN=TestOpenAPI")
	for _, ref := range regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllStringSubmatch(got.raw, -1) {
		require.Contains(t, doc.Components.Schemas, ref[1])
	}
}

var documentFile = flag.String("document", "", "write the API document to this file")

// TestDocumentFile writes the whole document for `make openapi-lint`, where the
// flag names a file.
func TestDocumentFile(t *testing.T) {
	h := startWithAccess(t, func(cfg *Config) {
		cfg.Codec = CodecConfig{Codec: converter.NewZlibCodec(converter.ZlibCodecOptions{})}
		cfg.HTTP.PublicURL = "https://coach.example.org"
	})
	raw := h.do(call{method: "GET", path: "/openapi.json"}).raw
	requireComponents(t, raw)
	if *documentFile != "" {
		require.NoError(t, os.WriteFile(*documentFile, []byte(raw), 0o600))
	}
}

// requireComponents checks that the schemas of the document have names that
// OpenAPI allows, that each is used, and that each that is used is there.
func requireComponents(t *testing.T, raw string) {
	t.Helper()
	var document struct {
		Components struct{ Schemas map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(raw), &document))
	used := map[string]bool{}
	for _, found := range regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllStringSubmatch(raw, -1) {
		used[found[1]] = true
		require.Contains(t, document.Components.Schemas, found[1])
	}
	for name := range document.Components.Schemas {
		require.Regexp(t, `^[a-zA-Z0-9._-]+$`, name)
		require.True(t, used[name], name)
	}
}
