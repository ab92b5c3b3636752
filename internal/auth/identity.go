package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"coachline/internal/wrap"
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
func TokenIdentity(t models.Token) Identity {
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

// Bounds of a password, in characters.
const (
	MinPassword = 12
	MaxPassword = 128
)

// passwordCost is the second recommendation of RFC 9106 for argon2id, with less
// memory so that several logins at once fit beside the server: 46 MiB, one pass,
// as OWASP's password storage page lists it.
var passwordCost = &argon2id.Params{Memory: 46 * 1024, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// HashPassword returns the argon2id hash of a password. It takes about 50 ms. A
// password outside 12 to 128 characters is a *models.FieldError.
func HashPassword(password string) (string, error) {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return "", models.BadField("password", "is not valid UTF-8")
	case n < MinPassword:
		return "", models.BadField("password", "must have at least %d characters", MinPassword)
	case n > MaxPassword:
		return "", models.BadField("password", "must have at most %d characters", MaxPassword)
	}
	hash, err := argon2id.CreateHash(password, passwordCost)
	return hash, wrap.Error(err, "hashing the password")
}

// emptyHash is compared with where there is no hash, so that an unknown login
// takes as long to refuse as a wrong password.
const emptyHash = "$argon2id$v=19$m=47104,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// CheckPassword reports whether a password has a hash. An empty hash has none.
func CheckPassword(password, hash string) bool {
	if hash == "" || utf8.RuneCountInString(password) > MaxPassword {
		_, _ = argon2id.ComparePasswordAndHash("", emptyHash)
		return false
	}
	match, err := argon2id.ComparePasswordAndHash(password, hash)
	return err == nil && match
}

// tokenPrefix marks API tokens, so that one that leaked is recognised.
const tokenPrefix = "clt_"

// NewToken returns a fresh API token of 130 random bits.
func NewToken() string { return tokenPrefix + strings.ToLower(rand.Text()) }

// HashSecret is the SHA-256 of a token in hexadecimal, which is what is stored.
// Tokens are random, so a plain hash cannot be guessed.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// NewID returns a random id with a prefix, such as usr_....
func NewID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()[:20]) }
