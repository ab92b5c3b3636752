package models

import (
	"context"
	"slices"
	"time"

	"coachline/models/wire"
)

// SMS is one text for the carrier.
type SMS struct {
	OutboxID string // put into the status callback URL
	To       string // E.164
	Body     string
	// Sender is the number or service that it comes from; zero is the client's.
	Sender Sender
	// AnySender has Find look at texts of every sender, because another may have
	// sent this one.
	AnySender bool
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
	Status      wire.OutboxStatus
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

// Reaction is what a send does about an answer of the carrier.
type Reaction int

const (
	// ReactionEnd: the message ends as failed.
	ReactionEnd Reaction = iota
	// ReactionLookUp: the message may have been taken, and is looked up.
	ReactionLookUp
	// ReactionRetry: the message was not taken, and is tried again soon;
	// ReactionRetryInMinutes gives the carrier some minutes, ReactionRetryLater is
	// one try much later.
	ReactionRetry
	ReactionRetryInMinutes
	ReactionRetryLater
	// ReactionHold: no message of the sender is taken; this one waits with the
	// others. ReactionHoldAndEnd ends this one, because the account is not in order.
	ReactionHold
	ReactionHoldAndEnd
)

// HoldEnd is when a stop of the whole sender is over.
type HoldEnd int

const (
	// HoldEndNone: the sender is not stopped.
	HoldEndNone HoldEnd = iota
	// HoldEndQuota: when the carrier's daily quota begins anew.
	HoldEndQuota
	// HoldEndProbe: nothing says when; one message is tried now and then.
	HoldEndProbe
)

// ClassSpec is what the code does about a class of failures.
type ClassSpec struct {
	Name     CarrierClass
	Reaction Reaction
	// HoldEnd is when the stop of the sender ends.
	HoldEnd HoldEnd
	// LaterRetry: a report of it, after the carrier had taken the message, leads to
	// a later retry.
	LaterRetry bool
	// OptsOut: it says that the person opted out. Unreachable: it says that the
	// number cannot be reached.
	OptsOut, Unreachable bool
	// NextStep is what an operator does about it, for people to read.
	NextStep string
}

// classes registers every class.
var classes = []ClassSpec{
	{Name: CarrierRetry, Reaction: ReactionRetry,
		NextStep: "Nothing to do: it is tried again by itself. Send it again by hand if it has failed in the end."},
	{Name: CarrierSlowDown, Reaction: ReactionRetryInMinutes,
		NextStep: "Nothing to do: it is tried again by itself. If it happens every day, ask the carrier for a higher rate."},
	{Name: CarrierRetryOnce, Reaction: ReactionRetryLater, LaterRetry: true,
		NextStep: "It is tried once more later. If that fails too, ask the person by another way whether the phone works."},
	{Name: CarrierAmbiguous, Reaction: ReactionLookUp,
		NextStep: "Wait: the carrier is asked whether it took the message. Do not send it again before that is known."},
	{Name: CarrierWindow, Reaction: ReactionHold, HoldEnd: HoldEndQuota,
		NextStep: "Nothing to do: messages go on when the quota begins anew. Ask the carrier for a higher quota if it happens often."},
	{Name: CarrierRegistration, Reaction: ReactionHold, HoldEnd: HoldEndProbe,
		NextStep: "Complete the registration of the sender with the carrier; messages go on by themselves then."},
	{Name: CarrierAccount, Reaction: ReactionHoldAndEnd, HoldEnd: HoldEndProbe,
		NextStep: "Have an administrator check the account and the sender's settings with the carrier; then send it again."},
	{Name: CarrierConsent, OptsOut: true,
		NextStep: "Send nothing more. Only the person can come back, by texting START."},
	{Name: CarrierBadNumber, Unreachable: true,
		NextStep: "Ask the person by another way for the right number, and change it here."},
	{Name: CarrierBlocked, NextStep: "Look at the text for links or words that carriers filter, write it differently, and ask the person whether they blocked the number."},
	{Name: CarrierContent, NextStep: "The text itself was refused: write it shorter or without what was attached, and send it again."},
	{Name: CarrierStale, NextStep: "It came too late to be of use. Send it again only if it still makes sense."},
}

// Spec returns what is done about the class; for none and for unknown ones the
// message ends.
func (c CarrierClass) Spec() ClassSpec {
	i := slices.IndexFunc(classes, func(spec ClassSpec) bool { return spec.Name == c })
	if i < 0 {
		return ClassSpec{Name: c}
	}
	return classes[i]
}

// HoldingClasses lists the classes that stop the sender.
func HoldingClasses() []CarrierClass {
	var list []CarrierClass
	for _, spec := range classes {
		if spec.HoldEnd != HoldEndNone {
			list = append(list, spec.Name)
		}
	}
	return list
}

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
