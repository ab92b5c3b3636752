package starter

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/coach"
	"coachline/internal/region"
	"coachline/internal/screening"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
)

const (
	participantsPath = "/conversation/participants"
	participantPath  = participantsPath + "/{id}"
)

// toParticipant shows a participant. A caller who may not see personal data gets
// the row without it; the id is the pseudonym.
func toParticipant(ctx context.Context, p models.Participant) api.Participant {
	if !canSeePersonal(ctx) {
		p = p.WithoutPersonal()
	}
	return api.Participant{
		ID: p.ID, Phone: p.Phone, PersonShown: models.PersonShown(p.PersonTexts), Timezone: p.Timezone, ZoneAssumed: p.ZoneAssumed, Locale: p.Locale,
		Channel: p.Channel, Status: p.Status, Mode: p.Mode, Tester: p.Tester, Debug: p.Debug,
		UnreachableAt: p.UnreachableAt, UnreachableCode: p.UnreachableCode, Attention: p.Attention, AttentionAt: p.AttentionAt,
		PausedUntil: p.PauseEndsAt(), TakenOver: toTakeOver(p),
		EnrolledAt: p.EnrolledAt.UTC(), GreetingAt: p.GreetingAt, LastInboundAt: p.LastInboundAt, Study: p.StudyID, Signup: p.SignedUp, CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(), Version: p.Version,
		Unreadable: strings.FieldsFunc(p.Unreadable, func(r rune) bool { return r == ',' }),
	}
}

type participantAnswer struct {
	Location string `header:"Location" doc:"Path of a participant who was enrolled; left out otherwise."`
	ETag     string `header:"ETag" doc:"Version of the participant, for If-Match."`
	Body     api.Envelope[api.Participant]
}

func newParticipantAnswer(ctx context.Context, message string, p models.Participant) *participantAnswer {
	return &participantAnswer{
		ETag: strconv.Quote(strconv.FormatInt(p.Version, 10)),
		Body: api.Envelope[api.Participant]{Status: api.StatusOK, Message: message, Result: toParticipant(ctx, p)},
	}
}

type enrolRequest struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Equal requests with equal keys are one enrolment, for 24 hours."`
	Body api.NewParticipant
}

// participantRoutes answers what concerns participants.
type participantRoutes struct {
	base
	people   *store.People
	defaults Defaults
	resolver *study.Resolver
	numbers  *numbers
}

func (h *participantRoutes) register(router huma.API) {
	register(router, route{method: http.MethodPost, path: participantsPath, id: "enrol-participant", ownKey: true, needs: auth.ParticipantEnrol, summary: "Enrol a participant",
		status: http.StatusCreated, errors: []int{http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.enrolParticipant)
	register(router, route{method: http.MethodGet, path: participantsPath, id: "list-participants", needs: auth.ParticipantRead, summary: "List participants"}, h.listParticipants)
	register(router, route{method: http.MethodGet, path: participantPath, id: "get-participant", needs: auth.ParticipantRead, summary: "One participant",
		errors: []int{http.StatusNotFound}}, h.getParticipant)
	register(router, route{method: http.MethodPut, path: participantPath, id: "update-participant", needs: auth.ParticipantChange, summary: "Change some fields of a participant",
		errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.changeParticipant)
	registerPatch(router, merging[PatchInput, api.ParticipantChange, participantAnswer]{
		route:   route{path: participantPath, id: "patch-participant", needs: auth.ParticipantChange, summary: "Change or clear some fields of a participant"},
		cleared: clearedFields(),
		change: func(ctx context.Context, in *PatchInput, ifMatch string, body api.ParticipantChange) (*participantAnswer, error) {
			return h.changeParticipant(ctx, &changeRequest{ID: in.ID, IfMatch: ifMatch, Body: body})
		},
	})
	register(router, route{method: http.MethodDelete, path: participantPath, id: "remove-participant", needs: auth.ParticipantRemove, summary: "Remove a participant",
		errors: []int{http.StatusNotFound, http.StatusPreconditionFailed}}, h.removeParticipant)
}

// clearedFields gives what null sets a field of a participant to.
func clearedFields() map[string]any {
	cleared := map[string]any{"paused_until": time.Time{}, "tester": false, "debug": false}
	for _, field := range models.PersonFields() {
		if field.IsClearable {
			cleared[field.Name] = ""
		}
	}
	return cleared
}

// enrolParticipant answers as soon as the row and its start notice are committed.
// When Temporal is away, the relay delivers the notice later.
func (h *participantRoutes) enrolParticipant(ctx context.Context, in *enrolRequest) (*participantAnswer, error) {
	p, err := h.newParticipant(in)
	if err != nil {
		return nil, h.toFailure("enrolling", err)
	}
	if p.GreetingAt, err = h.planGreeting(ctx, p); err != nil {
		return nil, h.toFailure("enrolling", err)
	}
	request, err := json.Marshal(in.Body)
	if err != nil {
		return nil, h.toFailure("enrolling", err)
	}
	saved, err := h.people.EnrollOnce(ctx, p, models.Enrolment{
		Actor: actorOf(ctx), Key: in.Key, Body: string(request), Consent: toConsenting(in.Body.Consent), Strata: in.Body.Strata,
	})
	if errors.Is(err, models.ErrKeyUsed) {
		return nil, newFailure(http.StatusConflict, "Idempotency-Key: already used for another request, or for a participant who has been removed")
	}
	if err != nil {
		return nil, h.toFailure("enrolling", err)
	}
	h.deliverNotices(ctx, saved.ID)
	out := newParticipantAnswer(ctx, "Conversation participant enrolled successfully", saved)
	out.Location = participantsPath + "/" + saved.ID
	return out, nil
}

func (h *participantRoutes) newParticipant(in *enrolRequest) (models.Participant, error) {
	body := in.Body
	phone, err := h.numbers.parse(body.Phone)
	if err != nil {
		return models.Participant{}, err
	}
	zone, assumed := h.defaults.Zone, true
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
	id, err := newRandomID(idPrefix)
	if err != nil {
		return models.Participant{}, err
	}
	for _, text := range body.All() {
		*text = strings.TrimSpace(*text)
	}
	now := h.now()
	return models.Participant{
		ID: id, Phone: phone, PersonTexts: body.PersonTexts,
		Timezone: zone, ZoneAssumed: assumed, Locale: body.Locale, Channel: body.Channel,
		Status: wire.StatusActive, Mode: wire.ModeIntake, Tester: body.Tester, Debug: body.Debug, SignedUp: body.Signup, StudyID: body.Study,
		NextSeq: 1, EnrolledAt: now, CreatedAt: now, UpdatedAt: now, Version: 1,
	}, nil
}

// toConsenting is the consent of an enrolment; nil where none was given.
func toConsenting(in *api.Consenting) *models.StudyConsent {
	if in == nil {
		return nil
	}
	row := models.StudyConsent{Version: in.Version, Locale: in.Locale, Method: in.Method}
	if in.At != nil {
		row.At = *in.At
	}
	return &row
}

// planGreeting returns when a new participant is greeted. The workflow keeps to it.
func (h *participantRoutes) planGreeting(ctx context.Context, p models.Participant) (*time.Time, error) {
	settings, err := h.resolver.Resolve(ctx, p.StudyID, p.Arm)
	if err != nil {
		return nil, err
	}
	who := wire.ParticipantState{ParticipantID: p.ID, Zone: p.Timezone, ZoneAssumed: p.ZoneAssumed, SignedUp: p.SignedUp}
	at, err := coach.Input{State: who, Now: p.EnrolledAt, Rules: settings.Rules(h.defaults.Rules).In(region.StateOf(p.Phone)), Zones: zones.Load}.FirstGreeting()
	if err != nil {
		return nil, err
	}
	at = at.UTC().Truncate(time.Microsecond)
	return &at, nil
}

var errDebugNeedsTester = models.BadField("debug", "only a tester can have debug messages")

// checkZone takes the names of zones that have a place, and UTC.
func checkZone(name string) error {
	if err := coach.CheckZoneName(name, zones.Load); err != nil {
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

// idPrefix begins the id of every participant, and so what a list of them goes on from.
const idPrefix = "conv_"

const badCursor = "cursor: must be next_cursor of the page before"

// newRandomID returns an id of 96 random bits behind a prefix.
func newRandomID(prefix string) (string, error) {
	raw := make([]byte, 12)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	return prefix + hex.EncodeToString(raw), nil
}

func (h *participantRoutes) listParticipants(ctx context.Context, in *models.ParticipantQuery) (*answer[api.ParticipantPage], error) {
	if in.After != "" && !strings.HasPrefix(in.After, idPrefix) {
		return nil, newFailure(http.StatusBadRequest, badCursor)
	}
	query := *in
	query.Limit++
	rows, err := h.people.Participants(ctx, query)
	if err != nil {
		return nil, h.toFailure("listing participants", err)
	}
	rows, next := cutPage(rows, in.Limit, func(last models.Participant) string { return last.ID })
	page := api.ParticipantPage{Participants: make([]api.Participant, 0, len(rows)), NextCursor: next}
	for _, p := range rows {
		if p.Unreadable != "" {
			h.log.Error("stored fields cannot be opened with the payload keys; check `coachline doctor`", "participant", p.ID, "columns", p.Unreadable)
		}
		page.Participants = append(page.Participants, toParticipant(ctx, p))
	}
	return newAnswer("", page), nil
}

func (h *participantRoutes) getParticipant(ctx context.Context, in *participantRequest) (*participantAnswer, error) {
	p, err := h.people.Participant(ctx, in.ID)
	return newParticipantAnswer(ctx, "", p), h.toFailure("reading the participant", err)
}

type removeRequest struct {
	ID      string `path:"id" maxLength:"64" doc:"Participant id."`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"Version that the removal is based on; refused with 412 when it is not the newest."`
}

func (h *participantRoutes) removeParticipant(ctx context.Context, in *removeRequest) (*answer[api.Removed], error) {
	want, err := parseIfMatch(in.IfMatch)
	if err != nil {
		return nil, h.toFailure("removing the participant", err)
	}
	if err := h.people.RemoveParticipantIf(ctx, models.Removal{ID: in.ID, IfMatch: want, Actor: actorOf(ctx), Now: h.now()}); err != nil {
		return nil, h.toFailure("removing the participant", err)
	}
	h.deliverNotices(ctx, in.ID)
	return newAnswer("Participant removed; nothing more will be sent after the closing notice", api.Removed{ID: in.ID}), nil
}
