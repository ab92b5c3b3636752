package starter

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// apiDocument is the served OpenAPI document, against which every answer of the
// harness is checked. Its compiler is not safe for concurrent use, and tests call
// from several goroutines.
type apiDocument struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	paths    map[string]any
	// forms are what the paths of each template look like.
	forms map[string]*regexp.Regexp
}

// readDocument is the document of the first server that is asked for it: that of
// every other one differs in its public address alone.
var readDocument struct {
	sync.Mutex
	document *apiDocument
}

func (h *harness) document() *apiDocument {
	h.t.Helper()
	readDocument.Lock()
	defer readDocument.Unlock()
	if readDocument.document == nil {
		readDocument.document = h.fetchDocument()
	}
	return readDocument.document
}

func (d *apiDocument) compileSchema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiler.Compile("openapi.json#" + pointer)
}

var pathParameter = regexp.MustCompile(`\{[^}]+\}`)

func (h *harness) fetchDocument() *apiDocument {
	h.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+h.server.Addr()+"/openapi.json", http.NoBody)
	require.NoError(h.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(h.t, err)
	raw, err := io.ReadAll(res.Body)
	require.NoError(h.t, err)
	require.NoError(h.t, res.Body.Close())
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(h.t, err)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	require.NoError(h.t, compiler.AddResource("openapi.json", doc))
	paths, forms := doc.(map[string]any)["paths"].(map[string]any), map[string]*regexp.Regexp{}
	for template := range paths {
		forms[template] = regexp.MustCompile("^" + pathParameter.ReplaceAllString(template, "[^/]+") + "$")
	}
	return &apiDocument{compiler: compiler, paths: paths, forms: forms}
}

// requireDocumented checks an answer against the document: the status is one of
// the route's, the content type too, and a JSON body has the schema of it. Paths
// and methods that no route has are left out.
func (h *harness) requireDocumented(c call, got reply) {
	h.t.Helper()
	path, _, _ := strings.Cut(c.path, "?")
	doc := h.document()
	for template, item := range doc.paths {
		operation, found := item.(map[string]any)[strings.ToLower(c.method)]
		if !found || !doc.forms[template].MatchString(path) {
			continue
		}
		status := strconv.Itoa(got.status)
		response, found := operation.(map[string]any)["responses"].(map[string]any)[status]
		require.True(h.t, found, "%s %s: status %s is not documented: %s", c.method, template, status, got.raw)
		content, _ := response.(map[string]any)["content"].(map[string]any)
		kind, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
		if content == nil && got.raw == "" {
			return
		}
		require.Contains(h.t, content, kind, "%s %s %s", c.method, template, status)
		if kind != "application/json" {
			return
		}
		pointer := strings.Join([]string{"", "paths", escapePointer(template), strings.ToLower(c.method), "responses", status, "content", escapePointer(kind), "schema"}, "/")
		schema, err := doc.compileSchema(pointer)
		require.NoError(h.t, err)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(got.raw))
		require.NoError(h.t, err)
		require.NoError(h.t, schema.Validate(value), "%s %s %s: %s", c.method, template, status, got.raw)
		return
	}
}

func escapePointer(part string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
}
