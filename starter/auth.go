package starter

import (
	"crypto/sha256"
	"crypto/subtle"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"
)

// access says which operators' requests are admitted: those with the bearer token,
// or, when none is configured, those from this machine that are not on behalf of
// a foreign web page.
type access struct {
	want    [sha256.Size]byte
	open    bool
	origins *http.CrossOriginProtection
}

// newAccess takes the token and the origins whose pages may call.
func newAccess(token string, trusted ...string) access {
	origins := http.NewCrossOriginProtection()
	for _, origin := range trusted {
		// Configuration has checked the form of an origin; one that is not
		// trusted is refused, which is the safe side.
		_ = origins.AddTrustedOrigin(origin)
	}
	return access{want: sha256.Sum256([]byte(token)), open: token == "", origins: origins}
}

// checkRequest says why a request is not admitted; status 0 means that it is.
func (a access) checkRequest(r *http.Request) (status int, why string) {
	if a.open {
		if !isLoopbackHost(r.Host) || a.origins.Check(r) != nil {
			return http.StatusForbidden, "without an API token only local requests are answered"
		}
		return 0, ""
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	if !strings.EqualFold(scheme, bearerScheme) || subtle.ConstantTimeCompare(got[:], a.want[:]) != 1 {
		return http.StatusUnauthorized, "a valid bearer token is required"
	}
	return 0, ""
}

// isLoopbackHost reports whether a Host header names this machine; a page that
// rebinds its own name to 127.0.0.1 sends its own name.
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// requireAccess admits requests to operations that need access only when the
// caller has it.
func (h *handlers) requireAccess(router huma.API) func(huma.Context, func(huma.Context)) {
	access := newAccess(h.cfg.HTTP.APIToken)
	return func(ctx huma.Context, next func(huma.Context)) {
		if len(ctx.Operation().Security) == 0 {
			next(ctx)
			return
		}
		request, _ := humago.Unwrap(ctx)
		header := http.Header{}
		if refused := h.admitRequest(access, request, header); refused != nil {
			for name := range header {
				ctx.SetHeader(name, header.Get(name))
			}
			_ = huma.WriteErr(router, ctx, refused.code, refused.body.Message)
			return
		}
		next(ctx)
	}
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

// reserveTry reports how long an address that sent a wrong token has to wait before
// the next one; 0 while it is within its limit. Addresses that have been quiet
// are forgotten when there are too many.
func (t *throttle) reserveTry(address string, now time.Time) time.Duration {
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

// admitRequest lets an operator's request pass, or returns why not. A wrong token is
// logged and counted; an address that sends many has to wait, and only the
// right token passes meanwhile, so that others behind the same proxy are not
// locked out.
func (h *handlers) admitRequest(a access, r *http.Request, header http.Header) *failure {
	status, why := a.checkRequest(r)
	switch status {
	case 0:
		return nil
	case http.StatusForbidden:
		h.cfg.Metrics.APIRefused(refusedForeign)
		return newFailure(status, "%s", why)
	}
	address := remoteAddress(r)
	if wait := h.throttle.reserveTry(address, h.cfg.Now()); wait > 0 {
		h.cfg.Metrics.APIRefused(refusedThrottled)
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return newFailure(http.StatusTooManyRequests, "too many requests with a wrong token")
	}
	h.cfg.Metrics.APIRefused(refusedToken)
	h.log.Warn("API token refused", "address", address, "method", r.Method, "path", r.URL.Path)
	header.Set("WWW-Authenticate", "Bearer")
	return newFailure(status, "%s", why)
}

// remoteAddress is the peer's address without its port.
func remoteAddress(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
