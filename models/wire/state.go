package wire

import (
	"cmp"
	"slices"
	"time"
)

// ParticipantState is everything a participant's workflow knows. It is the
// only argument of the workflow and all that continue-as-new carries; it holds
// ids, codes and instants, never a text, a name or a number.
type ParticipantState struct {
	ParticipantID string `json:"participant_id"`
	// Study and Arm say which settings are in force; an empty study is the default
	// one, as in states from before there were studies.
	Study string `json:"study,omitempty"`
	Arm   string `json:"arm,omitempty"`
	// Zone is the participant's IANA zone.
	Zone string `json:"zone"`
	// ZoneAssumed: the zone is the programme's, the person's own is not known.
	ZoneAssumed bool   `json:"zone_assumed,omitempty"`
	Status      Status `json:"status"`
	Mode        Mode   `json:"mode"`
	// Turn numbers all turns of the participant from 1; ids derive from it.
	Turn  int   `json:"turn"`
	Inbox Inbox `json:"inbox"`
	// Due lists every future thing, at most one per kind and reference.
	Due       []Due      `json:"due,omitempty"`
	Schedules []Schedule `json:"schedules,omitempty"`
	// Pending is the outstanding daily prompt, nil when there is none.
	Pending *PendingPrompt `json:"pending,omitempty"`
	// Feedback is how far the collecting of feedback on the newest prompt is.
	Feedback FeedbackStage `json:"feedback,omitempty"`
	// Notices is what has been applied of the relay's notices.
	Notices AppliedNotices `json:"notices,omitzero"`
	// Commands are operator commands accepted and not yet applied.
	Commands []Command `json:"commands,omitempty"`
	// Plans are turns decided and not yet run when the run before ended; empty
	// while a run goes on.
	Plans   []TurnPlan `json:"plans,omitempty"`
	Greeted bool       `json:"greeted,omitempty"`
	// Flags are what the search attributes show of the participant's row.
	Flags ParticipantFlags `json:"flags,omitzero"`
	// AttributesShown: the search attributes that the run begins with show this
	// state.
	AttributesShown bool `json:"attributes_shown,omitempty"`
	// TakenOverUntil: an operator writes in the place of the coach until then; zero
	// while the coach writes.
	TakenOverUntil time.Time `json:"taken_over_until,omitzero"`
	// GreetingAt is when the greeting goes out while it is still to be sent; zero
	// once the conversation has begun. SignedUp: the person has enrolled
	// themselves, so the greeting answers them.
	GreetingAt time.Time `json:"greeting_at,omitzero"`
	SignedUp   bool      `json:"signed_up,omitempty"`
	// CheckIns counts what went out today; the zero value before the first one.
	CheckIns CheckIns `json:"check_ins,omitzero"`
	// Initiated is what we started of late; it stays zero while nothing limits that.
	Initiated Initiated `json:"initiated,omitzero"`
	// Subagents are those that were started within a day, oldest first.
	Subagents []SubagentStart `json:"subagents,omitempty"`
	// HasNews: texts arrived that the rules have not heard of.
	HasNews bool `json:"unheard,omitempty"`
	// Restore: an operator terminated the workflow before this one; it begins
	// with what the tables remember.
	Restore bool `json:"restore,omitempty"`
	// Ended: unenrolled; the workflow closes once its notice is out.
	Ended bool `json:"ended,omitempty"`
}

// Clone copies the state so that a rule may read it while the workflow goes on.
func (s ParticipantState) Clone() ParticipantState {
	s.Inbox.Items = slices.Clone(s.Inbox.Items)
	s.Inbox.Gaps = slices.Clone(s.Inbox.Gaps)
	s.Due = slices.Clone(s.Due)
	s.Schedules = slices.Clone(s.Schedules)
	s.Commands = slices.Clone(s.Commands)
	s.Plans = slices.Clone(s.Plans)
	s.Subagents = slices.Clone(s.Subagents)
	s.Flags = s.Flags.Clone()
	if s.Pending != nil {
		pending := *s.Pending
		s.Pending = &pending
	}
	return s
}

// Past is what the tables remember of a participant whose workflow was
// terminated.
type Past struct {
	// Turns is the highest number of a turn.
	Turns int `json:"turns"`
	// LastSeq is the highest sequence number that a workflow was told; Waiting
	// are texts up to it that no turn has answered, oldest first.
	LastSeq int64       `json:"last_seq"`
	Waiting []InboxItem `json:"waiting,omitempty"`
	// GreetingAt is when the greeting was to go out; zero when the conversation
	// has begun.
	GreetingAt time.Time `json:"greeting_at,omitzero"`
	// Schedules have no next slot yet.
	Schedules []Schedule       `json:"schedules,omitempty"`
	Flags     ParticipantFlags `json:"flags,omitzero"`
}

// NumberCheck asks the tables about messages that came under numbers which the
// workflow has seen: delivered again, or new, since the database has lost its last
// commits.
type NumberCheck struct {
	ParticipantID string `json:"participant_id"`
	// LastSeq and LastNotice are the highest numbers that the workflow has seen.
	LastSeq    int64 `json:"last_seq"`
	LastNotice int64 `json:"last_notice,omitempty"`
	// Repeated came under such a number, Held are the ids of those that wait.
	Repeated []InboxItem `json:"repeated"`
	Held     []int64     `json:"held,omitempty"`
	Now      time.Time   `json:"now"`
}

// AppliedNotices recognises a notice that is delivered again, in any run of the
// workflow. The relay delivers a participant's notices in the order of their
// numbers, each until it is marked as delivered, so the highest number that has
// arrived says of every other one whether it has arrived too.
type AppliedNotices struct {
	// Counted: numbers are compared. It is false in a run that an older build has
	// begun, until that run is continued.
	Counted bool  `json:"counted,omitempty"`
	Last    int64 `json:"last,omitempty"`
}

// Take records the arrival of an update and reports whether it is to be applied:
// it is new, or it is no notice of the relay.
func (a *AppliedNotices) Take(updateID string) bool {
	number, ok := ParseNoticeUpdateID(updateID)
	if !ok {
		return true
	}
	repeated := number <= a.Last
	a.Last = max(a.Last, number)
	return !repeated || !a.Counted
}

// Inbox is what has arrived and not been answered.
type Inbox struct {
	Items []InboxItem `json:"items,omitempty"`
	// LastSeq is the highest sequence number seen; Gaps are lower numbers that
	// have not arrived yet. Together they recognise a repeated delivery
	// exactly, in any run of the workflow.
	LastSeq int64   `json:"last_seq"`
	Gaps    []int64 `json:"gaps,omitempty"`
}

// Take records an arrival, has it wait for an answer, and reports whether it is new.
func (b *Inbox) Take(item InboxItem) bool {
	isNew := b.Hear(item)
	if isNew {
		b.Add(item)
	}
	return isNew
}

// Hear records an arrival and reports whether it is new. Sequence numbers are
// given out without gaps, so a number at or below LastSeq that is not in Gaps
// was seen before, in this run of the workflow or an earlier one.
func (b *Inbox) Hear(item InboxItem) bool {
	if item.Seq <= b.LastSeq {
		i := slices.Index(b.Gaps, item.Seq)
		if i < 0 {
			return false
		}
		b.Gaps = slices.Delete(b.Gaps, i, i+1)
	}
	for missing := b.LastSeq + 1; missing < item.Seq; missing++ {
		b.Gaps = append(b.Gaps, missing)
	}
	b.LastSeq = max(b.LastSeq, item.Seq)
	return true
}

// Add has a text wait for an answer. What its notice was numbered is of no more use.
func (b *Inbox) Add(item InboxItem) {
	item.Notice = 0
	b.Items = append(b.Items, item)
	slices.SortFunc(b.Items, func(x, y InboxItem) int { return cmp.Compare(x.Seq, y.Seq) })
}

// Return puts texts back that a turn had taken without answering them; those
// that wait already stay once.
func (b *Inbox) Return(items []InboxItem) {
	for _, item := range items {
		if !slices.ContainsFunc(b.Items, func(x InboxItem) bool { return x.MessageID == item.MessageID }) {
			b.Items = append(b.Items, item)
		}
	}
	slices.SortFunc(b.Items, func(x, y InboxItem) int { return cmp.Compare(x.Seq, y.Seq) })
}

// NewestAt is when the newest waiting text arrived; zero when none waits.
func (b Inbox) NewestAt() time.Time {
	var newest time.Time
	for _, item := range b.Items {
		if item.ReceivedAt.After(newest) {
			newest = item.ReceivedAt
		}
	}
	return newest
}

// InboxItem points at one stored inbound text. It is the payload of
// SignalMessageReceived.
type InboxItem struct {
	MessageID  int64     `json:"message_id"`
	Seq        int64     `json:"seq"`
	ReceivedAt time.Time `json:"received_at"`
	Channel    Channel   `json:"channel,omitempty"` // empty: SMS
	// Notice is the number of the notice that told of the text, which says what was
	// committed before it; 0 for texts that wait, and from older builds.
	Notice int64 `json:"notice,omitempty"`
	// Shape says whether more is likely to follow; empty also from older builds.
	Shape TextShape `json:"shape,omitempty"`
}

// TextShape says of a text whether more is likely to follow it.
type TextShape string

const (
	// ShapeOpen is of a text that is short or has no end mark, ShapeEnded of one that asks
	// or is long; all others have none.
	ShapeOpen  TextShape = "open"
	ShapeEnded TextShape = "ended"
)

// Quiet returns the silence after a text that ends a burst, where usual is that after a
// text without a shape: two and a half times as long after one that is open, three
// quarters after one that has ended.
func (s TextShape) Quiet(usual time.Duration) time.Duration {
	switch s {
	case ShapeOpen:
		return usual * 5 / 2
	case ShapeEnded:
		return usual * 3 / 4
	}
	return usual
}

// DueKind names a future thing.
type DueKind string

const (
	DueDailyPrompt       DueKind = "daily_prompt"
	DueReminder          DueKind = "reminder"
	DueAutoFeedback      DueKind = "auto_feedback"
	DueFeedbackTimeout   DueKind = "feedback_timeout"
	DueFeedbackFollowup  DueKind = "feedback_followup"
	DueDelayedTransition DueKind = "delayed_transition"
	DueDebounce          DueKind = "debounce"
	DueCheckIn           DueKind = "check_in"
	// DueGreeting begins the conversation with a person who was enrolled.
	DueGreeting DueKind = "greeting"
	// DueTakeOverEnd ends a take-over that no operator has ended.
	DueTakeOverEnd DueKind = "take_over_end"
	// DuePauseEnd resumes a participant whom an operator paused until an instant.
	DuePauseEnd DueKind = "pause_end"
	// DueResult tells what a subagent found; Ref is the subagent's turn.
	DueResult DueKind = "result"
)

// Due is one future thing at an absolute instant (UTC).
type Due struct {
	Kind DueKind   `json:"kind"`
	At   time.Time `json:"at"`
	// Ref is the schedule id of a daily prompt, the prompt id of a reminder or
	// an automatic feedback, the target mode of a delayed transition.
	Ref string `json:"ref,omitempty"`
}

// CheckIns is how many check-ins the carrier took on a local date.
type CheckIns struct {
	Date string `json:"date"` // YYYY-MM-DD in the participant's zone
	Sent int    `json:"sent"`
}

// Initiated counts what we start, by local dates (YYYY-MM-DD) in the participant's
// zone.
type Initiated struct {
	// Sent is how many texts we started on Date.
	Date string `json:"date,omitempty"`
	Sent int    `json:"sent,omitempty"`
	// Unanswered counts the dates on which a prompt, a check-in or the question whether
	// to write less went out since the person last wrote; LastDate is the newest one.
	Unanswered int    `json:"unanswered,omitempty"`
	LastDate   string `json:"last_date,omitempty"`
	// Asked: the person was asked whether to write less, and has not written since.
	Asked bool `json:"asked,omitempty"`
}

// PendingPrompt is the outstanding daily prompt.
type PendingPrompt struct {
	PromptID string    `json:"prompt_id"`
	SentAt   time.Time `json:"sent_at"`
}

// CommandKind is what an operator asked of a running participant.
type CommandKind string

const (
	CommandPause    CommandKind = "pause"
	CommandResume   CommandKind = "resume"
	CommandSetMode  CommandKind = "set_mode"
	CommandSend     CommandKind = "send"
	CommandUpdate   CommandKind = "update"
	CommandUnenroll CommandKind = "unenroll"
	CommandTakeOver CommandKind = "take_over"
	CommandHandBack CommandKind = "hand_back"
	CommandSchedule CommandKind = "schedule"
	// CommandCancel is a cancellation request of the Temporal UI or CLI. It
	// unenrolls, and the row is still to be removed.
	CommandCancel CommandKind = "cancel"
	// CommandSubagent is no operator's: a subagent ended, and its turn is the id.
	CommandSubagent CommandKind = "subagent"
)

// Command is one accepted operator command; ID is the update's id.
type Command struct {
	ID       string      `json:"id"`
	Kind     CommandKind `json:"kind"`
	Mode     Mode        `json:"mode,omitempty"`
	Status   Status      `json:"status,omitempty"`
	Zone     string      `json:"zone,omitempty"`
	OutboxID string      `json:"outbox_id,omitempty"`
	// ZoneAssumed, Confirm and Help are those of ParticipantChanged.
	ZoneAssumed bool `json:"zone_assumed,omitempty"`
	Confirm     bool `json:"confirm,omitempty"`
	Help        bool `json:"help,omitempty"`
	// Subagent is the one that ended (CommandSubagent).
	Subagent Subagent `json:"subagent,omitzero"`
	// Until is the end of a take-over (CommandTakeOver) or of a pause (CommandPause;
	// zero: none), Answer says that texts which came during a take-over are answered
	// (CommandHandBack).
	Until  time.Time `json:"until,omitzero"`
	Answer bool      `json:"answer,omitempty"`
	// Schedule is what is asked of the schedules (CommandSchedule).
	Schedule *ScheduleAsk `json:"schedule,omitempty"`
	// Items are texts to answer (CommandResume, CommandHandBack).
	Items []InboxItem `json:"items,omitempty"`
	// Flags and Arm are those of ParticipantChanged.
	Flags *ParticipantFlags `json:"flags,omitempty"`
	Arm   string            `json:"arm,omitempty"`
}

// HoldsBack reports whether texts that were committed after a command wait until it
// is applied, and returns the number of its notice. A command that was no notice holds
// nothing back, and neither does one that is answered beside a turn or only shown.
func (c Command) HoldsBack() (notice int64, ok bool) {
	if c.Kind == CommandUpdate && c.Status == "" && c.Zone == "" {
		return 0, false
	}
	return ParseNoticeUpdateID(c.ID)
}

// PauseRequest is the argument of UpdatePause.
type PauseRequest struct {
	// Until is when the pause ends by itself; zero: an operator ends it.
	Until time.Time `json:"until,omitzero"`
}

// ResumeRequest is the argument of UpdateResume.
type ResumeRequest struct {
	// Items are texts that came while the participant was paused and are to be
	// answered now, oldest first.
	Items []InboxItem `json:"items,omitempty"`
}

// TakeOverRequest is the argument of UpdateTakeOver.
type TakeOverRequest struct {
	Until time.Time `json:"until"`
}

// HandBackRequest is the argument of UpdateHandBack.
type HandBackRequest struct {
	// Answer: texts that came during the take-over are answered; Items are those of
	// them that were stored, oldest first.
	Answer bool        `json:"answer,omitempty"`
	Items  []InboxItem `json:"items,omitempty"`
}

// SetModeRequest is the argument of UpdateSetMode.
type SetModeRequest struct {
	Mode Mode `json:"mode"`
}

// SendMessageRequest is the argument of UpdateSendMessage; the text is in the
// outbox row.
type SendMessageRequest struct {
	OutboxID string `json:"outbox_id"`
}

// ParticipantChanged is the argument of UpdateParticipant: the facts of the
// row that the workflow acts on. Empty fields stay as they are.
type ParticipantChanged struct {
	Zone string `json:"zone,omitempty"`
	// ZoneAssumed: Zone is the programme's, not the person's statement.
	ZoneAssumed bool   `json:"zone_assumed,omitempty"`
	Status      Status `json:"status,omitempty"`
	// Confirm: the person opted out or came back by a text of their own, and is
	// told so once.
	Confirm bool `json:"confirm,omitempty"`
	// Help: the person asked for help.
	Help bool `json:"help,omitempty"`
	// Flags are the participant's flags as they are now.
	Flags *ParticipantFlags `json:"flags,omitempty"`
	// Arm is the arm that the participant was allocated to; empty leaves it.
	Arm string `json:"arm,omitempty"`
}

// StatusView answers QueryStatus and every update.
type StatusView struct {
	Status  Status         `json:"status"`
	Mode    Mode           `json:"mode"`
	Zone    string         `json:"zone"`
	Due     []Due          `json:"due"`
	Pending *PendingPrompt `json:"pending,omitempty"`
	// Feedback is how far the collecting of feedback on the newest prompt is.
	Feedback FeedbackStage `json:"feedback,omitempty"`
	// Turns counts the turns so far, Waiting the texts not yet answered.
	Turns    int   `json:"turns"`
	Waiting  int   `json:"waiting"`
	LastSeq  int64 `json:"last_seq"`
	Greeted  bool  `json:"greeted"`
	Ended    bool  `json:"ended"`
	InTurn   bool  `json:"in_turn"`
	Commands int   `json:"commands"`
	// Flags are what the search attributes show of the participant's row.
	Flags ParticipantFlags `json:"flags,omitzero"`
	// TakenOverUntil: an operator writes in the place of the coach until then.
	TakenOverUntil time.Time `json:"taken_over_until,omitzero"`
}
