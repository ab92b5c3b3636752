package starter

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
)

const (
	agendaPath = "/agenda"
	// agendaSpan is how far the agenda looks ahead where no end is given.
	agendaSpan = 24 * time.Hour
)

type agendaRequest struct {
	From          time.Time `query:"from" doc:"Earliest instant (RFC 3339); now when left out."`
	Until         time.Time `query:"until" doc:"The instant before which the span ends; 24 hours after its beginning when left out."`
	ParticipantID string    `query:"participant_id" maxLength:"64" doc:"Only this participant's."`
	Study         string    `query:"study" maxLength:"40" doc:"Only those of this study's people."`
	Limit         int       `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor        string    `query:"cursor" maxLength:"400" doc:"next_cursor of the page before."`
}

// reportRoutes answers what is planned and what became of what was sent.
type reportRoutes struct {
	base
	people  *store.People
	reports *store.Reports
}

func (h *reportRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: agendaPath, id: "get-agenda", needs: auth.AgendaRead,
		summary: "The next prompt of each schedule, the earliest first"}, h.getAgenda)
	h.registerDelivery(router)
	h.registerReferrals(router)
}

// getAgenda lists what schedules have planned next: one prompt for each of them,
// however long the span is.
func (h *reportRoutes) getAgenda(ctx context.Context, in *agendaRequest) (*answer[api.Agenda], error) {
	query, err := h.agendaQuery(in)
	if err != nil {
		return nil, err
	}
	hours, err := h.reports.CountAgenda(ctx, query)
	if err != nil {
		return nil, h.toFailure("reading the agenda", err)
	}
	query.Limit++ // one more says whether there is another page
	rows, err := h.reports.Agenda(ctx, query)
	if err != nil {
		return nil, h.toFailure("reading the agenda", err)
	}
	resumptions, err := h.listResumptions(ctx, query)
	if err != nil {
		return nil, h.toFailure("reading the agenda", err)
	}
	left, err := h.listLeftOut(ctx, query)
	if err != nil {
		return nil, h.toFailure("reading the agenda", err)
	}
	page := api.Agenda{LeftOut: left, Resumptions: resumptions, From: query.From, Until: query.Until, Hours: copyNonNil(hours), Prompts: make([]api.PlannedPrompt, 0, in.Limit)}
	for _, hour := range hours {
		page.Total += hour.Prompts
	}
	if len(rows) > in.Limit {
		rows = rows[:in.Limit]
		cursor, err := agendaCursor(rows[in.Limit-1].Key)
		if err != nil {
			return nil, h.toFailure("reading the agenda", err)
		}
		page.NextCursor = &cursor
	}
	for _, row := range rows {
		page.Prompts = append(page.Prompts, toPlannedPrompt(ctx, row))
	}
	return newAnswer("", page), nil
}

// listResumptions lists the pauses that end in the span of a first page.
func (h *reportRoutes) listResumptions(ctx context.Context, q models.AgendaQuery) ([]api.PlannedResumption, error) {
	out := []api.PlannedResumption{}
	if q.After != (models.AgendaKey{}) {
		return out, nil
	}
	rows, err := h.people.EndingPauses(ctx, q)
	for _, p := range rows {
		one := api.PlannedResumption{ParticipantID: p.ID, At: p.PausedUntil.UTC(), Timezone: p.Timezone}
		if canSeePersonal(ctx) {
			one.Name = p.Name
		}
		out = append(out, one)
	}
	return out, err
}

// listLeftOut lists what was not sent in the span of a first page and the day before.
func (h *reportRoutes) listLeftOut(ctx context.Context, q models.AgendaQuery) ([]api.LeftOut, error) {
	if q.After != (models.AgendaKey{}) {
		return []api.LeftOut{}, nil
	}
	q.From = q.From.Add(-agendaSpan)
	rows, err := h.people.LeftOutPrompts(ctx, q)
	return toLeftOut(ctx, rows), err
}

func toLeftOut(ctx context.Context, rows []models.LeftOutPrompt) []api.LeftOut {
	out := make([]api.LeftOut, 0, len(rows))
	for _, row := range rows {
		one := api.LeftOut{ParticipantID: row.Participant.ID, Date: row.Prompt.LocalDate, At: row.Prompt.TargetAt.UTC()}
		one.What, one.Reason = row.What()
		if canSeePersonal(ctx) {
			one.Name = row.Participant.Name
		}
		out = append(out, one)
	}
	return out
}

func (h *reportRoutes) agendaQuery(in *agendaRequest) (models.AgendaQuery, error) {
	q := models.AgendaQuery{From: in.From.UTC(), Until: in.Until.UTC(), ParticipantID: in.ParticipantID, StudyID: in.Study, Now: h.now(), Limit: in.Limit}
	if in.From.IsZero() {
		q.From = q.Now
	}
	if in.Until.IsZero() {
		q.Until = q.From.Add(agendaSpan)
	}
	if !q.Until.After(q.From) {
		return q, newFailure(http.StatusBadRequest, "until: must be after from")
	}
	if in.Cursor == "" {
		return q, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	if err != nil || json.Unmarshal(raw, &q.After) != nil {
		return q, newFailure(http.StatusBadRequest, badCursor)
	}
	return q, nil
}

func agendaCursor(last models.AgendaKey) (string, error) {
	raw, err := json.Marshal(last)
	return base64.RawURLEncoding.EncodeToString(raw), err
}

func toPlannedPrompt(ctx context.Context, e models.AgendaEntry) api.PlannedPrompt {
	local := e.Key.At
	if zone, err := zones.Load(e.Zone); err == nil {
		local = local.In(zone)
	}
	p := e.Participant
	out := api.PlannedPrompt{
		ParticipantID: p.ID, ScheduleID: e.Key.ScheduleID, At: e.Key.At, Local: local, Timezone: e.Zone, Held: e.Held,
		Paused: p.Status != wire.StatusActive, Unreachable: p.UnreachableAt != nil, Crisis: p.Attention == wire.AttentionCrisis,
	}
	if canSeePersonal(ctx) {
		out.Name = p.Name
	}
	return out
}
