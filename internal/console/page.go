package console

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/auth"
	"coachline/internal/zones"
)

// viewer is one request of a person who is signed in.
type viewer struct {
	console *Console
	request *http.Request
	who     auth.Identity
	now     time.Time
	// message and header are of the API's last answer.
	message string
	header  http.Header
	// problem is why an action was refused, and form what was filled in; the page
	// shows both again.
	problem string
	form    url.Values
	// notice says what an action did.
	notice string
}

// path is a value of the route's pattern.
func (v *viewer) path(name string) string { return v.request.PathValue(name) }

func (v *viewer) query(name string) string {
	return strings.TrimSpace(v.request.URL.Query().Get(name))
}

// value is what a field of a refused form held.
func (v *viewer) value(name string) string { return v.form.Get(name) }

// can reports whether the viewer has a permission. The API checks it again; pages
// only leave out what would be refused.
func (v *viewer) can(p auth.Permission) bool { return v.who.Can(p) }

// page is what a screen shows inside the frame.
type page struct {
	title string
	// section is the entry of the navigation that is marked, its path.
	section string
	// follow names the participant whose changes redraw the page, or followAll;
	// empty: it does not follow.
	follow string
	// skipTo and skipLabel are a second skip link, to an element of the page; empty:
	// none.
	skipTo, skipLabel string
	body              []g.Node
}

// followAll redraws a page for a change of any participant.
const followAll = "*"

// entry is a link of the navigation.
type entry struct {
	path, label string
	needs       auth.Permission
}

// navigation lists the screens.
var navigation = []entry{
	{"", "Today", auth.AttentionRead},
	{"people", "People", auth.ParticipantRead},
	{"agenda", "Agenda", auth.AgendaRead},
	{"delivery", "Delivery", auth.DeliveryRead},
	{"cost", "Cost", auth.CostRead},
	{"studies", "Studies", auth.StudyRead},
	{"audit", "Audit", auth.AuditRead},
	{"access", "Access", auth.UserRead},
	{"settings", "Settings", auth.SettingsRead},
}

var errNoPage = errors.New("no such page")

// page adds a GET route whose function draws a screen.
func (c *Console) page(mux *http.ServeMux, path string, show func(*viewer) (page, error)) {
	mux.HandleFunc("GET "+Path+path, func(w http.ResponseWriter, r *http.Request) { c.handle(w, r, show) })
}

// action adds a POST route. do acts and returns where to go next, within the
// console; where the API refuses, show draws the page again with the problem and
// what was filled in.
func (c *Console) action(mux *http.ServeMux, path string, do func(*viewer) (string, error), show func(*viewer) (page, error)) {
	mux.HandleFunc("POST "+Path+path, func(w http.ResponseWriter, r *http.Request) {
		v, ok := c.posted(w, r)
		if !ok {
			return
		}
		next, err := do(v)
		if err != nil {
			c.showRefused(w, v, err, show)
			return
		}
		if v.notice == "" {
			v.notice = v.message
		}
		c.sessions.Put(r.Context(), keyNotice, v.notice)
		http.Redirect(w, r, Path+next, http.StatusSeeOther)
	})
}

// posted returns the viewer who sent a form, or says why the form is not acted on.
func (c *Console) posted(w http.ResponseWriter, r *http.Request) (*viewer, bool) {
	v, ok := c.viewerOf(w, r)
	if !ok {
		return nil, false
	}
	err := r.ParseMultipartForm(maxUpload)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		c.renderError(w, v, http.StatusRequestEntityTooLarge, "What was sent is larger than this form may be. A file has at most 8 MB; divide it.")
		return nil, false
	case err != nil && !errors.Is(err, http.ErrNotMultipart):
		c.renderError(w, v, http.StatusBadRequest, "The form could not be read. Go back and try again.")
		return nil, false
	}
	if about, err := url.PathUnescape(v.formValue(aboutName)); err != nil || Path+about != r.URL.Path {
		c.renderError(w, v, http.StatusConflict, "Nothing was done: the form was about something else than the address that it was sent to. Open the page anew and look at what it shows.")
		return nil, false
	}
	return v, true
}

// showRefused draws a page again with why the API refused an action and what was
// filled in.
func (c *Console) showRefused(w http.ResponseWriter, v *viewer, err error, show func(*viewer) (page, error)) {
	var refused *refusal
	if !errors.As(err, &refused) || refused.status >= http.StatusInternalServerError || refused.status == http.StatusNotFound {
		c.explain(w, v, err)
		return
	}
	v.problem, v.form, v.notice = refused.message, v.request.PostForm, ""
	c.draw(w, v, http.StatusUnprocessableEntity, show)
}

// viewerOf returns the viewer of a request, or sends them to sign in.
func (c *Console) viewerOf(w http.ResponseWriter, r *http.Request) (*viewer, bool) {
	w.Header().Set("Cache-Control", "no-store")
	who, ok, err := c.identify(r)
	if err != nil {
		c.fail(w, r, err)
		return nil, false
	}
	if !ok {
		target := Path
		if r.Method == http.MethodGet {
			target = r.URL.RequestURI()
		}
		http.Redirect(w, r, Path+"login?next="+url.QueryEscape(target), http.StatusSeeOther)
		return nil, false
	}
	return &viewer{console: c, request: r, who: who, now: c.cfg.Now().UTC()}, true
}

// handle draws a screen for the person who is signed in.
func (c *Console) handle(w http.ResponseWriter, r *http.Request, show func(*viewer) (page, error)) {
	v, ok := c.viewerOf(w, r)
	if !ok {
		return
	}
	v.notice = c.sessions.PopString(r.Context(), keyNotice)
	c.draw(w, v, http.StatusOK, show)
}

func (c *Console) draw(w http.ResponseWriter, v *viewer, status int, show func(*viewer) (page, error)) {
	p, err := show(v)
	if err != nil {
		c.explain(w, v, err)
		return
	}
	c.render(w, v, status, p)
}

// explain shows why a page cannot be shown.
func (c *Console) explain(w http.ResponseWriter, v *viewer, err error) {
	var refused *refusal
	switch {
	case errors.Is(err, errNoPage):
		c.renderError(w, v, http.StatusNotFound, "There is no such page.")
	case errors.As(err, &refused) && refused.status == http.StatusForbidden:
		c.renderError(w, v, http.StatusForbidden, "Your role may not see or do this: "+refused.message+".")
	case errors.As(err, &refused) && refused.status == http.StatusNotFound:
		c.renderError(w, v, http.StatusNotFound, "Not found: "+refused.message+".")
	case errors.As(err, &refused):
		c.renderError(w, v, refused.status, refused.message)
	default:
		c.cfg.Logger.Error("a console page failed", "path", v.request.URL.Path, "error", err)
		c.renderError(w, v, http.StatusServiceUnavailable, "Something failed on our side. Try again later; the log says more.")
	}
}

func (c *Console) renderError(w http.ResponseWriter, v *viewer, status int, text string) {
	c.render(w, v, status, page{title: http.StatusText(status), body: []g.Node{
		h.H1(g.Text(http.StatusText(status))), h.P(g.Text(text)), h.P(h.A(h.Href(Path), g.Text("Back to today"))),
	}})
}

// fail answers where not even the viewer is known.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	c.cfg.Logger.Error("a console request failed", "path", r.URL.Path, "error", err)
	http.Error(w, "The console cannot reach its database. Try again later.", http.StatusServiceUnavailable)
}

// render writes a whole page. It is drawn before the first byte is sent, so that
// an error cannot leave half of one.
func (c *Console) render(w http.ResponseWriter, v *viewer, status int, p page) {
	if v.problem != "" {
		p.follow = "" // fetched again, the page would not show the refused form
	}
	var out bytes.Buffer
	if err := c.frame(v, p).Render(&out); err != nil {
		c.fail(w, v.request, err)
		return
	}
	raw := out.Bytes()
	if v.problem != "" {
		raw = v.markRefused(raw)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the browser has gone where this fails
}

// titleOf is the title of a page, after what an action came to.
func titleOf(v *viewer, p page) string {
	switch {
	case v.problem != "":
		return notDone + p.title
	case v.notice != "":
		return v.notice + " · " + p.title
	}
	return p.title
}

func (c *Console) frame(v *viewer, p page) g.Node {
	return h.Doctype(h.HTML(h.Lang("en"),
		c.head(titleOf(v, p)),
		h.Body(
			g.If(p.follow != "", g.Group{h.Data("follow", p.follow), h.Data("live", c.assetPath("live.js"))}),
			h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to content")),
			g.If(p.skipTo != "", h.A(h.Class("skip"), h.Href("#"+p.skipTo), g.Text(p.skipLabel))),
			h.Header(h.Class("top"),
				h.A(h.Class("brand"), h.Href(Path), g.Text("Coachline")),
				h.Nav(h.Aria("label", "Screens"), h.Ul(g.Map(navigation, func(e entry) g.Node {
					if !v.can(e.needs) {
						return nil
					}
					return h.Li(h.A(h.Href(Path+e.path), g.If(e.path == p.section, h.Aria("current", "page")), g.Text(e.label)))
				}))),
				account(v),
			),
			h.Main(h.ID("main"), h.TabIndex("-1"),
				g.If(v.notice != "", h.P(h.ID("notice"), h.Class("notice"), h.Role("status"), h.TabIndex("-1"), h.AutoFocus(), g.Text(v.notice))),
				g.If(v.problem != "", h.P(h.ID("problem"), h.Class("problem"), h.Role("alert"), h.TabIndex("-1"), g.Text(notDone+v.problem))),
				h.Div(h.ID("page"), g.Group(p.body)),
			),
			h.Footer(
				h.P(g.Text("Coachline "+c.cfg.Version+" · times as noted, now "+v.now.Format("2 Jan 15:04")+" UTC")),
				g.If(p.follow != "", h.P(h.Class("following"), h.Label(
					h.Input(h.Type("checkbox"), h.ID("follow"), h.Checked()), g.Text(" Follow changes"),
				), h.Span(h.ID("follow-state"), h.Role("status")))),
				// What a redrawn page has that is new is told here to those who do not see it.
				g.If(p.follow != "", g.Group{h.Div(h.ID("news"), h.Class("unseen"), h.Role("status")), h.Div(h.ID("news-urgent"), h.Class("unseen"), h.Role("alert"))}),
			),
		),
	))
}

func (c *Console) head(title string) g.Node {
	return h.Head(
		h.Meta(h.Charset("utf-8")), h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.TitleEl(g.Text(title+" · Coachline")),
		h.Link(h.Rel("stylesheet"), h.Href(c.assetPath("console.css"))),
		h.Link(h.Rel("icon"), h.Href(c.assetPath("icon.svg")), h.Type("image/svg+xml")),
		h.Script(h.Src(c.assetPath("idiomorph.min.js")), h.Defer()), h.Script(h.Src(c.assetPath("console.js")), h.Defer()),
	)
}

func account(v *viewer) g.Node {
	if v.who.Kind == auth.KindLocal {
		return h.P(h.Class("account"), g.Text("Signed in as admin without a password: this machine only"))
	}
	return h.Form(h.Class("account"), h.Method("post"), h.Action(Path+"logout"),
		h.Span(g.Text(v.who.Name+" ("+string(v.who.Role)+")")), h.Button(h.Type("submit"), g.Text("Sign out")))
}

func (c *Console) showLogin(w http.ResponseWriter, r *http.Request) {
	c.renderLogin(w, r, loginPage{status: http.StatusOK, next: r.FormValue("next")})
}

// loginPage is what the page to sign in shows, and where signing in leads.
type loginPage struct {
	status        int
	problem, next string
}

func (c *Console) renderLogin(w http.ResponseWriter, r *http.Request, p loginPage) {
	next := safeTarget(p.next)
	doc := h.Doctype(h.HTML(h.Lang("en"), c.head("Sign in"), h.Body(h.Class("login"),
		h.Main(h.ID("main"),
			h.H1(g.Text("Coachline")),
			g.If(p.problem != "", h.P(h.Class("problem"), h.Role("alert"), g.Text(p.problem))),
			h.Form(h.Method("post"), h.Action(Path+"login"), h.Class("stack"),
				hidden("next", next),
				field("login", "Login", h.Input(h.ID("login"), h.Name("login"), h.Required(), h.AutoComplete("username"), h.Value(r.PostFormValue("login")))),
				field("password", "Password", h.Input(h.ID("password"), h.Name("password"), h.Type("password"), h.Required(), h.AutoComplete("current-password"))),
				h.Button(h.Type("submit"), g.Text("Sign in")),
			),
			g.If(c.oidc != nil, h.P(h.A(h.Href(Path+oidcPath+"login?next="+url.QueryEscape(next)), g.Text("Sign in at your organisation's provider")))),
			h.P(h.Class("quiet"), g.Text("An administrator adds people with: coachline user add LOGIN --name NAME --role ROLE")),
		),
	)))
	var out bytes.Buffer
	if err := doc.Render(&out); err != nil {
		c.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.status)
	_, _ = w.Write(out.Bytes())
}

// idOf names an element by the thing that it shows. Where a page is drawn anew, what has
// an id is taken for the element of that id and for no other, so that each element of a
// list needs one.
func idOf(kind string, parts ...any) g.Node {
	id := kind
	for _, part := range parts {
		id += fmt.Sprintf("-%v", part)
	}
	return h.ID(strings.ReplaceAll(id, " ", "_"))
}

func field(id, label string, control g.Node) g.Node {
	return h.Div(h.Class("field"), h.Label(h.For(id), g.Text(label)), control)
}

// hint is a note that a control refers to with aria-describedby.
func hint(id, text string) g.Node { return h.P(h.Class("quiet"), h.ID(id), g.Text(text)) }

// reasonField asks for the reason that the audit keeps.
func reasonField(v *viewer, id string) g.Node {
	return field(id, "Reason (kept in the audit)", h.Input(h.ID(id), h.Name("reason"), h.Required(), h.MaxLength("500"), h.Value(v.value("reason"))))
}

// instantOf shows an instant as people read it in a zone, with the machine's form
// beside it; an empty text for none.
func instantOf(at *time.Time, zone *time.Location) g.Node {
	if at == nil || at.IsZero() {
		return g.Text("–")
	}
	return h.Time(h.DateTime(at.UTC().Format(time.RFC3339)), h.Title(at.UTC().Format("2 Jan 2006 15:04:05")+" UTC"), g.Text(at.In(zone).Format("Mon 2 Jan 15:04")))
}

// ageOf says how long ago an instant was, in its largest unit.
func ageOf(at *time.Time, now time.Time) string {
	if at == nil || at.IsZero() {
		return "never"
	}
	d := now.Sub(*at)
	switch {
	case d < 0:
		return "in " + spanOf(-d)
	case d < time.Minute:
		return "just now"
	}
	return spanOf(d) + " ago"
}

func spanOf(d time.Duration) string {
	unit := func(n int, name string) string {
		if n == 1 {
			return "1 " + name
		}
		return fmt.Sprintf("%d %ss", n, name)
	}
	switch {
	case d < time.Hour:
		return unit(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return unit(int(d/time.Hour), "hour")
	}
	return unit(int(d/(24*time.Hour)), "day")
}

// zoneOf is the location of an IANA name; UTC where it is unknown.
func zoneOf(name string) *time.Location {
	zone, err := zones.Load(name)
	if err != nil {
		return time.UTC
	}
	return zone
}
