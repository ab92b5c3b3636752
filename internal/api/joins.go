package api

import (
	"coachline/models"
)

// NewJoin asks for the consent of a person who filled in a form, by text.
type NewJoin struct {
	Phone    string `json:"phone" maxLength:"64" doc:"Phone number of the person."`
	Locale   string `json:"locale" minLength:"2" maxLength:"35" doc:"Language of the consent text, one of the settings join."`
	Timezone string `json:"timezone,omitempty" maxLength:"64" doc:"IANA time zone, such as that of the person's browser."`
}

// JoinList holds the newest joins of a study, and how many there are in each state.
type JoinList struct {
	Counts map[string]int64 `json:"counts"`
	Joins  []models.Join    `json:"joins" nullable:"false"`
}
