package api

import (
	"time"

	"coachline/models"
)

// Cohort is the import of a file of people who are enrolled together.
type Cohort struct {
	ID             string             `json:"id,omitempty" doc:"Missing after a dry run, which keeps nothing."`
	State          models.CohortState `json:"state" enum:"checking,ready,running,done,failed,canceled" doc:"A ready one waits for its confirmation."`
	FileName       string             `json:"file_name,omitempty"`
	Rows           int                `json:"rows" doc:"People in the file."`
	Good           int                `json:"good" doc:"Of them, those who can be enrolled."`
	FaultCount     int                `json:"fault_count" doc:"Faults that the check found; faults lists the first 500 and what was found later."`
	ZonesSuggested int                `json:"zones_suggested" doc:"People whose zone was taken from their number; it counts as assumed."`
	PerMinute      int                `json:"per_minute" doc:"The most greetings that are planned for one minute."`
	Tried          int                `json:"tried" doc:"Of the good ones, how many were enrolled or skipped so far."`
	Enrolled       int                `json:"enrolled"`
	Skipped        int                `json:"skipped" doc:"People who were enrolled elsewhere or opted out after the check; faults names them."`
	Faults         []CohortFault      `json:"faults" nullable:"false"`
	First          []CohortPerson     `json:"first" nullable:"false" doc:"The first people who can be enrolled."`
	CreatedBy      string             `json:"created_by,omitempty"`
	CreatedAt      *time.Time         `json:"created_at,omitempty"`
	ConfirmedBy    string             `json:"confirmed_by,omitempty"`
	ConfirmedAt    *time.Time         `json:"confirmed_at,omitempty"`
	FinishedAt     *time.Time         `json:"finished_at,omitempty"`
	LastGreetingAt *time.Time         `json:"last_greeting_at,omitempty" doc:"When the last greeting is planned, counted from now before the confirmation; quiet hours, and people who text first, move it."`
}

// CohortFault is one thing that is wrong with a file.
type CohortFault struct {
	Line          int    `json:"line" doc:"From 1; 0: the file as a whole."`
	Column        int    `json:"column" doc:"In characters, from 1."`
	Kind          string `json:"kind" enum:"file,column,row,cell,repeated,enrolled,opted_out,study"`
	Field         string `json:"field,omitempty"`
	Message       string `json:"message"`
	Value         string `json:"value,omitempty" doc:"The number that it is about; only for callers with personal:read."`
	ParticipantID string `json:"participant_id,omitempty" doc:"Who is enrolled with the number."`
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
