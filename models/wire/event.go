package wire

import "time"

// EventKind is a closed set of things that can happen to a participant.
type EventKind string

const (
	EventEnrolled      EventKind = "enrolled"
	EventTexts         EventKind = "texts"
	EventDue           EventKind = "due"
	EventPromptSent    EventKind = "prompt_sent"
	EventPromptFailed  EventKind = "prompt_failed"
	EventStatus        EventKind = "status"
	EventMode          EventKind = "mode"
	EventZone          EventKind = "zone"
	EventSend          EventKind = "send"
	EventUnenrolled    EventKind = "unenrolled"
	EventScheduleTool  EventKind = "schedule_tool"
	EventTransitionAsk EventKind = "transition_ask"
	EventHelp          EventKind = "help"
	EventRestored      EventKind = "restored"
	// EventTakenOver: an operator writes until At; EventHandedBack: the coach does.
	EventTakenOver   EventKind = "taken_over"
	EventHandedBack  EventKind = "handed_back"
	EventCheckInSent EventKind = "check_in_sent"
	// EventAskLessSent: the carrier took the question whether to write less.
	EventAskLessSent EventKind = "ask_less_sent"
	// EventPaused: an operator pauses the participant until At; zero is until they
	// are resumed.
	EventPaused EventKind = "paused"
	// EventSubagentAsk: a tool gives a task away; EventSubagentDone: one ended.
	EventSubagentAsk  EventKind = "subagent_ask"
	EventSubagentDone EventKind = "subagent_done"
)

// Event is one thing that happened; which fields are set depends on Kind.
type Event struct {
	Kind EventKind `json:"kind"`
	// Due: what fell due (EventDue).
	Due Due `json:"due,omitzero"`
	// Plan: the prompt turn that ended (EventPromptSent, EventPromptFailed); its
	// Subagent is the one asked for or ended.
	Plan TurnPlan `json:"plan,omitzero"`
	// At: when the carrier took the prompt or check-in; when the newest text
	// arrived; when the take-over or the pause ends.
	At     time.Time `json:"at,omitzero"`
	Status Status    `json:"status,omitempty"`
	// Confirm: the person is told of the new status (EventStatus).
	Confirm bool `json:"confirm,omitempty"`
	// Answer: texts in the inbox that came before the status or during the
	// take-over are answered (EventStatus, EventHandedBack).
	Answer bool   `json:"answer,omitempty"`
	Mode   Mode   `json:"mode,omitempty"`
	Zone   string `json:"zone,omitempty"`
	// ZoneAssumed: Zone is the programme's (EventZone).
	ZoneAssumed bool          `json:"zone_assumed,omitempty"`
	OutboxID    string        `json:"outbox_id,omitempty"`
	Delay       time.Duration `json:"delay,omitempty"` // EventTransitionAsk
	Schedule    *ScheduleAsk  `json:"schedule,omitempty"`
}

// EffectKind is a closed set of things workflow code knows how to do.
type EffectKind string

const (
	EffectSetDue       EffectKind = "set_due"
	EffectClearDue     EffectKind = "clear_due"
	EffectSetMode      EffectKind = "set_mode"
	EffectSetStatus    EffectKind = "set_status"
	EffectSetZone      EffectKind = "set_zone"
	EffectPutSchedule  EffectKind = "put_schedule"
	EffectDropSchedule EffectKind = "drop_schedule"
	EffectSetPending   EffectKind = "set_pending"
	EffectClearPending EffectKind = "clear_pending"
	EffectMissPrompt   EffectKind = "miss_prompt"
	EffectStartTurn    EffectKind = "start_turn"
	EffectCountCheckIn EffectKind = "count_check_in"
	// EffectCountInitiated replaces the count of what we started.
	EffectCountInitiated EffectKind = "count_initiated"
	// EffectLeaveOut records why a prompt has no more follow-ups.
	EffectLeaveOut EffectKind = "leave_out"
	// EffectTakeOver: an operator writes until Until; a zero one gives back.
	EffectTakeOver EffectKind = "take_over"
	// EffectStartSubagent starts Turn.Subagent in a workflow of its own.
	EffectStartSubagent EffectKind = "start_subagent"
	// EffectSetSubagents replaces the list of started subagents.
	EffectSetSubagents EffectKind = "set_subagents"
	EffectEnd          EffectKind = "end"
)

// Effect is one decided change; which fields are set depends on Kind.
type Effect struct {
	Kind EffectKind `json:"kind"`
	// Due: what to set (replaces the one of equal Kind and Ref), or what to
	// clear (an empty Ref clears every one of that Kind).
	Due    Due    `json:"due,omitzero"`
	Mode   Mode   `json:"mode,omitempty"`
	Status Status `json:"status,omitempty"`
	Zone   string `json:"zone,omitempty"`
	// ZoneAssumed goes with Zone.
	ZoneAssumed bool           `json:"zone_assumed,omitempty"`
	Schedule    *Schedule      `json:"schedule,omitempty"` // put: replaces by id; drop: id only
	Pending     *PendingPrompt `json:"pending,omitempty"`
	Missed      *MissedPrompt  `json:"missed,omitempty"`
	Turn        *TurnPlan      `json:"turn,omitempty"`
	CheckIns    CheckIns       `json:"check_ins,omitzero"` // replaces the count
	Initiated   Initiated      `json:"initiated,omitzero"` // replaces the count
	LeftOut     *LeftOut       `json:"left_out,omitempty"`
	Until       time.Time      `json:"until,omitzero"` // the end of a take-over
	// Subagents replace the list.
	Subagents []SubagentStart `json:"subagents,omitempty"`
}

// MissedPrompt records a slot that was not sent and never will be.
type MissedPrompt struct {
	ScheduleID string `json:"schedule_id"`
	Slot       Slot   `json:"slot"`
	Reason     string `json:"reason"` // outage, quiet_hours, paused, taken_over, daily_limit, backed_off
}

// LeftOut records why a reminder, question or follow-up of a prompt was not sent and
// never will be.
type LeftOut struct {
	PromptID string `json:"prompt_id"`
	Reason   string `json:"reason"` // one_follow_up, next_day, daily_limit, backed_off
}

// TurnPlan says why a turn runs and what it belongs to.
type TurnPlan struct {
	// Kind is the kind of the text that the turn produces; KindReply answers
	// what is in the inbox.
	Kind TurnKind `json:"kind"`
	// PromptID: the prompt that the turn sends, reminds of or asks about.
	PromptID   string `json:"prompt_id,omitempty"`
	ScheduleID string `json:"schedule_id,omitempty"`
	Slot       Slot   `json:"slot,omitzero"`
	// Until: the text is not sent from then on. For a check-in it is when the next
	// quiet hours begin, for a prompt the end of its local date.
	Until time.Time `json:"until,omitzero"`
	// Introduce: the reply begins the conversation in place of the greeting.
	Introduce bool `json:"introduce,omitempty"`
	// OutboxID: the operator's message to send.
	OutboxID string `json:"outbox_id,omitempty"`
	// Subagent: whose turn this is, or whose result it tells.
	Subagent Subagent `json:"subagent,omitzero"`
}

// Decision is the outcome of a rule: the effects to apply, and for a tool call
// what the model is told.
type Decision struct {
	Effects []Effect `json:"effects,omitempty"`
	// Note is the tool result as JSON text; empty for events that no tool made,
	// and for calls whose result a subagent writes.
	Note string `json:"note,omitempty"`
	// Refused says why a tool call changed nothing; empty when it was done.
	Refused string `json:"refused,omitempty"`
}

// PromptPlan returns the plan of the prompt that is to be sent; nil when none is.
func (d Decision) PromptPlan() *TurnPlan {
	for _, effect := range d.Effects {
		if effect.Kind == EffectStartTurn && effect.Turn.Kind == TurnPrompt {
			return effect.Turn
		}
	}
	return nil
}
