package sms

import "coachline/models/wire"

// ParseStatus reads the carrier's status of a text; false for
// statuses it may not use for an outbound text or that are unknown. Its "sending"
// is queued here, because OutboxSending is our own state before the carrier has
// the text; "partially_delivered" claims no more than sent.
func ParseStatus(twilio string) (wire.OutboxStatus, bool) {
	switch twilio {
	case "accepted", "scheduled":
		return wire.OutboxAccepted, true
	case "queued", "sending":
		return wire.OutboxQueued, true
	case "sent", "partially_delivered":
		return wire.OutboxSent, true
	case "delivered":
		return wire.OutboxDelivered, true
	case "undelivered":
		return wire.OutboxUndelivered, true
	case "failed":
		return wire.OutboxFailed, true
	case "read":
		return wire.OutboxRead, true
	case "canceled":
		return wire.OutboxCanceled, true
	default:
		return "", false
	}
}
