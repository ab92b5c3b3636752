package sms

import "coachline/models"

// ParseStatus reads the carrier's status of a text; false for
// statuses it may not use for an outbound text or that are unknown. Its "sending"
// is queued here, because OutboxSending is our own state before the carrier has
// the text; "partially_delivered" claims no more than sent.
func ParseStatus(twilio string) (models.OutboxStatus, bool) {
	switch twilio {
	case "accepted", "scheduled":
		return models.OutboxAccepted, true
	case "queued", "sending":
		return models.OutboxQueued, true
	case "sent", "partially_delivered":
		return models.OutboxSent, true
	case "delivered":
		return models.OutboxDelivered, true
	case "undelivered":
		return models.OutboxUndelivered, true
	case "failed":
		return models.OutboxFailed, true
	case "read":
		return models.OutboxRead, true
	case "canceled":
		return models.OutboxCanceled, true
	default:
		return "", false
	}
}
