package models

import (
	"time"

	"coachline/models/wire"
)

// StudyProgress is what the tables say of how a study goes. Testers are not counted,
// but in Balance.
type StudyProgress struct {
	People   []PeopleGroup
	Writers  []WeekWriters
	Response []DayResponse
	Prompts  []PromptGroup
	Texts    []TextGroup
	// Balance counts the record of allocations.
	Balance   []BalanceGroup
	Decisions []AvailabilityGroup
	Costs     []CostGroupSum
	Attention []AttentionCount
	// Alerts are those that page and that no operator has acknowledged.
	Alerts int
}

// PeopleGroup counts people who were enrolled on one UTC day and are alike.
type PeopleGroup struct {
	Day string // YYYY-MM-DD
	// Weeks is how many weeks of the study they have behind them.
	Weeks    int
	Status   wire.Status
	Arm      string
	Removed  bool
	Withdrew bool
	People   int64
}

// WeekWriters counts people who wrote in a week of theirs, which begins with their
// enrolment and is over; the first is 1.
type WeekWriters struct {
	Week   int
	People int64
}

// DayResponse counts people who were sent a prompt on a day of theirs, and those of
// them who answered one of its prompts within AnswerWindow. Days are 24 hours from the
// enrolment; the first is 1. Only days are counted whose answers have all had their
// time.
type DayResponse struct {
	Day      int
	Arm      string
	People   int64
	Answered int64
}

// AnswerWindow is how long after a prompt an answer to it counts for DayResponse.
const AnswerWindow = 24 * time.Hour

// Bounds of what StudyProgress has a figure for each of.
const (
	ProgressDays  = 366
	ProgressWeeks = 53
)

// PromptGroup counts prompts that were as late, or that were not sent for the same
// reason.
type PromptGroup struct {
	Sent bool
	// Lateness is an index of LatenessLimits; their number where a prompt was later.
	Lateness int
	State    PromptState // of those that were not sent
	Reason   string
	Prompts  int64
}

// LatenessLimits are how long after their target prompts went out at most, by which
// they are counted.
func LatenessLimits() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
}

// TextGroup counts texts to people by their status.
type TextGroup struct {
	Status wire.OutboxStatus
	Texts  int64
}

// BalanceGroup counts the people of a stratum, a JSON object, who were allocated to
// an arm.
type BalanceGroup struct {
	Stratum string
	Arm     string
	People  int64
}

// AvailabilityGroup counts decision points by whether people were available, and why
// not.
type AvailabilityGroup struct {
	Available bool
	Reason    string
	Points    int64
}

// CostGroupSum is what was spent on one kind.
type CostGroupSum struct {
	Kind     CostKind
	Currency string
	Micros   int64
	// Unpriced counts calls and texts without a known price.
	Unpriced int64
}
