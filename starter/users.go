package starter

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

const (
	usersPath    = "/users"
	sessionsPath = "/sessions"
	tokensPath   = "/tokens"
)

// maxTokenAge is the longest time for which a token is valid.
const maxTokenAge = 366 * 24 * time.Hour

// bodyErrors are the answers of routes with a body.
var bodyErrors = []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusConflict, http.StatusNotFound}

// accessRoutes answers what concerns users, their sessions and API tokens.
type accessRoutes struct {
	base
	sessions *store.Sessions
	tokens   *store.Tokens
	users    *store.Users
	// hasProvider: people may sign in at an OpenID Connect provider, without a password.
	hasProvider bool
}

// register adds the routes of users, sessions and tokens.
func (h *accessRoutes) register(router huma.API) {
	missing := []int{http.StatusNotFound}
	register(router, route{method: http.MethodGet, path: "/self", id: "get-self", needs: anyCaller, summary: "Who the caller is and what they may do"}, h.getSelf)
	register(router, route{method: http.MethodGet, path: usersPath, id: "list-users", needs: auth.UserRead, summary: "Users, by login"}, h.listUsers)
	register(router, route{method: http.MethodPost, path: usersPath, id: "create-user", needs: auth.UserChange, summary: "Add a user",
		status: http.StatusCreated, errors: bodyErrors}, h.createUser)
	register(router, route{method: http.MethodGet, path: usersPath + "/{id}", id: "get-user", needs: auth.UserRead, summary: "One user", errors: missing}, h.getUser)
	register(router, route{method: http.MethodPut, path: usersPath + "/{id}", id: "update-user", needs: auth.UserChange,
		summary: "Change some fields of a user", errors: append(slices.Clone(bodyErrors), http.StatusPreconditionFailed)}, h.updateUser)
	registerPatch(router, merging[PatchInput, models.UserChange, answer[models.User]]{
		route:   route{path: usersPath + "/{id}", id: "patch-user", needs: auth.UserChange, summary: "Change or clear some fields of a user"},
		cleared: map[string]any{"subject": "", "disabled": false},
		change: func(ctx context.Context, in *PatchInput, ifMatch string, body models.UserChange) (*answer[models.User], error) {
			return h.updateUser(ctx, &userRequest{ID: in.ID, IfMatch: ifMatch, Body: body})
		},
	})
	register(router, route{method: http.MethodGet, path: sessionsPath, id: "list-sessions", needs: auth.UserRead, summary: "Browsers that are signed in"}, h.listSessions)
	register(router, route{method: http.MethodDelete, path: sessionsPath + "/{id}", id: "revoke-session", needs: auth.UserChange,
		summary: "Sign a browser out", errors: missing}, h.revokeSession)
	register(router, route{method: http.MethodGet, path: tokensPath, id: "list-tokens", needs: auth.TokenRead, summary: "API tokens, newest first"}, h.listTokens)
	register(router, route{method: http.MethodPost, path: tokensPath, id: "create-token", isSecret: true, needs: auth.TokenChange,
		summary: "Make an API token; its secret is shown once", status: http.StatusCreated, errors: bodyErrors}, h.createToken)
	register(router, route{method: http.MethodGet, path: tokensPath + "/{id}", id: "get-token", needs: auth.TokenRead, summary: "One API token, without its secret", errors: missing}, h.getToken)
	register(router, route{method: http.MethodDelete, path: tokensPath + "/{id}", id: "revoke-token", needs: auth.TokenChange,
		summary: "End an API token", errors: missing}, h.revokeToken)
}

// getSelf tells a caller what they may do.
func (*accessRoutes) getSelf(ctx context.Context, _ *noInput) (*answer[api.Self], error) {
	who, _ := auth.IdentityOf(ctx)
	self := api.Self{Kind: string(who.Kind), Actor: who.Actor, Name: who.Name, Role: string(who.Role), Permissions: []string{}}
	for _, p := range auth.Permissions() {
		if who.Can(p) {
			self.Permissions = append(self.Permissions, string(p))
		}
	}
	return newAnswer("", self), nil
}

func toUser(u models.User) models.User {
	u.HasPassword, u.Disabled = u.PasswordHash != "", u.DisabledAt != nil
	return u
}

func (h *accessRoutes) listUsers(ctx context.Context, _ *noInput) (*answer[api.UserList], error) {
	rows, err := h.users.List(ctx)
	return newAnswer("", api.UserList{Users: showAll(rows, toUser)}), h.toFailure("listing users", err)
}

func (h *accessRoutes) getUser(ctx context.Context, in *accessRequest) (*taggedAnswer[models.User], error) {
	u, err := h.users.User(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("reading the user", asMissing("user", err))
	}
	return newTagged(toUser(u))
}

type newUserRequest struct {
	Body api.NewUser
}

// createUser adds a person who can sign in with a password, at the OpenID Connect
// provider, or both.
func (h *accessRoutes) createUser(ctx context.Context, in *newUserRequest) (*created[models.User], error) {
	body := in.Body
	if err := models.CheckText("name", body.Name, false); err != nil {
		return nil, h.toFailure("creating the user", err)
	}
	if body.Password == "" && body.Subject == "" && !h.hasProvider {
		return nil, newFailure(http.StatusBadRequest, "password: is required unless subject is given, or people sign in at a provider (COACH_OIDC_ISSUER)")
	}
	u := models.User{
		ID: auth.NewID("usr"), Login: strings.ToLower(body.Login), Name: strings.TrimSpace(body.Name), Role: body.Role,
		Subject: body.Subject, CreatedBy: actorOf(ctx), CreatedAt: h.now(),
	}
	if body.Password != "" {
		hash, err := auth.HashPassword(body.Password)
		if err != nil {
			return nil, h.toFailure("creating the user", err)
		}
		u.PasswordHash = hash
	}
	saved, err := h.users.CreateUser(ctx, u)
	return newCreated(usersPath+"/"+saved.ID, "User created", toUser(saved)), h.toFailure("creating the user", err)
}

type userRequest struct {
	ID      string `path:"id" maxLength:"64" doc:"Id of a user."`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that the change is based on; refused with 412 when it is not the newest."`
	Body    models.UserChange
}

func (h *accessRoutes) updateUser(ctx context.Context, in *userRequest) (*answer[models.User], error) {
	if in.Body.Name != nil {
		if err := models.CheckText("name", *in.Body.Name, false); err != nil {
			return nil, h.toFailure("changing the user", err)
		}
	}
	if in.Body.Password != nil {
		hash, err := auth.HashPassword(*in.Body.Password)
		if err != nil {
			return nil, h.toFailure("changing the user", err)
		}
		in.Body.PasswordHash = &hash
	}
	check := func(row models.User) error { return checkTag(in.IfMatch, toUser(row)) }
	saved, err := h.users.UpdateUser(ctx, models.UserUpdate{ID: in.ID, Patch: in.Body, Check: check, Actor: actorOf(ctx), Now: h.now()})
	return newAnswer(describeChanged(in.Body, "User changed"), toUser(saved)), h.toFailure("changing the user", asMissing("user", err))
}

func (h *accessRoutes) listSessions(ctx context.Context, _ *noInput) (*answer[api.SessionList], error) {
	rows, err := h.sessions.List(ctx, h.now())
	if err != nil {
		return nil, h.toFailure("listing sessions", err)
	}
	users, err := h.users.List(ctx)
	if err != nil {
		return nil, h.toFailure("listing sessions", err)
	}
	logins := map[string]string{}
	for _, u := range users {
		logins[u.ID] = u.Login
	}
	who, _ := auth.IdentityOf(ctx)
	for i, s := range rows {
		rows[i].Login, rows[i].Current = logins[s.UserID], s.ID == who.SessionID
	}
	return newAnswer("", api.SessionList{Sessions: copyNonNil(rows)}), nil
}

type accessRequest struct {
	ID string `path:"id" maxLength:"64"`
}

func (h *accessRoutes) revokeSession(ctx context.Context, in *accessRequest) (*answer[api.Removal], error) {
	if err := h.sessions.RevokeSession(ctx, in.ID, actorOf(ctx), h.now()); err != nil {
		return nil, h.toFailure("ending the session", asMissing("session", err))
	}
	return newAnswer("Signed out", api.Removal(*in)), nil
}

func (h *accessRoutes) toToken(t models.Token) models.Token {
	t.Permissions, t.Active = strings.Fields(t.Scopes), t.IsValid(h.now())
	return t
}

func (h *accessRoutes) listTokens(ctx context.Context, _ *noInput) (*answer[api.TokenList], error) {
	rows, err := h.tokens.List(ctx)
	return newAnswer("", api.TokenList{Tokens: showAll(rows, h.toToken)}), h.toFailure("listing tokens", err)
}

// getToken finds a token among all, which are few.
func (h *accessRoutes) getToken(ctx context.Context, in *accessRequest) (*taggedAnswer[models.Token], error) {
	rows, err := h.tokens.List(ctx)
	if err != nil {
		return nil, h.toFailure("reading the token", err)
	}
	for _, t := range rows {
		if t.ID == in.ID {
			return newTagged(h.toToken(t))
		}
	}
	return nil, newFailure(http.StatusNotFound, "token not found")
}

type newTokenRequest struct {
	Body api.NewToken
}

func (h *accessRoutes) createToken(ctx context.Context, in *newTokenRequest) (*created[api.CreatedToken], error) {
	now := h.now()
	scopes, err := auth.ParseScopes(in.Body.Scopes)
	if err != nil {
		return nil, h.toFailure("creating the token", err)
	}
	switch until := in.Body.ExpiresAt; {
	case !until.After(now):
		return nil, newFailure(http.StatusBadRequest, "expires_at: must be in the future")
	case until.After(now.Add(maxTokenAge)):
		return nil, newFailure(http.StatusBadRequest, "expires_at: must be at most 366 days from now")
	}
	secret := auth.NewToken()
	saved, err := h.tokens.CreateToken(ctx, models.Token{
		ID: auth.NewID("tok"), Name: in.Body.Name, TokenHash: auth.HashSecret(secret), Scopes: auth.JoinScopes(scopes),
		CreatedBy: actorOf(ctx), CreatedAt: now, ExpiresAt: in.Body.ExpiresAt,
	})
	return newCreated(tokensPath+"/"+saved.ID, "Token created; its secret is not shown again", api.CreatedToken{Token: h.toToken(saved), Secret: secret}), h.toFailure("creating the token", err)
}

func (h *accessRoutes) revokeToken(ctx context.Context, in *accessRequest) (*answer[models.Token], error) {
	saved, err := h.tokens.RevokeToken(ctx, in.ID, actorOf(ctx), h.now())
	return newAnswer("Token revoked", h.toToken(saved)), h.toFailure("revoking the token", asMissing("token", err))
}
