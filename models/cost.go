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

// CostRow is what the costs of one group add up to.
type CostRow struct {
	Key          string `json:"key" doc:"The day, the participant's id or the study's (empty: people who are not enrolled), the model, or the kind: model, outbound, inbound."`
	Name         string `gorm:"-" json:"name,omitempty" doc:"The person's name, for callers who may see it."`
	Calls        int64  `json:"calls" doc:"Calls of models and texts."`
	InputTokens  int64  `json:"input_tokens"`
	CachedTokens int64  `json:"cached_tokens" doc:"Those of input_tokens that the provider had."`
	OutputTokens int64  `json:"output_tokens"`
	AudioMillis  int64  `json:"audio_ms" doc:"Length of the voice notes that were written down and are paid by the minute."`
	LostCalls    int64  `gorm:"column:lost" json:"lost_calls" doc:"Calls of models whose answer was lost, as with a worker that was killed. What they used, only the provider knows; they are among unpriced."`
	SegmentsOut  int64  `json:"segments_out"`
	SegmentsIn   int64  `json:"segments_in"`
	Micros       int64  `json:"micros"`
	Unpriced     int64  `json:"unpriced" doc:"Calls and texts that no price was known for; they are not in micros."`
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
	ID            int64        `gorm:"primaryKey" json:"id"`
	Scope         BudgetScope  `json:"scope" enum:"programme,study,participant"`
	ParticipantID string       `json:"participant_id,omitempty"` // of scope participant
	StudyID       string       `json:"study_id,omitempty"`       // of scope study
	Period        BudgetPeriod `json:"period" enum:"day,month,total" doc:"It begins anew with each day or month of UTC."`
	Micros        int64        `json:"micros" doc:"In millionths of the currency."`
	WarnPercent   int64        `json:"warn_percent"`
	Currency      string       `json:"currency"`
	State         BudgetState  `json:"state" enum:"open,warned,spent" doc:"As of the last sweep, seconds ago. While it is spent the model writes nothing, and fixed texts stand in."`
	Spent         int64        `json:"spent" doc:"In millionths of the currency, in this period."`
	CreatedBy     string       `json:"created_by"`
	UpdatedAt     time.Time    `json:"updated_at"`
	PeriodStart   string       `json:"-"`
}

// Settings is b without what spending changes.
func (b Budget) Settings() Budget {
	b.State, b.Spent = "", 0
	return b
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

// MissedSpent is the reason of a prompt that was missed because its reader had cost what a
// person may on a day, and the error code of rows that this stopped.
const MissedSpent = "spent"

// SpentBudgets says for whom the model is stopped.
type SpentBudgets struct {
	Programme             bool
	Studies, Participants map[string]bool
}

// Stops reports whether the model is stopped for a participant of a study.
func (s SpentBudgets) Stops(participantID, studyID string) bool {
	return s.Programme || s.Studies[studyID] || s.Participants[participantID]
}
