package api

import (
	"time"

	"coachline/models"
)

// NewWebhook adds a webhook.
type NewWebhook struct {
	URL     string   `json:"url" maxLength:"2000" pattern:"^https?://." doc:"Where events are posted to; https."`
	StudyID string   `json:"study_id,omitempty" maxLength:"40" doc:"Only events of this study."`
	Events  []string `json:"events,omitempty" maxItems:"20" doc:"Only these types; see docs/webhooks.md."`
}

// WebhookChange changes a webhook; what is left out stays.
type WebhookChange struct {
	URL          *string              `json:"url,omitempty" maxLength:"2000" pattern:"^https?://."`
	StudyID      *string              `json:"study_id,omitempty" maxLength:"40"`
	Events       []string             `json:"events,omitzero" maxItems:"20"`
	State        *models.WebhookState `json:"state,omitempty" enum:"active,disabled" doc:"What happens while it is disabled is not kept for it."`
	RotateSecret bool                 `json:"rotate_secret,omitempty" doc:"Draw a new secret. The old one signs beside it for a day."`
}

// WebhookList lists webhooks.
type WebhookList struct {
	Webhooks []models.Webhook `json:"webhooks"`
}

// WebhookDeliveryPage is a page of deliveries.
type WebhookDeliveryPage struct {
	Deliveries []models.WebhookDelivery `json:"deliveries"`
	NextCursor *string                  `json:"next_cursor"`
}

// WebhookReplay has a webhook be told again of what happened.
type WebhookReplay struct {
	Since time.Time `json:"since" doc:"From this instant on (RFC 3339); events are kept for 30 days."`
}

// WebhookReplayed says how many events will be delivered again.
type WebhookReplayed struct {
	Events int64 `json:"events"`
}
