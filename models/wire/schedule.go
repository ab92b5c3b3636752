package wire

import "time"

// ScheduleAction is what the scheduler tool was asked to do.
type ScheduleAction string

const (
	ScheduleCreate ScheduleAction = "create"
	ScheduleList   ScheduleAction = "list"
	ScheduleDelete ScheduleAction = "delete"
	// ScheduleReplace gives a schedule other times, ScheduleMove moves its next
	// prompt alone; operators only.
	ScheduleReplace ScheduleAction = "replace"
	ScheduleMove    ScheduleAction = "move"
)

// ScheduleChanged refuses a replacement that was made from other times.
const ScheduleChanged = "the schedule has changed since it was read"

// ScheduleAsk is a parsed call of the scheduler tool, or what an operator asks for
// in the person's place. NewID is the id a created schedule gets; it derives from
// the call, so a retry makes the same.
type ScheduleAsk struct {
	Action ScheduleAction `json:"action"`
	NewID  string         `json:"new_id,omitempty"`
	Type   ScheduleType   `json:"type,omitempty"`
	At     string         `json:"at,omitempty"`
	From   string         `json:"from,omitempty"`
	To     string         `json:"to,omitempty"`
	Zone   string         `json:"zone,omitempty"`
	ID     string         `json:"id,omitempty"`
	// Based is the schedule that a replacement was made from; it is refused when the
	// times are others now.
	Based *Schedule `json:"based,omitempty"`
	// ByOperator: the times are not the person's own choice, so that quiet hours
	// hold for them.
	ByOperator bool `json:"by_operator,omitempty"`
	// NotBefore: no prompt has its time before this instant or at it; zero for the next
	// that there is.
	NotBefore time.Time `json:"not_before,omitzero"`
	// MoveTo is when the moved prompt goes out (ScheduleMove).
	MoveTo time.Time `json:"move_to,omitzero"`
}

// ScheduleType is how a schedule picks its instant.
type ScheduleType string

const (
	ScheduleFixed  ScheduleType = "fixed"
	ScheduleRandom ScheduleType = "random"
)

// Schedule is a daily prompt that a participant asked for, as the workflow
// state holds it. Times are local "HH:MM".
type Schedule struct {
	ID   string       `json:"id"`
	Type ScheduleType `json:"type"`
	// At is the local time of a fixed schedule.
	At string `json:"at,omitempty"`
	// From and To bound a random schedule; To before From means over midnight.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Zone is an IANA name; empty means the zone that the participant has at the
	// time.
	Zone string `json:"zone,omitempty"`
	// LastDate is the newest local date (YYYY-MM-DD) that had its prompt or
	// its recorded miss; the next one is always on a later date.
	LastDate string `json:"last_date,omitempty"`
	// LastAt is when the newest prompt went out; zero before the first. The next
	// one is on a later local date, in the zone that the schedule has then.
	LastAt time.Time `json:"last_at,omitzero"`
	// Next is the coming slot; the due time of the prompt belongs to it.
	Next Slot `json:"next"`
}

// Slot is one occurrence of a schedule.
type Slot struct {
	// Date is the local date (YYYY-MM-DD) that the occurrence belongs to.
	Date string `json:"date"`
	// TargetAt is the instant the person asked for, SendAt the instant the
	// prompt goes out; SendAt is never after TargetAt.
	TargetAt time.Time `json:"target_at"`
	SendAt   time.Time `json:"send_at"`
}
