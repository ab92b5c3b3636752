package starter

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/coach"
	"coachline/internal/screening"
	"coachline/internal/sms"
	"coachline/models"
)

// actor is who the audit rows of API calls name: the one shared token does not
// tell operators apart.
const actor = "operator"

const (
	participantsPath = "/conversation/participants"
	participantPath  = participantsPath + "/{id}"
)

// roster keeps participants.
type roster interface {
	EnrollOnce(ctx context.Context, p models.Participant, by models.Enrolment) (models.Participant, error)
	Participant(ctx context.Context, id string) (models.Participant, error)
	Participants(ctx context.Context, q models.ParticipantQuery) ([]models.Participant, error)
	RemoveParticipantIf(ctx context.Context, r models.Removal) error
}

// ParticipantView is a participant as the API shows one. It holds personal
// data.
type ParticipantView struct {
	ID          string         `json:"id"`
	Phone       string         `json:"phone_number"`
	Name        string         `json:"name"`
	Gender      string         `json:"gender"`
	Ethnicity   string         `json:"ethnicity"`
	Background  string         `json:"background"`
	Timezone    string         `json:"timezone"`
	ZoneAssumed bool           `json:"timezone_assumed" doc:"The zone is the programme's default, not the person's statement."`
	Locale      string         `json:"locale"`
	Channel     models.Channel `json:"channel"`
	Status      models.Status  `json:"status"`
	Mode        models.Mode    `json:"mode"`
	Tester      bool           `json:"tester"`
	Debug       bool           `json:"debug"`
	// UnreachableAt is set while the carrier cannot reach the number.
	UnreachableAt   *time.Time `json:"unreachable_at,omitempty" doc:"Since then the carrier cannot reach the number; no prompts are sent until the person texts or an operator updates the participant."`
	UnreachableCode string     `json:"unreachable_code,omitempty" doc:"The carrier's error code."`
	// Attention is set while an operator should look at the person.
	Attention   models.Attention `json:"attention,omitempty" enum:"crisis,unreachable,send,refusal,flood,wrong_number" doc:"The most urgent reason why an operator should look at the person; GET /attention lists all. While it is crisis no prompts are sent."`
	AttentionAt *time.Time       `json:"attention_at,omitempty" doc:"Since when."`
	EnrolledAt  time.Time        `json:"enrolled_at"`
	GreetingAt  *time.Time       `json:"greeting_at,omitempty" doc:"When the greeting was set to go out at enrolment; a text from the person before then is answered in its place."`
	Signup      bool             `json:"signup,omitempty" doc:"The person enrolled themselves."`
	CreatedAt   time.Time        `json:"created_at"`
	UpdatedAt   time.Time        `json:"updated_at"`
	Version     int64            `json:"version"`
	// Unreadable is set in lists only.
	Unreadable []string `json:"unreadable,omitempty" doc:"Stored fields that could not be opened with the payload keys; they are shown empty."`
}

func viewOf(p models.Participant) ParticipantView {
	return ParticipantView{
		ID: p.ID, Phone: p.Phone, Name: p.Name, Gender: p.Gender, Ethnicity: p.Ethnicity,
		Background: p.Background, Timezone: p.Timezone, ZoneAssumed: p.ZoneAssumed, Locale: p.Locale,
		Channel: p.Channel, Status: p.Status, Mode: p.Mode, Tester: p.Tester, Debug: p.Debug,
		UnreachableAt: p.UnreachableAt, UnreachableCode: p.UnreachableCode, Attention: p.Attention, AttentionAt: p.AttentionAt,
		EnrolledAt: p.EnrolledAt.UTC(), GreetingAt: p.GreetingAt, Signup: p.SignedUp, CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(), Version: p.Version,
		Unreadable: strings.FieldsFunc(p.Unreadable, func(r rune) bool { return r == ',' }),
	}
}

type participantAnswer struct {
	ETag string `header:"ETag" doc:"Version of the participant, for If-Match."`
	Body Envelope[ParticipantView]
}

func participantAnswered(message string, p models.Participant) *participantAnswer {
	return &participantAnswer{
		ETag: strconv.Quote(strconv.FormatInt(p.Version, 10)),
		Body: Envelope[ParticipantView]{Status: "ok", Message: message, Result: viewOf(p)},
	}
}

type enrolRequest struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Equal requests with equal keys are one enrolment, for 24 hours."`
	Body struct {
		Phone      string         `json:"phone_number" minLength:"1" maxLength:"40" doc:"Any usual notation; a national number belongs to the programme's default region."`
		Name       string         `json:"name,omitempty" maxLength:"100"`
		Gender     string         `json:"gender,omitempty" maxLength:"100"`
		Ethnicity  string         `json:"ethnicity,omitempty" maxLength:"100"`
		Background string         `json:"background,omitempty" maxLength:"2000"`
		Timezone   *string        `json:"timezone,omitempty" maxLength:"64" doc:"IANA name; the programme's default when absent."`
		Locale     string         `json:"locale,omitempty" maxLength:"35" doc:"BCP 47 tag such as es-MX, in a language that is screened: de, en, es, fr, pt."`
		Tester     bool           `json:"tester,omitempty"`
		Debug      bool           `json:"debug,omitempty" doc:"Testers only."`
		Channel    models.Channel `json:"channel,omitempty" enum:"sms,terminal" default:"sms"`
		Signup     bool           `json:"signup,omitempty" doc:"The person has just signed up themselves: they are greeted at once, also in quiet hours."`
	}
}

type listRequest struct {
	Limit  int           `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string        `query:"cursor" maxLength:"64" doc:"next_cursor of the page before."`
	Status models.Status `query:"status" enum:"active,paused,completed,withdrawn,opted_out"`
	// Attention: only people at whom an operator should look for this.
	Attention models.Attention `query:"attention" enum:"crisis,unreachable,send,refusal,flood,wrong_number"`
	Waiting   bool             `query:"waiting" doc:"Only people with texts that came while they were paused and wait for an operator."`
}

// ParticipantPage is one page of the roster; NextCursor is null on the last.
type ParticipantPage struct {
	Participants []ParticipantView `json:"participants" nullable:"false"`
	NextCursor   *string           `json:"next_cursor"`
}

func (f *front) participantRoutes(api huma.API) {
	register(api, route{method: http.MethodPost, path: participantsPath, id: "enrol-participant", summary: "Enrol a participant",
		status: http.StatusCreated, errors: []int{http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, f.enrol)
	register(api, route{method: http.MethodGet, path: participantsPath, id: "list-participants", summary: "List participants"}, f.list)
	register(api, route{method: http.MethodGet, path: participantPath, id: "get-participant", summary: "One participant",
		errors: []int{http.StatusNotFound}}, f.show)
	register(api, route{method: http.MethodPut, path: participantPath, id: "update-participant", summary: "Change some fields of a participant",
		errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, f.change)
	register(api, route{method: http.MethodDelete, path: participantPath, id: "remove-participant", summary: "Remove a participant",
		errors: []int{http.StatusNotFound, http.StatusPreconditionFailed}}, f.remove)
}

// enrol answers as soon as the row and its start notice are committed. When
// Temporal cannot be told now, the relay tells it later.
func (f *front) enrol(ctx context.Context, in *enrolRequest) (*participantAnswer, error) {
	p, err := f.newParticipant(in)
	if err != nil {
		return nil, f.refuse("enrolling", err)
	}
	if p.GreetingAt, err = f.greetingAt(p); err != nil {
		return nil, f.refuse("enrolling", err)
	}
	request, err := json.Marshal(in.Body)
	if err != nil {
		return nil, f.refuse("enrolling", err)
	}
	saved, err := f.store.EnrollOnce(ctx, p, models.Enrolment{Actor: actor, Key: in.Key, Body: string(request)})
	if errors.Is(err, models.ErrKeyUsed) {
		return nil, failure(http.StatusConflict, "Idempotency-Key: already used for another request, or for a participant who has been removed")
	}
	if err != nil {
		return nil, f.refuse("enrolling", err)
	}
	f.tell(ctx, saved.ID)
	return participantAnswered("Conversation participant enrolled successfully", saved), nil
}

func (f *front) newParticipant(in *enrolRequest) (models.Participant, error) {
	body := in.Body
	phone, err := f.participantPhone(body.Phone)
	if err != nil {
		return models.Participant{}, err
	}
	zone, assumed := f.cfg.Defaults.Zone, true
	if body.Timezone != nil {
		zone, assumed = *body.Timezone, false
		if err := checkZone(zone); err != nil {
			return models.Participant{}, err
		}
	}
	if err := checkLocale(body.Locale); err != nil {
		return models.Participant{}, err
	}
	if body.Debug && !body.Tester {
		return models.Participant{}, errDebugNeedsTester
	}
	id, err := newParticipantID()
	if err != nil {
		return models.Participant{}, err
	}
	now := f.now()
	return models.Participant{
		ID: id, Phone: phone, Name: strings.TrimSpace(body.Name), Gender: strings.TrimSpace(body.Gender),
		Ethnicity: strings.TrimSpace(body.Ethnicity), Background: strings.TrimSpace(body.Background),
		Timezone: zone, ZoneAssumed: assumed, Locale: body.Locale, Channel: body.Channel,
		Status: models.StatusActive, Mode: models.ModeIntake, Tester: body.Tester, Debug: body.Debug, SignedUp: body.Signup,
		NextSeq: 1, EnrolledAt: now, CreatedAt: now, UpdatedAt: now, Version: 1,
	}, nil
}

// greetingAt is when a new participant is greeted. The workflow keeps to it.
func (f *front) greetingAt(p models.Participant) (*time.Time, error) {
	who := models.ParticipantState{ParticipantID: p.ID, Zone: p.Timezone, ZoneAssumed: p.ZoneAssumed, SignedUp: p.SignedUp}
	at, err := coach.Situation{State: who, Now: p.EnrolledAt, Rules: f.cfg.Defaults.Rules, Zones: time.LoadLocation}.FirstGreeting()
	if err != nil {
		return nil, err
	}
	at = at.UTC().Truncate(time.Microsecond)
	return &at, nil
}

// participantPhone gives a number in E.164. The programme's own numbers are
// refused: it would text itself.
func (f *front) participantPhone(text string) (string, error) {
	phone, err := sms.Canonical(text, f.cfg.Defaults.Region)
	if err != nil {
		return "", err
	}
	if slices.Contains(f.cfg.Carrier.OurNumbers, phone) {
		return "", models.BadField("phone_number", "is the programme's own number")
	}
	return phone, nil
}

var errDebugNeedsTester = models.BadField("debug", "only a tester can have debug messages")

// checkZone takes the names of zones that have a place, and UTC.
func checkZone(name string) error {
	if err := coach.CheckZoneName(name, time.LoadLocation); err != nil {
		return models.BadField("timezone", "%s", err)
	}
	return nil
}

// checkLocale takes the locales whose messages are screened, and an empty one.
func checkLocale(locale string) error {
	if locale == "" || screening.HasRules(locale) {
		return nil
	}
	return models.BadField("locale", "must be a locale such as es-MX in a language that is screened for crisis and opt-out: %s",
		strings.Join(screening.Languages(), ", "))
}

func newParticipantID() (string, error) {
	raw := make([]byte, 12)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	return "conv_" + hex.EncodeToString(raw), nil
}

func (f *front) list(ctx context.Context, in *listRequest) (*answer[ParticipantPage], error) {
	query := models.ParticipantQuery{Status: in.Status, Attention: in.Attention, Waiting: in.Waiting, After: in.Cursor, Limit: in.Limit}
	rows, err := f.store.Participants(ctx, query)
	if err != nil {
		return nil, f.refuse("listing participants", err)
	}
	page := ParticipantPage{Participants: make([]ParticipantView, 0, len(rows))}
	for _, p := range rows {
		if p.Unreadable != "" {
			f.log.Error("stored fields cannot be opened with the payload keys; check `coachline doctor`", "participant", p.ID, "columns", p.Unreadable)
		}
		page.Participants = append(page.Participants, viewOf(p))
	}
	if len(rows) == in.Limit {
		last := rows[len(rows)-1].ID
		query.After, query.Limit = last, 1
		more, err := f.store.Participants(ctx, query)
		if err != nil {
			return nil, f.refuse("listing participants", err)
		}
		if len(more) > 0 {
			page.NextCursor = &last
		}
	}
	return newAnswer("", page), nil
}

func (f *front) show(ctx context.Context, in *byID) (*participantAnswer, error) {
	p, err := f.store.Participant(ctx, in.ID)
	if err != nil {
		return nil, f.refuse("reading the participant", err)
	}
	return participantAnswered("", p), nil
}

// Removed is the result of DELETE.
type Removed struct {
	ID string `json:"id"`
}

type removeRequest struct {
	ID      string `path:"id" maxLength:"64" doc:"Participant id."`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"Version that the removal is based on; refused with 412 when it is not the newest."`
}

func (f *front) remove(ctx context.Context, in *removeRequest) (*answer[Removed], error) {
	want, err := parseIfMatch(in.IfMatch)
	if err != nil {
		return nil, f.refuse("removing the participant", err)
	}
	if err := f.store.RemoveParticipantIf(ctx, models.Removal{ID: in.ID, IfMatch: want, Actor: actor, Now: f.now()}); err != nil {
		return nil, f.refuse("removing the participant", err)
	}
	f.tell(ctx, in.ID)
	return newAnswer("Participant removed; nothing more will be sent after the closing notice", Removed{ID: in.ID}), nil
}

// now is the present instant at the precision that every database keeps.
func (f *front) now() time.Time { return f.cfg.Now().UTC().Truncate(time.Microsecond) }
