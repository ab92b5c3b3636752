package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// accessPath is the page of users, tokens and sessions.
const accessPath = "access"

func (c *Console) registerAccess(mux *http.ServeMux) {
	c.page(mux, accessPath, showAccess)
	c.action(mux, accessPath+"/users", addUser, showAccess)
	c.action(mux, accessPath+"/users/{id}", changeUser, showAccess)
	c.action(mux, accessPath+"/sessions/{id}", endSession, showAccess)
	c.action(mux, accessPath+"/tokens/{id}", endToken, showAccess)
	mux.HandleFunc("POST "+Path+accessPath+"/tokens", c.makeToken)
}

// showAccess lists who may do what, and who is signed in.
func showAccess(v *viewer) (page, error) { return accessPage(v, nil) }

func accessPage(v *viewer, note g.Node) (page, error) {
	users, err := get[api.UserList](v, "/users", nil)
	if err != nil {
		return page{}, err
	}
	sessions, err := get[api.SessionList](v, "/sessions", nil)
	if err != nil {
		return page{}, err
	}
	body := []g.Node{h.H1(g.Text("Access")), note, usersSection(v, users.Users), rolesSection(), sessionsSection(v, sessions.Sessions)}
	if v.can(auth.TokenRead) {
		tokens, err := get[api.TokenList](v, "/tokens", nil)
		if err != nil {
			return page{}, err
		}
		body = append(body, tokensSection(v, tokens.Tokens))
	}
	return page{title: "Access", section: accessPath, body: body}, nil
}

// refillField returns what a field of the form with a name held where that form was
// refused, and fallback elsewhere.
func refillField(v *viewer, form, field, fallback string) string {
	if v.value("form") != form {
		return fallback
	}
	return v.value(field)
}

// actionForm is a form behind a summary, which says what it does and asks for a
// reason. It is open where it was refused. name is unique on the page.
func actionForm(v *viewer, name, summary, action string, content ...g.Node) g.Node {
	id := name + "-reason"
	return h.Details(g.If(v.value("form") == name, g.Attr("open")), h.Summary(g.Text(summary)),
		postForm(action, h.Class("stack"),
			hidden("form", name),
			g.Group(content),
			field(id, "Reason (kept in the audit)",
				h.Input(h.ID(id), h.Name("reason"), h.Required(), h.MaxLength("500"), h.Value(refillField(v, name, "reason", "")))),
			h.Button(h.Type("submit"), g.Text(summary)),
		))
}

func roleChoice(id, chosen string) g.Node {
	return field(id, "Role", h.Select(h.ID(id), h.Name("role"), g.Map(auth.Roles(), func(r auth.Role) g.Node {
		return h.Option(h.Value(string(r)), g.If(string(r) == chosen, h.Selected()), g.Text(string(r)+": "+r.Describe()))
	})))
}

func usersSection(v *viewer, users []models.User) g.Node {
	mayChange := v.can(auth.UserChange)
	columns := []string{"Login", "Name", "Role", "Signs in with", "Last login"}
	if mayChange {
		columns = append(columns, "Change")
	}
	rows := g.Map(users, func(u models.User) g.Node {
		role := g.Text(u.Role)
		if u.Disabled {
			role = tag("disabled", "bad")
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(u.Login)), h.Td(g.Text(u.Name)), h.Td(role), h.Td(g.Text(waysOf(u))),
			h.Td(g.Text(ageOf(u.LastLoginAt, v.now))), g.If(mayChange, h.Td(userForms(v, u))))
	})
	return h.Section(h.Aria("labelledby", "users"),
		h.H2(h.ID("users"), g.Text("People who operate the programme")),
		g.If(len(users) == 0, h.P(g.Text("Nobody yet. Until there is an administrator, only this machine and the shared token have access."))),
		g.If(len(users) > 0, table("Users, by login", columns, rows)),
		g.Iff(mayChange, func() g.Node { return addUserForm(v) }),
	)
}

func waysOf(u models.User) string {
	var ways []string
	if u.HasPassword {
		ways = append(ways, "password")
	}
	if u.Subject != "" {
		ways = append(ways, "provider")
	}
	return strings.Join(ways, ", ")
}

func userForms(v *viewer, u models.User) g.Node {
	action := accessPath + "/users/" + url.PathEscape(u.ID)
	change, password, standing := "change-"+u.ID, "password-"+u.ID, "standing-"+u.ID
	label, value, hintText := "Disable "+u.Login, "yes", "Signs the user out everywhere and refuses further logins."
	if u.Disabled {
		label, value, hintText = "Enable "+u.Login, "no", "Lets the user sign in again."
	}
	return g.Group([]g.Node{
		actionForm(v, change, "Change "+u.Login, action,
			h.P(h.Class("quiet"), g.Text("A new role ends the user's sessions.")),
			field(change+"-name", "Name", h.Input(h.ID(change+"-name"), h.Name("name"), h.Required(), h.MaxLength("100"), h.Value(refillField(v, change, "name", u.Name)))),
			roleChoice(change+"-role", refillField(v, change, "role", u.Role)),
		),
		actionForm(v, password, "Set a password for "+u.Login, action,
			h.P(h.Class("quiet"), h.ID(password+"-hint"), g.Text("12 to 128 characters. It ends the user's sessions.")),
			field(password+"-new", "New password", h.Input(h.ID(password+"-new"), h.Name("password"), h.Type("password"), h.Required(),
				h.AutoComplete("new-password"), h.Aria("describedby", password+"-hint"))),
		),
		actionForm(v, standing, label, action, h.P(h.Class("quiet"), g.Text(hintText)), hidden("disabled", value)),
	})
}

func addUserForm(v *viewer) g.Node {
	const name = "add-user"
	return actionForm(v, name, "Add a user", accessPath+"/users",
		field("new-login", "Login, such as ada or ada@example.org", h.Input(h.ID("new-login"), h.Name("login"), h.Required(), h.MaxLength("100"),
			h.AutoComplete("off"), h.Value(refillField(v, name, "login", "")))),
		field("new-name", "Name", h.Input(h.ID("new-name"), h.Name("name"), h.Required(), h.MaxLength("100"), h.Value(refillField(v, name, "name", "")))),
		roleChoice("new-role", refillField(v, name, "role", string(auth.RoleCoach))),
		h.P(h.Class("quiet"), h.ID("new-password-hint"), g.Text("12 to 128 characters; none for a person who signs in at the provider.")),
		field("new-password", "Password", h.Input(h.ID("new-password"), h.Name("password"), h.Type("password"), h.AutoComplete("new-password"),
			h.Aria("describedby", "new-password-hint"))),
		field("new-subject", "Identity at the provider (sub), if any", h.Input(h.ID("new-subject"), h.Name("subject"), h.MaxLength("255"),
			h.AutoComplete("off"), h.Value(refillField(v, name, "subject", "")))),
	)
}

// reasonOf is why the person who sent a form acts.
func reasonOf(v *viewer) string { return v.request.PostFormValue("reason") }

func addUser(v *viewer) (string, error) {
	form := v.request.PostForm
	body := api.NewUser{
		Login: strings.TrimSpace(form.Get("login")), Name: form.Get("name"), Role: form.Get("role"),
		Password: form.Get("password"), Subject: strings.TrimSpace(form.Get("subject")),
	}
	_, err := send[models.User](v, api.Request{Method: http.MethodPost, Path: "/users", Body: body, Reason: reasonOf(v)})
	return accessPath, err
}

func changeUser(v *viewer) (string, error) {
	form := v.request.PostForm
	var change models.UserChange
	for name, field := range map[string]**string{"name": &change.Name, "role": &change.Role, "password": &change.Password} {
		if form.Has(name) {
			*field = new(form.Get(name))
		}
	}
	if form.Has("disabled") {
		change.Disabled = new(form.Get("disabled") == "yes")
	}
	path := "/users/" + url.PathEscape(v.path("id"))
	_, err := send[models.User](v, api.Request{Method: http.MethodPut, Path: path, Body: change, Reason: reasonOf(v)})
	return accessPath, err
}

func rolesSection() g.Node {
	return h.Section(h.Aria("labelledby", "roles"),
		h.H2(h.ID("roles"), g.Text("Roles")),
		table("What each role may do", []string{"Role", "For", "Permissions"}, g.Map(auth.Roles(), func(r auth.Role) g.Node {
			return h.Tr(h.Th(h.Scope("row"), g.Text(string(r))), h.Td(g.Text(r.Describe())), h.Td(
				h.Details(h.Summary(g.Text("Permissions of "+string(r))), h.Ul(g.Map(auth.PermissionsOf(r), func(p auth.Permission) g.Node {
					return h.Li(h.Code(g.Text(string(p))))
				}))),
			))
		})),
	)
}

func sessionsSection(v *viewer, sessions []models.Session) g.Node {
	mayChange := v.can(auth.UserChange)
	columns := []string{"Login", "Address", "Browser", "Since", "Last seen"}
	if mayChange {
		columns = append(columns, "End")
	}
	rows := g.Map(sessions, func(s models.Session) g.Node {
		login := s.Login
		if s.Current {
			login += " (you)"
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(login)), h.Td(g.Text(s.Address)), h.Td(g.Text(s.Agent)), h.Td(instantOf(&s.CreatedAt, time.UTC)),
			h.Td(g.Text(ageOf(&s.LastSeenAt, v.now))), g.If(mayChange, h.Td(
				actionForm(v, "end-"+s.ID, "Sign "+s.Login+" out", accessPath+"/sessions/"+url.PathEscape(s.ID),
					h.P(h.Class("quiet"), g.Text("Ends this browser's session; pages that are open stop within 15 seconds."))),
			)))
	})
	return h.Section(h.Aria("labelledby", "sessions"),
		h.H2(h.ID("sessions"), g.Text("Sessions")),
		g.If(len(sessions) == 0, h.P(g.Text("No browser is signed in with a password or at a provider."))),
		g.If(len(sessions) > 0, table("Browsers that are signed in, last used first", columns, rows)),
	)
}

func endSession(v *viewer) (string, error) {
	_, err := send[api.Removal](v, api.Request{Method: http.MethodDelete, Path: "/sessions/" + url.PathEscape(v.path("id")), Reason: reasonOf(v)})
	return accessPath, err
}

func tokensSection(v *viewer, tokens []models.Token) g.Node {
	mayChange := v.can(auth.TokenChange)
	columns := []string{"Name", "State", "Expires", "Last used", "Made by", "Scopes"}
	if mayChange {
		columns = append(columns, "End")
	}
	rows := g.Map(tokens, func(t models.Token) g.Node {
		state := tag("expired", "")
		switch {
		case t.Active:
			state = tag("active", "good")
		case t.RevokedAt != nil:
			state = tag("revoked", "bad")
		}
		return h.Tr(h.Th(h.Scope("row"), g.Text(t.Name)), h.Td(state), h.Td(instantOf(&t.ExpiresAt, time.UTC)), h.Td(g.Text(ageOf(t.LastUsedAt, v.now))),
			h.Td(g.Text(t.CreatedBy)), h.Td(g.Text(strings.Join(t.Permissions, ", "))), g.If(mayChange, h.Td(g.Iff(t.Active, func() g.Node {
				return actionForm(v, "end-"+t.ID, "End token "+t.Name, accessPath+"/tokens/"+url.PathEscape(t.ID),
					h.P(h.Class("quiet"), g.Text("Scripts that use it are refused from now on.")))
			}))))
	})
	return h.Section(h.Aria("labelledby", "tokens"),
		h.H2(h.ID("tokens"), g.Text("API tokens")),
		g.If(len(tokens) == 0, h.P(g.Text("None yet. A script needs a token of its own."))),
		g.If(len(tokens) > 0, table("Tokens, newest first; times are UTC", columns, rows)),
		g.Iff(mayChange, func() g.Node { return makeTokenForm(v) }),
	)
}

// tokenDays are the ages that a new token may have.
var tokenDays = []string{"30", "90", "180", "365"}

func makeTokenForm(v *viewer) g.Node {
	const name = "make-token"
	chosen := v.form["scope"]
	return actionForm(v, name, "Make a token", accessPath+"/tokens",
		h.P(h.Class("quiet"), g.Text("The token is shown once, on the next page.")),
		field("token-name", "Name, which the audit shows", h.Input(h.ID("token-name"), h.Name("name"), h.Required(), h.MaxLength("100"),
			h.AutoComplete("off"), h.Value(refillField(v, name, "name", "")))),
		field("token-days", "Valid for", h.Select(h.ID("token-days"), h.Name("days"), g.Map(tokenDays, func(days string) g.Node {
			return h.Option(h.Value(days), g.If(days == refillField(v, name, "days", "90"), h.Selected()), g.Text(days+" days"))
		}))),
		h.FieldSet(h.Legend(g.Text("What it may do")), g.Map(auth.Permissions(), func(p auth.Permission) g.Node {
			return h.Div(h.Label(h.Input(h.Type("checkbox"), h.Name("scope"), h.Value(string(p)), g.If(slices.Contains(chosen, string(p)), h.Checked())),
				g.Text(" "+string(p))))
		})),
	)
}

// makeToken answers with the page itself, not with a redirect: the secret is
// shown once and kept nowhere.
func (c *Console) makeToken(w http.ResponseWriter, r *http.Request) {
	v, ok := c.posted(w, r)
	if !ok {
		return
	}
	days, err := time.ParseDuration(r.PostForm.Get("days") + "h")
	if err != nil {
		c.showRefused(w, v, &refusal{status: http.StatusBadRequest, message: "days: must be a whole number"}, showAccess)
		return
	}
	body := api.NewToken{Name: strings.TrimSpace(r.PostForm.Get("name")), Scopes: append([]string{}, r.PostForm["scope"]...), ExpiresAt: v.now.Add(days * 24)}
	made, err := send[api.CreatedToken](v, api.Request{Method: http.MethodPost, Path: "/tokens", Body: body, Reason: reasonOf(v)})
	if err != nil {
		c.showRefused(w, v, err, showAccess)
		return
	}
	c.draw(w, v, http.StatusCreated, func(v *viewer) (page, error) {
		return accessPage(v, h.Div(h.Class("notice"), h.Role("status"),
			h.P(g.Text("Token "+made.Token.Name+" is made. Copy it now; it is not shown again:")), h.P(h.Code(g.Text(made.Secret)))))
	})
}

func endToken(v *viewer) (string, error) {
	_, err := send[models.Token](v, api.Request{Method: http.MethodDelete, Path: "/tokens/" + url.PathEscape(v.path("id")), Reason: reasonOf(v)})
	return accessPath, err
}
