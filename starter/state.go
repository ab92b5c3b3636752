package starter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/coach"
	"coachline/internal/metrics"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// queryLimit is how long a workflow has to answer a query.
const queryLimit = 5 * time.Second

// workflowRoutes answers what a participant's workflow knows, and has it change that.
type workflowRoutes struct {
	base
	people   *store.People
	inbound  *store.Inbound
	holds    *store.Holds
	audit    *store.Audit
	temporal client.Client
	metrics  *metrics.Metrics
	rules    coach.Rules
	resolver *study.Resolver
}

func (h *workflowRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: participantPath + "/state", id: "get-state", needs: auth.PersonalRead, reads: readMemory,
		summary: "Mode, profile, counters, schedules and due times", errors: []int{http.StatusNotFound}}, h.getState)
	h.registerMode(router)
	h.registerSchedules(router)
}

// leftOutSpan is how far back a participant's state shows what was not sent.
const leftOutSpan = 7 * day

func (h *workflowRoutes) getState(ctx context.Context, in *participantRequest) (*answer[api.State], error) {
	p, err := h.people.Participant(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("reading the state", err)
	}
	profile, err := h.people.Profile(ctx, in.ID)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return nil, h.toFailure("reading the state", err)
	}
	muted, err := h.inbound.MutedUntil(ctx, in.ID, h.now())
	if err != nil {
		return nil, h.toFailure("reading the state", err)
	}
	hold, err := findActiveHold(ctx, h.holds, in.ID, h.now())
	if err != nil {
		return nil, h.toFailure("reading the state", err)
	}
	waiting, err := h.people.WaitingMessages(ctx, in.ID)
	if err != nil {
		return nil, h.toFailure("reading the state", err)
	}
	left, err := h.people.LeftOutPrompts(ctx, models.AgendaQuery{ParticipantID: in.ID, From: h.now().Add(-leftOutSpan), Until: h.now()})
	if err != nil {
		return nil, h.toFailure("reading the state", err)
	}
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	var status wire.StatusView
	if err := h.queryWorkflow(ctx, in.ID, wire.QueryStatus, &status); err != nil {
		return nil, h.toFailure("asking the participant's workflow", err)
	}
	var schedules []wire.Schedule
	if err := h.queryWorkflow(ctx, in.ID, wire.QuerySchedules, &schedules); err != nil {
		return nil, h.toFailure("asking the participant's workflow", err)
	}
	state := toState(p, profile, status, schedules)
	if !muted.IsZero() {
		state.MutedUntil = &muted
	}
	addHold(&state, hold)
	state.Waiting, state.LeftOut = len(waiting), toLeftOut(ctx, left)
	return newAnswer("", state), nil
}

// queryWorkflow asks the workflow; an error means that no worker answered in time.
func (h *workflowRoutes) queryWorkflow(ctx context.Context, participantID, name string, result any) error {
	var value converter.EncodedValue
	err := h.reachWorkflow(ctx, participantID, func() (err error) {
		value, err = h.temporal.QueryWorkflow(ctx, models.WorkflowID(participantID), "", name)
		return err //nolint:wrapcheck // below
	})
	if err != nil {
		return fmt.Errorf("querying %s: %w", name, err)
	}
	return wrap.Errorf(value.Get(result), "decoding %s", name)
}

// reachWorkflow does something with a participant's workflow, and starts it first where
// it has not been started because the greeting is far away.
func (h *workflowRoutes) reachWorkflow(ctx context.Context, participantID string, do func() error) error {
	err := do()
	var missing *serviceerror.NotFound
	if !errors.As(err, &missing) {
		return err
	}
	if err := h.relay.Deliver(ctx, participantID); err != nil {
		return fmt.Errorf("starting the workflow: %w", err)
	}
	return do()
}

func toState(p models.Participant, profile models.Profile, status wire.StatusView, schedules []wire.Schedule) api.State {
	state := api.State{
		Mode: status.Mode, Status: status.Status, Profile: toProfile(profile), Version: p.Version,
		LastChannel:   p.LastChannel,
		Counters:      api.Counters{Successes: profile.SuccessCount, Prompts: profile.TotalPrompts},
		Schedules:     make([]api.Schedule, 0, len(schedules)),
		Due:           make([]api.Due, 0, len(status.Due)),
		Feedback:      status.Feedback,
		UnreachableAt: p.UnreachableAt, UnreachableCode: p.UnreachableCode, TakenOver: toTakeOver(p),
	}
	prompted := p.Status == wire.StatusActive && status.Status == wire.StatusActive
	for _, s := range schedules {
		schedule := toSchedule(s, status)
		if !prompted {
			schedule.NextAt, schedule.TargetAt = nil, nil
		}
		state.Schedules = append(state.Schedules, schedule)
	}
	for _, due := range status.Due {
		state.Due = append(state.Due, api.Due(due))
	}
	if status.Pending != nil {
		state.Pending = &api.PendingPrompt{PromptID: status.Pending.PromptID, SentAt: status.Pending.SentAt}
	}
	return state
}

func toProfile(p models.Profile) api.Profile {
	return api.Profile{
		HabitShown: models.HabitShown(p.HabitTexts), LastHabitPrompt: p.LastHabitPrompt,
		ToneTags: append([]string{}, p.Tone.Tags...), LastPromptSentAt: p.LastPromptSentAt,
	}
}

// toSchedule prefers the due time over the planned one: a prompt that waits
// for the end of quiet hours goes out then.
func toSchedule(s wire.Schedule, status wire.StatusView) api.Schedule {
	out := api.Schedule{
		ID: s.ID, Type: s.Type, At: s.At, From: s.From, To: s.To, Timezone: s.Zone,
		NextAt: &s.Next.SendAt, TargetAt: &s.Next.TargetAt,
	}
	if out.Timezone == "" {
		out.Timezone = status.Zone
	}
	for _, due := range status.Due {
		if due.Kind == wire.DueDailyPrompt && due.Ref == s.ID {
			out.NextAt = &due.At
		}
	}
	return out
}

// addHold notes the hold that stops prompts, and which of the next ones it
// covers. A nil hold changes nothing.
func addHold(state *api.State, hold *models.Hold) {
	if hold == nil {
		return
	}
	state.Hold = &api.ActiveHold{ID: hold.ID, Scope: hold.Scope, Until: hold.Until.UTC()}
	for i, schedule := range state.Schedules {
		state.Schedules[i].Held = schedule.NextAt != nil && schedule.NextAt.Before(hold.Until)
	}
}
