package starter

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/metrics"
	"coachline/internal/store"
	"coachline/internal/throttle"
	"coachline/models"
)

// access finds out who makes a request: a person who is signed in to the console,
// a script with a token, or, when neither a token is configured nor a user exists, a
// caller from this machine that does not act for a foreign web page or through a proxy.
type access struct {
	want    [sha256.Size]byte
	open    bool
	origins *http.CrossOriginProtection
	hasUser func(ctx context.Context) (bool, error)
}

// newAccess takes the origins whose pages may call. Without a token it opens to callers
// from this machine as long as the public address is this machine's too.
func newAccess(cfg HTTPConfig, users *store.Users, trusted ...string) access {
	origins := http.NewCrossOriginProtection()
	for _, origin := range trusted {
		// Configuration has checked the form of an origin; one that is not
		// trusted is refused, which is the safe side.
		_ = origins.AddTrustedOrigin(origin)
	}
	a := access{want: sha256.Sum256([]byte(cfg.APIToken)), origins: origins, hasUser: users.HasUser}
	public, err := url.Parse(cfg.PublicURL)
	a.open = cfg.APIToken == "" && err == nil && (cfg.PublicURL == "" || isLoopbackHost(public.Host))
	if cfg.PhonesURL != "" {
		// Where phones are simulated, users are for trying them out.
		a.hasUser = func(context.Context) (bool, error) { return false, nil }
	}
	return a
}

// isOpenTo reports whether the caller needs no token. What cannot be found out closes.
func (a access) isOpenTo(r *http.Request) bool {
	if !a.open || !isLoopbackHost(r.Host) || !isLoopbackHost(remoteAddress(r)) || isForwarded(r) || a.origins.Check(r) != nil {
		return false
	}
	exists, err := a.hasUser(r.Context())
	return err == nil && !exists
}

// forwarding are the headers that a proxy adds.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

func isForwarded(r *http.Request) bool {
	return slices.ContainsFunc(forwarding, func(name string) bool { return len(r.Header.Values(name)) > 0 })
}

// withClientAddress gives requests of trusted proxies the address of their client: the
// last one of X-Forwarded-For that is no trusted proxy.
func withClientAddress(trusted []netip.Prefix, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		client := remoteAddress(r)
		for i := len(hops) - 1; i >= 0 && isTrusted(trusted, client); i-- {
			hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
			if err != nil {
				break
			}
			client = hop.Unmap().WithZone("").String()
		}
		if client != remoteAddress(r) {
			r = r.Clone(r.Context())
			r.RemoteAddr = net.JoinHostPort(client, "0")
		}
		next.ServeHTTP(w, r)
	})
}

func isTrusted(trusted []netip.Prefix, address string) bool {
	at, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(at.Unmap()) })
}

// isShared reports whether a token is COACH_API_TOKEN.
func (a access) isShared(token string) bool {
	got := sha256.Sum256([]byte(token))
	return !a.open && subtle.ConstantTimeCompare(got[:], a.want[:]) == 1
}

func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, bearerScheme) {
		return ""
	}
	return strings.TrimSpace(token)
}

// admission admits requests and says who makes them.
type admission struct {
	base
	metrics  *metrics.Metrics
	tokens   *store.Tokens
	users    *store.Users
	http     HTTPConfig
	readings *readings
	// wrongTokens limits them for each address, requests for each API token.
	wrongTokens, requests *throttle.Throttle
}

func newAdmission(b base, cfg Config, readings *readings) *admission {
	return &admission{
		base: b, tokens: cfg.Store.Tokens, users: cfg.Store.Users, metrics: cfg.Metrics, http: cfg.HTTP, readings: readings,
		wrongTokens: throttle.New(tokenTries, tokenEvery), requests: throttle.New(requestBurst, requestEvery),
	}
}

// identify returns the caller of a request, or why there is none. Where no token
// is needed a valid one still limits its holder to its scopes.
func (h *admission) identify(a access, r *http.Request) (auth.Identity, *failure) {
	if who, known := auth.IdentityOf(r.Context()); known {
		return who, nil
	}
	token := bearerToken(r)
	if a.isShared(token) {
		return auth.AdminIdentity(auth.KindBootstrap), nil
	}
	if token != "" {
		row, err := h.tokens.UseToken(r.Context(), auth.HashSecret(token), h.now())
		switch {
		case err == nil:
			return auth.TokenIdentity(row), nil
		case !errors.Is(err, models.ErrNotFound):
			h.log.Error("checking a token failed", "error", err)
			return auth.Identity{}, newFailure(http.StatusServiceUnavailable, "checking the token failed, try again later")
		}
	}
	switch {
	case a.isOpenTo(r):
		return auth.AdminIdentity(auth.KindLocal), nil
	case a.open:
		return auth.Identity{}, newFailure(http.StatusForbidden, "without an API token only local requests are answered, and none once a user exists or through a proxy: set COACH_API_TOKEN")
	}
	return auth.Identity{}, newFailure(http.StatusUnauthorized, "a valid bearer token is required")
}

// anyCaller is the permission of routes that every known caller may use.
const anyCaller auth.Permission = "*"

// permissionKey is the operation's metadata that names what its caller needs.
const permissionKey = "permission"

// Requests that change something may say why; the audit keeps it.
const (
	reasonHeader = api.ReasonHeader
	maxReason    = 500
)

// requireAccess admits requests to operations that need access only when the
// caller has their permission, and puts the caller into the context.
func (h *admission) requireAccess(router huma.API) func(huma.Context, func(huma.Context)) {
	access := newAccess(h.http, h.users)
	return func(ctx huma.Context, next func(huma.Context)) {
		if _, isGuarded := ctx.Operation().Metadata[permissionKey]; !isGuarded {
			next(ctx)
			return
		}
		request, _ := humago.Unwrap(ctx)
		header := http.Header{}
		who, refused := h.admitRequest(access, request, header)
		if refused == nil {
			refused = h.limitRequests(who, header)
		}
		for name := range header {
			ctx.SetHeader(name, header.Get(name))
		}
		if refused == nil {
			needs, _ := ctx.Operation().Metadata[permissionKey].(auth.Permission)
			refused = h.requirePermission(who, needs)
		}
		if refused == nil && utf8.RuneCountInString(request.Header.Get(reasonHeader)) > maxReason {
			refused = newFailure(http.StatusBadRequest, "%s: must have at most %d characters", reasonHeader, maxReason)
		}
		if refused != nil {
			_ = huma.WriteErr(router, ctx, refused.code, refused.body.Message)
			return
		}
		ctx = huma.WithContext(ctx, withCaller(ctx.Context(), who, request))
		// Deferred, because a download that the client breaks off ends in a panic.
		defer h.readings.recordOperation(ctx)
		next(ctx)
	}
}

// limitRequests keeps a script from taking the whole server; nil while its token
// is within its limit. People and the shared token are not limited.
func (h *admission) limitRequests(who auth.Identity, header http.Header) *failure {
	if who.Kind != auth.KindToken {
		return nil
	}
	left, wait := h.requests.Take(who.ID, h.now())
	header.Set("RateLimit-Limit", strconv.Itoa(h.requests.Burst()))
	header.Set("RateLimit-Remaining", strconv.Itoa(left))
	if wait <= 0 {
		return nil
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	h.metrics.APIRefused(refusedThrottled)
	return newFailure(http.StatusTooManyRequests, "too many requests with this token; wait as Retry-After says")
}

// requirePermission refuses a caller who lacks a permission; nil when they have
// it. An operation that names none is refused to everybody, so that it is
// noticed.
func (h *admission) requirePermission(who auth.Identity, needs auth.Permission) *failure {
	if needs == anyCaller || (needs != "" && who.Can(needs)) {
		return nil
	}
	h.metrics.APIRefused(refusedPermission)
	return newFailure(http.StatusForbidden, "permission %s is needed", needs)
}

// actorOf names the caller of a request in the audit.
func actorOf(ctx context.Context) string {
	who, known := auth.IdentityOf(ctx)
	if !known {
		return auth.Operator
	}
	return who.Actor
}

// canSeePersonal reports whether the caller may see names, numbers and texts.
func canSeePersonal(ctx context.Context) bool {
	who, _ := auth.IdentityOf(ctx)
	return who.Can(auth.PersonalRead)
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

const (
	// tokenTries is how many wrong tokens an address may send at once, and
	// tokenEvery after how long it may send a further one.
	tokenTries = 10
	tokenEvery = 6 * time.Second
	// requestBurst is how many requests an API token may make at once, and
	// requestEvery after how long it may make a further one.
	requestBurst = 200
	requestEvery = 20 * time.Millisecond
)

// Reasons of refused API requests, the labels of their metric.
const (
	refusedToken     = "token"
	refusedThrottled = "throttled"
	refusedForeign   = "not_local"
	// refusedPermission: the caller is known and lacks the route's permission.
	refusedPermission = "permission"
)

// admitRequest lets an operator's request pass, or returns why not. A wrong token is
// logged and counted; an address that sends many has to wait, and only the
// right token passes meanwhile, so that others behind the same proxy are not
// locked out.
func (h *admission) admitRequest(a access, r *http.Request, header http.Header) (auth.Identity, *failure) {
	who, refused := h.identify(a, r)
	switch {
	case refused == nil:
		return who, nil
	case refused.code == http.StatusForbidden:
		h.metrics.APIRefused(refusedForeign)
		return who, refused
	case refused.code != http.StatusUnauthorized:
		return who, refused
	}
	address := remoteAddress(r)
	if _, wait := h.wrongTokens.Take(address, h.now()); wait > 0 {
		h.metrics.APIRefused(refusedThrottled)
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return who, newFailure(http.StatusTooManyRequests, "too many requests with a wrong token")
	}
	h.metrics.APIRefused(refusedToken)
	h.log.Warn("API token refused", "address", address, "method", r.Method, "path", r.URL.Path)
	header.Set("WWW-Authenticate", "Bearer")
	return who, refused
}

// remoteAddress is the peer's address without its port.
func remoteAddress(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
