package api

import (
	"time"

	"coachline/models"
)

// Webhook is a receiver of signed events.
type Webhook struct {
	ID           string              `json:"id"`
	URL          string              `json:"url"`
	StudyID      string              `json:"study_id,omitempty" doc:"The study whose events it is told of; empty: all."`
	Events       []string            `json:"events" doc:"Types of events it is told of; none: all."`
	State        models.WebhookState `json:"state" enum:"active,disabled"`
	FailingSince *time.Time          `json:"failing_since,omitempty" doc:"Since when no event has been taken."`
	LastError    string              `json:"last_error,omitempty"`
	CreatedBy    string              `json:"created_by"`
	CreatedAt    time.Time           `json:"created_at"`
	UpdatedAt    time.Time           `json:"updated_at"`
	Version      int64               `json:"version"`
	Secret       string              `json:"secret,omitempty" doc:"Only in the answer that made it: what the receiver checks signatures with."`
}

// NewWebhook adds a webhook.
type NewWebhook struct {
	URL     string   `json:"url" maxLength:"2000" doc:"Where events are posted to; https."`
	StudyID string   `json:"study_id,omitempty" maxLength:"40" doc:"Only events of this study."`
	Events  []string `json:"events,omitempty" maxItems:"20" doc:"Only these types; see docs/webhooks.md."`
}

// WebhookChange changes a webhook; what is left out stays.
type WebhookChange struct {
	URL          *string              `json:"url,omitempty" maxLength:"2000"`
	StudyID      *string              `json:"study_id,omitempty" maxLength:"40"`
	Events       []string             `json:"events,omitzero" maxItems:"20"`
	State        *models.WebhookState `json:"state,omitempty" enum:"active,disabled" doc:"What happens while it is disabled is not kept for it."`
	RotateSecret bool                 `json:"rotate_secret,omitempty" doc:"Draw a new secret. The old one signs beside it for a day."`
}

// WebhookList lists webhooks.
type WebhookList struct {
	Webhooks []Webhook `json:"webhooks"`
}

// WebhookDelivery is one event for one webhook.
type WebhookDelivery struct {
	ID            int64      `json:"id"`
	Event         string     `json:"event" doc:"The header webhook-id, the same in each try."`
	Type          string     `json:"type"`
	ParticipantID string     `json:"participant_id,omitempty"`
	ObjectID      string     `json:"object_id,omitempty"`
	Status        string     `json:"status,omitempty"`
	At            time.Time  `json:"at"`
	Attempts      int        `json:"attempts"`
	NextAt        *time.Time `json:"next_at,omitempty" doc:"When it is tried next; left out once it is delivered."`
	DeliveredAt   *time.Time `json:"delivered_at,omitempty"`
	Answer        int        `json:"answer,omitempty" doc:"The receiver's last HTTP status."`
	Error         string     `json:"error,omitempty"`
}

// WebhookDeliveryPage is a page of deliveries.
type WebhookDeliveryPage struct {
	Deliveries []WebhookDelivery `json:"deliveries"`
	NextCursor *string           `json:"next_cursor"`
}

// WebhookReplay has a webhook be told again of what happened.
type WebhookReplay struct {
	Since time.Time `json:"since" doc:"From this instant on (RFC 3339); events are kept for 30 days."`
}

// WebhookReplayed says how many events will be delivered again.
type WebhookReplayed struct {
	Events int64 `json:"events"`
}
