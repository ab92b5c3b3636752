package starter

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/coach"
	"coachline/internal/region"
	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
)

const (
	schedulesPath = participantPath + "/schedules"
	schedulePath  = schedulesPath + "/{schedule}"
)

type scheduleRequest struct {
	ID       string `path:"id" maxLength:"64"`
	Schedule string `path:"schedule" maxLength:"64"`
}

type addScheduleRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body api.NewSchedule
}

// SchedulePatchInput names the schedule of a PATCH.
type SchedulePatchInput struct {
	PatchInput
	Schedule string `path:"schedule" maxLength:"64"`
}

type replaceScheduleRequest struct {
	ID       string `path:"id" maxLength:"64"`
	Schedule string `path:"schedule" maxLength:"64"`
	IfMatch  string `header:"If-Match" maxLength:"64" doc:"ETag that the change is based on; refused with 412 when it is not the newest."`
	Body     api.NewSchedule
}

type moveRequest struct {
	ID       string `path:"id" maxLength:"64"`
	Schedule string `path:"schedule" maxLength:"64"`
	Body     api.PromptMove
}

// scheduleAdded is 201 with a Location, or 200 for a dry run.
type scheduleAdded struct {
	Status   int
	Location string `header:"Location" doc:"Path of what was created; left out of a dry run."`
	Body     api.Envelope[api.Schedule]
}

func (h *workflowRoutes) registerSchedules(router huma.API) {
	changes := []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	register(router, route{method: http.MethodGet, path: schedulesPath, id: "list-schedules", needs: auth.AgendaRead,
		summary: "Daily prompts of a participant", errors: []int{http.StatusNotFound}}, h.listSchedules)
	register(router, route{method: http.MethodGet, path: schedulePath, id: "get-schedule", needs: auth.AgendaRead,
		summary: "One daily prompt", errors: []int{http.StatusNotFound}}, h.getSchedule)
	register(router, route{method: http.MethodPost, path: schedulesPath, id: "add-schedule", needs: auth.ParticipantChange,
		summary: "Add a daily prompt in the person's place", status: http.StatusCreated, errors: changes}, h.addSchedule)
	add := router.OpenAPI().Paths[schedulesPath].Post
	add.Responses["200"] = &huma.Response{Description: "A dry run: what would come of it", Content: add.Responses["201"].Content}
	register(router, route{method: http.MethodPut, path: schedulePath, id: "replace-schedule", needs: auth.ParticipantChange,
		summary: "Give a daily prompt other times", errors: append(slices.Clone(changes), http.StatusPreconditionFailed)}, h.replaceSchedule)
	registerPatch(router, merging[SchedulePatchInput, api.NewSchedule, answer[api.Schedule]]{
		route:   route{path: schedulePath, id: "patch-schedule", needs: auth.ParticipantChange, summary: "Change some fields of a daily prompt"},
		cleared: map[string]any{"at": nil, "from": nil, "to": nil, "timezone": nil, "first": nil, "dry_run": nil}, isWhole: true,
		read: h.readScheduleTimes,
		change: func(ctx context.Context, in *SchedulePatchInput, ifMatch string, body api.NewSchedule) (*answer[api.Schedule], error) {
			return h.replaceSchedule(ctx, &replaceScheduleRequest{ID: in.ID, Schedule: in.Schedule, IfMatch: ifMatch, Body: body})
		},
	})
	register(router, route{method: http.MethodDelete, path: schedulePath, id: "remove-schedule", needs: auth.ParticipantChange,
		summary: "Remove a daily prompt", errors: changes[:2]}, h.removeSchedule)
	register(router, route{method: http.MethodPost, path: schedulePath + "/move", id: "move-prompt", needs: auth.ParticipantChange,
		summary: "Move the next prompt of a schedule alone", errors: changes}, h.movePrompt)
}

// planned is what is in force for a participant's daily prompts.
type planned struct {
	participant models.Participant
	status      wire.StatusView
	schedules   []wire.Schedule
}

func (h *workflowRoutes) readSchedules(ctx context.Context, id string) (planned, error) {
	p, err := h.people.Participant(ctx, id)
	if err != nil {
		return planned{}, h.toFailure("reading schedules", err)
	}
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	now := planned{participant: p}
	if err := h.queryWorkflow(ctx, id, wire.QueryStatus, &now.status); err != nil {
		return planned{}, h.toFailure("asking the participant's workflow", err)
	}
	if err := h.queryWorkflow(ctx, id, wire.QuerySchedules, &now.schedules); err != nil {
		return planned{}, h.toFailure("asking the participant's workflow", err)
	}
	return now, nil
}

func (n planned) list() []api.Schedule {
	return toState(n.participant, models.Profile{}, n.status, n.schedules).Schedules
}

func (n planned) find(id string) (wire.Schedule, error) {
	i := slices.IndexFunc(n.schedules, func(s wire.Schedule) bool { return s.ID == id })
	if i < 0 {
		return wire.Schedule{}, newFailure(http.StatusNotFound, "schedule not found")
	}
	return n.schedules[i], nil
}

func (h *workflowRoutes) listSchedules(ctx context.Context, in *participantRequest) (*answer[[]api.Schedule], error) {
	now, err := h.readSchedules(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return newAnswer("", now.list()), nil
}

func (n planned) pick(id string) (api.Schedule, error) {
	if _, err := n.find(id); err != nil {
		return api.Schedule{}, err
	}
	list := n.list()
	return list[slices.IndexFunc(list, func(s api.Schedule) bool { return s.ID == id })], nil
}

func (h *workflowRoutes) getSchedule(ctx context.Context, in *scheduleRequest) (*taggedAnswer[api.Schedule], error) {
	now, err := h.readSchedules(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	shown, err := now.pick(in.Schedule)
	if err != nil {
		return nil, err
	}
	return newTagged(shown)
}

// readScheduleTimes returns what a patch is merged with, and the schedule's ETag.
func (h *workflowRoutes) readScheduleTimes(ctx context.Context, in *SchedulePatchInput) (api.NewSchedule, string, error) {
	now, err := h.readSchedules(ctx, in.ID)
	if err != nil {
		return api.NewSchedule{}, "", err
	}
	shown, err := now.pick(in.Schedule)
	if err != nil {
		return api.NewSchedule{}, "", err
	}
	tag, err := newTagged(shown)
	if err != nil {
		return api.NewSchedule{}, "", err
	}
	row, err := now.find(in.Schedule)
	return api.NewSchedule{Type: row.Type, At: row.At, From: row.From, To: row.To, Timezone: row.Zone}, tag.ETag, err
}

func toScheduleAsk(action wire.ScheduleAction, body api.NewSchedule) wire.ScheduleAsk {
	return wire.ScheduleAsk{Action: action, Type: body.Type, At: body.At, From: body.From, To: body.To, Zone: body.Timezone}
}

func (h *workflowRoutes) addSchedule(ctx context.Context, in *addScheduleRequest) (*scheduleAdded, error) {
	ask := toScheduleAsk(wire.ScheduleCreate, in.Body)
	ask.NewID = "sch_" + newRequestText(ctx)[:20]
	added, err := h.changeSchedules(ctx, in.ID, scheduleChange{ask: ask, first: in.Body.First, dryRun: in.Body.DryRun})
	if err != nil {
		return nil, err
	}
	if in.Body.DryRun {
		return &scheduleAdded{Status: http.StatusOK, Body: newAnswer(describeNext("Nothing was added: the first prompt would go out", added), added).Body}, nil
	}
	return &scheduleAdded{
		Status: http.StatusCreated, Location: participantsPath + "/" + in.ID + "/schedules/" + added.ID,
		Body: newAnswer(describeNext("Added: the first prompt goes out", added), added).Body,
	}, nil
}

func (h *workflowRoutes) replaceSchedule(ctx context.Context, in *replaceScheduleRequest) (*answer[api.Schedule], error) {
	ask := toScheduleAsk(wire.ScheduleReplace, in.Body)
	ask.ID = in.Schedule
	changed, err := h.changeSchedules(ctx, in.ID, scheduleChange{ask: ask, ifMatch: in.IfMatch, first: in.Body.First, dryRun: in.Body.DryRun})
	if err != nil {
		return nil, err
	}
	if in.Body.DryRun {
		return newAnswer(describeNext("Nothing was changed: the next prompt would go out", changed), changed), nil
	}
	return newAnswer(describeNext("Changed: the next prompt goes out", changed), changed), nil
}

func (h *workflowRoutes) movePrompt(ctx context.Context, in *moveRequest) (*answer[api.Schedule], error) {
	ask := wire.ScheduleAsk{Action: wire.ScheduleMove, ID: in.Schedule, MoveTo: in.Body.To.UTC()}
	moved, err := h.changeSchedules(ctx, in.ID, scheduleChange{ask: ask, dryRun: in.Body.DryRun})
	if err != nil {
		return nil, err
	}
	if in.Body.DryRun {
		return newAnswer(describeNext("Nothing was moved: the prompt would go out", moved), moved), nil
	}
	return newAnswer(describeNext("Moved: the prompt goes out", moved), moved), nil
}

func (h *workflowRoutes) removeSchedule(ctx context.Context, in *scheduleRequest) (*answer[api.Schedule], error) {
	removed, err := h.changeSchedules(ctx, in.ID, scheduleChange{ask: wire.ScheduleAsk{Action: wire.ScheduleDelete, ID: in.Schedule}})
	if err != nil {
		return nil, err
	}
	return newAnswer("Removed: no more prompts of this schedule go out", removed), nil
}

// describeNext says when a prompt goes out, where one does.
func describeNext(what string, s api.Schedule) string {
	if s.NextAt == nil {
		return what + " when the participant is active again"
	}
	return what + " at " + s.NextAt.UTC().Format(time.RFC3339)
}

// scheduleChange is what an operator asks of a participant's daily prompts.
type scheduleChange struct {
	ask     wire.ScheduleAsk
	ifMatch string
	first   api.FirstPrompt
	dryRun  bool
}

// changeSchedules has the workflow change daily prompts by the step that the
// coach's tool takes, and returns the schedule that it is about. The rules are asked
// here first, so that a refusal changes nothing and a dry run needs no workflow. The
// audit has its row before the change is asked for, and a second one where the
// workflow refuses it.
func (h *workflowRoutes) changeSchedules(ctx context.Context, id string, change scheduleChange) (api.Schedule, error) {
	ask := change.ask
	now, err := h.readSchedules(ctx, id)
	if err != nil {
		return api.Schedule{}, err
	}
	if !now.participant.Status.Coached() {
		return api.Schedule{}, newFailure(http.StatusConflict, "the participant is %s; there are no prompts to change", now.participant.Status)
	}
	var before wire.Schedule
	if ask.Action != wire.ScheduleCreate {
		if before, err = now.find(ask.ID); err != nil {
			return api.Schedule{}, err
		}
	}
	if change.ifMatch != "" && change.ifMatch != "*" {
		shown, err := now.pick(ask.ID)
		if err != nil {
			return api.Schedule{}, err
		}
		if err := checkTag(change.ifMatch, shown); err != nil {
			return api.Schedule{}, err
		}
		ask.Based = &before
	}
	ask.ByOperator = true
	after, err := h.planFirst(ctx, now, &ask, change.first)
	if err != nil || change.dryRun {
		return now.show(after), err
	}
	audit := models.AuditRow{ParticipantID: id, Actor: actorOf(ctx), Action: "schedule_" + string(ask.Action), Detail: ask.ID + ask.NewID, At: h.now(),
		Before: auditSchedule(before), After: auditSchedule(after)}
	if ask.Action == wire.ScheduleDelete {
		audit.After = auditSchedule(wire.Schedule{})
	}
	if err := h.audit.RecordAudit(ctx, audit); err != nil {
		return api.Schedule{}, h.toFailure("changing schedules", err)
	}
	if _, err := h.requestUpdate(ctx, id, wire.UpdateChangeSchedules, ask); err != nil {
		return api.Schedule{}, h.refuseUpdate(ctx, audit, err)
	}
	return now.show(after), nil
}

// refuseUpdate records that the workflow refused what the audit says, and returns
// the answer.
func (h *workflowRoutes) refuseUpdate(ctx context.Context, audit models.AuditRow, err error) error {
	audit.Action, audit.At = audit.Action+"_failed", h.now()
	if auditErr := h.audit.RecordAudit(context.WithoutCancel(ctx), audit); auditErr != nil {
		h.log.Error("recording a refused change failed", "participant", audit.ParticipantID, "error", auditErr)
	}
	var rejected *temporal.ApplicationError
	if errors.As(err, &rejected) && strings.Contains(rejected.Message(), wire.ScheduleChanged) {
		return newFailure(http.StatusPreconditionFailed, "If-Match: %s", wire.ScheduleChanged)
	}
	if errors.As(err, &rejected) {
		return newFailure(http.StatusConflict, "%s", rejected.Message())
	}
	return h.toFailure("changing schedules", err)
}

func (n planned) show(after wire.Schedule) api.Schedule {
	n.status.Due, n.schedules = nil, []wire.Schedule{after}
	return n.list()[0]
}

// planFirst plans as planSchedules does, where the times of a schedule change by what the
// operator wants of a prompt that would go out at once.
func (h *workflowRoutes) planFirst(ctx context.Context, now planned, ask *wire.ScheduleAsk, first api.FirstPrompt) (wire.Schedule, error) {
	after, err := h.planSchedules(ctx, now, *ask)
	if err != nil || ask.Action != wire.ScheduleCreate && ask.Action != wire.ScheduleReplace {
		return after, err
	}
	next := after.Next
	if first == "" && now.status.Status == wire.StatusActive && next.TargetAt.After(next.SendAt) && !next.SendAt.After(h.now()) {
		return after, newFailure(http.StatusConflict, "first: %s is so near that today's prompt would go out at once; %q sends it, %q begins with tomorrow's",
			after.At, api.FirstNow, api.FirstTomorrow)
	}
	if first != api.FirstTomorrow {
		return after, nil
	}
	zone, err := zones.Load(cmp.Or(after.Zone, now.participant.Timezone))
	if err != nil {
		return after, h.toFailure("planning schedules", err)
	}
	if next.Date != h.now().In(zone).Format(time.DateOnly) {
		return after, nil
	}
	ask.NotBefore = next.TargetAt
	return h.planSchedules(ctx, now, *ask)
}

// planSchedules returns the schedule that the rules make of what is asked for; for a
// removal the one that there was.
func (h *workflowRoutes) planSchedules(ctx context.Context, now planned, ask wire.ScheduleAsk) (wire.Schedule, error) {
	p := now.participant
	settings, err := h.resolver.Resolve(ctx, p.StudyID, p.Arm)
	if err != nil {
		return wire.Schedule{}, h.toFailure("reading the study", err)
	}
	input := coach.Input{Now: h.now(), Rules: settings.Rules(h.rules).In(region.StateOf(p.Phone)), Zones: zones.Load, State: wire.ParticipantState{
		ParticipantID: p.ID, Zone: p.Timezone, ZoneAssumed: p.ZoneAssumed, Status: now.status.Status, Mode: now.status.Mode,
		Schedules: now.schedules, Due: now.status.Due, TakenOverUntil: now.status.TakenOverUntil,
	}}
	decision, err := coach.Decide(input, wire.Event{Kind: wire.EventScheduleTool, Schedule: &ask})
	switch {
	case err != nil:
		return wire.Schedule{}, h.toFailure("planning schedules", err)
	case decision.Refused != "":
		return wire.Schedule{}, newFailure(http.StatusBadRequest, "%s", decision.Refused)
	case len(decision.Effects) == 0:
		return wire.Schedule{}, newFailure(http.StatusConflict, "a schedule with these times exists already")
	case ask.Action == wire.ScheduleDelete:
		return now.find(ask.ID)
	}
	for _, effect := range slices.Backward(decision.Effects) {
		if effect.Kind == wire.EffectPutSchedule {
			return *effect.Schedule, nil
		}
	}
	return now.find(ask.ID)
}

// auditSchedule is a schedule as the audit keeps it; empty where there is none.
func auditSchedule(s wire.Schedule) map[string]string {
	out := map[string]string{"time": s.At, "timezone": s.Zone, "next_at": ""}
	if s.Type == wire.ScheduleRandom {
		out["time"] = s.From + "-" + s.To
	}
	if !s.Next.SendAt.IsZero() {
		out["next_at"] = s.Next.SendAt.UTC().Format(time.RFC3339)
	}
	return out
}
