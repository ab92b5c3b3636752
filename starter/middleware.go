package starter

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// requestHeader carries the id of a request, by which the audit and the log name
// it.
const requestHeader = "X-Request-Id"

// Every answer of the API names its version. It changes when a field or a route is
// taken away or gets another meaning; the changelog says what and since when.
const (
	versionHeader = "Coach-Api-Version"
	apiVersion    = "1"
)

type requestKey struct{}

// requestID is the id of the request of a context; empty where there is none.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// withHeaders sets the headers that keep answers with personal data out of caches
// and from being read as another type, and refuses requests whose address
// no database column can hold.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		id := strings.ToLower(rand.Text())
		w.Header().Set(requestHeader, id)
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		query, err := url.QueryUnescape(r.URL.RawQuery)
		if err != nil || !isStorable(query) {
			writeFailure(w, newFailure(http.StatusBadRequest, "query: is not valid UTF-8 in URL encoding, or holds NUL"))
			return
		}
		if !isStorable(r.URL.Path) {
			writeFailure(w, newFailure(http.StatusBadRequest, "path: is not valid UTF-8, or holds NUL"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isStorable reports whether a text is one that every database holds.
func isStorable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// withEnvelope names the API's version, gives unknown paths and methods the envelope of everything else,
// and refuses query parameters that the route does not have.
func withEnvelope(mux *http.ServeMux, known map[string][]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(versionHeader, apiVersion)
		if _, pattern := mux.Handler(r); pattern != "" {
			if refused := checkQuery(r, known, pattern); refused != nil {
				writeFailure(w, refused)
				return
			}
			mux.ServeHTTP(w, r)
			return
		}
		probe := &statusProbe{header: http.Header{}}
		mux.ServeHTTP(probe, r)
		if probe.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", probe.header.Get("Allow"))
			writeFailure(w, newFailure(probe.status, "method not allowed"))
			return
		}
		writeFailure(w, newFailure(http.StatusNotFound, "no such route"))
	})
}

// seenStatus remembers the status of an answer that it passes on.
type seenStatus struct {
	http.ResponseWriter
	status int
}

// WriteHeader passes the status on.
func (s *seenStatus) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// statusProbe takes the mux's own refusal and keeps its status and headers.
type statusProbe struct {
	header http.Header
	status int
}

func (p *statusProbe) Header() http.Header         { return p.header }
func (p *statusProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *statusProbe) WriteHeader(status int)      { p.status = status }

// queryNames lists the query parameters of every route of the API document, by
// the route's pattern. The carrier's webhooks are left out: what is added to
// their addresses is signed, and a text must not be lost over it. So is the
// codec, whose protocol is Temporal's: its UI adds parameters of its own.
func queryNames(doc *huma.OpenAPI) map[string][]string {
	known := map[string][]string{}
	for _, op := range listOperations(doc) {
		if op.Path == inboundPath || op.Path == statusPath || slices.Contains(codecPaths, op.Path) {
			continue
		}
		names := []string{}
		for _, parameter := range op.Parameters {
			if parameter.In == "query" {
				names = append(names, parameter.Name)
			}
		}
		slices.Sort(names)
		known[op.Method+" "+op.Path] = names
	}
	return known
}

// listOperations returns every operation of the document.
func listOperations(doc *huma.OpenAPI) []*huma.Operation {
	var all []*huma.Operation
	for _, item := range doc.Paths {
		all = append(all, item.Get, item.Post, item.Put, item.Patch, item.Delete)
	}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

// documentQuery adds the answer to an unknown query parameter where an operation
// has no 400 of its own.
func documentQuery(doc *huma.OpenAPI) {
	for _, op := range listOperations(doc) {
		if op.Responses["400"] == nil {
			refusal := plainRoute{}.newOperation(http.StatusBadRequest)
			op.Responses["400"] = refusal.Responses["400"]
		}
	}
}

// checkQuery refuses a misspelt parameter, which would otherwise be ignored; nil
// when there is none, and for routes that take any.
func checkQuery(r *http.Request, known map[string][]string, pattern string) *failure {
	names, listed := known[pattern]
	if !listed || r.URL.RawQuery == "" {
		return nil
	}
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return newFailure(http.StatusBadRequest, "query: is not valid")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case slices.Contains(names, name):
		case len(names) == 0:
			return newFailure(http.StatusBadRequest, "%s: unknown query parameter; this route has none", cleanName(name))
		default:
			return newFailure(http.StatusBadRequest, "%s: unknown query parameter; this route has %s", cleanName(name), strings.Join(names, ", "))
		}
	}
	return nil
}

// cleanName is the name of a parameter as far as it is worth repeating.
func cleanName(name string) string {
	const most = 40
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, name)
	return clean[:min(len(clean), most)]
}
