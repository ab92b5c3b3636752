package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"coachline/internal/coach"
	"coachline/internal/metrics"
	"coachline/internal/study"
	"coachline/internal/tools"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Results that the model reads for a call that was not run.
const (
	RefuseLimit  = "limit"
	RefuseFailed = "failed"
)

// DecisionActivities runs the coaching rules: the workflow records what was
// decided, so rules may change without a change id. Decide reads and writes
// nothing and runs as a local activity; DecideTool stores a row and does not.
type DecisionActivities struct {
	Rules coach.Rules
	// Studies change the rules of their people; nil: the rules hold for all.
	Studies *study.Resolver
	Zones   coach.Zones
	Tools   *tools.Registry
	Calls   Turns
	// States know in which state's hours a person is texted; nil: in those of the rules.
	States *States
	// Metrics may be nil; then nothing is counted.
	Metrics *metrics.Metrics
}

// Decide says what follows from an event. It reads nothing but its input, and study and
// number where they are not known yet; it is safe to retry.
func (d *DecisionActivities) Decide(ctx context.Context, in wire.DecideInput) (wire.Decision, error) {
	asked, err := d.newInput(ctx, in.State, in.Now)
	if err != nil {
		return wire.Decision{}, toTemporalError(err)
	}
	decision, err := coach.Decide(asked, in.Event)
	d.Metrics.Decided(decision.Effects)
	return decision, toTemporalError(err)
}

// newInput returns what the rules are asked with: those of the participant's study
// and arm.
func (d *DecisionActivities) newInput(ctx context.Context, state wire.ParticipantState, now time.Time) (coach.Input, error) {
	settings, err := d.Studies.Resolve(ctx, state.Study, state.Arm)
	rules := settings.Rules(d.Rules).In(d.States.of(ctx, state.ParticipantID))
	return coach.Input{State: state, Now: now, Rules: rules, Zones: d.Zones}, err
}

// DecideTool decides a tool call that changes the workflow's own state, and
// stores its result for the model. The workflow records the decision; a retry before
// that decides again from the same input.
func (d *DecisionActivities) DecideTool(ctx context.Context, in wire.DecideToolInput) (wire.Decision, error) {
	call, err := loadCall(ctx, d.Calls, in.Tool)
	if err != nil {
		return wire.Decision{}, toTemporalError(err)
	}
	asked, err := d.newInput(ctx, in.State, in.Now)
	if err != nil {
		return wire.Decision{}, toTemporalError(err)
	}
	began := time.Now()
	decision, err := d.decideCall(ctx, in, asked, call)
	d.Metrics.Decided(decision.Effects)
	if err != nil {
		return wire.Decision{}, toTemporalError(err)
	}
	if decision.Note == "" && decision.Refused == "" {
		return wire.Decision{Effects: decision.Effects}, nil // a subagent writes the result
	}
	result := models.ToolResult{CallID: call.ID, Name: call.Name, Content: decision.Note}
	if decision.Refused != "" {
		result = tools.Failure(call, errors.New(decision.Refused))
	}
	run, err := toolRun(in.Tool, result)
	if err != nil {
		return wire.Decision{}, err
	}
	run.CreatedAt = in.Now
	if err := d.Calls.CommitTool(ctx, models.ToolCommit{Run: run}); err != nil {
		return wire.Decision{}, toTemporalError(err)
	}
	noteTool(ctx, d.Metrics, d.Tools, run, time.Since(began))
	// The text is in the row; the workflow's history needs the effects only.
	return wire.Decision{Effects: decision.Effects}, nil
}

func (d *DecisionActivities) decideCall(ctx context.Context, in wire.DecideToolInput, asked coach.Input, call models.ToolCall) (wire.Decision, error) {
	switch in.Tool.Refuse {
	case RefuseLimit:
		return wire.Decision{Refused: "tool call limit of this turn reached; answer now from what you know, and do not claim that this was done"}, nil
	case RefuseFailed:
		return wire.Decision{Refused: "the tool is out of order right now; tell the person truthfully that this was not done"}, nil
	}
	if call.Refused != "" {
		return wire.Decision{Refused: call.Refused}, nil
	}
	newID := fmt.Sprintf("sch-%s-s%dc%d", turnNumber(in.Tool), in.Tool.Step, in.Tool.Call)
	event, err := d.Tools.Event(call, newID)
	if err != nil {
		return wire.Decision{Refused: err.Error()}, nil //nolint:nilerr // the model reads why
	}
	if event.Kind == wire.EventScheduleTool && tools.IsNightTime(*event.Schedule, asked.Rules.Quiet) {
		turn, err := d.Calls.TurnContext(ctx, in.Tool.TurnID, WindowEntries)
		if err != nil {
			return wire.Decision{}, fmt.Errorf("reading what the person wrote: %w", err)
		}
		if at := event.Schedule.At; !tools.HasChosenHour(at, turn.Window) {
			return wire.Decision{Refused: fmt.Sprintf("fixed_time: %s is in the quiet hours %s and the person did not name it; nothing was created. Ask them whether they want a text at that hour", at, asked.Rules.Quiet)}, nil
		}
	}
	if event.Kind == wire.EventSubagentAsk {
		event.Plan.Subagent.TurnID = models.SubagentTurnID(in.Tool.TurnID, in.Tool.Step, in.Tool.Call)
	}
	decision, err := coach.Decide(asked, event)
	if err != nil {
		return wire.Decision{Refused: err.Error()}, nil //nolint:nilerr // the model reads why
	}
	return decision, nil
}

// turnNumber returns the last part of the turn id, "t42".
func turnNumber(in wire.ToolInput) string {
	return in.TurnID[len(in.ParticipantID)+1:]
}

// loadCall reads one tool call of a finished step.
func loadCall(ctx context.Context, calls Turns, in wire.ToolInput) (models.ToolCall, error) {
	step, err := calls.Step(ctx, in.TurnID, in.Step)
	if err != nil {
		return models.ToolCall{}, fmt.Errorf("reading step %d of %s: %w", in.Step, in.TurnID, err)
	}
	asked, err := step.ToolCalls()
	if err != nil {
		return models.ToolCall{}, fmt.Errorf("reading step %d of %s: %w", in.Step, in.TurnID, err)
	}
	if in.Call >= len(asked) {
		return models.ToolCall{}, fmt.Errorf("call %d of step %d of %s: %w", in.Call, in.Step, in.TurnID, models.ErrNotFound)
	}
	return asked[in.Call], nil
}

func toolRun(in wire.ToolInput, result models.ToolResult) (models.ToolRun, error) {
	text, err := json.Marshal(result)
	return models.ToolRun{
		TurnID: in.TurnID, Step: in.Step, Call: in.Call,
		Name: result.Name, Result: string(text), Failed: result.Failed,
	}, wrap.Error(err, "encoding tool result")
}

// isFound tells a missing row from a failure to read: false without an error
// when the row does not exist.
func isFound(err error) (bool, error) {
	if errors.Is(err, models.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
