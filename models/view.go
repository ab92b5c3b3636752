package models

import "time"

// MostViews is how many views one operator may keep.
const MostViews = 50

// PeopleView is filters of the list of people that an operator saved under a name.
type PeopleView struct {
	ID int64 `gorm:"primaryKey" json:"id"`
	// Owner is the actor who saved it; no other one of theirs has its Name.
	Name      string    `json:"name"`
	Query     string    `json:"query" doc:"The filters as GET /people takes them, such as status=active&silent_days=3."`
	Shared    bool      `json:"shared" doc:"Every operator is shown it."`
	Owner     string    `json:"owner" doc:"Who saved it."`
	CreatedAt time.Time `json:"created_at"`
}

// TableName implements gorm's Tabler.
func (PeopleView) TableName() string { return "people_views" }

// ViewRemoval removes a view. Any: also one of another operator.
type ViewRemoval struct {
	ID    int64
	Actor string
	Any   bool
	Now   time.Time
}
