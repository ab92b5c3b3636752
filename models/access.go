package models

import "time"

// RoleAdmin is the role that may do everything, managing users included.
const RoleAdmin = "admin"

// User is one row of table users: a person who operates the programme.
type User struct {
	ID    string `gorm:"primaryKey"`
	Login string // lower case; unique
	Name  string
	Role  string
	// PasswordHash is an argon2id hash; empty where the user signs in elsewhere.
	PasswordHash string
	// Subject is the user's identity at the OpenID Connect provider; empty: none.
	Subject     string
	CreatedBy   string
	CreatedAt   time.Time
	UpdatedAt   time.Time
	LastLoginAt *time.Time
	// DisabledAt is since when the user cannot sign in; nil: they can.
	DisabledAt *time.Time
}

// UserPatch is a partial update of a user; a nil field stays as it is.
type UserPatch struct {
	Name, Role, PasswordHash, Subject *string
	Disabled                          *bool
}

// UserUpdate changes a user. Sessions of a user whose password, role or standing
// changes end.
type UserUpdate struct {
	ID    string
	Patch UserPatch
	// Check, when not nil, refuses a row that is not the one the change is based on.
	Check func(User) error
	Actor string
	Now   time.Time
}

// Session is one row of table sessions: a browser that is signed in.
type Session struct {
	TokenHash  string `gorm:"primaryKey"`
	ID         string // names the session to operators; no secret
	UserID     string
	Data       string // JSON of the session library
	Address    string
	Agent      string
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
}

// APIToken is one row of table api_tokens: the access of a script.
type APIToken struct {
	ID        string `gorm:"primaryKey"`
	Name      string
	TokenHash string // SHA-256 of the token, in hexadecimal
	// Scopes are permissions with blanks between them.
	Scopes     string
	CreatedBy  string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// TableName keeps the initialism in one piece.
func (APIToken) TableName() string { return "api_tokens" }

// IsValid reports whether the token gives access at an instant.
func (t APIToken) IsValid(at time.Time) bool {
	return t.RevokedAt == nil && at.Before(t.ExpiresAt)
}
