package api

import (
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// State is where a participant's conversation stands.
type State struct {
	Mode    wire.Mode   `json:"mode"`
	Status  wire.Status `json:"status"`
	Profile Profile     `json:"profile"`
	// LastChannel is where the person wrote last.
	LastChannel wire.Channel   `json:"last_channel" doc:"The external channel that the person wrote on last."`
	Counters    Counters       `json:"counters"`
	Schedules   []Schedule     `json:"schedules" nullable:"false"`
	Due         []Due          `json:"due" nullable:"false"`
	Pending     *PendingPrompt `json:"pending_prompt"`
	// Feedback is how far the collecting of feedback on the newest prompt is.
	Feedback wire.FeedbackStage `json:"feedback,omitempty" enum:"asked,outcome_known,barrier_known,done" doc:"How far the coach is in asking how the newest prompt went; absent: it does not ask."`
	// MutedUntil is set while texts are kept from the coach because the sender
	// behaves like a machine.
	MutedUntil *time.Time `json:"muted_until,omitempty" doc:"Until then texts are stored and not answered, because the sender behaves like a machine."`
	// UnreachableAt is as in Participant.
	UnreachableAt   *time.Time  `json:"unreachable_at,omitempty" doc:"Since then the carrier cannot reach the number."`
	UnreachableCode string      `json:"unreachable_code,omitempty" doc:"The carrier's error code."`
	TakenOver       *TakeOver   `json:"taken_over,omitempty" doc:"The operator who writes in the place of the coach."`
	Hold            *ActiveHold `json:"hold,omitempty" doc:"The hold that stops prompts now."`
	LeftOut         []LeftOut   `json:"left_out" nullable:"false" doc:"What of the last seven days was not sent, the newest first."`
	Waiting         int         `json:"waiting_messages" doc:"Texts that came while the participant was paused or taken over and wait for an operator."`
	Version         int64       `json:"version"`
}

// Profile is what the coach has learnt of a person's habit. It holds personal
// data.
type Profile struct {
	models.HabitShown
	LastHabitPrompt  string     `json:"last_habit_prompt"`
	ToneTags         []string   `json:"tone_tags" nullable:"false"`
	LastPromptSentAt *time.Time `json:"last_prompt_sent_at"`
}

// Counters are kept by the system, never by the model.
type Counters struct {
	Successes int `json:"success_count"`
	Prompts   int `json:"total_prompts"`
}

// Schedule is a daily prompt with its true next run.
type Schedule struct {
	ID       string            `json:"id"`
	Type     wire.ScheduleType `json:"type"`
	At       string            `json:"at,omitempty" doc:"Local HH:MM of a fixed schedule."`
	From     string            `json:"from,omitempty"`
	To       string            `json:"to,omitempty"`
	Timezone string            `json:"timezone"`
	NextAt   *time.Time        `json:"next_at" doc:"When the next prompt goes out; null while none does, because the participant is not active."`
	TargetAt *time.Time        `json:"target_at" doc:"The instant that the prompt prepares for; null with next_at."`
	Held     bool              `json:"held,omitempty" doc:"A hold covers next_at: this prompt will be recorded as missed."`
}

// Settings is s without what changes from prompt to prompt.
func (s Schedule) Settings() Schedule {
	s.NextAt, s.TargetAt, s.Held = nil, nil, false
	return s
}

// Due is a due time of the participant's workflow. Ref is the schedule of a daily
// prompt, the prompt of a reminder, or the target mode of a delayed transition.
type Due struct {
	Kind wire.DueKind `json:"kind"`
	At   time.Time    `json:"at"`
	Ref  string       `json:"ref,omitempty"`
}

// PendingPrompt is the outstanding daily prompt.
type PendingPrompt struct {
	PromptID string    `json:"prompt_id"`
	SentAt   time.Time `json:"sent_at"`
}

// ActiveHold is the hold that stops a participant's prompts now.
type ActiveHold struct {
	ID    int64            `json:"id"`
	Scope models.HoldScope `json:"scope" enum:"all,participant,study"`
	Until time.Time        `json:"until"`
}

// ModeChange forces a mode.
type ModeChange struct {
	Reason string    `json:"reason,omitempty" maxLength:"500"`
	Target wire.Mode `json:"target_state" enum:"INTAKE,FEEDBACK"`
}

// ModeChanged is the result of a forced mode. Mode is still the old one while a
// turn runs; the change is applied when it ends.
type ModeChanged struct {
	Target wire.Mode `json:"target_state"`
	Mode   wire.Mode `json:"mode"`
}
