package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"coachline/internal/coach"
	"coachline/internal/reply"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/prompts"
)

// Model is a chat model; its errors are *models.ModelError.
type Model interface {
	Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error)
}

// StepStore keeps what the model answered, so that a retry does not pay twice.
type StepStore interface {
	TurnContext(ctx context.Context, turnID string, window int) (models.TurnContext, error)
	Step(ctx context.Context, turnID string, number int) (models.Step, error)
	SaveStep(ctx context.Context, step models.Step) error
}

// Talk runs the rounds of a conversation, one model call an activity.
type Talk struct {
	Turns   *Turns
	Store   StepStore
	Model   Model
	Tools   *tools.Registry
	Prompts *prompts.Library
	Zones   coach.Zones
	// ModelName is asked for in every request; HistoryLimit is how many
	// entries of the conversation the model sees (0 none, -1 no cap).
	ModelName    string
	HistoryLimit int
	Now          func() time.Time
}

const heartbeatEvery = 3 * time.Second

// CallModel asks the model for the next round of a turn; the first round also
// begins the turn. It is safe to retry: a round that was stored is read back.
// It heartbeats while it waits, so that a dead worker costs seconds and not the
// whole time limit.
func (t *Talk) CallModel(ctx context.Context, in models.CallModelInput) (models.CallModelResult, error) {
	begun, err := t.begin(ctx, in)
	if err != nil || begun != nil && (begun.Skip || begun.Prepared) {
		return models.CallModelResult{Begun: begun}, err
	}
	out, err := t.next(ctx, in)
	out.Begun = begun
	return out, err
}

func (t *Talk) begin(ctx context.Context, in models.CallModelInput) (*models.PrepareTurnResult, error) {
	if in.Begin == nil {
		return nil, nil
	}
	begun, err := t.Turns.PrepareTurn(ctx, *in.Begin)
	return &begun, err
}

func (t *Talk) next(ctx context.Context, in models.CallModelInput) (models.CallModelResult, error) {
	step, err := t.Store.Step(ctx, in.TurnID, in.Step)
	done, err := found(err)
	if err != nil {
		return models.CallModelResult{}, fmt.Errorf("reading round %d: %w", in.Step, err)
	}
	if !done {
		stop := beat(ctx)
		step, err = t.round(ctx, in)
		stop()
		if err != nil {
			return models.CallModelResult{}, classed(err)
		}
	}
	return t.result(step)
}

func (t *Talk) round(ctx context.Context, in models.CallModelInput) (models.Step, error) {
	turn, err := t.Store.TurnContext(ctx, in.TurnID, WindowEntries)
	if err != nil {
		return models.Step{}, fmt.Errorf("loading turn: %w", err)
	}
	request, err := t.request(in, turn)
	if err != nil {
		return models.Step{}, err
	}
	answer, err := t.Model.Complete(ctx, request)
	if err != nil {
		return models.Step{}, err
	}
	step, err := t.step(in, turn, answer)
	if err != nil {
		return step, err
	}
	// A second insert is ignored and the first one holds: read it back, so
	// that two attempts of one round agree.
	if err := t.Store.SaveStep(ctx, step); err != nil {
		return step, fmt.Errorf("storing round %d: %w", in.Step, err)
	}
	return t.Store.Step(ctx, in.TurnID, in.Step)
}

func (t *Talk) request(in models.CallModelInput, turn models.TurnContext) (models.ChatRequest, error) {
	zone, err := t.Zones(turn.Participant.Timezone)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("reading time zone: %w", err)
	}
	if in.Kind == models.KindPrompt {
		return reply.ComposeHabitPrompt(t.Prompts, reply.HabitInput{
			Profile: turn.Profile, Name: turn.Participant.Name, Zone: zone, Now: t.Now(), Model: t.ModelName,
		})
	}
	input := reply.Input{
		Context: turn, Mode: in.Mode, Kind: in.Kind, Now: t.Now(), Zone: zone,
		HistoryLimit: t.HistoryLimit, Model: t.ModelName,
	}
	if !in.NoTools {
		input.Tools = t.Tools.For(in.Mode)
	}
	return reply.Compose(t.Prompts, input)
}

func (t *Talk) step(in models.CallModelInput, turn models.TurnContext, answer models.ChatResponse) (models.Step, error) {
	step := models.Step{
		TurnID: in.TurnID, Number: in.Step,
		Text: answer.Text, FinishReason: answer.FinishReason, Model: answer.Model,
		PromptVersion: t.Prompts.Version(), Usage: answer.Usage, CreatedAt: t.Now(),
	}
	if n := len(turn.Window); n > 0 {
		step.AfterMessage = turn.Window[n-1].ID
	}
	if len(answer.Calls) == 0 || in.NoTools || in.Kind == models.KindPrompt {
		return step, nil
	}
	calls, err := json.Marshal(answer.Calls)
	if err != nil {
		return step, fmt.Errorf("encoding tool calls: %w", err)
	}
	step.Calls = string(calls)
	return step, nil
}

// result tells the workflow what it has to do next; words stay in the row.
func (t *Talk) result(step models.Step) (models.CallModelResult, error) {
	calls, err := step.ToolCalls()
	if err != nil {
		return models.CallModelResult{}, err
	}
	out := models.CallModelResult{HasText: reply.Words(step.Text) != ""}
	for _, call := range calls {
		ref := models.CallRef{Name: "unknown", InWorkflow: true}
		if tool, ok := t.Tools.Lookup(call.Name); ok {
			ref = models.CallRef{Name: tool.Name, InWorkflow: tool.InWorkflow}
		}
		out.Calls = append(out.Calls, ref)
	}
	return out, nil
}

// beat heartbeats until the returned function is called.
func beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() { cancel(); <-done }
}
