package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/internal/tools"
	"coachline/models"
)

const (
	studiesPath       = "/studies"
	studyPath         = studiesPath + "/{id}"
	consentTextsPath  = studyPath + "/consent-texts"
	studyConsentsPath = participantPath + "/study-consents"
)

type newStudyRequest struct {
	Body api.NewStudy
}

type studyRequest struct {
	ID string `path:"id" maxLength:"40" doc:"Id of a study."`
}

type studyChangeRequest struct {
	ID      string `path:"id" maxLength:"40" doc:"Id of a study."`
	IfMatch string `header:"If-Match" maxLength:"32" doc:"Version that the change is based on; refused with 412 when it is not the newest."`
	Body    api.StudyChange
}

type studyAnswer struct {
	ETag     string `header:"ETag" doc:"Version of the study, for If-Match."`
	Location string `header:"Location" doc:"Path of the study, where it is new."`
	Body     api.Envelope[api.Study]
}

type newConsentTextRequest struct {
	ID   string `path:"id" maxLength:"40" doc:"Id of a study."`
	Body api.NewConsentText
}

type newStudyConsentRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"Participant id."`
	Body api.NewStudyConsent
}

// studyRoutes answers what concerns studies.
type studyRoutes struct {
	base
	reports  *store.Reports
	resolver *study.Resolver
	studies  *store.Studies
	numbers  *numbers
	readings *readings
	// progress is counted once for all who ask of a study at the same time.
	progress progressReads
}

func (h *studyRoutes) register(router huma.API) {
	missing := []int{http.StatusNotFound}
	body := []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	adding := append(slices.Clone(body), http.StatusNotFound)
	register(router, route{method: http.MethodGet, path: studiesPath, id: "list-studies", needs: auth.StudyRead, summary: "Studies, by id"}, h.listStudies)
	register(router, route{method: http.MethodPost, path: studiesPath, id: "add-study", needs: auth.StudyChange, summary: "Add a study in state draft",
		status: http.StatusCreated, errors: append(slices.Clone(body), http.StatusConflict)}, h.addStudy)
	register(router, route{method: http.MethodGet, path: studyPath, id: "get-study", needs: auth.StudyRead, summary: "One study", errors: missing}, h.getStudy)
	register(router, route{method: http.MethodPut, path: studyPath, id: "update-study", needs: auth.StudyChange, summary: "Change some fields of a study, or its state",
		errors: append(slices.Clone(adding), http.StatusPreconditionFailed)}, h.changeStudy)
	registerPatch(router, merging[PatchInput, api.StudyChange, studyAnswer]{
		route:   route{path: studyPath, id: "patch-study", needs: auth.StudyChange, summary: "Change or clear some fields of a study; settings are merged"},
		cleared: map[string]any{"settings": models.StudySettings{}, "planned": 0, "starts_at": time.Time{}, "ends_at": time.Time{}},
		read:    h.readStudySettings,
		change: func(ctx context.Context, in *PatchInput, ifMatch string, body api.StudyChange) (*studyAnswer, error) {
			return h.changeStudy(ctx, &studyChangeRequest{ID: in.ID, IfMatch: ifMatch, Body: body})
		},
	})
	register(router, route{method: http.MethodGet, path: consentTextsPath, id: "list-consent-texts", needs: auth.StudyRead, summary: "Consent texts of a study", errors: missing}, h.listConsentTexts)
	register(router, route{method: http.MethodPost, path: consentTextsPath, id: "add-consent-text", needs: auth.StudyChange, summary: "Add the next version of a consent text",
		status: http.StatusCreated, errors: adding}, h.addConsentText)
	register(router, route{method: http.MethodGet, path: studyConsentsPath, id: "list-study-consents", needs: auth.ConsentRead, summary: "What a person has agreed to in their study, and withdrawn",
		errors: missing}, h.listStudyConsents)
	register(router, route{method: http.MethodPost, path: studyConsentsPath, id: "record-study-consent", needs: auth.ParticipantChange, summary: "Record a consent to the study, or its withdrawal",
		status: http.StatusCreated, errors: adding}, h.recordStudyConsent)
	h.registerDecisions(router)
	h.registerStudyExport(router)
	h.registerStudyProgress(router)
}

func toStudy(row models.Study) (api.Study, error) {
	settings, err := row.ReadSettings()
	if err != nil {
		return api.Study{}, err
	}
	return api.Study{
		ID: row.ID, Name: row.Name, State: row.State, Settings: settings, Planned: row.Planned, StartsAt: row.StartsAt, EndsAt: row.EndsAt,
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), Version: row.Version,
	}, nil
}

func (h *studyRoutes) answerStudy(message string, row models.Study) (*studyAnswer, error) {
	shown, err := toStudy(row)
	return &studyAnswer{ETag: fmt.Sprintf("%q", fmt.Sprint(row.Version)), Body: newAnswer(message, shown).Body}, h.toFailure("reading the study", err)
}

func (h *studyRoutes) listStudies(ctx context.Context, _ *noInput) (*answer[api.StudyList], error) {
	rows, err := h.studies.List(ctx)
	if err != nil {
		return nil, h.toFailure("listing studies", err)
	}
	list := api.StudyList{Studies: make([]api.Study, len(rows))}
	for i, row := range rows {
		if list.Studies[i], err = toStudy(row); err != nil {
			return nil, h.toFailure("listing studies", err)
		}
	}
	return newAnswer("", list), nil
}

func (h *studyRoutes) addStudy(ctx context.Context, in *newStudyRequest) (*studyAnswer, error) {
	body := in.Body
	settings, err := h.encodeSettings(body.Settings)
	if err != nil {
		return nil, h.toFailure("adding the study", err)
	}
	saved, err := h.studies.AddStudy(ctx, models.Study{
		ID: body.ID, Name: strings.TrimSpace(body.Name), Settings: settings, Planned: body.Planned, StartsAt: body.StartsAt, EndsAt: body.EndsAt,
		CreatedBy: actorOf(ctx), CreatedAt: h.now(),
	})
	if errors.Is(err, models.ErrConflict) {
		return nil, newFailure(http.StatusConflict, "id: is taken by another study")
	}
	if err != nil {
		return nil, h.toFailure("adding the study", err)
	}
	out, err := h.answerStudy("Study added as a draft; set its state to recruiting to take people in", saved)
	if err == nil {
		out.Location = studiesPath + "/" + saved.ID
	}
	return out, err
}

// encodeSettings checks settings against this installation and writes them as a row
// keeps them.
func (h *studyRoutes) encodeSettings(settings models.StudySettings) (string, error) {
	for i, locale := range settings.Locales {
		if err := checkLocale(locale); err != nil {
			return "", models.BadField(fmt.Sprintf("settings.locales[%d]", i), "must be a locale in a language that is screened")
		}
	}
	if settings.From != "" {
		if _, err := h.numbers.parseSender(settings.From); err != nil {
			return "", err
		}
	}
	if err := settings.Check(); err != nil {
		return "", err
	}
	if err := study.Check(settings, tools.Names()); err != nil {
		return "", err
	}
	text, err := json.Marshal(settings)
	return string(text), err
}

func (h *studyRoutes) getStudy(ctx context.Context, in *studyRequest) (*studyAnswer, error) {
	row, err := h.studies.Study(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("reading the study", asMissing("study", err))
	}
	return h.answerStudy("", row)
}

func (h *studyRoutes) changeStudy(ctx context.Context, in *studyChangeRequest) (*studyAnswer, error) {
	want, err := parseIfMatch(in.IfMatch)
	if err != nil {
		return nil, h.toFailure("changing the study", err)
	}
	patch := models.StudyPatch{
		Name: trimOptional(in.Body.Name), State: in.Body.State, Planned: in.Body.Planned, StartsAt: in.Body.StartsAt, EndsAt: in.Body.EndsAt,
	}
	if in.Body.Settings != nil {
		settings, err := h.encodeSettings(*in.Body.Settings)
		if err != nil {
			return nil, h.toFailure("changing the study", err)
		}
		patch.Settings = &settings
	}
	saved, err := h.studies.ChangeStudy(ctx, models.StudyUpdate{ID: in.ID, Patch: patch, IfMatch: want, Actor: actorOf(ctx), Now: h.now()})
	if err != nil {
		return nil, h.toFailure("changing the study", asMissing("study", err))
	}
	h.refreshStudies(ctx)
	return h.answerStudy(describeChanged(in.Body, "Study changed"), saved)
}

// readStudySettings returns what a patch is merged with, and the study's version.
func (h *studyRoutes) readStudySettings(ctx context.Context, in *PatchInput) (api.StudyChange, string, error) {
	row, err := h.studies.Study(ctx, in.ID)
	if err != nil {
		return api.StudyChange{}, "", h.toFailure("reading the study", asMissing("study", err))
	}
	settings, err := row.ReadSettings()
	if err != nil {
		return api.StudyChange{}, "", h.toFailure("reading the study", err)
	}
	return api.StudyChange{Settings: &settings}, strconv.FormatInt(row.Version, 10), nil
}

// refreshStudies has a change in force in this process at once; the others see it
// within study.RefreshInterval.
func (h *studyRoutes) refreshStudies(ctx context.Context) {
	if err := h.resolver.Refresh(ctx); err != nil {
		h.log.Warn("reading studies failed, trying again", "error", err)
	}
}

func (h *studyRoutes) listConsentTexts(ctx context.Context, in *studyRequest) (*answer[api.ConsentTextList], error) {
	if _, err := h.studies.Study(ctx, in.ID); err != nil {
		return nil, h.toFailure("listing consent texts", asMissing("study", err))
	}
	rows, err := h.studies.ConsentTexts(ctx, in.ID)
	return newAnswer("", api.ConsentTextList{Texts: copyNonNil(rows)}), h.toFailure("listing consent texts", err)
}

func (h *studyRoutes) addConsentText(ctx context.Context, in *newConsentTextRequest) (*created[models.ConsentText], error) {
	if err := checkLocale(in.Body.Locale); err != nil {
		return nil, h.toFailure("adding the consent text", err)
	}
	saved, err := h.studies.AddConsentText(ctx, models.ConsentText{
		StudyID: in.ID, Locale: in.Body.Locale, Body: strings.TrimSpace(in.Body.Body), CreatedBy: actorOf(ctx), CreatedAt: h.now(),
	})
	return newCreated(studiesPath+"/"+in.ID+"/consent-texts", "Consent text added; from now on people agree to this version", saved), h.toFailure("adding the consent text", asMissing("study", err))
}

func (h *studyRoutes) listStudyConsents(ctx context.Context, in *participantRequest) (*answer[api.StudyConsentList], error) {
	rows, err := h.studies.StudyConsents(ctx, in.ID)
	return newAnswer("", api.StudyConsentList{Consents: copyNonNil(rows)}), h.toFailure("listing consents to the study", err)
}

func (h *studyRoutes) recordStudyConsent(ctx context.Context, in *newStudyConsentRequest) (*created[models.StudyConsent], error) {
	body, now := in.Body, h.now()
	row := models.StudyConsent{ParticipantID: in.ID, Given: body.Given, Version: body.Version, Locale: body.Locale, Method: body.Method, RecordedBy: actorOf(ctx), At: now}
	if body.At != nil {
		row.At = *body.At
	}
	switch {
	case row.At.After(now):
		return nil, newFailure(http.StatusBadRequest, "at: must not be in the future")
	case !body.Given && (body.Version != 0 || body.Locale != ""):
		return nil, newFailure(http.StatusBadRequest, "version: must be left out for a withdrawal, and locale too")
	}
	saved, err := h.studies.RecordStudyConsent(ctx, row, now)
	if err != nil {
		return nil, h.toFailure("recording the consent", err)
	}
	message := "Consent recorded"
	if !saved.Given {
		message = "Withdrawal recorded; the person has left the programme"
		h.deliverNotices(ctx, in.ID)
	}
	return newCreated(participantsPath+"/"+in.ID+"/study-consents", message, saved), nil
}
