package activities

import (
	"context"
	"fmt"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/sdk/activity"

	"coachline/internal/helplines"
	"coachline/internal/metrics"
	"coachline/internal/study"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// WindowEntries is how many entries of the conversation a turn can see.
const WindowEntries = 120

// TurnLoader does the short database work around a turn; all of it is safe to
// retry.
type TurnLoader struct {
	Store     Turns
	Outbox    Outbox
	Prompts   *prompts.Library
	Programme string
	// AlertsTeam is whether a person is paged for a crisis; the safety text says so only
	// then.
	AlertsTeam bool
	// Helplines are the numbers of countries; nil are the programme's own.
	Helplines *helplines.Table
	// Studies change the texts and the name for their people; nil: they hold for
	// all.
	Studies *study.Resolver
	Limits  wire.Limits
	// RecentTurns may be nil; then nothing is kept between activities.
	Recent *RecentTurns
	// Metrics may be nil; then nothing is counted.
	Metrics *metrics.Metrics
}

// RecentTurns keeps the turns whose last step this worker has just stored, so
// that their ends need not be read: steps are never changed once they are
// stored. It is safe for use by several goroutines.
type RecentTurns struct {
	turns *lru.Cache[string, models.TurnContext]
}

// recentTurns bounds what is kept; most of it goes with the end of its turn,
// milliseconds later.
const recentTurns = 1024

// NewRecent returns a cache that holds nothing yet.
func NewRecent() *RecentTurns {
	turns, err := lru.New[string, models.TurnContext](recentTurns)
	if err != nil { // for sizes below one only
		panic(err)
	}
	return &RecentTurns{turns: turns}
}

// keepTurn keeps a turn with its newest step. One that calls tools will not be
// the last.
func (r *RecentTurns) keepTurn(turn models.TurnContext, step models.Step) {
	if r == nil {
		return
	}
	if step.Calls != "" {
		r.turns.Remove(step.TurnID)
		return
	}
	turn.Steps = append(slices.Clone(turn.Steps), step)
	r.turns.Add(step.TurnID, turn)
}

// takeTurn returns a turn once, when it ends with the step that was kept.
func (r *RecentTurns) takeTurn(end wire.PersistTurnInput) (models.TurnContext, bool) {
	if r == nil || end.Source != wire.SourceStep {
		return models.TurnContext{}, false
	}
	turn, ok := r.turns.Get(end.TurnID)
	if !ok || turn.Steps[len(turn.Steps)-1].Number != end.Step {
		return models.TurnContext{}, false
	}
	r.turns.Remove(end.TurnID)
	return turn, true
}

// trimToEnding returns what the end of a turn needs of it: its own entries, and
// nothing of what is around it.
func trimToEnding(turn models.TurnContext) models.TurnContext {
	var own []models.Message
	for _, m := range turn.Window {
		if m.TurnID == turn.Turn.ID {
			own = append(own, m)
		}
	}
	turn.Window = own
	turn.Outstanding, turn.Schedules = nil, nil
	return turn
}

// PrepareTurn stores the texts of a turn that answers none, and says how to go
// on. A turn that says something begins with another activity.
func (t *TurnLoader) PrepareTurn(ctx context.Context, in wire.PrepareTurnInput) (wire.PrepareTurnResult, error) {
	out, err := t.beginTurn(ctx, in)
	if err == nil {
		t.Metrics.Kept(in.Plan.Kind)
	}
	return out, err
}

// beginTurn opens the turn's row, moves the waiting texts into the
// conversation and says how to go on. It heartbeats, because a voice note may
// have to be transcribed first.
func (t *TurnLoader) beginTurn(ctx context.Context, in wire.PrepareTurnInput) (wire.PrepareTurnResult, error) {
	stop := startHeartbeat(ctx)
	defer stop()
	in, err := t.noteStudy(ctx, in)
	if err != nil {
		return wire.PrepareTurnResult{}, err
	}
	out, err := t.Store.BeginTurn(ctx, in)
	if err != nil {
		return out, toTemporalError(fmt.Errorf("opening turn: %w", err))
	}
	logGone(ctx, in, out.Gone)
	out.Limits = t.channelLimits(in)
	return out, nil
}

// lostCommits is what the log says of a database that has lost what it had committed.
const lostCommits = "the database has lost commits: after a fail-over to a replica that lagged; replication must be synchronous, see operations"

func logGone(ctx context.Context, in wire.PrepareTurnInput, gone int) {
	if gone > 0 {
		activity.GetLogger(ctx).Error(lostCommits, "participant", in.ParticipantID, "turn", in.TurnID, "messages_gone", gone)
	}
}

// CheckNumbers returns those of some messages that are new although the workflow has
// seen their numbers. Safe to retry.
func (t *TurnLoader) CheckNumbers(ctx context.Context, in wire.NumberCheck) ([]wire.InboxItem, error) {
	fresh, err := t.Store.CheckNumbers(ctx, in)
	if err == nil && len(fresh) > 0 {
		activity.GetLogger(ctx).Error(lostCommits, "participant", in.ParticipantID, "messages_numbered_again", len(fresh))
	}
	return fresh, toTemporalError(err)
}

// noteStudy completes the beginning of a turn with the version of the study whose
// settings are in force for it.
func (t *TurnLoader) noteStudy(ctx context.Context, in wire.PrepareTurnInput) (wire.PrepareTurnInput, error) {
	settings, err := t.Studies.Resolve(ctx, in.Study, "")
	in.StudyVersion = settings.Version
	return in, err
}

// forPerson returns the loader with the texts that are in force for a person.
func (t *TurnLoader) forPerson(ctx context.Context, p models.Participant) (*TurnLoader, error) {
	settings, err := t.Studies.Resolve(ctx, p.StudyID, p.Arm)
	own := *t
	own.Prompts, own.Programme = settings.Texts(t.Prompts, t.Programme)
	return &own, err
}

func (t *TurnLoader) channelLimits(in wire.PrepareTurnInput) wire.Limits {
	out := t.Limits
	if most := models.ChannelSpecOf(in.Channel).ToolCalls; most > 0 {
		out.ToolCalls = min(out.ToolCalls, most)
	}
	return out
}

// ReadPast returns what a new workflow needs from the terminated one before it.
func (t *TurnLoader) ReadPast(ctx context.Context, participantID string) (wire.Past, error) {
	past, err := t.Store.Past(ctx, participantID)
	if err != nil {
		return past, toTemporalError(fmt.Errorf("reading what went before: %w", err))
	}
	return past, nil
}

// SaveState mirrors the workflow's state into tables for operators' queries.
func (t *TurnLoader) SaveState(ctx context.Context, in wire.SaveStateInput) error {
	if err := t.Store.SaveState(ctx, in); err != nil {
		return toTemporalError(fmt.Errorf("saving state: %w", err))
	}
	t.Metrics.Missed(in.Missed)
	return nil
}

// persistTurn writes the conversation entries and the outbox rows of a turn in
// one transaction and returns the rows to send, in order: the parts of its
// text, then the debug text. A finished turn returns the rows it has.
func (t *TurnLoader) persistTurn(ctx context.Context, in wire.PersistTurnInput) (endedTurn, error) {
	turn, known := t.Recent.takeTurn(in)
	if !known {
		var err error
		if turn, err = t.Store.EndingTurn(ctx, in.TurnID); err != nil {
			return endedTurn{}, fmt.Errorf("loading turn: %w", err)
		}
	}
	metrics.Of(ctx).Loaded(turn)
	texts, err := t.forPerson(ctx, turn.Participant)
	if err != nil {
		return endedTurn{}, err
	}
	outcome, err := texts.buildOutcome(ctx, in, turn)
	if err != nil {
		return endedTurn{}, err
	}
	done, err := t.Store.FinishTurn(ctx, outcome.TurnOutcome)
	if err != nil {
		return endedTurn{}, fmt.Errorf("storing turn: %w", err)
	}
	if done.First.Outbox.ID != "" {
		t.Metrics.Claimed(ctx, done.First)
	}
	if done.Saved {
		t.Metrics.Missed(in.State.Missed)
	}
	if outcome.leftOut > 0 {
		activity.GetLogger(ctx).Warn("text was too long and is cut", "turn", in.TurnID, "participant", in.ParticipantID, "left_out", outcome.leftOut)
	}
	return endedTurn{turn: turn, EndedTurn: done, unsent: outcome.unsent}, nil
}

// endedTurn is a turn that is stored, the rows to send for it, and the rows that a
// tool of it left to be sent.
type endedTurn struct {
	models.EndedTurn
	unsent []string
	turn   models.TurnContext
}

// finishedTurn is what a turn leaves behind; leftOut counts the characters of its
// text that found no place in any part, unsent lists rows that wait since a tool
// wrote them.
type finishedTurn struct {
	models.TurnOutcome
	leftOut int
	unsent  []string
}

// outcomeSaid ends a turn whose final text adds nothing to a text that it sent
// before.
const outcomeSaid = "said_already"

// buildOutcome assembles what the turn leaves behind.
func (t *TurnLoader) buildOutcome(ctx context.Context, in wire.PersistTurnInput, turn models.TurnContext) (finishedTurn, error) {
	out := finishedTurn{TurnOutcome: models.TurnOutcome{
		TurnID: in.TurnID, ParticipantID: in.ParticipantID, Outcome: string(in.Source),
		PromptVersion: t.Prompts.Version(), ClearPrepared: in.Source == wire.SourcePrepared, Claim: true, State: in.State, At: in.Now,
	}}
	out.Entries = toolEntries(in, turn)
	words, err := t.findText(ctx, in, turn)
	if err != nil {
		return out, err
	}
	before, err := t.loadAsides(ctx, turn)
	if err != nil {
		return out, err
	}
	out.unsent = before.ready
	if in.Source == wire.SourceStep && before.makesRedundant(words, turn.Turn.Channel) {
		out.Outcome, words = outcomeSaid, replyText{}
	}
	out.addText(in, words, turn.Turn.Channel)
	if debug := t.debugText(in, turn); debug != "" {
		part := len(out.Outbox) + 1
		out.addRow(in, models.Outbox{ID: models.OutboxID(in.TurnID, part), Part: part, Kind: models.KindDebug, Body: debug})
	}
	return out, nil
}

// addText puts a text into the conversation once and into as many outbox rows
// as it has parts.
func (f *finishedTurn) addText(in wire.PersistTurnInput, words replyText, channel wire.Channel) {
	whole, parts := words.splitParts(channel)
	if whole == "" {
		return
	}
	f.leftOut = parts.LeftOut
	for i, part := range parts.Texts {
		id := words.outboxID
		if i > 0 {
			id = models.OutboxID(in.TurnID, i+1)
		}
		f.addRow(in, models.Outbox{ID: id, Part: i + 1, Kind: models.EntryOf(in.Plan.Kind), PromptID: in.Plan.PromptID, Body: part, Channel: channel})
	}
	f.Entries = append(f.Entries, models.Message{
		ParticipantID: in.ParticipantID, TurnID: in.TurnID, Key: in.TurnID + "-text",
		Role: models.RoleAssistant, Kind: models.EntryOf(in.Plan.Kind), Text: whole, OutboxID: words.outboxID, Channel: channel, At: in.Now,
	})
	if in.Plan.Kind == wire.TurnPrompt {
		f.HabitPrompt = whole
	}
}

func (f *finishedTurn) addRow(in wire.PersistTurnInput, row models.Outbox) {
	if until := in.Plan.Until; !until.IsZero() {
		row.SendBefore = &until
	}
	row.ParticipantID, row.TurnID, row.CreatedAt, row.UpdatedAt = in.ParticipantID, in.TurnID, in.Now, in.Now
	f.Outbox = append(f.Outbox, row)
}
