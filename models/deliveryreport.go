package models

import (
	"time"

	"coachline/models/wire"
)

// DeliveryGroup is what became of the texts of one UTC day and sender that ended in
// the same status with the same code.
type DeliveryGroup struct {
	Day string // YYYY-MM-DD
	// Sender posted them; empty for texts that were not posted.
	Sender   string
	Status   wire.OutboxStatus
	Code     string
	Texts    int
	Segments int
	// Uncounted are the texts without a count of segments; each is 1 in Segments.
	Uncounted int
	// Newest is when a text of the group changed last, Oldest when the first of
	// them was written, both in Unix seconds.
	Newest, Oldest int64
}

// InboundDay is how many texts came on one UTC day.
type InboundDay struct {
	Day   string
	Texts int
}

// DeliveryReport is what the tables say of sending in a span of time.
type DeliveryReport struct {
	Groups  []DeliveryGroup
	Inbound []InboundDay
	// Lateness has, for each prompt that was sent, by one sender where that was asked, how long after its target that
	// was; 0 for one that was early.
	Lateness []time.Duration
	// Cut: there were more prompts than are read; the newest are in Lateness.
	Cut bool
}
