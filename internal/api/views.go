package api

import "time"

// PeopleView is filters of the list of people that were saved under a name.
type PeopleView struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Query     string    `json:"query" doc:"The filters as GET /people takes them, such as status=active&silent_days=3."`
	Shared    bool      `json:"shared" doc:"Every operator is shown it."`
	Owner     string    `json:"owner" doc:"Who saved it."`
	CreatedAt time.Time `json:"created_at"`
}

// PeopleViewList is the caller's views and those that are shared, by name.
type PeopleViewList struct {
	Views []PeopleView `json:"views" nullable:"false"`
}

// NewPeopleView saves filters under a name.
type NewPeopleView struct {
	Name   string `json:"name" minLength:"1" maxLength:"60" pattern:"\\S" doc:"No other view of the caller's has it. It must not name a person: an erasure does not look here."`
	Query  string `json:"query" minLength:"1" maxLength:"500" doc:"Filters of GET /people that hold nothing personal: status, attention, silent_days, waiting, unreachable, taken_over, taken_over_by, sort."`
	Shared bool   `json:"shared,omitempty" doc:"Show it to every operator."`
}
