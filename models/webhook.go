package models

import (
	"slices"
	"strings"
	"time"
)

// WebhookState says whether a webhook is told of events.
type WebhookState string

const (
	WebhookActive WebhookState = "active"
	// WebhookDisabled is told of nothing; what happens meanwhile is not kept for it.
	WebhookDisabled WebhookState = "disabled"
)

// WebhookTest is the event that an operator sends to try a webhook.
const WebhookTest = "webhook.test"

// WebhookEvents lists the types that a webhook may ask for, sorted. Triggers of
// migrations write them.
func WebhookEvents() []string {
	return []string{
		"alert.acknowledged", "alert.opened", "consent.given", "consent.withdrawn", "message.received", "message.status",
		"participant.allocated", "participant.enrolled", "participant.removed", "participant.status", "prompt.status", "study.state",
	}
}

// Webhook is one row of table webhooks: a receiver of signed events.
type Webhook struct {
	ID  string `gorm:"primaryKey"`
	URL string
	// StudyID, when not empty, is the study whose events it is told of.
	StudyID string
	// Events lists the types it is told of, each between blanks; empty: all.
	Events string
	// Secret signs its events, as the Standard Webhooks write it (whsec_...). For
	// WebhookOverlap after RotatedAt the secret before it, behind a blank, signs too.
	Secret    string `gorm:"serializer:sealed"`
	RotatedAt *time.Time
	State     WebhookState
	// FailingSince is when the first delivery failed after which none succeeded,
	// LastError why the last one did.
	FailingSince *time.Time
	LastError    string
	CreatedBy    string
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Version      int64
}

// WebhookOverlap is for how long a secret that was replaced signs beside the new one.
const WebhookOverlap = 24 * time.Hour

// Secrets lists the secrets that sign at an instant, the newest first.
func (w Webhook) Secrets(at time.Time) []string {
	secrets := strings.Fields(w.Secret)
	if len(secrets) > 1 && (w.RotatedAt == nil || at.Sub(*w.RotatedAt) > WebhookOverlap) {
		return secrets[:1]
	}
	return secrets
}

// JoinEventTypes writes types as a row keeps them; all of them are no list.
func JoinEventTypes(types []string) string {
	if len(types) == 0 {
		return ""
	}
	types = slices.Clone(types)
	slices.Sort(types)
	return " " + strings.Join(slices.Compact(types), " ") + " "
}

// EventTypes lists the types that the webhook is told of; none: all.
func (w Webhook) EventTypes() []string { return strings.Fields(w.Events) }

// WebhookChange is a change of a webhook by an operator; nil leaves a field.
type WebhookChange struct {
	ID string
	// IfMatch, when not nil, is the version that the row must have.
	IfMatch *int64
	URL     *string
	StudyID *string
	Events  []string // nil leaves them
	State   *WebhookState
	Secret  *string
	Actor   string
	Now     time.Time
}

// WebhookDelivery is one row of table webhook_deliveries: one event for one webhook.
// It says what happened to which row, and nothing of what people or operators wrote.
type WebhookDelivery struct {
	ID            int64 `gorm:"primaryKey"`
	WebhookID     string
	Type          string
	ParticipantID string // empty for an event of a study
	StudyID       string
	// ObjectID is the id of the row that changed, Status and Code what it came to.
	ObjectID string
	Status   string
	Code     string
	At       time.Time
	NextAt   time.Time // not before then it is tried
	Attempts int
	// DeliveredAt is when the receiver took it, Answer its last HTTP status and Error
	// why the last try failed.
	DeliveredAt *time.Time
	Answer      int
	Error       string
}

// WebhookAttempt is what came of one try to deliver.
type WebhookAttempt struct {
	Delivery WebhookDelivery
	Answer   int
	// Error says why it failed; empty: it was delivered.
	Error string
	// Next is when it is tried again, Gone that the receiver wants no more.
	Next time.Time
	Gone bool
	Now  time.Time
}

// DeliveryQuery selects a page of deliveries of a webhook, newest first.
type DeliveryQuery struct {
	WebhookID string
	// OnlyOpen selects those that were not delivered.
	OnlyOpen bool
	BeforeID int64
	Limit    int
}
