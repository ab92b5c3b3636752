package api

import "coachline/models"

// PeopleViewList is the caller's views and those that are shared, by name.
type PeopleViewList struct {
	Views []models.PeopleView `json:"views" nullable:"false"`
}

// NewPeopleView saves filters under a name.
type NewPeopleView struct {
	Name   string `json:"name" minLength:"1" maxLength:"60" pattern:"\\S" doc:"No other view of the caller's has it. It must not name a person: an erasure does not look here."`
	Query  string `json:"query" minLength:"1" maxLength:"500" doc:"Filters of GET /people that hold nothing personal: status, attention, silent_days, waiting, unreachable, taken_over, taken_over_by, sort."`
	Shared bool   `json:"shared,omitempty" doc:"Show it to every operator."`
}
