package models

import "time"

// DecisionPoint is one row of table decisions: a decision point of a person, at a slot of
// a prompt. It is written before what it decides is done, also where the person was
// not available. Rows are only added.
type DecisionPoint struct {
	ID            string `gorm:"primaryKey"` // the prompt's
	StudyID       string
	ParticipantID string
	// Number counts the decision points of the person from 1.
	Number     int64
	ScheduleID string
	LocalDate  string
	// DayInStudy is 1 on the person's local date of enrolment.
	DayInStudy int
	DecidedAt  time.Time
	Available  bool
	// Reason says why the person was not available.
	Reason string
	// Policy names the rule; Options is a JSON object of the options' probabilities.
	Policy  string
	Options string
	// Option is what was drawn; empty where the person was not available.
	Option      string
	Send        bool
	Instruction string
	// Intervention is false for the last option of the study, which the others are
	// compared with. RandProb is the probability that it is true.
	Intervention bool
	RandProb     float64
	Draw         float64
	// Posterior is the JSON of a Posterior; empty where probabilities are fixed.
	Posterior string
	// Counter selects the random numbers of the row in the person's sequence.
	Counter   int64
	Algorithm int
	Build     string // of the programme that decided
	// OutcomeHours is within how many hours of DecidedAt an answer counts.
	OutcomeHours int
	// Hash covers the row and the person's rows before it; empty in rows from before
	// there were hashes.
	Hash string
}

// TableName is the table's name.
func (DecisionPoint) TableName() string { return "decisions" }

// DecisionHead is what is kept of a person's decision points, so that rows which are
// removed are missed.
type DecisionHead struct {
	ParticipantID string `gorm:"primaryKey"`
	StudyID       string
	Number        int64 // of the last row
	// Hash is the head of the chain; empty while no row has a hash.
	Hash string
	// DayOne is the local date that is day 1 of the person, whatever their zone
	// becomes.
	DayOne string
}

// DecisionCheck is what a check of a study's decision points found. ParticipantID and
// BadRow name the first bad row; BadRow is 0 where a problem is of no row.
type DecisionCheck struct {
	OK            bool   `json:"ok"`
	People        int64  `json:"people" doc:"People whose rows are right."`
	Rows          int64  `json:"rows" doc:"Rows that are right."`
	Unchained     int64  `json:"unchained" doc:"People whose rows are all from before rows had hashes; only their draws were checked."`
	ParticipantID string `json:"participant_id,omitempty" doc:"Whose row is the first bad one."`
	BadRow        int64  `json:"bad_row,omitempty" doc:"Number of the row among the person's."`
	Problem       string `json:"problem,omitempty"` // empty: everything is right
}

// DecisionQuery selects decision points of a study.
type DecisionQuery struct {
	StudyID string
	After   string // id of the last one of the page before
	Limit   int
	Now     time.Time
}

// DecisionOutcome is a decision point with its proximal outcome: whether the person
// wrote within OutcomeHours of it. Nil while that time is not over.
type DecisionOutcome struct {
	DecisionPoint
	Answered *bool
	// Reported is what the person reported of the prompt, empty where nothing is saved.
	Reported PromptOutcome
	// AlertID names the alert that held the prompt, empty where none did, and AlertMark what
	// operators said of it.
	AlertID   string
	AlertMark AlertMark
}
