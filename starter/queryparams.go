package starter

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

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
