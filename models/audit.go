package models

import (
	"context"
	"time"
)

// AuditRow is one row of table audit: who did what to whom, when, why and from
// where. Rows are added and never changed, except that an erasure empties Reason
// and Change. Each row carries a hash over itself and the row before it, so that
// a row that was changed or taken out is found.
type AuditRow struct {
	ID            int64     `gorm:"primaryKey" json:"id"`
	Seq           *int64    `json:"seq" doc:"Place in the chain; null in rows from before there was one."`
	At            time.Time `json:"at"`
	Actor         string    `json:"actor" doc:"user:LOGIN, token:NAME, operator (the shared token), participant, carrier or a part of the system."`
	Action        string    `json:"action"`
	ParticipantID string    `json:"participant_id,omitempty"` // empty: not about one participant
	Object        string    `json:"object,omitempty" doc:"What it was about where that is no participant."`
	Detail        string    `json:"detail,omitempty"` // no personal data
	// Reason is what an operator wrote; it may hold personal data. Reason and
	// Change stand behind the fields that they are bound to.
	Reason string `gorm:"serializer:sealed" json:"reason,omitempty"`
	// Before and After are what changed, for AddAudit; they are kept in Change.
	Before map[string]string `gorm:"-" json:"before,omitempty"`
	// Before and After are what changed, for AddAudit; they are kept in Change.
	After     map[string]string `gorm:"-" json:"after,omitempty"`
	RequestID string            `json:"request_id,omitempty"`
	Address   string            `json:"address,omitempty"` // of the caller
	Hash      string            `json:"hash,omitempty" doc:"SHA-256 over the row and the hash before it."`
	// Change is the JSON of an AuditChange.
	Change string `gorm:"serializer:sealed" json:"-"`
	// ContentHash covers Reason and Change, Hash the row and the Hash before it;
	// both in hexadecimal.
	ContentHash string `json:"-"`
	// Unreadable names sealed columns that could not be opened; lists only.
	Unreadable string `gorm:"-" json:"-"`
}

// AuditChange is what an action changed. Salt keeps ContentHash from being
// guessed once the texts are erased.
type AuditChange struct {
	Salt   string            `json:"salt"`
	Before map[string]string `json:"before,omitempty"`
	After  map[string]string `json:"after,omitempty"`
}

// AuditFilter selects rows of the audit; empty fields select everything.
type AuditFilter struct {
	ParticipantID string    `query:"participant_id" maxLength:"64" doc:"Only rows about this participant."`
	Actor         string    `query:"actor" maxLength:"200" doc:"Only rows of this actor, such as user:ada."`
	Action        string    `query:"action" maxLength:"64"`
	Since         time.Time `query:"since" doc:"Only rows from then on (RFC 3339)."`
	Until         time.Time `query:"until" doc:"Only rows before then (RFC 3339)."`
}

// AuditQuery selects a page of audit rows, newest first.
type AuditQuery struct {
	AuditFilter
	BeforeID int64
	Limit    int // 1..200
}

// AuditChain is what a check of the audit found.
type AuditChain struct {
	OK       bool   `json:"ok"`
	Rows     int64  `json:"rows" doc:"Rows of the chain that were checked."`
	Erased   int64  `json:"erased" doc:"Rows whose texts an erasure has removed."`
	Head     string `json:"head,omitempty" doc:"Hash of the newest row checked; written down elsewhere it proves later that nothing was cut off."`
	BrokenAt int64  `json:"broken_at,omitempty" doc:"First row that does not fit."`
	Problem  string `json:"problem,omitempty"`
	// Whole: all rows were checked by CheckNewAudit, not only those that are new.
	Whole bool `json:"-"`
}

// Origin is who makes a request and from where. Audit rows that are written
// under its context name it.
type Origin struct {
	// Actor takes the place of an empty Audit.Actor.
	Actor     string
	RequestID string
	Address   string
	// Reason takes the place of an empty Audit.Reason.
	Reason string
	// Claim is the request's Idempotency-Key; nil where it has none.
	Claim *KeyClaim
}

type originKey struct{}

// WithOrigin returns a context whose audit rows name the origin.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns the context's origin; the zero value where it has none.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
