package models

import (
	"time"

	"coachline/models/wire"
)

// PeopleOrder is the order of a list of people.
type PeopleOrder string

// The orders of people. A person who has never written counts as heard when they
// were enrolled.
const (
	// OrderHeard has who was heard last first, OrderSilent who was heard first.
	OrderHeard  PeopleOrder = "last_heard"
	OrderSilent PeopleOrder = "silent"
	// OrderNextPrompt has only people with a next prompt, the soonest first.
	OrderNextPrompt PeopleOrder = "next_prompt"
	OrderName       PeopleOrder = "name"
)

// PeopleFilter selects enrolled people. Zero fields select everybody.
type PeopleFilter struct {
	Status wire.Status
	// Attention: they need it for one of these kinds.
	Attention   []wire.Attention
	Waiting     bool // texts of theirs wait for an operator
	Unreachable bool // the carrier cannot reach their number
	// TakenOver: an operator writes in the place of the coach; TakenOverBy: this one.
	TakenOver   bool
	TakenOverBy string
	// HeardUntil: they were heard last at this instant or before.
	HeardUntil time.Time
	// DueFrom and DueUntil: an active person has a prompt from the one to before the
	// other. Both or none are set.
	DueFrom, DueUntil time.Time
	// Phone in E.164 is the number they have.
	Phone string
	// Name is a part of their name, in any case.
	Name string
}

// PeopleQuery selects a page of people.
type PeopleQuery struct {
	PeopleFilter
	Order PeopleOrder // empty: OrderHeard
	// After is the Cursor of the page before; empty: from the start.
	After string
	Limit int // 1..200
	Now   time.Time
}

// Person is a participant in a list of people.
type Person struct {
	Participant
	// NextPromptAt is when the next prompt is to go out; nil: none is planned.
	NextPromptAt *time.Time
	// Prompts went out in the seven days before, and Answered of them were answered.
	Prompts, Answered int
}

// PeoplePage is a page of people. Cursor asks for the next; empty on the last.
type PeoplePage struct {
	People []Person
	Cursor string
}

// HourCount counts the people who have a prompt within an hour.
type HourCount struct {
	From   time.Time `json:"from"`
	People int       `json:"people"`
}

// Today is what an operator looks at first. Every count is of the people whom the
// filter of the same name lists.
type Today struct {
	People, Silent, Waiting, Unreachable int
	Attention                            map[wire.Attention]int
	Hours                                []HourCount
}

// SilentFilter selects active people who were not heard since an instant.
func SilentFilter(since time.Time) PeopleFilter {
	return PeopleFilter{Status: wire.StatusActive, HeardUntil: since}
}
