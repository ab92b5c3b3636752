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
	Balance   []ArmBalance
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
	Outcome  PromptOutcome // what was reported of those that were sent
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

// ArmBalance counts the people of a stratum, a JSON object, who were allocated to
// an arm.
type ArmBalance struct {
	Stratum string `json:"stratum" doc:"A JSON object of levels; {} where there are no strata."`
	Arm     string `json:"arm"`
	People  int64  `json:"people"`
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

// StudyPerson is a person of a study without what tells who they are. Withdrew: they
// took back their consent to the study.
type StudyPerson struct {
	ID          string
	Timezone    string
	Locale      string
	Channel     wire.Channel
	Status      wire.Status
	Mode        wire.Mode
	Tester      bool
	Arm         string
	EnrolledAt  time.Time
	RemovedAt   *time.Time
	Withdrew    bool `gorm:"-"`
	ZoneAssumed bool
}

// StudyReading says what is read of a study.
type StudyReading struct {
	ID string
	// Now decides which outcomes are over.
	Now time.Time
	// Texts has the messages read with their words, which are personal data.
	Texts bool
}

// StudyRows reads the rows of a study from one state of the database, in an order
// that does not change, without personal data but for texts that were asked for. Each method calls
// fn for each row and ends with the first error of it.
type StudyRows interface {
	People(fn func(StudyPerson) error) error
	Turns(fn func(StudyPerson, Turn) error) error
	Prompts(fn func(StudyPerson, Prompt) error) error
	// Outbound are the texts to people, Inbound those that they sent.
	Outbound(fn func(StudyPerson, Outbox) error) error
	Inbound(fn func(StudyPerson, Inbound) error) error
	Decisions(fn func(StudyPerson, DecisionOutcome) error) error
	Allocations(fn func(StudyPerson, Allocation) error) error
	StudyConsents(fn func(StudyPerson, StudyConsent) error) error
	Disclosures(fn func(StudyPerson, Disclosure) error) error
	Alerts(fn func(StudyPerson, Alert) error) error
	Costs(fn func(StudyPerson, Cost) error) error
	// Audit are the audit rows about the study as a whole, with a person without an
	// id, and then those about its people; all without reasons, details and changes.
	Audit(fn func(StudyPerson, AuditRow) error) error
}
