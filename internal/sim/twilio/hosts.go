package twilio

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// onlyKnownHosts refuses requests for another host than this machine and the names
// that the simulator was given: a page whose own name was made to resolve to
// 127.0.0.1 sends that name, and must not read the phones or text as one of them.
func onlyKnownHosts(names []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		name = strings.Trim(name, "[]")
		if !strings.EqualFold(name, "localhost") && !net.ParseIP(name).IsLoopback() && !slices.Contains(names, strings.ToLower(name)) {
			http.Error(w, "the simulator answers requests for localhost and its own names only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
