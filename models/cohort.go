package models

import (
	"encoding/json"
	"errors"
	"time"

	"coachline/internal/wrap"
)

// CohortState is how far an import of a cohort is.
type CohortState string

// States of an import. A file is checked, waits for a confirmation, and is carried
// out row by row; failed, canceled and done are final.
const (
	CohortChecking CohortState = "checking"
	CohortReady    CohortState = "ready"
	CohortRunning  CohortState = "running"
	CohortDone     CohortState = "done"
	CohortFailed   CohortState = "failed"
	CohortCanceled CohortState = "canceled"
)

// IsOver reports whether nothing more happens to the import.
func (s CohortState) IsOver() bool {
	return s == CohortDone || s == CohortFailed || s == CohortCanceled
}

// Cohort is one row of table cohort_jobs: a file of people who are enrolled
// together. File is emptied when the job is over.
type Cohort struct {
	ID             string         `gorm:"primaryKey" json:"id,omitempty" doc:"Missing after a dry run, which keeps nothing."`
	State          CohortState    `json:"state" enum:"checking,ready,running,done,failed,canceled" doc:"A ready one waits for its confirmation."`
	FileName       string         `gorm:"serializer:sealed" json:"file_name,omitempty"`
	Rows           int            `json:"rows" doc:"People in the file."`
	Good           int            `json:"good" doc:"Of them, those who can be enrolled."`
	FaultCount     int            `gorm:"column:faults" json:"fault_count" doc:"Faults that the check found; faults lists the first 500 and what was found later."`
	ZonesSuggested int            `gorm:"column:suggested" json:"zones_suggested" doc:"People whose zone was taken from their number; it counts as assumed."`
	PerMinute      int            `json:"per_minute" doc:"The most greetings that are planned for one minute."`
	Tried          int            `gorm:"column:next_row" json:"tried" doc:"Of the good ones, how many were enrolled or skipped so far."`
	Enrolled       int            `json:"enrolled"`
	Skipped        int            `json:"skipped" doc:"People who were enrolled elsewhere or opted out after the check; faults names them."`
	Faults         []CohortFault  `gorm:"-" json:"faults" nullable:"false"`
	First          []CohortPerson `gorm:"-" json:"first" nullable:"false" doc:"The first people who can be enrolled."`
	CreatedBy      string         `json:"created_by,omitempty"`
	CreatedAt      time.Time      `json:"created_at,omitempty"`
	ConfirmedBy    string         `json:"confirmed_by,omitempty"`
	ConfirmedAt    *time.Time     `json:"confirmed_at,omitempty"`
	FinishedAt     *time.Time     `json:"finished_at,omitempty"`
	LastGreetingAt *time.Time     `gorm:"-" json:"last_greeting_at,omitempty" doc:"When the last greeting is planned, counted from now before the confirmation; quiet hours, and people who text first, move it."`
	File           []byte         `gorm:"serializer:sealed" json:"-"`
	// Report is the JSON of a CohortReport.
	Report string `gorm:"serializer:sealed" json:"-"`
	// IgnoreUnknown leaves out columns that are not known; SkipFaulty enrols the
	// rows without a fault although others have one.
	IgnoreUnknown bool `json:"-"`
	SkipFaulty    bool `json:"-"`
	// Region and Zone are the defaults as of the upload, so that the file is read
	// alike each time.
	Region string `json:"-"`
	Zone   string `json:"-"`
	// StudyID is the study of the people.
	StudyID   string    `json:"-"`
	UpdatedAt time.Time `json:"-"`
}

// TableName implements gorm's Tabler.
func (Cohort) TableName() string { return "cohort_jobs" }

// ReadReport returns what the check and the enrolments found; the zero value before
// the check.
func (j Cohort) ReadReport() (CohortReport, error) {
	var report CohortReport
	if j.Report == "" {
		return report, nil
	}
	err := json.Unmarshal([]byte(j.Report), &report)
	return report, wrap.Errorf(err, "decoding the report of cohort %s", j.ID)
}

// CohortReport is what a check of a file found. It holds personal data.
type CohortReport struct {
	// Faults are the first ones, in the order of the file.
	Faults []CohortFault `json:"faults,omitempty"`
	// First are the first people who can be enrolled.
	First []CohortRow `json:"first,omitempty"`
	// LastGreetingAt is when the last greeting is planned; zero before the check.
	LastGreetingAt time.Time `json:"last_greeting_at,omitzero"`
}

// AddFaults adds faults while there is room.
func (r *CohortReport) AddFaults(faults []CohortFault) {
	r.Faults = append(r.Faults, faults[:min(len(faults), max(MaxCohortFault-len(r.Faults), 0))]...)
}

// Kinds of faults of an imported file.
const (
	FaultFile     = "file"      // the file as a whole
	FaultColumn   = "column"    // a name of the first row
	FaultRow      = "row"       // the shape of a row
	FaultCell     = "cell"      // what a cell says
	FaultRepeated = "repeated"  // the number stands in the file already
	FaultEnrolled = "enrolled"  // the number is enrolled already
	FaultOptedOut = "opted_out" // the number has opted out
	FaultStudy    = "study"     // the study does not take the person in
)

// MaxCohortFault is of how many faults a report tells.
const MaxCohortFault = 500

// CohortFault is one thing that is wrong with an imported file. Line and Column
// count from 1, Column in characters; both are 0 for the file as a whole.
type CohortFault struct {
	Line          int    `json:"line" doc:"From 1; 0: the file as a whole."`
	Column        int    `json:"column" doc:"In characters, from 1."`
	Kind          string `json:"kind" enum:"file,column,row,cell,repeated,enrolled,opted_out,study"`
	Field         string `json:"field,omitempty"`
	Message       string `json:"message"`
	Value         string `json:"value,omitempty" doc:"The number that it is about; only for callers with personal:read."`
	ParticipantID string `json:"participant_id,omitempty" doc:"Who is enrolled with the number."`
}

// CohortRow is one person of an imported file.
type CohortRow struct {
	// Line and Column are where the number stands.
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Phone  string `json:"phone_number"`
	PersonTexts[string]
	Locale   string `json:"locale,omitempty"`
	Timezone string `json:"timezone"`
	// ZoneAssumed: the file does not say the zone.
	ZoneAssumed bool `json:"timezone_assumed,omitempty"`
	// ZoneSuggested: it was taken from the number.
	ZoneSuggested bool `json:"timezone_suggested,omitempty"`
	// ConsentVersion is the version of the study's consent text that the person
	// agreed to on ConsentDate, a date or an instant; 0 and empty where the file does
	// not say.
	ConsentVersion int    `json:"consent_version,omitempty"`
	ConsentDate    string `json:"consent_date,omitempty"`
	ConsentLocale  string `json:"consent_locale,omitempty"`
	// Strata are the levels of the study's strata as far as the file says them.
	Strata map[string]string `json:"strata,omitempty"`
}

// CohortPerson is a person of a file. Callers without personal:read see the line
// and the zone.
type CohortPerson struct {
	Line          int    `json:"line"`
	Phone         string `json:"phone_number,omitempty"`
	Name          string `json:"name,omitempty"`
	Timezone      string `json:"timezone"`
	ZoneAssumed   bool   `json:"timezone_assumed,omitempty" doc:"The file does not say it."`
	ZoneSuggested bool   `json:"timezone_suggested,omitempty" doc:"It was taken from the number."`
	Locale        string `json:"locale,omitempty"`
}

// FaultOf returns why a person with a number that is known is not enrolled.
func (p CohortRow) FaultOf(known KnownNumber) CohortFault {
	fault := CohortFault{Line: p.Line, Column: p.Column, Field: "phone_number", Value: p.Phone, ParticipantID: known.ParticipantID}
	fault.Kind, fault.Message = FaultEnrolled, "the number is enrolled already"
	if known.OptedOut {
		fault.Kind, fault.Message = FaultOptedOut, "the number has opted out; only a START from it takes that back"
	}
	return fault
}

// StudyFault says that the person's study refused them.
func (p CohortRow) StudyFault(err error) CohortFault {
	fault := CohortFault{Line: p.Line, Column: p.Column, Value: p.Phone, Kind: FaultStudy, Message: err.Error()}
	var field *FieldError
	if errors.As(err, &field) {
		fault.Field = field.Field
	}
	return fault
}

// ParseConsentDate reads when a person has agreed: a date of UTC, an instant, or
// nothing, which is the zero time.
func ParseConsentDate(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("must be a date such as 2026-11-22 or an instant such as 2026-11-22T09:00:00Z")
}

// KnownNumber is what an installation knows of a number.
type KnownNumber struct {
	ParticipantID string // who is enrolled with it; empty: no participant
	OptedOut      bool
}

// CohortCheck is what a check of a job found.
type CohortCheck struct {
	ID         string
	State      CohortState // CohortReady or CohortFailed
	Rows, Good int
	Faults     int
	Suggested  int
	Report     CohortReport
	Now        time.Time
}

// CohortStep asks for a change of a job's state.
type CohortStep struct {
	ID    string
	Actor string
	Now   time.Time
}

// CohortBatch enrols the next people of a running job.
type CohortBatch struct {
	ID string
	// From is the number of the first row; the batch is refused with ErrStale when
	// the job is elsewhere.
	From int
	// Rows and People are the same rows, as they stand in the file and as they are
	// enrolled; Consents are what these people have agreed to, nil for nothing.
	Rows     []CohortRow
	People   []Participant
	Consents []*StudyConsent
	// LastGreetingAt is when the last greeting of the file is planned.
	LastGreetingAt time.Time
	// IsLast ends the job.
	IsLast bool
	Now    time.Time
}
