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
	ID      string `gorm:"primaryKey" json:"id"`
	URL     string `json:"url"`
	StudyID string `json:"study_id,omitempty" doc:"The study whose events it is told of; empty: all."`
	// Events lists the types it is told of, each between blanks; empty: all.
	Events       string       `json:"-"`
	Types        []string     `gorm:"-" json:"events" doc:"Types of events it is told of; none: all."`
	State        WebhookState `json:"state" enum:"active,disabled"`
	FailingSince *time.Time   `json:"failing_since,omitempty" doc:"Since when no event has been taken."`
	LastError    string       `json:"last_error,omitempty"`
	CreatedBy    string       `json:"created_by"`
	CreatedAt    time.Time    `json:"created_at"`
	UpdatedAt    time.Time    `json:"updated_at"`
	Version      int64        `json:"version"`
	// Secret signs its events, as the Standard Webhooks write it (whsec_...). For
	// WebhookOverlap after RotatedAt the secret before it, behind a blank, signs too.
	Secret    string     `gorm:"serializer:sealed" json:"-"`
	NewSecret string     `gorm:"-" json:"secret,omitempty" doc:"Only in the answer that made it: what the receiver checks signatures with."`
	RotatedAt *time.Time `json:"-"`
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
	ID            int64  `gorm:"primaryKey" json:"id"`
	Event         string `gorm:"-" json:"event" doc:"The header webhook-id, the same in each try."`
	Type          string `json:"type"`
	ParticipantID string `json:"participant_id,omitempty"` // empty for an event of a study
	// ObjectID is the id of the row that changed, Status and Code what it came to.
	ObjectID string     `json:"object_id,omitempty"`
	Status   string     `json:"status,omitempty"`
	At       time.Time  `json:"at"`
	Attempts int        `json:"attempts"`
	NextAt   time.Time  `json:"-"` // not before then it is tried
	Next     *time.Time `gorm:"-" json:"next_at,omitempty" doc:"When it is tried next; left out once it is delivered."`
	// DeliveredAt is when the receiver took it, Answer its last HTTP status and Error
	// why the last try failed.
	DeliveredAt *time.Time `json:"delivered_at,omitempty"`
	Answer      int        `json:"answer,omitempty" doc:"The receiver's last HTTP status."`
	Error       string     `json:"error,omitempty"`
	WebhookID   string     `json:"-"`
	StudyID     string     `json:"-"`
	Code        string     `json:"-"`
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
	WebhookID string `path:"id" maxLength:"64" doc:"Id of a webhook."`
	OnlyOpen  bool   `query:"open" doc:"Only those that were not delivered."`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	BeforeID  int64  `query:"cursor" minimum:"1" doc:"next_cursor of the page before."`
}
