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
)

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
	want := map[string]string{
		"post /conversation/participants":                        "201 400 401 403 409 413 415 429 500 503",
		"get /conversation/participants":                         "200 400 401 403 429 500 503",
		"get /conversation/participants/{id}":                    "200 400 401 403 404 429 500 503",
		"put /conversation/participants/{id}":                    "200 400 401 403 404 409 412 413 415 429 500 503",
		"delete /conversation/participants/{id}":                 "200 400 401 403 404 412 429 500 503",
		"get /conversation/participants/{id}/history":            "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/state":              "200 400 401 403 404 429 500 503",
		"get /attention":                                         "200 400 401 403 429 500 503",
		"post /conversation/participants/{id}/attention":         "200 400 401 403 404 413 415 429 500 503",
		"post /conversation/participants/{id}/mode":              "200 400 401 403 404 409 413 415 429 500 503",
		"post /conversation/participants/{id}/chat":              "202 400 401 403 404 409 413 415 429 500 503",
		"post /conversation/participants/{id}/messages":          "200 202 400 401 403 404 409 413 415 429 500 503",
		"get /conversation/participants/{id}/turns":              "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/turns/{number}":     "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/consents":           "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/memories":           "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/memory/export":      "200 400 401 403 404 429 500 503",
		"delete /conversation/participants/{id}/memories":        "200 400 401 403 404 429 500 503",
		"delete /conversation/participants/{id}/memories/{fact}": "200 400 401 403 404 429 500 503",
		"post /twilio/inbound":                                   "200 400 403 413 415 503",
		"post /twilio/status":                                    "200 400 403 413 415 503",
		"get /livez":                                             "200 400 default",
		"get /readyz":                                            "200 400 500 503",
		"get /version":                                           "200 400 default",
		"get /metrics":                                           "200 400",
		"get /openapi.json":                                      "200 400",
		"get /alerts":                                            "200 400 401 403 429 500 503",
		"get /alerts/sheet":                                      "200 400 401 403 429 500 503",
		"post /alerts/{id}/mark":                                 "200 400 401 403 404 413 415 429 500 503",
		"post /conversation/participants/{id}/erase":             "202 400 401 403 404 413 415 429 500 503",
		"get /erasures":                                          "200 400 401 403 429 500 503",
		"get /erasures/{id}":                                     "200 400 401 403 404 429 500 503",
		"post /holds":                                            "201 400 401 403 413 415 429 500 503",
		"get /holds":                                             "200 400 401 403 429 500 503",
		"get /people":                                            "200 400 401 403 429 500 503",
		"get /today":                                             "200 400 401 403 429 500 503",
		"get /agenda":                                            "200 400 401 403 429 500 503",
		"get /delivery":                                          "200 400 401 403 429 500 503",
		"get /costs":                                             "200 400 401 403 429 500 503",
		"get /budgets":                                           "200 400 401 403 429 500 503",
		"put /budgets":                                           "200 400 401 403 404 413 415 429 500 503",
		"delete /budgets/{id}":                                   "200 400 401 403 404 429 500 503",
		"post /conversation/participants/{id}/takeover":          "200 400 401 403 404 409 413 415 429 500 503",
		"delete /conversation/participants/{id}/takeover":        "200 400 401 403 404 413 415 429 500 503",
		"post /alerts/{id}/acknowledge":                          "200 400 401 403 404 429 500 503",
		"delete /holds/{id}":                                     "200 400 401 403 404 429 500 503",
		"post /cohorts":                                          "200 201 400 401 403 413 415 429 500 503",
		"get /cohorts/{id}":                                      "200 400 401 403 404 429 500 503",
		"delete /cohorts/{id}":                                   "200 400 401 403 404 409 429 500 503",
		"post /cohorts/{id}/confirm":                             "200 400 401 403 404 409 429 500 503",
		"get /cohorts/{id}/faults":                               "200 400 401 403 404 429 500 503",
		"get /conversation/participants/{id}/waiting":            "200 400 401 403 404 429 500 503",
	}
	found := map[string]string{}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			codes := make([]string, 0, len(op.Responses))
			for code := range op.Responses {
				codes = append(codes, code)
			}
			slices.Sort(codes)
			found[method+" "+path] = strings.Join(codes, " ")
			isOpen := slices.Contains([]string{"/livez", "/readyz", "/version", "/metrics", "/openapi.json", inboundPath, statusPath}, path)
			require.Equal(t, !isOpen, len(op.Security) == 1 && len(op.Security[0]) == 1, path)
		}
	}
	require.Equal(t, want, found)
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
	require.True(t, json.Valid([]byte(raw)))
	if *documentFile != "" {
		require.NoError(t, os.WriteFile(*documentFile, []byte(raw), 0o600))
	}
}
