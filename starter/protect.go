package starter

import (
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"
)

// withHeaders sets the headers that keep answers with personal data out of caches
// and from being read as another type, and refuses requests whose address is not
// UTF-8, which no database column can hold.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		query, err := url.QueryUnescape(r.URL.RawQuery)
		if err != nil || !utf8.ValidString(query) {
			writeFailure(w, failure(http.StatusBadRequest, "query: is not valid UTF-8 in URL encoding"))
			return
		}
		if !utf8.ValidString(r.URL.Path) {
			writeFailure(w, failure(http.StatusBadRequest, "path: is not valid UTF-8"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

const (
	// tokenTries is how many wrong tokens an address may send at once, and
	// tokenEvery after how long it may send a further one.
	tokenTries = 10
	tokenEvery = 6 * time.Second
	// maxThrottled bounds the addresses that are remembered.
	maxThrottled = 10_000
)

// throttle limits wrong tokens for each address. It is safe for concurrent use.
type throttle struct {
	mu   sync.Mutex
	seen map[string]*rate.Limiter
}

func newThrottle() *throttle { return &throttle{seen: map[string]*rate.Limiter{}} }

// wait reports how long an address that sent a wrong token has to wait before
// the next one; 0 while it is within its limit. Addresses that have been quiet
// are forgotten when there are too many.
func (t *throttle) wait(address string, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	limiter := t.seen[address]
	if limiter == nil {
		if len(t.seen) >= maxThrottled {
			t.forgetQuiet(now)
		}
		limiter = rate.NewLimiter(rate.Every(tokenEvery), tokenTries)
		t.seen[address] = limiter
	}
	if limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - limiter.TokensAt(now)
	return time.Duration(missing * float64(tokenEvery))
}

// forgetQuiet drops the addresses that have their whole limit again, and all of
// them when none has.
func (t *throttle) forgetQuiet(now time.Time) {
	for address, limiter := range t.seen {
		if limiter.TokensAt(now) >= tokenTries {
			delete(t.seen, address)
		}
	}
	if len(t.seen) >= maxThrottled {
		clear(t.seen)
	}
}

// Reasons of refused API requests, the labels of their metric.
const (
	refusedToken     = "token"
	refusedThrottled = "throttled"
	refusedForeign   = "not_local"
)

// admit lets an operator's request pass, or returns why not. A wrong token is
// logged and counted; an address that sends many is told to wait, and only the
// right token passes meanwhile, so that others behind the same proxy are not
// locked out.
func (f *front) admit(g gate, r *http.Request, header http.Header) *Failure {
	status, why := g.refusal(r)
	switch status {
	case 0:
		return nil
	case http.StatusForbidden:
		f.cfg.Metrics.APIRefused(refusedForeign)
		return failure(status, "%s", why)
	}
	address := remoteAddress(r)
	if wait := f.throttle.wait(address, f.cfg.Now()); wait > 0 {
		f.cfg.Metrics.APIRefused(refusedThrottled)
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return failure(http.StatusTooManyRequests, "too many requests with a wrong token")
	}
	f.cfg.Metrics.APIRefused(refusedToken)
	f.log.Warn("API token refused", "address", address, "method", r.Method, "path", r.URL.Path)
	header.Set("WWW-Authenticate", "Bearer")
	return failure(status, "%s", why)
}

// remoteAddress is the peer's address without its port.
func remoteAddress(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
