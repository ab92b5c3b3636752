package starter

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"coachline/internal/coach"
	"coachline/models"
)

// updater changes a participant's row and queues the notices that follow.
type updater interface {
	Participant(ctx context.Context, id string) (models.Participant, error)
	UpdateParticipant(ctx context.Context, u models.ParticipantUpdate) (models.Participant, error)
}

type changeRequest struct {
	ID      string `path:"id" maxLength:"64"`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"Version that the change is based on; refused with 412 when it is not the newest."`
	Body    struct {
		Phone      *string        `json:"phone_number,omitempty" minLength:"1" maxLength:"40" doc:"The participant's new number, in any usual notation. Conversation, schedules and consent stay; a number that has opted out makes the participant opted_out; the old number is a stranger's from then on."`
		Name       *string        `json:"name,omitempty" maxLength:"100"`
		Gender     *string        `json:"gender,omitempty" maxLength:"100"`
		Ethnicity  *string        `json:"ethnicity,omitempty" maxLength:"100"`
		Background *string        `json:"background,omitempty" maxLength:"2000"`
		Timezone   *string        `json:"timezone,omitempty" maxLength:"64"`
		Status     *models.Status `json:"status,omitempty" enum:"active,paused,completed,withdrawn,opted_out"`
		Locale     *string        `json:"locale,omitempty" maxLength:"35"`
		Tester     *bool          `json:"tester,omitempty"`
		Debug      *bool          `json:"debug,omitempty" doc:"Testers only."`
		// Waiting is what becomes of texts of a pause.
		Waiting models.WaitingAction `json:"waiting_messages,omitempty" enum:"answer,read" doc:"What becomes of texts that came while the participant was paused: answered in one turn, or marked as read. When the participant is resumed without it they are answered if the newest is of today in the participant's zone, and marked as read otherwise."`
	}
}

// maxChangeTries bounds how often a change is checked again against a row that
// another request changed in between.
const maxChangeTries = 5

// change applies a partial update. What is allowed depends on the row, so the
// row that was checked must be the row that is written: without If-Match the
// version just read stands in, and a lost race is tried again.
func (f *front) change(ctx context.Context, in *changeRequest) (*participantAnswer, error) {
	want, err := parseIfMatch(in.IfMatch)
	if err != nil {
		return nil, f.refuse("changing the participant", err)
	}
	for range maxChangeTries {
		saved, err := f.tryChange(ctx, in, want)
		if errors.Is(err, models.ErrStale) && want == nil {
			continue
		}
		if err != nil {
			return nil, f.refuse("changing the participant", err)
		}
		f.tell(ctx, saved.ID)
		return participantAnswered(changedMessage(in, saved), saved), nil
	}
	return nil, failure(http.StatusConflict, "the participant is being changed by others, try again")
}

// changedMessage says what an update came to.
func changedMessage(in *changeRequest, saved models.Participant) string {
	if in.Body.Phone != nil && in.Body.Status == nil && saved.Status == models.StatusOptedOut {
		return "Participant updated; they are opted out, so nothing is sent to the number until START is texted from it"
	}
	return "Participant updated"
}

func (f *front) tryChange(ctx context.Context, in *changeRequest, want *int64) (models.Participant, error) {
	row, err := f.store.Participant(ctx, in.ID)
	if err != nil {
		return models.Participant{}, err
	}
	if want != nil && *want != row.Version {
		return models.Participant{}, models.ErrStale
	}
	patch, err := allowedPatch(row, in)
	if err != nil {
		return models.Participant{}, err
	}
	if in.Body.Phone != nil {
		phone, err := f.participantPhone(*in.Body.Phone)
		if err != nil {
			return models.Participant{}, err
		}
		patch.Phone = &phone
	}
	if patch == (models.ParticipantPatch{}) && in.Body.Waiting == "" {
		return row, nil
	}
	return f.store.UpdateParticipant(ctx, models.ParticipantUpdate{
		ID: in.ID, Patch: patch, Waiting: in.Body.Waiting, IfMatch: &row.Version, Actor: actor, Now: f.now(),
	})
}

func allowedPatch(row models.Participant, in *changeRequest) (models.ParticipantPatch, error) {
	body := in.Body
	patch := models.ParticipantPatch{
		Name: trimSpace(body.Name), Gender: trimSpace(body.Gender), Ethnicity: trimSpace(body.Ethnicity),
		Background: trimSpace(body.Background), Timezone: body.Timezone, Status: body.Status,
		Locale: body.Locale, Tester: body.Tester, Debug: body.Debug,
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
			return patch, failure(http.StatusConflict, "status: %s", strings.TrimPrefix(err.Error(), "status: "))
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

func trimSpace(s *string) *string {
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
