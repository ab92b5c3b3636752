package models

import (
	"context"
	"time"
)

// Audit is one row of table audit: who did what to whom, when, why and from
// where. Rows are added and never changed, except that an erasure empties Reason
// and Change. Each row carries a hash over itself and the row before it, so that
// a row that was changed or taken out is found.
type Audit struct {
	ID int64 `gorm:"primaryKey"`
	// Seq counts the rows of the chain without a gap; nil in rows from before
	// there was a chain.
	Seq           *int64
	ParticipantID string // empty: not about one participant
	Actor         string
	Action        string
	// Object names what the action was about where that is no participant, such as
	// "user:usr_1".
	Object    string
	Detail    string // no personal data
	RequestID string
	Address   string // of the caller
	At        time.Time
	// Reason is what an operator wrote; it may hold personal data. Reason and
	// Change stand behind the fields that they are bound to.
	Reason string `gorm:"serializer:sealed"`
	// Change is the JSON of an AuditChange.
	Change string `gorm:"serializer:sealed"`
	// ContentHash covers Reason and Change, Hash the row and the Hash before it;
	// both in hexadecimal.
	ContentHash string
	Hash        string

	// Unreadable names sealed columns that could not be opened; lists only.
	Unreadable string `gorm:"-"`
	// Before and After are what changed, for AddAudit; they are kept in Change.
	Before, After map[string]string `gorm:"-"`
}

// AuditChange is what an action changed. Salt keeps ContentHash from being
// guessed once the texts are erased.
type AuditChange struct {
	Salt   string            `json:"salt"`
	Before map[string]string `json:"before,omitempty"`
	After  map[string]string `json:"after,omitempty"`
}

// AuditQuery selects a page of audit rows, newest first. Empty fields select
// everything.
type AuditQuery struct {
	ParticipantID string
	Actor         string
	Action        string
	Since, Until  time.Time
	BeforeID      int64
	Limit         int // 1..200
}

// AuditChain is what a check of the audit found.
type AuditChain struct {
	// Rows is the number of the last row that was checked; Erased of those checked
	// have no content any more.
	Rows, Erased int64
	// Whole: all rows were checked by CheckNewAudit, not only those that are new.
	Whole bool
	// Head is the hash of the newest row. Kept outside of the database, it proves
	// later that nothing was cut off.
	Head string
	// BrokenAt is the first row that does not fit, and Problem what is wrong with
	// it; 0 where the chain is whole.
	BrokenAt int64
	Problem  string
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
