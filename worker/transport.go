package worker

import "net/http"

// idleConns is how many connections to the model and to the carrier stay open
// after use: as many as a worker has calls at once. The default transport keeps two
// for each host, and so dials for most calls of a busy worker, with a TLS
// handshake each.
const idleConns = 256

// newTransport returns a transport with the settings of the default one but for the
// connections that it keeps.
func newTransport() http.RoundTripper {
	transport, isPlain := http.DefaultTransport.(*http.Transport)
	if !isPlain {
		return http.DefaultTransport // another part of the process has replaced it
	}
	own := transport.Clone()
	own.MaxIdleConns, own.MaxIdleConnsPerHost = idleConns, idleConns
	return own
}
