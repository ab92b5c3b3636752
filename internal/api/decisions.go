package api

import "time"

// Decision is a decision point. The columns that CRAN's MRTAnalysis reads have its
// names, and its numbers for yes and no.
type Decision struct {
	ID           string    `json:"id" doc:"Id of the prompt that was decided on."`
	UserID       string    `json:"userid" doc:"Participant id."`
	Time         int64     `json:"time" doc:"Index of the decision point among the person's, from 1."`
	DayInStudy   int       `json:"day_in_study" doc:"1 on the local date of enrolment."`
	Availability int       `json:"availability" doc:"1 when the person was available."`
	Intervention int       `json:"intervention" doc:"1 for each option but the study's last, which they are compared with."`
	RandProb     float64   `json:"rand_prob" doc:"Probability of an intervention."`
	Outcome      *int      `json:"outcome" doc:"1 when the person wrote within outcome_hours of the decision; null while that time is not over."`
	OutcomeHours int       `json:"outcome_hours"`
	Reported     string    `json:"reported" doc:"What the person reported of the prompt: done, partly, not_done or empty."`
	Reason       string    `json:"reason" doc:"Why the person was not available."`
	Alert        string    `json:"alert" doc:"Id of the alert that held the prompt; empty: none did."`
	AlertMark    string    `json:"alert_mark" doc:"What operators said of that alert: right, wrong or empty."`
	DecidedAt    time.Time `json:"decided_at"`
	ScheduleID   string    `json:"schedule_id"`
	LocalDate    string    `json:"local_date"`
	Policy       string    `json:"policy"`
	Options      string    `json:"options" doc:"JSON object of each option's probability."`
	Option       string    `json:"option" doc:"What was drawn; empty when the person was not available."`
	Draw         float64   `json:"draw"`
	Posterior    string    `json:"posterior" doc:"What Thompson sampling rested on, as JSON; empty where probabilities are fixed."`
	Counter      int64     `json:"counter"`
	Algorithm    int       `json:"algorithm"`
	Build        string    `json:"build"`
}

// DecisionPage is a page of a study's decision points.
type DecisionPage struct {
	Decisions  []Decision `json:"decisions" nullable:"false"`
	NextCursor *string    `json:"next_cursor,omitempty"`
}
