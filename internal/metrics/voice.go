package metrics

import "coachline/models"

// Transcription counts the alert that a voice note raised, and the opting out or
// coming back that it meant. The text that it came with is counted already.
func (m *Metrics) Transcription(accepted models.AcceptedInbound) {
	if m == nil {
		return
	}
	if accepted.Duplicate {
		return
	}
	m.alert(accepted)
	if accepted.NoticeID != 0 {
		m.intent(accepted.Inbound)
	}
}
