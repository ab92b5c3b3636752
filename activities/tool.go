package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coachline/internal/coach"
	"coachline/internal/reply"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/prompts"
)

// ToolStore is what tool execution reads and writes.
type ToolStore interface {
	CallStore
	TurnContext(ctx context.Context, turnID string, window int) (models.TurnContext, error)
}

// Tools runs the tools that reach outside the workflow.
type Tools struct {
	Store    ToolStore
	Tools    *tools.Registry
	Model    Model
	Embedder Embedder
	Facts    FactStore
	Prompts  *prompts.Library
	Zones    coach.Zones
	// ModelName is asked for where a tool itself needs words.
	ModelName string
	Now       func() time.Time
}

// RunTool executes one tool call and commits its result together with what it
// changed. Safe to retry: a committed call is not run again.
func (t *Tools) RunTool(ctx context.Context, in models.ToolInput) error {
	_, err := t.Store.ToolRun(ctx, in.TurnID, in.Step, in.Call)
	done, err := found(err)
	if done || err != nil {
		return classed(err)
	}
	call, err := loadCall(ctx, t.Store, in)
	if err != nil {
		return classed(err)
	}
	turn, err := t.Store.TurnContext(ctx, in.TurnID, 0)
	if err != nil {
		return classed(fmt.Errorf("loading turn: %w", err))
	}
	zone, err := t.Zones(turn.Participant.Timezone)
	if err != nil {
		return fmt.Errorf("reading time zone: %w", err)
	}
	ran, err := t.Tools.Run(ctx, tools.RunInput{
		Call: call, TurnID: in.TurnID, Profile: turn.Profile, Now: t.Now(), Subagent: turn.Turn.Kind == models.KindSubagent,
		Writer: habitWriter{tools: t, participant: turn.Participant, zone: zone},
		Memory: memories{tools: t, participantID: turn.Participant.ID, zone: zone},
		Finder: finder{tools: t, mode: in.Mode},
	})
	if err != nil {
		return classed(fmt.Errorf("running tool %s: %w", call.Name, err))
	}
	return t.commit(ctx, in, ran)
}

func (t *Tools) commit(ctx context.Context, in models.ToolInput, done tools.Execution) error {
	run, err := toolRun(in, done.Result)
	if err != nil {
		return err
	}
	run.CreatedAt = t.Now()
	err = t.Store.CommitTool(ctx, models.ToolCommit{Run: run, Profile: done.Profile, CountSuccess: done.CountSuccess})
	if errors.Is(err, models.ErrStale) {
		// Somebody else changed the profile meanwhile: the next attempt merges
		// into the newer one.
		return fmt.Errorf("profile changed meanwhile: %w", err)
	}
	return classed(err)
}

// habitWriter writes habit prompts for the tool that asks for one.
type habitWriter struct {
	tools       *Tools
	participant models.Participant
	zone        *time.Location
}

// HabitPrompt is one sentence for the profile; it fails with a
// *models.ModelError.
func (w habitWriter) HabitPrompt(ctx context.Context, p models.Profile, notes string) (string, error) {
	request, err := reply.ComposeHabitPrompt(w.tools.Prompts, reply.HabitInput{
		Profile: p, Name: w.participant.Name, Notes: notes, Zone: w.zone, Now: w.tools.Now(), Model: w.tools.ModelName,
	})
	if err != nil {
		return "", err
	}
	answer, err := w.tools.Model.Complete(ctx, request)
	if err != nil {
		return "", err
	}
	return reply.Clean(answer.Text), nil
}
