// Package console is the operators' web console under /console/: pages written on
// the server, which read and act through the HTTP API of the same process as the
// person who is signed in, so that every right is checked in one place.
//
// console.go wires the routes; session.go signs people in and out, oidc.go
// at an OpenID Connect provider, which provider.go asks; api.go calls
// the HTTP API; page.go holds the frame of a page and live.go its stream of
// changes. Each other file is one screen, whose pages and actions are functions of a
// viewer: the person who is signed in, and the request.
package console

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/klauspost/compress/gzhttp"

	"coachline/internal/metrics"
	"coachline/internal/throttle"
	"coachline/models"
)

// Path is where the console begins.
const Path = "/console/"

//go:embed assets
var assetFiles embed.FS

// Config is what a console is made of.
type Config struct {
	// API answers the routes of the HTTP API; it is called in this process with
	// the caller's identity in the context.
	API http.Handler
	// Users, Sessions and RecordAudit keep who may sign in, who has, and what was tried.
	Users       Users
	Sessions    Sessions
	RecordAudit func(ctx context.Context, a models.AuditRow) error
	// Changes tells of what has changed while pages are open; nil: pages do not
	// follow by themselves.
	Changes Changes
	// IsOpen reports whether a request needs no sign-in: from this machine, where
	// no API token is configured.
	IsOpen func(r *http.Request) bool
	// PublicURL decides whether the cookie is for https only.
	PublicURL string
	// TemporalURL is the address of the Temporal UI with its namespace; empty: no
	// links to it.
	TemporalURL string
	// PhonesURL is the address of the simulated phones; empty: none.
	PhonesURL string
	// Provider is where people may sign in besides with passwords; without an
	// issuer: nowhere.
	Provider Provider
	// Closing is closed when the server stops; streams end then.
	Closing <-chan struct{}
	Version string
	Metrics *metrics.Metrics
	Logger  *slog.Logger
	Now     func() time.Time
}

// Console serves the pages. It is safe for concurrent use.
type Console struct {
	cfg      Config
	sessions *scs.SessionManager
	// wrongLogins limits them for each account, and for each at an address.
	wrongLogins *throttle.Throttle
	// known are the accounts with the addresses that they have signed in from.
	known   sync.Map
	reports *throttle.Throttle
	oidc    *oidcClient // nil where there is no provider
	assets  map[string]asset
}

// New builds the console's handler for the routes under Path.
func New(cfg Config) (http.Handler, error) {
	if cfg.API == nil || cfg.Users == nil || cfg.Sessions == nil || cfg.RecordAudit == nil || cfg.IsOpen == nil || cfg.Now == nil || cfg.Logger == nil || cfg.Metrics == nil {
		return nil, errors.New("console needs an API, users and sessions, a clock, metrics and a logger")
	}
	assets, err := loadAssets()
	if err != nil {
		return nil, err
	}
	c := &Console{cfg: cfg, wrongLogins: throttle.New(loginTries, loginEvery), reports: throttle.New(1, time.Minute), oidc: newOIDC(cfg), assets: assets}
	c.sessions = newSessionManager(cfg)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path+"assets/{name}", c.serveAsset)
	mux.HandleFunc("POST "+Path+"csp", c.acceptReport)
	mux.HandleFunc("GET "+Path+"login", c.showLogin)
	mux.HandleFunc("POST "+Path+"login", c.login)
	mux.HandleFunc("POST "+Path+"logout", c.logout)
	c.registerOIDC(mux)
	c.registerScreens(mux)
	pages := http.NewServeMux()
	pages.Handle("GET "+Path+"live", http.HandlerFunc(c.followChanges))
	pages.Handle("/", gzhttp.GzipHandler(mux))
	protected := http.NewCrossOriginProtection().Handler(pages)
	return withSecurity(withPassive(c.sessions.LoadAndSave(protected))), nil
}

// registerScreens adds every page and action. A page is a GET route; an action is
// a POST route that answers with a redirect, or with its page again where the API
// refused it.
func (c *Console) registerScreens(mux *http.ServeMux) {
	c.page(mux, "{$}", c.showToday)
	c.page(mux, "alerts/{id}", showAlert)
	c.action(mux, "alerts/{id}", acknowledgeAlert, showAlert)
	c.action(mux, "alerts/{id}/mark", markAlert, showAlert)
	c.page(mux, "people", showPeople)
	c.action(mux, "people/views", saveView, showPeople)
	c.action(mux, "people/views/{id}/delete", deleteView, showPeople)
	c.page(mux, "people/bulk", showBulk)
	c.page(mux, "people/bulk/result", c.showBulkResult)
	c.action(mux, "people/bulk", c.changeBulk, showBulk)
	c.page(mux, "agenda", showAgenda)
	c.action(mux, "agenda/holds", addHold, showAgenda)
	c.action(mux, "agenda/holds/{id}/release", releaseHold, showAgenda)
	c.page(mux, "delivery", showDelivery)
	c.page(mux, "cost", showCost)
	c.action(mux, "cost/budgets", setBudget, showCost)
	c.action(mux, "cost/budgets/{id}/delete", deleteBudget, showCost)
	mux.HandleFunc("GET "+Path+"cost.csv", c.downloadCost)
	c.action(mux, "people", enrolPerson, showPeople)
	c.registerConversation(mux)
	c.registerImport(mux)
	c.registerStudies(mux)
	c.registerAudit(mux)
	c.registerAccess(mux)
	c.page(mux, "settings", showSettings)
	c.registerWebhooks(mux)
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		c.handle(w, r, func(*viewer) (page, error) { return page{}, errNoPage })
	})
}

// contentPolicy lets a page load what the console itself serves and nothing else.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; report-uri /console/csp"

func withSecurity(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		limit := int64(maxForm)
		if r.URL.Path == Path+importPath {
			limit = maxUpload
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		next.ServeHTTP(w, r)
	})
}

// maxForm bounds a form without a file, in bytes.
const maxForm = 1 << 20

// maxReport bounds what is read of a browser's report.
const maxReport = 16 << 10

// acceptReport logs what a browser refused because of contentPolicy, a line a minute: any
// stranger may send such a report.
func (c *Console) acceptReport(w http.ResponseWriter, r *http.Request) {
	defer w.WriteHeader(http.StatusNoContent)
	if _, wait := c.reports.Take("", c.cfg.Now()); wait > 0 {
		return
	}
	var sent struct {
		Report struct {
			Blocked   string `json:"blocked-uri"`
			Directive string `json:"violated-directive"`
			Page      string `json:"document-uri"`
		} `json:"csp-report"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxReport)).Decode(&sent); err != nil {
		return
	}
	about := sent.Report
	page, _, _ := strings.Cut(about.Page, "?")
	c.cfg.Logger.Warn("a browser says that a console page broke its content security policy; look for inline scripts or foreign addresses",
		"blocked", cut(about.Blocked), "directive", cut(about.Directive), "page", cut(page))
}

// cut bounds what a stranger may write into the log.
func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), 200)], "") }

// asset is a file that pages load.
type asset struct {
	name, contentType string
	body              []byte
}

// loadAssets reads the files by the names under which pages ask for them, which
// change with the content.
func loadAssets() (map[string]asset, error) {
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	out := map[string]asset{}
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		body, err := fs.ReadFile(assetFiles, "assets/"+entry.Name())
		if err != nil {
			return nil, err
		}
		dot := strings.LastIndexByte(entry.Name(), '.')
		contentType, served := types[entry.Name()[dot:]]
		if !served {
			continue
		}
		out[entry.Name()] = asset{name: entry.Name()[:dot] + "-" + shortHash(body) + entry.Name()[dot:], contentType: contentType, body: body}
	}
	return out, nil
}

// assetPath is the address of a file as of this build.
func (c *Console) assetPath(name string) string { return Path + "assets/" + c.assets[name].name }

func (c *Console) serveAsset(w http.ResponseWriter, r *http.Request) {
	for _, a := range c.assets {
		if a.name == r.PathValue("name") {
			w.Header().Set("Content-Type", a.contentType)
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			_, _ = w.Write(a.body) // the browser has gone where this fails
			return
		}
	}
	http.NotFound(w, r)
}
