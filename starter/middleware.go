package starter

import (
	"cmp"
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
func withEnvelope(mux *http.ServeMux, known map[string]queryRules) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(versionHeader, apiVersion)
		if _, pattern := mux.Handler(r); pattern != "" {
			if rules, listed := known[pattern]; listed {
				refused := cmp.Or(checkQuery(r, rules), checkCoding(r))
				if refused != nil {
					writeFailure(w, refused)
					return
				}
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

// statusProbe takes the mux's own refusal and keeps its status and headers.
type statusProbe struct {
	header http.Header
	status int
}

func (p *statusProbe) Header() http.Header         { return p.header }
func (p *statusProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *statusProbe) WriteHeader(status int)      { p.status = status }

// queryRules lists the query parameters of a route, each with whether it may be empty.
type queryRules map[string]bool

// queryNames lists the query parameters of every route of the API document, by
// the route's pattern. The carrier's webhooks are left out: what is added to
// their addresses is signed, and a text must not be lost over it. So is the
// codec, whose protocol is Temporal's: its UI adds parameters of its own.
func queryNames(doc *huma.OpenAPI) map[string]queryRules {
	known := map[string]queryRules{}
	for _, op := range listOperations(doc) {
		if op.Path == inboundPath || op.Path == statusPath || slices.Contains(codecPaths, op.Path) {
			continue
		}
		rules := queryRules{}
		for _, parameter := range op.Parameters {
			if parameter.In == "query" {
				schema := parameter.Schema
				rules[parameter.Name] = schema.Type == huma.TypeArray || schema.Type == huma.TypeString && schema.Format == ""
			}
		}
		known[op.Method+" "+op.Path] = rules
	}
	return known
}

// checkCoding refuses a body in a coding that would be read as it is, and writes the
// media type in the small letters that the library compares with.
func checkCoding(r *http.Request) *failure {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return newFailure(http.StatusUnsupportedMediaType, "Content-Encoding: must be left out; bodies are read as they are")
	}
	kind, params, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if lower := strings.ToLower(kind); lower != kind {
		r.Header.Set("Content-Type", strings.TrimSuffix(lower+";"+params, ";"))
	}
	return nil
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

// checkQuery refuses a misspelt parameter, and an empty date, number or truth value:
// both would otherwise be ignored. It returns nil when there is none.
func checkQuery(r *http.Request, rules queryRules) *failure {
	if r.URL.RawQuery == "" {
		return nil
	}
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return newFailure(http.StatusBadRequest, "query: is not valid")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		canBeEmpty, isKnown := rules[name]
		switch {
		case isKnown && (canBeEmpty || !slices.Contains(given[name], "")):
		case isKnown:
			return newFailure(http.StatusBadRequest, "%s: must not be empty; leave it out", name)
		case len(rules) == 0:
			return newFailure(http.StatusBadRequest, "%s: unknown query parameter; this route has none", cleanName(name))
		default:
			names := strings.Join(slices.Sorted(maps.Keys(rules)), ", ")
			return newFailure(http.StatusBadRequest, "%s: unknown query parameter; this route has %s", cleanName(name), names)
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
