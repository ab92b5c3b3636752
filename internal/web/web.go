// Package web searches the web and reads pages of it. Search asks a server
// shaped like SearXNG; Fetch reads one public page and keeps its main text.
// What leaves is masked first, and no page is read from an address that is not
// public. Texts that come back are written by strangers: the caller fences
// them.
package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Limits of one call.
const (
	callLimit    = 20 * time.Second
	maxBody      = 2 << 20
	maxHeader    = 64 << 10
	maxRedirects = 3
	// maxPage is how much of a page's main text is read, in characters.
	maxPage = 50_000
	maxHits = 5
)

const userAgent = "coachline/1 (coaching by text message)"

// Kind says what went wrong.
type Kind string

const (
	// KindRefused: the address, or what would be sent, is not allowed.
	KindRefused Kind = "refused"
	// KindAway: no answer, or none in time.
	KindAway Kind = "away"
	// KindStatus: the server answered with an error.
	KindStatus Kind = "status"
	// KindUnreadable: the answer holds no text that can be read.
	KindUnreadable Kind = "unreadable"
)

// Fault is a call that came to nothing. Its text is written for the model and
// holds nothing of our network.
type Fault struct {
	Kind    Kind
	Message string
}

func (f *Fault) Error() string { return f.Message }

func fault(kind Kind, format string, args ...any) error {
	return &Fault{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Config is what a Client needs.
type Config struct {
	// SearchURL is the JSON endpoint of a SearXNG-compatible server, with all
	// of its query but the words; empty where Search is not used. SearchKey,
	// where set, is sent to it as a bearer token.
	SearchURL string
	SearchKey string
	// Allow lists addresses that Fetch may reach although they are not public,
	// such as a server of one's own.
	Allow []netip.AddrPort
	// Timeout bounds one call with its redirects; 0 is 20 seconds.
	Timeout time.Duration
}

// Client is safe for concurrent use. It keeps no cookies and asks no proxy,
// because a proxy would dial where the guard cannot see.
type Client struct {
	search  *url.URL
	key     string
	limit   time.Duration
	engine  *http.Client
	visitor *http.Client
}

// New checks cfg; errors never show the address, which may hold a key.
func New(cfg Config) (*Client, error) {
	c := &Client{key: cfg.SearchKey, limit: cfg.Timeout}
	if c.limit <= 0 {
		c.limit = callLimit
	}
	if cfg.SearchURL != "" {
		address, err := url.Parse(cfg.SearchURL)
		if err != nil || !isWeb(address) {
			return nil, errors.New("search address: want http:// or https:// and a host")
		}
		c.search = address
	}
	// The search server is the operator's and may have any address; it must answer
	// itself, because its key goes to no other server.
	c.engine = &http.Client{
		Transport:     transport(&net.Dialer{}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.visitor = &http.Client{Transport: transport(&net.Dialer{Control: GuardDial(cfg.Allow)}), CheckRedirect: follow}
	return c, nil
}

func transport(dialer *net.Dialer) *http.Transport {
	return &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader}
}

// azureHost is where machines of Azure reach the host's own services; it looks
// public.
var azureHost = netip.MustParsePrefix("168.63.129.16/32")

// GuardDial returns a control of dials for a net.Dialer. It judges the address
// that a name came to, at the moment it is dialled, so that no second answer of
// a name server is believed. Only public addresses pass, on the ports 80 and
// 443.
func GuardDial(allow []netip.AddrPort) func(network, address string, c syscall.RawConn) error {
	public := ssrf.New(ssrf.WithDeniedV4Prefixes(azureHost))
	return func(network, address string, c syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil && slices.Contains(allow, at) {
			return nil
		}
		return public.Safe(network, address, c)
	}
}

// follow allows three redirects, each dialled through the guard anew, and
// tells no page which one sent us.
func follow(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fault(KindUnreadable, "the page redirects too often")
	}
	if !isWeb(req.URL) {
		return fault(KindRefused, "the page redirects to an address that cannot be read")
	}
	req.Header.Del("Referer")
	return nil
}

// isWeb: the address is http or https, with a host and without a user.
func isWeb(address *url.URL) bool {
	return (address.Scheme == "http" || address.Scheme == "https") && address.Hostname() != "" && address.User == nil
}

// requestError says what a request came to that got no answer. An end of the
// caller's own context stays what it is.
func requestError(ctx context.Context, err error) error {
	var known *Fault
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("asking the web: %w", ctx.Err())
	case errors.As(err, &known):
		return known
	case IsGuarded(err):
		return fault(KindRefused, "this address is not a public web page and is not read")
	case errors.Is(err, context.DeadlineExceeded):
		return fault(KindAway, "no answer in time")
	}
	return fault(KindAway, "the server cannot be reached")
}

// IsGuarded reports whether an error is a dial that GuardDial refused.
func IsGuarded(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedPort) || errors.Is(err, ssrf.ErrProhibitedNetwork) ||
		errors.Is(err, ssrf.ErrInvalidHostPort)
}
