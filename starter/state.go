package starter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"coachline/internal/metrics"
	"coachline/models"
	"coachline/starter/attention"
	"coachline/starter/records"
)

// ledger holds what operators look up beside the conversation.
type ledger interface {
	Profile(ctx context.Context, id string) (models.Profile, error)
	// MutedUntil is zero when the participant is not muted at the instant now.
	MutedUntil(ctx context.Context, id string, now time.Time) (time.Time, error)
	RecordAudit(ctx context.Context, a models.Audit) error
}

const (
	queryLimit = 5 * time.Second
	modeLimit  = 10 * time.Second
)

// ProfileView is what the coach has learnt of a person's habit. It holds
// personal data.
type ProfileView struct {
	HabitDomain          string     `json:"habit_domain"`
	MotivationalFrame    string     `json:"motivational_frame"`
	PreferredTime        string     `json:"preferred_time"`
	PromptAnchor         string     `json:"prompt_anchor"`
	AdditionalInfo       string     `json:"additional_info"`
	LastSuccessfulPrompt string     `json:"last_successful_prompt"`
	LastBarrier          string     `json:"last_barrier"`
	LastMotivator        string     `json:"last_motivator"`
	LastTweak            string     `json:"last_tweak"`
	LastHabitPrompt      string     `json:"last_habit_prompt"`
	ToneTags             []string   `json:"tone_tags" nullable:"false"`
	LastPromptSentAt     *time.Time `json:"last_prompt_sent_at"`
}

// Counters are kept by the system, never by the model.
type Counters struct {
	Successes int `json:"success_count"`
	Prompts   int `json:"total_prompts"`
}

// ScheduleView is a daily prompt with its true next run.
type ScheduleView struct {
	ID       string              `json:"id"`
	Type     models.ScheduleType `json:"type"`
	At       string              `json:"at,omitempty" doc:"Local HH:MM of a fixed schedule."`
	From     string              `json:"from,omitempty"`
	To       string              `json:"to,omitempty"`
	Timezone string              `json:"timezone"`
	NextAt   *time.Time          `json:"next_at" doc:"When the next prompt goes out; null while none does, because the participant is not active."`
	TargetAt *time.Time          `json:"target_at" doc:"The instant that the prompt prepares for; null with next_at."`
	Held     bool                `json:"held,omitempty" doc:"A hold covers next_at: this prompt will be recorded as missed."`
}

// HeldView is the hold that stops a participant's prompts now.
type HeldView struct {
	ID    int64            `json:"id"`
	Scope models.HoldScope `json:"scope" enum:"all"`
	Until time.Time        `json:"until"`
}

// PendingView is the outstanding daily prompt.
type PendingView struct {
	PromptID string    `json:"prompt_id"`
	SentAt   time.Time `json:"sent_at"`
}

// StateView is where a participant's conversation stands.
type StateView struct {
	Mode    models.Mode   `json:"mode"`
	Status  models.Status `json:"status"`
	Profile ProfileView   `json:"profile"`
	// LastChannel is where the person wrote last (P13).
	LastChannel models.Channel `json:"last_channel" doc:"The external channel that the person wrote on last."`
	Counters    Counters       `json:"counters"`
	Schedules   []ScheduleView `json:"schedules" nullable:"false"`
	Due         []models.Due   `json:"due" nullable:"false"`
	Pending     *PendingView   `json:"pending_prompt"`
	// MutedUntil is set while texts are kept from the coach because the sender
	// behaves like a machine.
	MutedUntil *time.Time `json:"muted_until,omitempty" doc:"Until then texts are stored and not answered, because the sender behaves like a machine."`
	// UnreachableAt is as in the participant's own view.
	UnreachableAt   *time.Time `json:"unreachable_at,omitempty" doc:"Since then the carrier cannot reach the number."`
	UnreachableCode string     `json:"unreachable_code,omitempty" doc:"The carrier's error code."`
	Hold            *HeldView  `json:"hold,omitempty" doc:"The hold that stops prompts now."`
	Waiting         int        `json:"waiting_messages" doc:"Texts that came while the participant was paused and wait for an operator."`
	Version         int64      `json:"version"`
}

// addHold notes the hold that stops prompts, and which of the next ones it
// covers. A nil hold changes nothing.
func (v *StateView) addHold(hold *models.Hold) {
	if hold == nil {
		return
	}
	v.Hold = &HeldView{ID: hold.ID, Scope: hold.Scope, Until: hold.UntilAt.UTC()}
	for i := range v.Schedules {
		v.Schedules[i].Held = v.Schedules[i].NextAt != nil && v.Schedules[i].NextAt.Before(hold.UntilAt)
	}
}

type modeRequest struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Target models.Mode `json:"target_state" enum:"INTAKE,FEEDBACK"`
		Reason string      `json:"reason,omitempty" maxLength:"500"`
	}
}

// ModeView is the result of a forced transition. Mode is still the old one
// while a turn runs; the change is applied when it ends.
type ModeView struct {
	Target models.Mode `json:"target_state"`
	Mode   models.Mode `json:"mode"`
}

func (f *front) stateRoutes(api huma.API) {
	register(api, route{method: http.MethodGet, path: participantPath + "/state", id: "get-state",
		summary: "Mode, profile, counters, schedules and due times", errors: []int{http.StatusNotFound}}, f.state)
	register(api, route{method: http.MethodGet, path: participantPath + "/waiting", id: "list-waiting",
		summary: "Texts that came while the participant was paused and wait for an operator", errors: []int{http.StatusNotFound}}, f.waiting)
	register(api, route{method: http.MethodPost, path: participantPath + "/mode", id: "force-mode",
		summary: "Force a mode, applied between turns",
		errors:  []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, f.setMode)
}

// recordRoutes mount what package records knows.
func (f *front) recordRoutes(api huma.API) {
	r := f.records
	get := func(path, id, summary string) route {
		return route{method: http.MethodGet, path: participantPath + path, id: id, summary: summary}
	}
	erase := func(path, id, summary string) route {
		return route{method: http.MethodDelete, path: participantPath + path, id: id, summary: summary}
	}
	mount(f, api, mounted{get("/turns", "list-turns", "Turns, newest first"), "participant"}, r.Turns)
	mount(f, api, mounted{get("/turns/{number}", "get-turn", "Why the coach said what it said"), "participant or turn"}, r.Turn)
	mount(f, api, mounted{get("/consents", "get-consents", "The consent ledger, oldest first; after removal too"), "participant"}, r.Consents)
	mount(f, api, mounted{get("/memories", "get-memories", "What is remembered of the person"), "participant"}, r.Memories)
	f.exportRoute(api, get("/memory/export", "export-memory", "What is remembered of the person, as files in a zip archive"))
	mount(f, api, mounted{erase("/memories", "forget-memories", "Erase everything that is remembered; after removal too"), "participant"}, r.ForgetAll)
	mount(f, api, mounted{erase("/memories/{fact}", "forget-memory", "Erase a fact in all its versions; after removal too"), "participant or fact"}, r.Forget)
}

// attentionRoutes mount what package attention does.
func (f *front) attentionRoutes(api huma.API) {
	clearing := route{method: http.MethodPost, path: participantPath + "/attention", id: "clear-attention",
		summary: "End the attention that a text called for; prompts go on with their next slot",
		errors:  []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}
	room := attention.New(attention.Config{Desk: f.store, Now: f.now, Actor: actor})
	mount(f, api, mounted{clearing, "participant"}, room.Clear)
	listing := route{method: http.MethodGet, path: "/attention", id: "list-attention", summary: "What operators should look at, oldest first"}
	register(api, listing, func(ctx context.Context, in *attention.ListRequest) (*answer[attention.Page], error) {
		page, err := room.List(ctx, in)
		if err != nil {
			return nil, f.refuse(listing.id, err)
		}
		return newAnswer("", page), nil
	})
	f.alertRoutes(api, room)
}

const alertsPath = "/alerts"

// alertRoutes mount what operators do with messages that were taken for a crisis.
func (f *front) alertRoutes(api huma.API, room *attention.Room) {
	listing := route{method: http.MethodGet, path: alertsPath, id: "list-alerts", summary: "Messages that were taken for a crisis and why, newest first"}
	register(api, listing, func(ctx context.Context, in *attention.AlertsRequest) (*answer[attention.AlertPage], error) {
		page, err := room.Alerts(ctx, in)
		if err != nil {
			return nil, f.refuse(listing.id, err)
		}
		return newAnswer("", page), nil
	})
	marking := route{method: http.MethodPost, path: alertsPath + "/{id}/mark", id: "mark-alert", summary: "Say whether an alert was right",
		errors: []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}
	mount(f, api, mounted{marking, "alert"}, room.Mark)
	exporting := route{method: http.MethodGet, path: alertsPath + "/sheet", id: "export-alerts", summary: "What operators have judged, as lines of a screening sheet"}
	register(api, exporting, func(ctx context.Context, in *attention.SheetRequest) (*answer[attention.Sheet], error) {
		sheet, err := room.Sheet(ctx, in)
		if err != nil {
			return nil, f.refuse(exporting.id, err)
		}
		return newAnswer("", sheet), nil
	})
}

// mounted is a route of another package; what names the things that a 404 is
// about.
type mounted struct {
	route
	what string
}

// mount registers a route whose handler knows nothing of HTTP.
func mount[I, O any](f *front, api huma.API, m mounted, handle func(context.Context, *I) (O, error)) {
	m.errors = append(m.errors, http.StatusNotFound)
	register(api, m.route, func(ctx context.Context, in *I) (*answer[O], error) {
		out, err := handle(ctx, in)
		if errors.Is(err, models.ErrNotFound) {
			return nil, failure(http.StatusNotFound, "%s not found", m.what)
		}
		if err != nil {
			return nil, f.refuse(m.id, err)
		}
		return newAnswer("", out), nil
	})
}

func (f *front) state(ctx context.Context, in *byID) (*answer[StateView], error) {
	p, err := f.store.Participant(ctx, in.ID)
	if err != nil {
		return nil, f.refuse("reading the state", err)
	}
	profile, err := f.store.Profile(ctx, in.ID)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return nil, f.refuse("reading the state", err)
	}
	muted, err := f.store.MutedUntil(ctx, in.ID, f.now())
	if err != nil {
		return nil, f.refuse("reading the state", err)
	}
	hold, err := f.activeHold(ctx)
	if err != nil {
		return nil, f.refuse("reading the state", err)
	}
	waiting, err := f.store.WaitingMessages(ctx, in.ID)
	if err != nil {
		return nil, f.refuse("reading the state", err)
	}
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	var status models.StatusView
	if err := f.query(ctx, in.ID, models.QueryStatus, &status); err != nil {
		return nil, f.refuse("asking the participant's workflow", err)
	}
	var schedules []models.Schedule
	if err := f.query(ctx, in.ID, models.QuerySchedules, &schedules); err != nil {
		return nil, f.refuse("asking the participant's workflow", err)
	}
	view := stateOf(p, profile, status, schedules)
	if !muted.IsZero() {
		view.MutedUntil = &muted
	}
	view.addHold(hold)
	view.Waiting = len(waiting)
	return newAnswer("", view), nil
}

// query asks the workflow; an error means that no worker answered in time or
// that the workflow has not been started yet.
func (f *front) query(ctx context.Context, participantID, name string, result any) error {
	value, err := f.cfg.Temporal.QueryWorkflow(ctx, models.WorkflowID(participantID), "", name)
	if err != nil {
		return fmt.Errorf("querying %s: %w", name, err)
	}
	if err := value.Get(result); err != nil {
		return fmt.Errorf("decoding %s: %w", name, err)
	}
	return nil
}

func stateOf(p models.Participant, profile models.Profile, status models.StatusView, schedules []models.Schedule) StateView {
	view := StateView{
		Mode: status.Mode, Status: status.Status, Profile: profileOf(profile), Version: p.Version,
		LastChannel:   p.LastChannel,
		Counters:      Counters{Successes: profile.SuccessCount, Prompts: profile.TotalPrompts},
		Schedules:     make([]ScheduleView, 0, len(schedules)),
		Due:           append([]models.Due{}, status.Due...),
		UnreachableAt: p.UnreachableAt, UnreachableCode: p.UnreachableCode,
	}
	prompted := p.Status == models.StatusActive && status.Status == models.StatusActive
	for _, s := range schedules {
		schedule := scheduleOf(s, status)
		if !prompted {
			schedule.NextAt, schedule.TargetAt = nil, nil
		}
		view.Schedules = append(view.Schedules, schedule)
	}
	if status.Pending != nil {
		view.Pending = &PendingView{PromptID: status.Pending.PromptID, SentAt: status.Pending.SentAt}
	}
	return view
}

func profileOf(p models.Profile) ProfileView {
	return ProfileView{
		HabitDomain: p.HabitDomain, MotivationalFrame: p.MotivationalFrame, PreferredTime: p.PreferredTime,
		PromptAnchor: p.PromptAnchor, AdditionalInfo: p.AdditionalInfo, LastSuccessfulPrompt: p.LastSuccessfulPrompt,
		LastBarrier: p.LastBarrier, LastMotivator: p.LastMotivator, LastTweak: p.LastTweak,
		LastHabitPrompt: p.LastHabitPrompt, ToneTags: append([]string{}, p.Tone.Tags...), LastPromptSentAt: p.LastPromptSentAt,
	}
}

// scheduleOf prefers the due time over the planned one: a prompt that waits
// for the end of quiet hours goes out then.
func scheduleOf(s models.Schedule, status models.StatusView) ScheduleView {
	view := ScheduleView{
		ID: s.ID, Type: s.Type, At: s.At, From: s.From, To: s.To, Timezone: s.Zone,
		NextAt: &s.Next.SendAt, TargetAt: &s.Next.TargetAt,
	}
	if view.Timezone == "" {
		view.Timezone = status.Zone
	}
	for _, due := range status.Due {
		if due.Kind == models.DueDailyPrompt && due.Ref == s.ID {
			view.NextAt = &due.At
		}
	}
	return view
}

// setMode is audited before it is asked for, so that no change can happen
// without a row; a refusal leaves a second row.
func (f *front) setMode(ctx context.Context, in *modeRequest) (*answer[ModeView], error) {
	p, err := f.store.Participant(ctx, in.ID)
	if err != nil {
		return nil, f.refuse("setting the mode", err)
	}
	if !p.Status.Coached() {
		return nil, failure(http.StatusConflict, "target_state: the participant is %s; a mode can be set only while they are active or paused", p.Status)
	}
	audit := models.Audit{ParticipantID: in.ID, Actor: actor, Action: "set_mode", Detail: string(in.Body.Target), Reason: in.Body.Reason, At: f.now()}
	if err := f.store.RecordAudit(ctx, audit); err != nil {
		return nil, f.refuse("setting the mode", err)
	}
	mode, err := f.forceMode(ctx, in.ID, in.Body.Target)
	if err == nil {
		view := ModeView{Target: in.Body.Target, Mode: mode}
		if mode == "" {
			view.Mode = p.Mode
			return newAnswer("Accepted; applied when the running turn ends", view), nil
		}
		return newAnswer("Mode set", view), nil
	}
	audit.Action, audit.At = "set_mode_failed", f.now()
	if auditErr := f.store.RecordAudit(context.WithoutCancel(ctx), audit); auditErr != nil {
		f.log.Error("recording a refused mode failed", "participant", in.ID, "error", auditErr)
	}
	var rejected *temporal.ApplicationError
	if errors.As(err, &rejected) {
		return nil, failure(http.StatusConflict, "target_state: %s", rejected.Message())
	}
	return nil, f.refuse("setting the mode", err)
}

// forceMode asks the workflow for a mode and returns the one it has then. The
// workflow applies it between turns; once it has accepted, the change is
// durable, and a turn that outlasts the limit leaves the mode empty here.
func (f *front) forceMode(ctx context.Context, participantID string, mode models.Mode) (models.Mode, error) {
	ctx, cancel := context.WithTimeout(ctx, modeLimit)
	defer cancel()
	// One id for all tries: a repeated update is applied once.
	update := client.UpdateWorkflowOptions{
		UpdateID: rand.Text(), WorkflowID: models.WorkflowID(participantID), UpdateName: models.UpdateSetMode,
		Args: []any{models.SetModeRequest{Mode: mode}}, WaitForStage: client.WorkflowUpdateStageAccepted,
	}
	for {
		applied, err := f.tryMode(ctx, update)
		var changing *serviceerror.WorkflowNotReady
		if !errors.As(err, &changing) {
			return applied, err
		}
		select {
		case <-time.After(modeRetry):
		case <-ctx.Done():
			return "", err
		}
	}
}

// modeRetry is how long a run takes to continue as new, during which it takes
// no update.
const modeRetry = 50 * time.Millisecond

func (f *front) tryMode(ctx context.Context, update client.UpdateWorkflowOptions) (models.Mode, error) {
	handle, err := f.cfg.Temporal.UpdateWorkflow(ctx, update)
	f.cfg.Metrics.WorkflowCall(metrics.CallUpdate, err)
	if err != nil {
		return "", fmt.Errorf("updating the workflow: %w", err)
	}
	var view models.StatusView
	err = handle.Get(ctx, &view)
	var late *client.WorkflowUpdateServiceTimeoutOrCanceledError
	if err == nil || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) {
		return view.Mode, nil
	}
	return "", fmt.Errorf("updating the workflow: %w", err)
}

// export is an archive to keep.
type export struct {
	Type        string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

// exportRoute serves files instead of JSON.
func (f *front) exportRoute(api huma.API, r route) {
	const zipType = "application/zip"
	r.errors = []int{http.StatusNotFound}
	register(api, r, func(ctx context.Context, in *records.PersonRequest) (*export, error) {
		raw, err := f.records.Export(ctx, in)
		if errors.Is(err, models.ErrNotFound) {
			return nil, failure(http.StatusNotFound, "participant not found")
		}
		if err != nil {
			return nil, f.refuse(r.id, err)
		}
		return &export{Type: zipType, Disposition: `attachment; filename="memory.zip"`, Body: raw}, nil
	})
	answers := api.OpenAPI().Paths[r.path].Get.Responses[strconv.Itoa(http.StatusOK)]
	answers.Content = map[string]*huma.MediaType{zipType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
}
