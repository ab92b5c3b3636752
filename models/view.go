package models

import "time"

// MostViews is how many views one operator may keep.
const MostViews = 50

// PeopleView is filters of the list of people that an operator saved under a name.
type PeopleView struct {
	ID int64 `gorm:"primaryKey"`
	// Owner is the actor who saved it; no other one of theirs has its Name.
	Owner, Name string
	// Query is the filters as in an address, without anything personal.
	Query string
	// Shared: every operator is shown it.
	Shared    bool
	CreatedAt time.Time
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
