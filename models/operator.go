package models

import (
	"time"

	"coachline/models/wire"
)

// ParticipantUpdate is a partial update of a participant's row.
type ParticipantUpdate struct {
	ID    string
	Patch ParticipantPatch
	// Waiting is what becomes of texts that came while the participant was paused;
	// empty: on resuming, they are answered if the newest is of today in the
	// participant's zone, and marked as read otherwise.
	Waiting WaitingAction
	// IfMatch, when not nil, must equal the row's version (ErrStale otherwise).
	IfMatch *int64
	Actor   string
	Now     time.Time
}

// Enrolment is who asks for an enrolment. Equal requests with equal keys are one
// enrolment; without a key each is its own.
type Enrolment struct {
	Actor string
	// Key is the caller's idempotency key, Body the request it stands for.
	Key, Body string
	// Consent is the person's agreement to take part in the study; nil where none
	// was recorded.
	Consent *StudyConsent
	// Strata holds the levels of the study's strata that are known, by name.
	Strata map[string]string
}

// Removal takes a participant out of the programme.
type Removal struct {
	ID string
	// IfMatch, when not nil, must equal the row's version (ErrStale otherwise).
	IfMatch *int64
	Actor   string
	Now     time.Time
}

// UserActorPrefix begins the actor of a person who signs in.
const UserActorPrefix = "user:"

// OperatorMessage is a text that an operator wants sent.
type OperatorMessage struct {
	ParticipantID string
	Body          string
	// Key is the operator's idempotency key; equal keys of one participant
	// are one message.
	Key string
	// Force: also when another operator has the conversation, or has just written.
	Force bool
	Actor string
	Now   time.Time
}

// ParticipantQuery selects a page of participants, ordered by id.
type ParticipantQuery struct {
	Limit  int         `query:"limit" minimum:"1" maximum:"200" default:"50"`
	After  string      `query:"cursor" maxLength:"64" doc:"next_cursor of the page before."`
	Status wire.Status `query:"status" enum:"active,paused,completed,withdrawn,opted_out"`
	// Attention: only people who need an operator for this reason.
	Attention wire.Attention `query:"attention" enum:"crisis,person,unreachable,send,refusal,stuck,unanswered,lost_rows,flood,wrong_number,minor,erasure,language,advice"`
	Waiting   bool           `query:"waiting" doc:"Only people with texts that came while they were paused or taken over and wait for an operator."`
	TakenOver bool           `query:"taken_over" doc:"Only people whose conversation an operator has taken over."`
}

// RoleAdmin is the role that may do everything, managing users included.
const RoleAdmin = "admin"

// User is one row of table users: a person who operates the programme.
type User struct {
	ID          string     `gorm:"primaryKey" json:"id"`
	Login       string     `json:"login"` // lower case; unique
	Name        string     `json:"name"`
	Role        string     `json:"role" enum:"viewer,researcher,coach,safety,lead,admin"`
	HasPassword bool       `gorm:"-" json:"has_password" doc:"The user can sign in with a password."`
	Subject     string     `json:"subject,omitempty" doc:"The user's identity at the OpenID Connect provider."`
	Disabled    bool       `gorm:"-" json:"disabled" doc:"The user cannot sign in."`
	CreatedAt   time.Time  `json:"created_at"`
	CreatedBy   string     `json:"created_by"`
	LastLoginAt *time.Time `json:"last_login_at,omitempty"`
	// PasswordHash is an argon2id hash; empty where the user signs in elsewhere.
	PasswordHash string    `json:"-"`
	UpdatedAt    time.Time `json:"-"`
	// DisabledAt is since when the user cannot sign in; nil: they can.
	DisabledAt *time.Time `json:"-"`
}

// Settings is u without what signing in changes.
func (u User) Settings() User {
	u.LastLoginAt = nil
	return u
}

// UserChange is a partial update; fields that are left out stay as they are.
type UserChange struct {
	Name     *string `json:"name,omitempty" minLength:"1" maxLength:"100"`
	Role     *string `json:"role,omitempty" enum:"viewer,researcher,coach,safety,lead,admin"`
	Password *string `json:"password,omitempty" maxLength:"512" doc:"A new password ends the user's sessions."`
	Subject  *string `json:"subject,omitempty" maxLength:"255"`
	Disabled *bool   `json:"disabled,omitempty" doc:"A disabled user cannot sign in, and their sessions end."`
	// PasswordHash is that of Password, an argon2id hash.
	PasswordHash *string `json:"-"`
}

// UserUpdate changes a user. Sessions of a user whose password, role or standing
// changes end.
type UserUpdate struct {
	ID    string
	Patch UserChange
	// Check, when not nil, refuses a row that is not the one the change is based on.
	Check func(User) error
	Actor string
	Now   time.Time
}

// Session is one row of table sessions: a browser that is signed in.
type Session struct {
	ID         string    `json:"id"` // names the session to operators; no secret
	UserID     string    `json:"user_id"`
	Login      string    `gorm:"-" json:"login"`
	Address    string    `json:"address" doc:"Where it signed in from."`
	Agent      string    `json:"agent" doc:"The browser's name for itself."`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at"`
	ExpiresAt  time.Time `json:"expires_at" doc:"When it ends if it is not used."`
	Current    bool      `gorm:"-" json:"current" doc:"It is the caller's own."`
	TokenHash  string    `gorm:"primaryKey" json:"-"`
	Data       string    `json:"-"` // JSON of the session library
}

// Token is one row of table api_tokens: the access of a script.
type Token struct {
	ID   string `gorm:"primaryKey" json:"id"`
	Name string `json:"name"`
	// Scopes are Permissions with blanks between them.
	Scopes      string     `json:"-"`
	Permissions []string   `gorm:"-" json:"scopes" nullable:"false" doc:"Permissions."`
	Active      bool       `gorm:"-" json:"active" doc:"It is neither revoked nor expired."`
	CreatedAt   time.Time  `json:"created_at"`
	CreatedBy   string     `json:"created_by"`
	ExpiresAt   time.Time  `json:"expires_at"`
	LastUsedAt  *time.Time `json:"last_used_at,omitempty" doc:"To a minute."`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
	TokenHash   string     `json:"-"` // SHA-256 of the token, in hexadecimal
}

// TableName keeps the initialism in one piece.
func (Token) TableName() string { return "api_tokens" }

// IsValid reports whether the token gives access at an instant.
func (t Token) IsValid(at time.Time) bool {
	return t.RevokedAt == nil && at.Before(t.ExpiresAt)
}

// RequestKeyLife is how long an Idempotency-Key stands for its request.
const RequestKeyLife = 24 * time.Hour

// RequestKey is one row of table request_keys: a request of the API that was carried
// out under an Idempotency-Key.
type RequestKey struct {
	// ID is a keyed hash of the caller and the key.
	ID string `gorm:"primaryKey"`
	// RequestIndex is a keyed hash of the request's method, address and body.
	RequestIndex string
	// RequestID is the X-Request-Id under which it was carried out.
	RequestID string
	// ParticipantID is whom it was about; empty where that was no participant.
	ParticipantID string
	// Answer is what it was answered, as JSON; empty where that was not kept.
	Answer    string `gorm:"serializer:sealed"`
	CreatedAt time.Time
}

// TableName is the table's name.
func (RequestKey) TableName() string { return "request_keys" }

// KeyedRequest is a request of the API with an Idempotency-Key.
type KeyedRequest struct {
	Actor, Key string
	// Request is a hash of the method, the address and the body.
	Request       string
	RequestID     string
	ParticipantID string
	At            time.Time
}

// KeyClaim is the key of the request of an Origin. The first transaction of the
// request that adds to the audit writes the row, so that what the request does and
// the use of its key are committed together.
type KeyClaim struct {
	Row RequestKey
	// IsTaken: another request has been carried out under the key, and the
	// transaction of this one was rolled back.
	IsTaken bool
}
