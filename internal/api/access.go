package api

import "time"

// User is a person who operates the programme.
type User struct {
	ID          string     `json:"id"`
	Login       string     `json:"login"`
	Name        string     `json:"name"`
	Role        string     `json:"role" enum:"viewer,researcher,coach,safety,lead,admin"`
	HasPassword bool       `json:"has_password" doc:"The user can sign in with a password."`
	Subject     string     `json:"subject,omitempty" doc:"The user's identity at the OpenID Connect provider."`
	Disabled    bool       `json:"disabled" doc:"The user cannot sign in."`
	CreatedAt   time.Time  `json:"created_at"`
	CreatedBy   string     `json:"created_by"`
	LastLoginAt *time.Time `json:"last_login_at,omitempty"`
}

// Settings is u without what signing in changes.
func (u User) Settings() User {
	u.LastLoginAt = nil
	return u
}

// UserList is all users, by login.
type UserList struct {
	Users []User `json:"users" nullable:"false"`
}

// NewUser asks for a user.
type NewUser struct {
	Login    string `json:"login" minLength:"2" maxLength:"100" pattern:"^[A-Za-z0-9][A-Za-z0-9._@+-]*$" doc:"Name to sign in with, in any case; an e-mail address will do."`
	Name     string `json:"name" minLength:"1" maxLength:"100" doc:"What other operators see."`
	Role     string `json:"role" enum:"viewer,researcher,coach,safety,lead,admin"`
	Password string `json:"password,omitempty" maxLength:"512" doc:"12 to 128 characters; empty where the user signs in at the OpenID Connect provider."`
	Subject  string `json:"subject,omitempty" maxLength:"255" doc:"The user's identity (sub) at the OpenID Connect provider."`
}

// UserChange is a partial update; fields that are left out stay as they are.
type UserChange struct {
	Name     *string `json:"name,omitempty" minLength:"1" maxLength:"100"`
	Role     *string `json:"role,omitempty" enum:"viewer,researcher,coach,safety,lead,admin"`
	Password *string `json:"password,omitempty" maxLength:"512" doc:"A new password ends the user's sessions."`
	Subject  *string `json:"subject,omitempty" maxLength:"255"`
	Disabled *bool   `json:"disabled,omitempty" doc:"A disabled user cannot sign in, and their sessions end."`
}

// Session is a browser that is signed in to the console.
type Session struct {
	ID         string    `json:"id"`
	UserID     string    `json:"user_id"`
	Login      string    `json:"login"`
	Address    string    `json:"address" doc:"Where it signed in from."`
	Agent      string    `json:"agent" doc:"The browser's name for itself."`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at"`
	ExpiresAt  time.Time `json:"expires_at" doc:"When it ends if it is not used."`
	Current    bool      `json:"current" doc:"It is the caller's own."`
}

// SessionList is the sessions that have not expired, last used first.
type SessionList struct {
	Sessions []Session `json:"sessions" nullable:"false"`
}

// Token is an API token. Its secret is shown once, when it is made.
type Token struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Scopes     []string   `json:"scopes" nullable:"false" doc:"Permissions."`
	Active     bool       `json:"active" doc:"It is neither revoked nor expired."`
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  string     `json:"created_by"`
	ExpiresAt  time.Time  `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty" doc:"To a minute."`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
}

// TokenList is all tokens, newest first.
type TokenList struct {
	Tokens []Token `json:"tokens" nullable:"false"`
}

// NewToken asks for a token.
type NewToken struct {
	Name      string    `json:"name" minLength:"1" maxLength:"100" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" doc:"What the audit calls it."`
	Scopes    []string  `json:"scopes" minItems:"1" maxItems:"50" nullable:"false" doc:"Permissions, such as participant:read."`
	ExpiresAt time.Time `json:"expires_at" doc:"At most 366 days from now."`
}

// CreatedToken is a new token with its secret, which is not shown again.
type CreatedToken struct {
	Token  Token  `json:"token"`
	Secret string `json:"secret" doc:"Send it as a bearer token. It is stored as a hash and cannot be shown again."`
}

// Removal names what was ended.
type Removal struct {
	ID string `json:"id"`
}

// AuditRow is one action: who did what to whom, why and from where. Reason, Before
// and After may hold personal data and are left out for callers who may not see
// it.
type AuditRow struct {
	ID            int64             `json:"id"`
	Seq           *int64            `json:"seq" doc:"Place in the chain; null in rows from before there was one."`
	At            time.Time         `json:"at"`
	Actor         string            `json:"actor" doc:"user:LOGIN, token:NAME, operator (the shared token), participant, carrier or a part of the system."`
	Action        string            `json:"action"`
	ParticipantID string            `json:"participant_id,omitempty"`
	Object        string            `json:"object,omitempty" doc:"What it was about where that is no participant."`
	Detail        string            `json:"detail,omitempty"`
	Reason        string            `json:"reason,omitempty"`
	Before        map[string]string `json:"before,omitempty"`
	After         map[string]string `json:"after,omitempty"`
	RequestID     string            `json:"request_id,omitempty"`
	Address       string            `json:"address,omitempty"`
	Hash          string            `json:"hash,omitempty" doc:"SHA-256 over the row and the hash before it."`
}

// AuditPage is one page of the audit, newest first; NextCursor is null on the
// last.
type AuditPage struct {
	Rows       []AuditRow `json:"rows" nullable:"false"`
	NextCursor *string    `json:"next_cursor"`
}

// AuditChain says whether the audit is as it was written.
type AuditChain struct {
	OK       bool   `json:"ok"`
	Rows     int64  `json:"rows" doc:"Rows of the chain that were checked."`
	Erased   int64  `json:"erased" doc:"Rows whose texts an erasure has removed."`
	Head     string `json:"head,omitempty" doc:"Hash of the newest row checked; written down elsewhere it proves later that nothing was cut off."`
	BrokenAt int64  `json:"broken_at,omitempty" doc:"First row that does not fit."`
	Problem  string `json:"problem,omitempty"`
}

// Self is the caller of a request.
type Self struct {
	Kind        string   `json:"kind" enum:"user,token,bootstrap,local"`
	Actor       string   `json:"actor" doc:"What the audit calls the caller."`
	Name        string   `json:"name"`
	Role        string   `json:"role,omitempty"`
	Permissions []string `json:"permissions" nullable:"false"`
}
