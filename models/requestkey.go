package models

import "time"

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
