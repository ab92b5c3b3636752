package models

import (
	"context"
	"time"
)

// SMS is one text for the carrier.
type SMS struct {
	OutboxID string // put into the status callback URL
	To       string // E.164
	Body     string
	// ValidFor bounds how long the carrier may hold it; 0 leaves its default.
	ValidFor time.Duration
	// BeforeWrite is called when the connection is established, right before the
	// text is written; an error keeps it from being written. It may be called
	// again where a connection turns out to be closed. Nil allows everything.
	BeforeWrite func(ctx context.Context) error
}

// MayWrite calls BeforeWrite, where there is one.
func (s SMS) MayWrite(ctx context.Context) error {
	if s.BeforeWrite == nil {
		return nil
	}
	return s.BeforeWrite(ctx)
}

// Receipt is what the carrier said when it took a text.
type Receipt struct {
	ProviderSID string
	Status      OutboxStatus
}

// Lookup is what the carrier's list showed of a text.
type Lookup struct {
	// Matches are the texts that may be it, oldest first.
	Matches []Receipt
	// At is when the list was made, by the carrier's clock.
	At time.Time
}

// CarrierClass says what can be done about a failed send.
type CarrierClass string

const (
	CarrierRetry        CarrierClass = "retry"        // refused for sure, try again soon
	CarrierSlowDown     CarrierClass = "slow_down"    // try again in minutes
	CarrierWindow       CarrierClass = "window"       // a daily quota; wait for its reset
	CarrierRetryOnce    CarrierClass = "retry_once"   // one later attempt
	CarrierConsent      CarrierClass = "consent"      // the person opted out
	CarrierBadNumber    CarrierClass = "bad_number"   // cannot be reached
	CarrierBlocked      CarrierClass = "blocked"      // filtered
	CarrierRegistration CarrierClass = "registration" // the sender may not send
	CarrierContent      CarrierClass = "content"      // our text is wrong
	CarrierAccount      CarrierClass = "account"      // credentials or configuration
	CarrierStale        CarrierClass = "stale"        // too late to be useful
	// CarrierAmbiguous: it may have been taken; look it up before anything else.
	CarrierAmbiguous CarrierClass = "ambiguous"
)

// CarrierError is a classified failure of a send. It never holds the body or
// the number.
type CarrierError struct {
	Class   CarrierClass
	Code    string // the carrier's error code; empty when there is none
	Status  int    // HTTP status, 0 when no answer came
	Message string
}

func (e *CarrierError) Error() string {
	return "carrier " + string(e.Class) + " " + e.Code + ": " + e.Message
}
