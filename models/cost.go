package models

import "time"

// CostKind is what was paid for.
type CostKind string

const (
	// CostModel is a call of a model.
	CostModel CostKind = "model"
	// CostOutbound is a text that the carrier took, CostInbound one that it
	// brought.
	CostOutbound CostKind = "outbound"
	CostInbound  CostKind = "inbound"
)

// Cost is one row of table costs: what a call of a model or a text used and what
// it cost. It holds no personal data.
type Cost struct {
	// Ref names what it was paid for and is unique, so that a retry does not
	// count twice.
	Ref           string `gorm:"primaryKey"`
	ParticipantID string // empty: the sender was not enrolled
	Day           string // of UTC
	Kind          CostKind
	// Model and Stage are empty for texts, Segments is 0 for calls.
	Model        string
	Stage        StageName
	InputTokens  int64
	CachedTokens int64
	OutputTokens int64
	Segments     int64
	// Micros is in millionths of Currency; nil where no price was known.
	Micros   *int64
	Currency string
	// AudioMillis is the length of the recording that was written down.
	AudioMillis int64
}

// CostGroup is what costs are added up by.
type CostGroup string

const (
	CostByDay    CostGroup = "day"
	CostByPerson CostGroup = "person"
	CostByModel  CostGroup = "model"
	CostByKind   CostGroup = "kind"
	CostByStudy  CostGroup = "study"
)

// CostQuery selects costs from a day up to and with another, "2026-11-24", and how
// they are added up.
type CostQuery struct {
	From, Until string
	By          CostGroup
}

// CostSum is what the costs of one group add up to.
type CostSum struct {
	// Key is the day, the participant's id, the study's, the model or the kind.
	Key string
	// Name is the person's, by person; personal data.
	Name         string `gorm:"-"`
	Calls        int64
	InputTokens  int64
	CachedTokens int64
	OutputTokens int64
	AudioMillis  int64
	// Lost counts calls whose answer was lost: what they used is not known, and
	// they are among the unpriced.
	Lost        int64
	SegmentsOut int64
	SegmentsIn  int64
	Micros      int64
	// Unpriced counts calls and texts without a known price.
	Unpriced int64
}

// BudgetScope is whose costs a budget bounds.
type BudgetScope string

const (
	BudgetProgramme   BudgetScope = "programme"
	BudgetStudy       BudgetScope = "study"
	BudgetParticipant BudgetScope = "participant"
)

// BudgetPeriod is after what time a budget begins anew, by UTC.
type BudgetPeriod string

const (
	BudgetDay   BudgetPeriod = "day"
	BudgetMonth BudgetPeriod = "month"
	BudgetTotal BudgetPeriod = "total"
)

// FirstDay returns the first day of the period that an instant is in; empty for
// all days.
func (p BudgetPeriod) FirstDay(at time.Time) string {
	switch p {
	case BudgetDay:
		return at.UTC().Format(time.DateOnly)
	case BudgetMonth:
		return at.UTC().Format("2006-01") + "-01"
	case BudgetTotal:
	}
	return ""
}

// BudgetState is where a budget stands.
type BudgetState string

const (
	BudgetOpen   BudgetState = "open"
	BudgetWarned BudgetState = "warned"
	BudgetSpent  BudgetState = "spent"
)

// Budget is one row of table budgets: what may be spent. State, Spent and
// PeriodStart are of the last sweep.
type Budget struct {
	ID            int64 `gorm:"primaryKey"`
	Scope         BudgetScope
	ParticipantID string // of scope participant
	Period        BudgetPeriod
	Micros        int64
	WarnPercent   int64
	Currency      string
	State         BudgetState
	Spent         int64
	PeriodStart   string
	CreatedBy     string
	UpdatedAt     time.Time
	StudyID       string // of scope study
}

// BudgetChange changes some fields of a budget.
type BudgetChange struct {
	ID                  int64
	Micros, WarnPercent *int64
	// Check, when not nil, refuses a row that is not the one the change is based on.
	Check func(Budget) error
	Actor string
	Now   time.Time
}

// StateAt returns the state of the budget once that much is spent.
func (b Budget) StateAt(spent int64) BudgetState {
	switch {
	case spent >= b.Micros:
		return BudgetSpent
	case spent*100 >= b.Micros*b.WarnPercent:
		return BudgetWarned
	}
	return BudgetOpen
}

// SpentBudgets says for whom the model is stopped.
type SpentBudgets struct {
	Programme             bool
	Studies, Participants map[string]bool
}

// Stops reports whether the model is stopped for a participant of a study.
func (s SpentBudgets) Stops(participantID, studyID string) bool {
	return s.Programme || s.Studies[studyID] || s.Participants[participantID]
}
