package wire

import "time"

// AlertInput names the alert that an activity is for.
type AlertInput struct {
	AlertID string `json:"alarm_id"`
	// Again: it is the second page, because no operator has acknowledged the alert.
	Again bool `json:"again,omitempty"`
}

// EraseCopiesInput is the argument of ActivityEraseCopies.
type EraseCopiesInput struct {
	ParticipantID string `json:"participant_id"`
}

// SendAskInput is the argument of ActivitySendAsk.
type SendAskInput struct {
	InboundID int64 `json:"inbound_id"`
}

// SendHintInput is the argument of ActivitySendHint.
type SendHintInput struct {
	HintID string `json:"hint_id"`
}

// SendLimitInput is the argument of ActivitySendLimitNotice.
type SendLimitInput struct {
	InboundID int64 `json:"inbound_id"`
	// Hours is after how many hours texts are answered again; 0: after a minute.
	Hours int `json:"hours,omitempty"`
}

// RememberTurnsInput names the turns of a batch, oldest first.
type RememberTurnsInput struct {
	TurnIDs []string `json:"turn_ids"`
}

// RememberTurnsResult counts what became of a batch.
type RememberTurnsResult struct {
	Remembered int `json:"remembered"`
	Left       int `json:"left,omitempty"` // for a later batch
	GivenUp    int `json:"given_up,omitempty"`
}

// PauseEnd is the end of a pause whose time has come.
type PauseEnd struct {
	ParticipantID string    `json:"participant_id"`
	Now           time.Time `json:"now"`
}

// ReconcileResult counts what a reconciliation looked at and what it could settle.
type ReconcileResult struct {
	Checked int `json:"checked"`
	Settled int `json:"settled"`
}

// TakeOverEnd is the end of a take-over whose time has come.
type TakeOverEnd struct {
	ParticipantID string    `json:"participant_id"`
	Now           time.Time `json:"now"`
}
