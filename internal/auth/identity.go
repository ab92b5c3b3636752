package auth

import (
	"context"
	"slices"

	"coachline/models"
)

// Kind is how a caller proved who they are.
type Kind string

const (
	// KindUser is a person who signed in.
	KindUser Kind = "user"
	// KindToken is a script with an API token of its own.
	KindToken Kind = "token"
	// KindBootstrap is the holder of COACH_API_TOKEN.
	KindBootstrap Kind = "bootstrap"
	// KindLocal is a caller from this machine where no token is configured.
	KindLocal Kind = "local"
)

// Identity is the caller of a request.
type Identity struct {
	Kind Kind
	// ID is the row of the user or token; empty for the others.
	ID string
	// Actor names the caller in the audit: user:LOGIN, token:NAME or operator.
	Actor string
	// Name is what pages show.
	Name string
	Role Role
	// Scopes take the place of the role's permissions where Kind is KindToken.
	Scopes []Permission
	// SessionID is the session of a user; empty for the others.
	SessionID string
}

// Operator is the actor of callers who hold the one shared token, or need none.
const Operator = "operator"

// UserIdentity is the identity of a user who is signed in.
func UserIdentity(u models.User, sessionID string) Identity {
	return Identity{Kind: KindUser, ID: u.ID, Actor: models.UserActorPrefix + u.Login, Name: u.Name, Role: Role(u.Role), SessionID: sessionID}
}

// TokenIdentity is the identity of a script.
func TokenIdentity(t models.APIToken) Identity {
	return Identity{Kind: KindToken, ID: t.ID, Actor: "token:" + t.Name, Name: t.Name, Scopes: SplitScopes(t.Scopes)}
}

// AdminIdentity is the identity of who holds the shared token (KindBootstrap) or
// needs none (KindLocal).
func AdminIdentity(kind Kind) Identity {
	return Identity{Kind: kind, Actor: Operator, Name: Operator, Role: RoleAdmin}
}

// Can reports whether the caller has a permission.
func (i Identity) Can(p Permission) bool {
	switch {
	case i.Kind == KindToken:
		return slices.Contains(i.Scopes, p)
	case i.Role == RoleAdmin:
		return true
	}
	return slices.Contains(grants[i.Role], p)
}

type identityKey struct{}

// WithIdentity returns a context whose requests are the caller's.
func WithIdentity(ctx context.Context, i Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, i)
}

// IdentityOf returns the caller; ok is false where nothing is known of them.
func IdentityOf(ctx context.Context) (i Identity, ok bool) {
	i, ok = ctx.Value(identityKey{}).(Identity)
	return i, ok
}
