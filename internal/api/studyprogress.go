package api

import (
	"strings"
	"time"

	"coachline/models"
)

// StudyProgress is how a study goes. Testers are not counted, but in balance. What
// the caller may not see is null: arms need allocation:read, costs need cost:read.
type StudyProgress struct {
	Study       string              `json:"study"`
	At          time.Time           `json:"at" doc:"When it was counted."`
	Enrolled    int64               `json:"enrolled"`
	Planned     int                 `json:"planned" doc:"How many people are to take part; 0 is not planned."`
	Recruitment []RecruitmentDay    `json:"recruitment" nullable:"false" doc:"At most 60 UTC days at equal distances, the last of them today."`
	Flow        []FlowStep          `json:"flow" nullable:"false" doc:"The boxes of the CONSORT diagram, as in the export."`
	Retention   []WeekRetention     `json:"retention" nullable:"false" doc:"By study week: seven days from each person's enrolment."`
	Response    []StudyDay          `json:"response" nullable:"false" doc:"By study day: 24 hours from each person's enrolment."`
	ArmResponse []ArmStudyDay       `json:"arm_response" doc:"The same by arm."`
	Prompts     PromptCounts        `json:"prompts"`
	Texts       TextCounts          `json:"texts"`
	Balance     []models.ArmBalance `json:"balance" doc:"The record of allocations."`
	Decisions   DecisionCounts      `json:"decisions"`
	Costs       *StudyCosts         `json:"costs"`
	Attention   []AttentionCount    `json:"attention" nullable:"false" doc:"People who call for an operator, by reason."`
	Alerts      int                 `json:"alerts" doc:"Alerts that page and that no operator has acknowledged."`
}

// RecruitmentDay is how many people had been enrolled at the end of a day.
type RecruitmentDay struct {
	Day      string   `json:"day"`
	Enrolled int64    `json:"enrolled"`
	Planned  *float64 `json:"planned" doc:"Where planned people came evenly from starts_at until ends_at; null where one of them is not set."`
}

// FlowStep is one box of the CONSORT diagram.
type FlowStep struct {
	Step   string `json:"step"`
	People int64  `json:"people"`
}

// Proportion is a share of people with bounds that hold it at all looks together with
// a probability of 95 %, so that looking every day is legal.
type Proportion struct {
	People   int64   `json:"people"`
	Answered int64   `json:"answered"`
	Share    float64 `json:"share"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// WeekRetention is how many of those who have a week behind them wrote in it.
type WeekRetention struct {
	Week int `json:"week"`
	Proportion
}

// StudyDay is how many of those who were sent a prompt on a day answered one within
// 24 hours. Only days are counted whose answers have all had their time.
type StudyDay struct {
	Day int `json:"day"`
	Proportion
}

// ArmStudyDay is a StudyDay of the people of an arm.
type ArmStudyDay struct {
	Arm string `json:"arm"`
	StudyDay
}

// PromptCounts counts prompts.
type PromptCounts struct {
	Sent     int64          `json:"sent"`
	Lateness []LatePrompts  `json:"lateness" nullable:"false" doc:"Prompts that were sent, by how long after their target."`
	Unsent   []UnsentPrompt `json:"unsent" nullable:"false" doc:"Prompts that were not sent, by state and reason."`
	// Reported has an entry for each outcome.
	Reported []ReportedPrompts `json:"reported" nullable:"false" doc:"Prompts that were sent, by what the person reported of them."`
}

// ReportedPrompts counts prompts of which the same was reported.
type ReportedPrompts struct {
	Outcome models.PromptOutcome `json:"outcome" enum:"done,partly,not_done,unknown"`
	Prompts int64                `json:"prompts"`
}

// Describe says what was reported.
func (r ReportedPrompts) Describe() string {
	return "reported as " + strings.ReplaceAll(string(r.Outcome), "_", " ")
}

// LatePrompts counts prompts that were late by more than the row before and at most
// this.
type LatePrompts struct {
	AtMostSeconds *float64 `json:"at_most_seconds" doc:"Null: later than the rows before."`
	Prompts       int64    `json:"prompts"`
}

// Describe says how late the prompts were.
func (l LatePrompts) Describe() string {
	if l.AtMostSeconds == nil {
		return "sent later than that"
	}
	limit := (time.Duration(*l.AtMostSeconds) * time.Second).String()
	return "sent at most " + strings.TrimSuffix(strings.TrimSuffix(limit, "0s"), "0m") + " after the target"
}

// UnsentPrompt counts prompts that were not sent.
type UnsentPrompt struct {
	State   models.PromptState `json:"state"`
	Reason  string             `json:"reason"`
	Prompts int64              `json:"prompts"`
}

// TextCounts counts texts that the carrier was to deliver.
type TextCounts struct {
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed" doc:"The carrier refused them or gave them up."`
	Unknown   int64 `json:"unknown" doc:"The carrier may or may not have them."`
	Canceled  int64 `json:"canceled" doc:"They were not to be sent any more."`
	Underway  int64 `json:"underway" doc:"Nothing final is known of them yet."`
}

// DecisionCounts counts decision points.
type DecisionCounts struct {
	Points      int64         `json:"points"`
	Available   int64         `json:"available"`
	Unavailable []Unavailable `json:"unavailable" nullable:"false"`
}

// Unavailable counts decision points at which people were not available.
type Unavailable struct {
	Reason string `json:"reason"`
	Points int64  `json:"points"`
}

// StudyCosts is what a study cost so far.
type StudyCosts struct {
	Sums []StudyCost `json:"sums" nullable:"false"`
	// PerPerson has a sum for each currency.
	PerPerson []StudyCost `json:"per_person" nullable:"false" doc:"The sums of all kinds over the people who were enrolled."`
}

// StudyCost is what one kind cost.
type StudyCost struct {
	Kind     models.CostKind `json:"kind,omitempty" enum:"model,outbound,inbound"`
	Currency string          `json:"currency"`
	Micros   int64           `json:"micros"`
	Unpriced int64           `json:"unpriced" doc:"Calls and texts that no price was known for."`
}
