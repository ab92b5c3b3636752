package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"coachline/internal/agent"
	"coachline/internal/agent/toolcall"
	"coachline/internal/calls"
	"coachline/internal/coach"
	"coachline/internal/helplines"
	"coachline/internal/metrics"
	"coachline/internal/study"
	"coachline/internal/text"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// ToolActivities runs the tools that reach outside the workflow.
type ToolActivities struct {
	Store    Turns
	Outbox   Outbox
	Tools    *tools.Registry
	Model    Model
	Embedder Embedder
	Facts    FactStore
	Prompts  *prompts.Library
	// Programme is the name in the prompt texts; empty is the default.
	Programme string
	Zones     coach.Zones
	// ModelName is asked for where a tool itself needs a model's text.
	ModelName string
	// AnswerTokens bounds such a text; 0 goes by the model.
	AnswerTokens int
	// Alerts keeps the alerts that the coach raises; AlertsTeam is whether a person is
	// paged for one. Helplines are the numbers of countries; nil are the programme's own.
	Alerts     ConcernStore
	AlertsTeam bool
	Helplines  *helplines.Table
	// Studies change texts, name and model for their people; nil: they hold for all.
	Studies *study.Resolver
	Now     func() time.Time
	// ModelTimeout is as in ModelActivities.
	ModelTimeout time.Duration
	// Costs keeps the calls that tools make; nil keeps none.
	Costs CostStore
	// Metrics may be nil; then nothing is counted.
	Metrics *metrics.Metrics
	// Drafts judges what a tool writes for a person; nil judges nothing.
	Drafts DraftJudge
}

// DraftJudge judges a draft for what it advises, and returns what is to be sent in its
// place and what was found, as agent.Agent does.
type DraftJudge interface {
	JudgeDraft(ctx context.Context, c models.TurnContext, draft string) (sent, found string)
}

// noteTool counts a call and logs which tool ran how long, without its arguments, which
// are personal. A model may ask for a tool by any name, and a name that no tool has is no
// label.
func noteTool(ctx context.Context, m *metrics.Metrics, registry *tools.Registry, run models.ToolRun, took time.Duration) {
	tool, _ := registry.Lookup(run.Name)
	slog.InfoContext(ctx, "tool ran", "turn", run.TurnID, "step", run.Step, "call", run.Call, "tool", cmp.Or(tool.Name, "unknown"), "failed", run.Failed,
		"milliseconds", took.Milliseconds())
	m.ToolRun(tool.Name, run.Failed)
}

// RunTool executes one tool call and commits its result together with what it
// changed, and says which texts are to be sent because of it. Safe to retry: a
// committed call is not run again.
//
// It heartbeats, and keeps to the input's time limit as CallModel does.
func (t *ToolActivities) RunTool(ctx context.Context, in wire.ToolInput) (wire.ToolEffect, error) {
	limit := startModelLimit(ctx, in.TimeLimit, toolAttempt, t.ModelTimeout, t.Now)
	stop := startHeartbeatWith(ctx, limit.recordHeartbeat)
	asking, asked := calls.With(ctx)
	out, err := t.runOnce(asking, in, limit)
	stop()
	t.bookOf(in).bookOpen(ctx, asked)
	return out, limit.limitError(ctx, err)
}

func (t *ToolActivities) runOnce(ctx context.Context, in wire.ToolInput, limit *timeLimit) (wire.ToolEffect, error) {
	ctx, cancel := limit.limitContext(ctx)
	defer cancel()
	run, err := t.Store.ToolRun(ctx, in.TurnID, in.Step, in.Call)
	done, err := isFound(err)
	if !done && err == nil {
		run, err = t.runCall(ctx, in, limit)
	}
	if err != nil {
		return wire.ToolEffect{}, toTemporalError(err)
	}
	out, err := t.rowsToSend(ctx, run)
	if err == nil && !run.Failed && run.Name == tools.SaveTool {
		out.Reported, err = t.reported(ctx, in)
	}
	return out, err
}

// reported says what a call has made known of the newest prompt.
func (t *ToolActivities) reported(ctx context.Context, in wire.ToolInput) (wire.FeedbackStage, error) {
	call, err := loadCall(ctx, t.Store, in)
	if err != nil {
		return wire.FeedbackNone, toTemporalError(err)
	}
	return t.Tools.Reported(call), nil
}

func (t *ToolActivities) bookOf(in wire.ToolInput) callBook {
	return callBook{store: t.Costs, turn: in.TurnID, part: fmt.Sprintf("tool %d.%d", in.Step, in.Call), now: t.Now}
}

// runCall executes a call that has no result yet, and stores its result.
func (t *ToolActivities) runCall(ctx context.Context, in wire.ToolInput, limit *timeLimit) (models.ToolRun, error) {
	call, err := loadCall(ctx, t.Store, in)
	if err != nil {
		return models.ToolRun{}, err
	}
	turn, err := t.Store.TurnContext(ctx, in.TurnID, 0)
	if err != nil {
		return models.ToolRun{}, fmt.Errorf("loading turn: %w", err)
	}
	zone, err := t.Zones(turn.Participant.Timezone)
	if err != nil {
		return models.ToolRun{}, fmt.Errorf("reading time zone: %w", err)
	}
	settings, err := t.Studies.Resolve(ctx, turn.Participant.StudyID, turn.Participant.Arm)
	if err != nil {
		return models.ToolRun{}, err
	}
	settings.ToolsOff = slices.Concat(settings.ToolsOff, t.Tools.NotFor(settings.Study))
	own := t.forPerson(settings)
	began := time.Now()
	var known tools.Memory = memories{tools: t, participantID: turn.Participant.ID, zone: zone}
	if turn.Participant.DoubtedAt != nil {
		known = nil
	}
	ran, err := t.Tools.Run(ctx, tools.RunInput{
		Call: call, TurnID: in.TurnID, Profile: turn.Profile, Now: t.Now(), Zone: zone, Mode: in.Mode, Study: settings.Study, Subagent: turn.Turn.Kind == wire.TurnSubagent, Playbooks: own.Prompts,
		Writer:        habitWriter{tools: own, participant: turn.Participant, turn: turn, zone: zone, book: t.bookOf(in), limit: limit},
		Memory:        known,
		Finder:        finder{tools: t, mode: in.Mode, settings: settings},
		Concerns:      concerns{tools: own, person: turn.Participant},
		Confirmations: confirmations{store: t.Store, turnID: in.TurnID, now: t.Now(), tools: own},
	})
	if err != nil {
		return models.ToolRun{}, fmt.Errorf("running tool %s: %w", call.Name, err)
	}
	commit := models.ToolCommit{Profile: ran.Profile, Outcome: ran.Outcome, PauseUntil: ran.PauseUntil}
	if ran.NeedsPerson {
		commit.Attention = wire.AttentionPerson
	}
	if commit.Run, err = toolRun(in, ran.Result); err != nil {
		return models.ToolRun{}, err
	}
	commit.Run.CreatedAt = t.Now()
	if ran.Say != "" {
		commit.Said = t.messageOutcome(in, turn, ran.Say)
	}
	err = t.Store.CommitTool(ctx, commit)
	if errors.Is(err, models.ErrStale) {
		// Another writer changed the profile, or the person opted out: the next
		// attempt goes on from that.
		return models.ToolRun{}, fmt.Errorf("profile or turn changed meanwhile: %w", err)
	}
	if err == nil {
		noteTool(ctx, t.Metrics, t.Tools, commit.Run, time.Since(began))
	}
	return commit.Run, err
}

// forPerson returns the activities with the texts and the model that are in force
// for a person.
func (t *ToolActivities) forPerson(settings study.Settings) *ToolActivities {
	own := *t
	own.Prompts, own.Programme = settings.Texts(t.Prompts, t.Programme)
	own.ModelName = cmp.Or(settings.Model, t.ModelName)
	return &own
}

// messageOutcome returns a text in the middle of a turn: its entry of the
// conversation and its rows, as the end of a turn would write them. Where no
// carrier has a part in it the row passes the send checks at once.
func (t *ToolActivities) messageOutcome(in wire.ToolInput, turn models.TurnContext, text string) *models.TurnOutcome {
	id, channel, now := models.InterimMessageID(in.TurnID, in.Step, in.Call), turn.Turn.Channel, t.Now()
	out := finishedTurn{TurnOutcome: models.TurnOutcome{
		TurnID: in.TurnID, ParticipantID: in.ParticipantID, Claim: !models.ChannelSpecOf(channel).ViaCarrier, At: now,
	}}
	out.addText(wire.PersistTurnInput{
		ParticipantID: in.ParticipantID, TurnID: id, Plan: wire.TurnPlan{Kind: turn.Turn.Kind}, Now: now,
	}, replyText{text: text, outboxID: models.OutboxID(id, 1)}, channel)
	return &out.TurnOutcome
}

// rowsToSend returns what is to be sent because of a call; nothing for most
// tools.
func (t *ToolActivities) rowsToSend(ctx context.Context, run models.ToolRun) (wire.ToolEffect, error) {
	var out wire.ToolEffect
	rows, err := asideRows(ctx, t.Outbox, run)
	if err != nil {
		return out, toTemporalError(err)
	}
	for _, row := range rows {
		if models.ChannelSpecOf(row.Channel).ViaCarrier {
			out.Send = append(out.Send, row.ID)
			continue
		}
		out.Shown = out.Shown || row.AcceptedAt != nil
	}
	return out, nil
}

// habitWriter writes habit prompts for the tool that asks for one.
type habitWriter struct {
	tools       *ToolActivities
	participant models.Participant
	turn        models.TurnContext
	zone        *time.Location
	book        callBook
	limit       *timeLimit
}

// HabitPrompt returns one sentence for the profile. It fails with a
// *models.ModelError, or with a *models.FieldError where the model wrote nothing
// that may be sent.
func (w habitWriter) HabitPrompt(ctx context.Context, p models.Profile, notes string) (string, error) {
	recent, err := w.tools.Store.RecentPrompts(ctx, w.participant.ID)
	if err != nil {
		return "", err
	}
	cleaner := agent.NewCleaner()
	known, err := cleaner.Turn(models.TurnContext{Participant: w.participant, Profile: p, Recent: recent})
	if err != nil {
		return "", fmt.Errorf("redacting what is known of the person: %w", err)
	}
	request, err := agent.ComposeHabitPrompt(w.tools.Prompts, agent.HabitInput{
		Person: known.Participant, Profile: known.Profile, Notes: cleaner.Text(notes, 0), Zone: w.zone, Now: w.tools.Now(), Model: w.tools.ModelName, Recent: known.Recent,
	})
	if err != nil {
		return "", err
	}
	if err := w.book.bookDead(ctx, w.limit, w.tools.ModelName); err != nil {
		return "", err
	}
	answer, err := w.tools.Model.Complete(ctx, toolcall.SizedStage(request, 0, w.tools.AnswerTokens))
	if err != nil {
		return "", err
	}
	verdict := toolcall.JudgeNative(models.ChatResponse{Text: answer.Text, FinishReason: answer.FinishReason}, toolcall.Native{})
	if verdict.Judgment != toolcall.Words {
		return "", unsendableError()
	}
	if toolcall.IsCut(answer) {
		verdict.Text = text.CutAtSentence(verdict.Text)
	}
	text := agent.Clean(verdict.Text)
	instructions, err := agent.NewInstructions(w.tools.Prompts, w.tools.Programme)
	if err != nil {
		return "", fmt.Errorf("reading the coach's instructions: %w", err)
	}
	screened := agent.Screen(agent.Outbound{
		Text: text, Phone: w.participant.Phone, Known: []string{instructions.Text, p.PromptAnchor, p.HabitDomain}, Instructions: instructions,
	})
	if text == "" || len(screened.Dropped) > 0 {
		return "", unsendableError()
	}
	return w.judgePrompt(ctx, text)
}

// judgePrompt returns what may be kept of a prompt; one that advises what it must not is
// an error of the call.
func (w habitWriter) judgePrompt(ctx context.Context, text string) (string, error) {
	if w.tools.Drafts == nil {
		return text, nil
	}
	sent, found := w.tools.Drafts.JudgeDraft(ctx, w.turn, text)
	verdict, _, _ := models.Stage{Name: models.StageAdvice, Decision: found}.Advice()
	if verdict == models.AdviceRefuse || verdict == models.AdviceFailed {
		return "", unsendableError()
	}
	return sent, nil
}

func unsendableError() error {
	return models.BadField("personalization_notes", "led to no prompt that can be sent; call again with other notes")
}
