package store

import (
	"context"
	"hash/fnv"
	"time"

	"gorm.io/gorm"

	"coachline/internal/database"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// refusedArrived means that a later try is not made, because the text has arrived.
const refusedArrived = "arrived"

// scheduleRetry writes the later try of a text that a report ended, where the report is
// one for which there is a try, with the notice that has it started. row is the
// locked row as the report leaves it. Doubled reports write it once, because its
// key is the first row's; the report of a try gives no other.
func (s *Outbox) scheduleRetry(tx *gorm.DB, p models.Participant, row models.Outbox, report models.StatusCallback) error {
	if !s.needsRetry(p, row, report) {
		return nil
	}
	now := database.Instant(report.At)
	id := models.LateID(row.ID)
	due := now.Add(s.retryDelay + spreadDelay(id, s.retryDelay))
	added, err := database.InsertOnce(tx, &models.Outbox{
		ID: id, ParticipantID: row.ParticipantID, TurnID: row.TurnID, Part: row.Part, Kind: row.Kind, PromptID: row.PromptID,
		Body: row.Body, Channel: row.Channel, Status: wire.OutboxReady, LateTries: 1, LateOf: row.ID, DueAt: &due, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil || !added {
		return err
	}
	return tx.Create(&models.Notice{ParticipantID: p.ID, Kind: models.NoticeLate, Ref: id, CreatedAt: now}).Error
}

// needsRetry reports whether a report that ended a text leads to a later try. row is
// the row as the report leaves it.
func (s *Outbox) needsRetry(p models.Participant, row models.Outbox, report models.StatusCallback) bool {
	return s.retryDelay > 0 && isOwed(p, row, report)
}

// isOwed reports whether a text gets its one later try: the carrier's report is
// one of a passing fault, and the text has not had the try. A text of no turn
// is one of the starter's, which are of use for minutes only. A participant who
// opted out gets nothing, not even the confirmation again: it has to come
// within five minutes (47 CFR 64.1200(a)(12)).
func isOwed(p models.Participant, row models.Outbox, report models.StatusCallback) bool {
	switch {
	case !report.Class.Spec().LaterRetry, row.ErrorCode != report.ErrorCode, !isLost(row.Status):
		return false
	case row.LateTries > 0, row.TurnID == "", !row.Kind.Spec().LaterRetry:
		return false
	}
	return p.RemovedAt == nil && p.Status != wire.StatusOptedOut
}

// isLost reports whether the carrier took a text and did not deliver it.
func isLost(status wire.OutboxStatus) bool {
	return status == wire.OutboxUndelivered || status == wire.OutboxFailed
}

// spreadDelay returns a delay between 0 and width, always the same for a row.
func spreadDelay(id string, width time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(id)) // never fails
	return time.Duration(hash.Sum64() % uint64(width)).Truncate(time.Microsecond)
}

// laterRetryGate names what has made a later try pointless, or returns nothing: the text
// arrived after all, the prompt is answered or over, a newer reply was sent.
// What other people may not be sent is for the other send checks.
func checkLaterRetry(tx *gorm.DB, row models.Outbox) (string, error) {
	var first models.Outbox
	if err := tx.Where("id = ?", row.LateOf).Take(&first).Error; err != nil {
		return "", err
	}
	switch {
	case !isLost(first.Status):
		return refusedArrived, nil
	case row.Kind == models.KindPrompt:
		return checkPrompt(tx, row)
	case row.Kind.Spec().CanBeOvertaken:
		return checkReply(tx, first)
	}
	return "", nil
}

func checkPrompt(tx *gorm.DB, row models.Outbox) (string, error) {
	var prompt models.Prompt
	if err := tx.Where("id = ?", row.PromptID).Take(&prompt).Error; err != nil {
		return "", err
	}
	switch prompt.State {
	case models.PromptPending:
		return "", nil
	case models.PromptResponded:
		return refusedAnswered, nil
	case models.PromptPlanned, models.PromptReminded, models.PromptVoided, models.PromptMissed, models.PromptFailed:
	}
	return refusedVoided, nil
}

// replyGate refuses a row when the carrier took a later reply, with any outcome,
// because the two would arrive in the wrong order.
func checkReply(tx *gorm.DB, first models.Outbox) (string, error) {
	if first.AcceptedAt == nil {
		return "", nil
	}
	var newer int64
	err := tx.Model(&models.Outbox{}).
		Where("participant_id = ? AND kind = ? AND turn_id <> ?", first.ParticipantID, models.KindReply, first.TurnID).
		Where("accepted_at > ?", database.Instant(*first.AcceptedAt)).Limit(1).Count(&newer).Error
	if err != nil || newer == 0 {
		return "", err
	}
	return refusedSuperseded, nil
}

// LateTry reads a later try as of one instant, with what says when it may go.
// ErrNotFound for an unknown id and for a row that is none.
func (s *Outbox) LateTry(ctx context.Context, id string) (models.LateTry, error) {
	var out models.LateTry
	err := s.db.Snapshot(ctx, func(tx *gorm.DB) error {
		out = models.LateTry{}
		if err := tx.Where("id = ? AND late_of <> ''", id).Take(&out.Row).Error; err != nil {
			return err
		}
		if err := tx.Where("id = ?", out.Row.LateOf).Take(&out.First).Error; err != nil {
			return err
		}
		if err := tx.Where("id = ?", out.Row.ParticipantID).Take(&out.Participant).Error; err != nil {
			return err
		}
		if err := setLocalDate(tx, &out); err != nil {
			return err
		}
		return tx.Where("turn_id = ? AND part < ? AND late_of <> '' AND status IN ?",
			out.Row.TurnID, out.Row.Part, []wire.OutboxStatus{wire.OutboxReady, wire.OutboxSending}).Find(&out.Before).Error
	})
	return out, wrap.Errorf(err, "reading the later try %s", id)
}

// setLocalDate reads the local day that a prompt is for.
func setLocalDate(tx *gorm.DB, out *models.LateTry) error {
	if out.Row.Kind != models.KindPrompt {
		return nil
	}
	var prompt models.Prompt
	if err := tx.Where("id = ?", out.Row.PromptID).Take(&prompt).Error; err != nil {
		return err
	}
	out.LocalDate, out.Zone = prompt.LocalDate, out.Participant.Timezone
	var zones []string
	err := tx.Model(&models.ScheduleRow{}).
		Where("participant_id = ? AND id = ? AND zone <> ''", prompt.ParticipantID, prompt.ScheduleID).Pluck("zone", &zones).Error
	if len(zones) > 0 {
		out.Zone = zones[0]
	}
	return err
}
