package starter

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"coachline/internal/api"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

type changeRequest struct {
	ID      string `path:"id" maxLength:"64"`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"Version that the change is based on; refused with 412 when it is not the newest."`
	Body    api.ParticipantChange
}

// maxChangeTries bounds how often a change is checked again against a row that
// another request changed in between.
const maxChangeTries = 5

// changeParticipant applies a partial update. What is allowed depends on the row, so the
// row that was checked must be the row that is written: without If-Match the
// version just read is used, and a conflict is tried again.
func (h *participantRoutes) changeParticipant(ctx context.Context, in *changeRequest) (*participantAnswer, error) {
	want, err := parseIfMatch(in.IfMatch)
	if err != nil {
		return nil, h.toFailure("changing the participant", err)
	}
	for range maxChangeTries {
		saved, err := h.tryChangeParticipant(ctx, in, want)
		if errors.Is(err, models.ErrStale) && want == nil {
			continue
		}
		if err != nil {
			return nil, h.toFailure("changing the participant", err)
		}
		h.deliverNotices(ctx, saved.ID)
		return newParticipantAnswer(ctx, describeChange(in, saved), saved), nil
	}
	return nil, newFailure(http.StatusConflict, "the participant is being changed by others, try again")
}

// describeChange returns the message that answers an update.
func describeChange(in *changeRequest, saved models.Participant) string {
	if in.Body.Phone != nil && in.Body.Status == nil && saved.Status == wire.StatusOptedOut {
		return "Participant updated; they are opted out, so nothing is sent to the number until START is texted from it"
	}
	return describeChanged(in.Body, "Participant updated")
}

// describeChanged returns a message, or that a body names nothing to change.
func describeChanged(body any, message string) string {
	if reflect.ValueOf(body).IsZero() {
		return "Nothing was changed: the body names no field"
	}
	return message
}

func (h *participantRoutes) tryChangeParticipant(ctx context.Context, in *changeRequest, want *int64) (models.Participant, error) {
	row, err := h.people.Participant(ctx, in.ID)
	if err != nil {
		return models.Participant{}, err
	}
	if want != nil && *want != row.Version {
		return models.Participant{}, models.ErrStale
	}
	patch, err := checkPatch(row, in)
	if err != nil {
		return models.Participant{}, err
	}
	if patch.PausedUntil, err = checkPauseEnd(in.Body.PausedUntil, h.now()); err != nil {
		return models.Participant{}, err
	}
	if in.Body.Phone != nil {
		phone, err := h.numbers.parse(*in.Body.Phone)
		if err != nil {
			return models.Participant{}, err
		}
		patch.Phone = &phone
	}
	if patch == (models.ParticipantPatch{}) && in.Body.Waiting == "" {
		return row, nil
	}
	return h.people.UpdateParticipant(ctx, models.ParticipantUpdate{
		ID: in.ID, Patch: patch, Waiting: in.Body.Waiting, IfMatch: &row.Version, Actor: actorOf(ctx), Now: h.now(),
	})
}

// checkPatch turns a request into a patch, and refuses what the row does not
// allow.
func checkPatch(row models.Participant, in *changeRequest) (models.ParticipantPatch, error) {
	patch := in.Body.ParticipantPatch
	for _, text := range patch.All() {
		*text = trimOptional(*text)
	}
	if patch.Timezone != nil {
		if err := checkZone(*patch.Timezone); err != nil {
			return patch, err
		}
	}
	if patch.Locale != nil {
		if err := checkLocale(*patch.Locale); err != nil {
			return patch, err
		}
	}
	if patch.Status != nil && *patch.Status == row.Status {
		patch.Status = nil
	}
	if patch.Status != nil {
		if err := coach.StatusChange(row.Status, *patch.Status); err != nil {
			return patch, newFailure(http.StatusConflict, "status: %s", strings.TrimPrefix(err.Error(), "status: "))
		}
	}
	tester := row.Tester
	if patch.Tester != nil {
		tester = *patch.Tester
	}
	if patch.Debug != nil && *patch.Debug && !tester {
		return patch, errDebugNeedsTester
	}
	return patch, nil
}

// checkPauseEnd refuses an end of a pause that has passed or is too far away. The
// zero instant takes an end away.
func checkPauseEnd(end *time.Time, now time.Time) (*time.Time, error) {
	if end == nil || end.IsZero() {
		return end, nil
	}
	if !end.After(now) || end.After(now.Add(models.PauseMost)) {
		return nil, models.BadField("paused_until", "must be in the future and at most 366 days away")
	}
	return end, nil
}

// trimOptional trims a text that may be absent.
func trimOptional(s *string) *string {
	if s == nil {
		return nil
	}
	t := strings.TrimSpace(*s)
	return &t
}

// parseIfMatch reads one version, quoted as in our ETag or bare. Nil means
// that any version will do.
func parseIfMatch(header string) (*int64, error) {
	text := strings.TrimSpace(header)
	if text == "" || text == "*" {
		return nil, nil
	}
	version, err := strconv.ParseInt(strings.Trim(text, `"`), 10, 64)
	if err != nil {
		return nil, models.BadField("If-Match", "must be the version from the ETag header")
	}
	return &version, nil
}
