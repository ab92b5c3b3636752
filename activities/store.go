package activities

import (
	"context"
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// Package store provides each of these.

// Turns keeps turns, what the model answered in them, so that a retry does not pay
// twice, what became of its calls, and the mirror of the workflow's state.
type Turns interface {
	BeginTurn(ctx context.Context, in wire.PrepareTurnInput) (wire.PrepareTurnResult, error)
	// OpenTurn is BeginTurn that reads the turn as well.
	// CheckNumbers returns those of some messages that are new although the workflow has
	// seen their numbers.
	CheckNumbers(ctx context.Context, in wire.NumberCheck) ([]wire.InboxItem, error)
	OpenTurn(ctx context.Context, in wire.PrepareTurnInput, window int) (wire.PrepareTurnResult, models.TurnContext, error)
	TurnContext(ctx context.Context, turnID string, window int) (models.TurnContext, error)
	EndingTurn(ctx context.Context, turnID string) (models.TurnContext, error)
	FinishTurn(ctx context.Context, out models.TurnOutcome) (models.EndedTurn, error)
	Step(ctx context.Context, turnID string, number int) (models.Step, error)
	SaveStep(ctx context.Context, step models.Step) (models.Step, error)
	// LastDisclosure is when a person was last told that a program writes.
	LastDisclosure(ctx context.Context, participantID string) (time.Time, error)
	RecentPrompts(ctx context.Context, participantID string) ([]models.PastPrompt, error)
	ToolRun(ctx context.Context, turnID string, step, call int) (models.ToolRun, error)
	CommitTool(ctx context.Context, commit models.ToolCommit) error
	// Past is the history of a workflow that was terminated.
	Past(ctx context.Context, participantID string) (wire.Past, error)
	SaveState(ctx context.Context, in wire.SaveStateInput) error
}

// Outbox checks and records what leaves for the carrier, and what a refusal asks for
// beyond giving the text back. What an older claim of a row asks for is answered with
// ErrStale.
type Outbox interface {
	Row(ctx context.Context, id string) (models.Outbox, error)
	ClaimSend(ctx context.Context, outboxID string, now time.Time) (models.SendClaim, error)
	// StartPost repeats the send check; the text may be written when the row
	// comes back as sending.
	StartPost(ctx context.Context, claim models.SendClaim, now time.Time) (models.Outbox, error)
	ReleaseSend(ctx context.Context, ref models.ClaimRef, now time.Time) error
	NoteMissing(ctx context.Context, ref models.ClaimRef, listed time.Time) error
	ReleaseMissing(ctx context.Context, ref models.ClaimRef, now time.Time) error
	RecordAccepted(ctx context.Context, ref models.ClaimRef, r models.Receipt, now time.Time) error
	RecordFailed(ctx context.Context, f models.SendFailure) error
	// RecordReassigned notes what the carrier says of a number, and stops where it has gone to
	// another person.
	RecordReassigned(ctx context.Context, ref models.ClaimRef, isReassigned bool, now time.Time) error
	HoldSender(ctx context.Context, r models.Refusal) error
	PostponeSend(ctx context.Context, ref models.ClaimRef, now time.Time) error
	LateTry(ctx context.Context, outboxID string) (models.LateTry, error)
	// Unsettled lists texts that the carrier took and has not finished with,
	// ordered by id.
	Unsettled(ctx context.Context, q models.UnsettledQuery) ([]models.Outbox, error)
	AcceptStatus(ctx context.Context, cb models.StatusCallback) (bool, error)
	// ReturnedMessages lists the texts of a refused reply that wait for another answer.
	ReturnedMessages(ctx context.Context, row models.Outbox) ([]wire.InboxItem, error)
}

// Hints keeps the fixed texts that no turn belongs to.
type Hints interface {
	ClaimHint(ctx context.Context, id string, now time.Time) (models.HintClaim, error)
	// CheckHint repeats the check of the claim; the text may be written when it
	// comes back as sending.
	CheckHint(ctx context.Context, id string, now time.Time) (wire.OutboxStatus, error)
	SettleHint(ctx context.Context, r models.HintResult) error
	// HintText is of what a hint is made.
	HintText(ctx context.Context, id string) (models.HintText, error)
	// ReaderOf returns name, phone, locale, study and arm of the participant who sent a text.
	ReaderOf(ctx context.Context, inboundID int64) (models.Participant, error)
	QueueLimitNotice(ctx context.Context, n models.LimitNotice) (string, error)
	// AskedIntent is what the screening took a text for that is to be asked about.
	AskedIntent(ctx context.Context, inboundID int64) (models.Intent, error)
	QueueAsk(ctx context.Context, a models.Ask) (string, error)
}

// Alerts keeps what is done about texts that may be a crisis.
type Alerts interface {
	Alert(ctx context.Context, id string) (models.Alert, error)
	QueueSafetyText(ctx context.Context, s models.SafetyText) (string, error)
	AlertPaged(ctx context.Context, id string, at time.Time) error
	AlertText(ctx context.Context, id string) (models.AlertMessage, error)
}

// Looks are weak signs of danger that a model reads once more.
type Looks interface {
	DueLooks(ctx context.Context, participantID string) ([]models.DueLook, error)
	SettleLook(ctx context.Context, r models.LookResult) (answered bool, err error)
}

// Attention asks for an operator.
type Attention interface {
	// RaiseAttention answers raised as false while the same was asked for before.
	RaiseAttention(ctx context.Context, entry models.AttentionEntry) (raised bool, err error)
	// RaiseAdvice does so where the drafts of the person's study are changed too often.
	RaiseAdvice(ctx context.Context, entry models.AttentionEntry) (raised bool, err error)
}

// People takes participants out of the programme, and ends their pauses.
type People interface {
	RemoveParticipant(ctx context.Context, id, actor string, now time.Time) error
	ExpirePause(ctx context.Context, in wire.PauseEnd) (until time.Time, err error)
}

// TakeOvers ends the times in which an operator answers.
type TakeOvers interface {
	ExpireTakeOver(ctx context.Context, in wire.TakeOverEnd) (until time.Time, err error)
}

// Erasures keeps what is left to erase of a person.
type Erasures interface {
	CarrierCopies(ctx context.Context, participantID string, limit int) ([]models.CarrierCopy, error)
	// CopyErased records that the carrier has a message no more.
	CopyErased(ctx context.Context, participantID string, c models.CarrierCopy) error
	// NoteErasureProblem calls an operator, once until the erasure is done.
	NoteErasureProblem(ctx context.Context, participantID, problem string, now time.Time) error
}

// MemoryQueue holds the turns that are to be remembered.
type MemoryQueue interface {
	// QueuedMemory returns those of some turns that still are, oldest first.
	QueuedMemory(ctx context.Context, turnIDs []string) ([]models.MemoryJob, error)
	EndMemory(ctx context.Context, turnID string) error
}
