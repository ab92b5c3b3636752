package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"coachline/internal/database"
	"coachline/models"
	"coachline/models/wire"
)

// validate refuses a new row that lacks what every row has, with a
// *models.FieldError.
func validate(p models.Participant) error {
	switch {
	case p.ID == "":
		return models.BadField("id", "must not be empty")
	case p.Phone == "":
		return models.BadField("phone", "must not be empty")
	case p.EnrolledAt.IsZero():
		return models.BadField("enrolled_at", "must be set")
	case p.Debug && !p.Tester:
		return errDebug
	}
	return checkTexts(p, func(models.PersonField) bool { return true })
}

// checkTexts refuses texts about a person that hold what they may not, among those
// that are new.
func checkTexts(p models.Participant, isNew func(models.PersonField) bool) error {
	for field, text := range p.Texts() {
		if !isNew(field) {
			continue
		}
		if err := models.CheckText(field.Name, *text, field.HasLines); err != nil {
			return err
		}
	}
	return nil
}

var errDebug = models.BadField("debug", "is for testers only")

// setDefaults fills in what an enrolment may leave open.
func setDefaults(p *models.Participant) {
	if p.CreatedAt.IsZero() {
		p.CreatedAt = p.EnrolledAt
	}
	if p.UpdatedAt.IsZero() {
		p.UpdatedAt = p.EnrolledAt
	}
	p.EnrolledAt, p.CreatedAt, p.UpdatedAt = database.Instant(p.EnrolledAt), database.Instant(p.CreatedAt), database.Instant(p.UpdatedAt)
	if p.GreetingAt != nil {
		at := database.Instant(*p.GreetingAt)
		p.GreetingAt = &at
	}
	if p.Status == "" {
		p.Status = wire.StatusActive
	}
	if p.Mode == "" {
		p.Mode = wire.ModeIntake
	}
	if p.StudyID == "" {
		p.StudyID = models.DefaultStudy
	}
	p.Channel = p.Channel.Name()
	p.RemovedAt, p.NextSeq, p.Version, p.LastChannel = nil, 1, 1, wire.ChannelSMS
}

func clearUnreachable(p *models.Participant) []string {
	if p.UnreachableAt == nil {
		return nil
	}
	p.UnreachableAt, p.UnreachableCode = nil, ""
	return []string{"unreachable"}
}

// applyPatch applies a patch to a copy of the row and lists what changed. An
// operator who looked after a person has the number tried again.
func applyPatch(p models.Participant, patch models.ParticipantPatch) (models.Participant, []string, error) {
	var changed []string
	text := func(name string, field, value *string) { changed = applyValue(changed, name, field, value) }
	flag := func(name string, field, value *bool) { changed = applyValue(changed, name, field, value) }
	for _, field := range models.PersonFields() {
		text(field.Name, field.Of(&p), *field.ChangeOf(&patch))
	}
	if patch.Timezone != nil && p.ZoneAssumed {
		p.ZoneAssumed = false
		if !slices.Contains(changed, "timezone") {
			changed = append(changed, "timezone")
		}
	}
	changed = append(changed, clearUnreachable(&p)...)
	changed = append(changed, endDoubt(&p, patch)...)
	before := p
	text("status", (*string)(&p.Status), (*string)(patch.Status))
	if err := setPauseEnd(&p, before.Status, patch.PausedUntil); err != nil {
		return p, nil, err
	}
	if formatPauseEnd(p) != formatPauseEnd(before) {
		changed = append(changed, "paused_until")
	}
	flag("tester", &p.Tester, patch.Tester)
	if !p.Tester && patch.Debug == nil {
		off := false
		patch.Debug = &off // who stops being a tester loses debug with it
	}
	flag("debug", &p.Debug, patch.Debug)
	if p.Debug && !p.Tester {
		return p, nil, errDebug
	}
	isChanged := func(field models.PersonField) bool { return slices.Contains(changed, field.Name) }
	return p, changed, checkTexts(p, isChanged) // what was stored before there was the rule stays
}

// applyValue sets a field to the value that a patch gives, if it gives another one, and
// adds its name to those that changed.
func applyValue[T comparable](changed []string, name string, field, value *T) []string {
	if value == nil || *value == *field {
		return changed
	}
	*field = *value
	return append(changed, name)
}

// endDoubt ends the doubt whose number it is where an operator gives a number or has a
// person coached again.
func endDoubt(p *models.Participant, patch models.ParticipantPatch) []string {
	isSure := patch.Phone != nil || patch.Status != nil && *patch.Status == wire.StatusActive
	if !isSure || p.DoubtedAt == nil {
		return nil
	}
	p.DoubtedAt = nil
	return []string{"doubt"}
}

// setPauseEnd sets when a pause ends by itself. A pause that begins has the end
// that the patch gives or none, one that goes on keeps its end where the patch
// gives none.
func setPauseEnd(p *models.Participant, before wire.Status, until *time.Time) error {
	isPaused := p.Status == wire.StatusPaused
	if until != nil && !until.IsZero() && !isPaused {
		return models.BadField("paused_until", "only for a participant who is paused or becomes so")
	}
	switch {
	case !isPaused, until != nil && until.IsZero(), until == nil && before != wire.StatusPaused:
		p.PausedUntil = nil
	case until != nil:
		at := until.UTC().Truncate(time.Second)
		p.PausedUntil = &at
	}
	return nil
}

// formatPauseEnd writes when a pause ends by itself; empty: it does not.
func formatPauseEnd(p models.Participant) string {
	if end := p.PauseEndsAt(); end != nil {
		return end.Format(time.RFC3339)
	}
	return ""
}

// changedFields are the values of the named fields of p, for the audit.
func changedFields(p models.Participant, names []string) map[string]string {
	values := map[string]string{
		"status": string(p.Status), "tester": strconv.FormatBool(p.Tester), "debug": strconv.FormatBool(p.Debug),
		"unreachable": p.UnreachableCode, "paused_until": formatPauseEnd(p),
	}
	for field, text := range p.Texts() {
		values[field.Name] = *text
	}
	out := map[string]string{}
	for _, name := range names {
		out[name] = values[name]
	}
	return out
}

// noticesOf lists what a participant's workflow has to be told, each kind
// once.
func noticesOf(old, p models.Participant) []models.NoticeKind {
	var kinds []models.NoticeKind
	paused := old.Status == wire.StatusPaused && p.Status == wire.StatusPaused
	if paused && formatPauseEnd(old) != formatPauseEnd(p) {
		kinds = append(kinds, models.NoticePause)
	}
	update := old.Timezone != p.Timezone || old.ZoneAssumed != p.ZoneAssumed
	if old.Status != p.Status {
		switch p.Status {
		case wire.StatusPaused:
			kinds = append(kinds, models.NoticePause)
		case wire.StatusActive:
			kinds = append(kinds, models.NoticeResume)
		case wire.StatusCompleted, wire.StatusWithdrawn, wire.StatusOptedOut:
			update = true
		}
	}
	if update {
		kinds = append(kinds, models.NoticeUpdate)
	}
	return kinds
}

// EnrolmentKeyLife is how long an idempotency key stands for its enrolment.
const EnrolmentKeyLife = 24 * time.Hour

// EnrollOnce is Enroll for a request that may be repeated: with the key of an
// earlier equal request it returns the participant of then, as the row is now,
// and changes nothing. ErrKeyUsed when the key stands for another request, or for
// a participant who has been removed. Without a key it is Enroll.
func (s *People) EnrollOnce(ctx context.Context, p models.Participant, by models.Enrolment) (models.Participant, error) {
	if by.Key == "" {
		return s.enroll(ctx, p, by, nil)
	}
	key := models.EnrolmentKey{KeyIndex: s.db.Index("enrolment key " + by.Key), BodyIndex: s.db.Index("enrolment " + by.Body)}
	if earlier, found, err := s.enrolledBy(ctx, key, p.EnrolledAt); found || err != nil {
		return earlier, err
	}
	saved, err := s.enroll(ctx, p, by, &key)
	if !errors.Is(err, models.ErrConflict) {
		return saved, err
	}
	// An equal request may have been faster.
	if earlier, found, lookupErr := s.enrolledBy(ctx, key, p.EnrolledAt); found || lookupErr != nil {
		return earlier, lookupErr
	}
	return models.Participant{}, err
}

func (s *People) enrolledBy(ctx context.Context, key models.EnrolmentKey, now time.Time) (models.Participant, bool, error) {
	var rows []models.EnrolmentKey
	err := s.db.Reader(ctx).Where("key_index = ? AND created_at > ?", key.KeyIndex, instant(now.Add(-EnrolmentKeyLife))).Find(&rows).Error
	if err != nil {
		return models.Participant{}, false, fmt.Errorf("looking for an earlier enrolment: %w", classify(err))
	}
	if len(rows) == 0 {
		return models.Participant{}, false, nil
	}
	if rows[0].BodyIndex != key.BodyIndex {
		return models.Participant{}, true, models.ErrKeyUsed
	}
	p, err := s.Participant(ctx, rows[0].ParticipantID)
	if errors.Is(err, models.ErrNotFound) {
		return p, true, models.ErrKeyUsed
	}
	return p, true, err
}
