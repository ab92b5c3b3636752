package api

import (
	"time"

	"coachline/models"
)

// UserList is all users, by login.
type UserList struct {
	Users []models.User `json:"users" nullable:"false"`
}

// NewUser asks for a user.
type NewUser struct {
	Login    string `json:"login" minLength:"2" maxLength:"100" pattern:"^[A-Za-z0-9][A-Za-z0-9._@+-]*$" doc:"Name to sign in with, in any case; an e-mail address will do."`
	Name     string `json:"name" minLength:"1" maxLength:"100" doc:"What other operators see."`
	Role     string `json:"role" enum:"viewer,researcher,coach,safety,lead,admin"`
	Password string `json:"password,omitempty" maxLength:"512" doc:"12 to 128 characters; empty where the user signs in at the OpenID Connect provider."`
	Subject  string `json:"subject,omitempty" maxLength:"255" doc:"The user's identity (sub) at the OpenID Connect provider."`
}

// SessionList is the sessions that have not expired, last used first.
type SessionList struct {
	Sessions []models.Session `json:"sessions" nullable:"false"`
}

// TokenList is all tokens, newest first.
type TokenList struct {
	Tokens []models.Token `json:"tokens" nullable:"false"`
}

// NewToken asks for a token.
type NewToken struct {
	Name      string    `json:"name" minLength:"1" maxLength:"100" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" doc:"What the audit calls it."`
	Scopes    []string  `json:"scopes" minItems:"1" maxItems:"50" nullable:"false" doc:"Permissions, such as participant:read."`
	ExpiresAt time.Time `json:"expires_at" doc:"At most 366 days from now."`
}

// CreatedToken is a new token with its secret, which is not shown again.
type CreatedToken struct {
	Token  models.Token `json:"token"`
	Secret string       `json:"secret" doc:"Send it as a bearer token. It is stored as a hash and cannot be shown again."`
}

// Removal names what was ended.
type Removal struct {
	ID string `json:"id"`
}

// AuditPage is one page of the audit, newest first; NextCursor is null on the
// last.
type AuditPage struct {
	Rows       []models.AuditRow `json:"rows" nullable:"false"`
	NextCursor *string           `json:"next_cursor"`
}

// Self is the caller of a request.
type Self struct {
	Kind        string   `json:"kind" enum:"user,token,bootstrap,local"`
	Actor       string   `json:"actor" doc:"What the audit calls the caller."`
	Name        string   `json:"name"`
	Role        string   `json:"role,omitempty"`
	Permissions []string `json:"permissions" nullable:"false"`
}
