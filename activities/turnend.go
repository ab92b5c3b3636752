package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"coachline/internal/agent"
	"coachline/internal/metrics"
	"coachline/internal/text"
	"coachline/internal/tools"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// TurnEnd ends turns.
type TurnEnd struct {
	Turns *TurnLoader
	Posts *SendActivities
	// Keeper judges what a turn leaves behind, After sees to it.
	Keeper Keeper
	After  Background
	// Rules say what follows from a prompt that the carrier took.
	Rules *DecisionActivities
	// Stages says why a model gave no answer, Metrics counts it; both may be nil.
	Stages  StageReader
	Metrics *metrics.Metrics
}

// StageReader lists what is on record of a turn's stages.
type StageReader interface {
	Stages(ctx context.Context, turnID string) ([]models.Stage, error)
}

// SendTurn writes what a turn leaves behind and sends the first of its rows;
// the rows behind it are left to SendSMS. It is one activity, so that the
// workflow's history holds the decision how the turn ends before anything of it
// is stored: a worker that dies at any moment can only be followed by the same
// end again. Once the text is out, what is worth keeping of the turn is
// remembered in the background. Safe to retry.
func (c *TurnEnd) SendTurn(ctx context.Context, in wire.SendTurnInput) (wire.SendTurnResult, error) {
	ctx = metrics.Begin(ctx)
	out, err := c.endTurn(ctx, in)
	if err == nil {
		c.Metrics.TurnEnded(ctx, in.End, out)
		c.countFallback(ctx, in.End)
	}
	return out, err
}

// countFallback counts why a fixed text stood in for the model.
func (c *TurnEnd) countFallback(ctx context.Context, end wire.PersistTurnInput) {
	if c.Metrics == nil || c.Stages == nil || end.Source != wire.SourceFallback {
		return
	}
	turn, err := c.Turns.Store.TurnContext(ctx, end.TurnID, 0)
	stages, other := c.Stages.Stages(ctx, end.TurnID)
	reason, _ := models.FallbackReason(turn.Steps, stages)
	if err = errors.Join(err, other); err != nil {
		activity.GetLogger(ctx).Warn("reason of a fixed text not read", "turn", end.TurnID, "error", err)
	}
	c.Metrics.FellBack(reason)
}

func (c *TurnEnd) endTurn(ctx context.Context, in wire.SendTurnInput) (wire.SendTurnResult, error) {
	stop := startHeartbeat(ctx)
	defer stop()
	out := wire.SendTurnResult{First: wire.SendSMSResult{Status: wire.OutboxCanceled}}
	if in.Begin != nil {
		begun, err := c.Turns.beginTurn(ctx, *in.Begin)
		if err != nil {
			return out, err
		}
		out.Begun = &begun
		if begun.Skip {
			return out, nil
		}
	}
	ended, err := c.Turns.persistTurn(ctx, in.End)
	if err != nil {
		return out, toTemporalError(err)
	}
	out.Saved = ended.Saved
	if len(ended.OutboxIDs) > 0 {
		out.More = ended.OutboxIDs[1:]
		if out.First, err = c.sendFirst(ctx, ended.EndedTurn, in.LeaveUnsettled); err != nil {
			return out, err
		}
		if out.First.Status == wire.OutboxSending {
			out.Unsettled = ended.OutboxIDs[0]
		}
		out.Decided = c.decideSent(ctx, in.Sent, out.First.AcceptedAt)
	}
	out.More = append(out.More, ended.unsent...)
	return out, c.startRemembering(ctx, in.End, ended.turn)
}

// decideSent asks the rules what follows from a row that the carrier took, so
// that the workflow needs no command of its own for it. Rules that fail leave
// it to the workflow, which logs it.
func (c *TurnEnd) decideSent(ctx context.Context, asked *wire.DecideInput, at time.Time) *wire.Decision {
	if asked == nil || at.IsZero() {
		return nil
	}
	in := *asked
	in.Event.At = at
	decision, err := c.Rules.Decide(ctx, in)
	if err != nil {
		activity.GetLogger(ctx).Error("rule failed, left to the workflow", "event", in.Event.Kind, "error", err)
		return nil
	}
	return &decision
}

// sendFirst sends the first row: it was claimed as it was written, or an
// earlier attempt wrote it.
func (c *TurnEnd) sendFirst(ctx context.Context, turn models.EndedTurn, leave bool) (wire.SendSMSResult, error) {
	if turn.First.Outbox.ID != "" {
		return c.Posts.deliverClaim(ctx, turn.First)
	}
	return c.Posts.sendRow(ctx, wire.SendSMSInput{OutboxID: turn.OutboxIDs[0], LeaveUnsettled: leave})
}

// startRemembering starts the memory work of a turn that ends with a model's
// text: a fixed text replaces a reply that does not exist.
func (c *TurnEnd) startRemembering(ctx context.Context, end wire.PersistTurnInput, turn models.TurnContext) error {
	if end.Source != wire.SourceStep && end.Source != wire.SourceSilent || !c.Keeper.Worth(turn) {
		return nil
	}
	return wrap.Error(c.After.Remember(ctx, wire.RememberInput{TurnID: end.TurnID, ParticipantID: end.ParticipantID}), "queueing what is to be remembered")
}

// SubagentActivities ends the turns of subagents.
type SubagentActivities struct {
	Store Turns
	Tools *tools.Registry
	// Metrics may be nil; then nothing is counted.
	Metrics *metrics.Metrics
}

// Bounds of a result: what a person is sent of it, and what a model reads.
const (
	userPart  = 500
	modelPart = 4000
)

// EndSubagent writes how a subagent ended: the result of the call that waits
// for it, where one does, and the outcome of its turn. One that was stopped
// answers no call. Safe to retry: a call that has its result, and a turn that
// has its outcome, keep them.
func (s *SubagentActivities) EndSubagent(ctx context.Context, in wire.PersistTurnInput) error {
	turn, err := s.Store.TurnContext(ctx, in.TurnID, 0)
	begun, err := isFound(err)
	if err != nil {
		return toTemporalError(fmt.Errorf("loading subagent: %w", err))
	}
	if in.Plan.Subagent.Wait && in.Source != wire.SourceSilent {
		if err := s.storeAnswer(ctx, in, turn); err != nil {
			return toTemporalError(fmt.Errorf("answering for %s: %w", in.TurnID, err))
		}
	}
	if !begun {
		return nil
	}
	_, err = s.Store.FinishTurn(ctx, models.TurnOutcome{
		TurnID: in.TurnID, ParticipantID: in.ParticipantID, Outcome: string(in.Source),
		PromptVersion: promptVersion(turn), At: in.Now,
	})
	return toTemporalError(err)
}

func promptVersion(turn models.TurnContext) string {
	if len(turn.Steps) == 0 {
		return ""
	}
	return turn.Steps[len(turn.Steps)-1].PromptVersion
}

// subagentAnswer is the result of a call that waited. ForUser is the part that
// fits a text, where that is not all of it.
type subagentAnswer struct {
	OK      bool   `json:"ok"`
	Label   string `json:"label,omitempty"`
	Result  string `json:"result"`
	ForUser string `json:"for_user,omitempty"`
}

const subagentFailed = "failed: the helper came to no result in time; answer from what you know, and do not claim that anything was found"

func (s *SubagentActivities) storeAnswer(ctx context.Context, in wire.PersistTurnInput, turn models.TurnContext) error {
	call, err := startedBy(ctx, s.Store, in.TurnID)
	if err != nil {
		return err
	}
	result := tools.Failure(call, errors.New(subagentFailed))
	if words := lastWords(turn); in.Source == wire.SourceStep && words != "" {
		_, label, err := s.Tools.Task(call)
		if err != nil {
			return err
		}
		answer := subagentAnswer{OK: true, Label: label}
		answer.Result, _ = text.Cut(words, modelPart)
		if short, left := text.Cut(words, userPart); left > 0 {
			answer.ForUser = short
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return fmt.Errorf("encoding result: %w", err)
		}
		result.Content, result.Failed = string(text), false
	}
	origin, _ := models.ParseSubagentTurnID(in.TurnID)
	run, err := toolRun(wire.ToolInput{TurnID: origin.TurnID, Step: origin.Step, Call: origin.Call}, result)
	if err != nil {
		return err
	}
	run.CreatedAt = in.Now
	if err := s.Store.CommitTool(ctx, models.ToolCommit{Run: run}); err != nil {
		return err
	}
	noteTool(ctx, s.Metrics, s.Tools, run, in.Now.Sub(turn.Turn.StartedAt))
	return nil
}

// lastWords returns the text of the newest step: the result of a subagent.
func lastWords(turn models.TurnContext) string {
	if len(turn.Steps) == 0 {
		return ""
	}
	return agent.Words(turn.Steps[len(turn.Steps)-1].Text)
}
