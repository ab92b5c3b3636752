package models

import (
	"time"

	"coachline/models/wire"
)

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
	Alerts(fn func(StudyPerson, Alert) error) error
	Costs(fn func(StudyPerson, Cost) error) error
	// Audit are the audit rows about the study as a whole, with a person without an
	// id, and then those about its people; all without reasons, details and changes.
	Audit(fn func(StudyPerson, Audit) error) error
}
