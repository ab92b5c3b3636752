package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"coachline/internal/agent/toolcall"
	"coachline/internal/calls"
	"coachline/internal/coach"
	"coachline/models"
	"coachline/models/wire"
)

// trace collects what the stages of one step decided. It is stored with the
// step, so that an operator can see why the coach said what it said.
type trace struct {
	turnID string
	stages []models.Stage
	now    func() time.Time
}

// note records a decision; it must hold no personal data.
func (t *trace) note(name models.StageName, decision string) {
	t.stages = append(t.stages, models.Stage{TurnID: t.turnID, Name: name, Decision: decision, CreatedAt: t.now().UTC()})
}

// noteError records a stage that failed open.
func (t *trace) noteError(name models.StageName, err error) {
	reason := "failed"
	var model *models.ModelError
	switch {
	case errors.As(err, &model):
		reason = "failed " + string(model.Class)
	case errors.Is(err, context.DeadlineExceeded):
		reason = "failed time limit"
	}
	t.note(name, string(name)+" "+reason)
}

// keepLimit bounds keeping why a model failed; the time of the attempt may be over.
const keepLimit = 5 * time.Second

// keepFailure stores what an attempt tried and why the chat model gave no answer, so that
// a turn with a fixed text tells. What cannot be stored is left out.
func (r *runningStep) keepFailure(ctx context.Context, cause error) {
	var failed *models.ModelError
	if !errors.As(cause, &failed) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	r.trace.note(models.StageModel, models.DescribeFailure(failed))
	at := r.agent.Now().UTC()
	for i, row := range r.trace.stages {
		if row.Model != "" || row.Name != models.StageModel && row.Name != models.StageGuard {
			continue // Calls that were answered are booked with their attempt.
		}
		hash, err := hashOf([]any{row.TurnID, r.input.Step, at, i})
		if err != nil {
			return
		}
		row.Number = stageNumber(hash)
		if r.agent.Journal.SaveStage(ctx, row) != nil {
			return
		}
	}
}

// stageAnswers say what stages answer with: most is the longest answer in tokens, 0 as
// long as any, isObject that it is one JSON object where the request does not say so, and
// isWhole that one which breaks off is none: small models plan on and on.
var stageAnswers = map[models.StageName]struct {
	most     int
	isObject bool
	isWhole  bool
}{
	models.StageFocus:   {most: 50},
	models.StageRoute:   {most: 100},
	models.StagePlan:    {most: 400, isWhole: true},
	models.StageExtract: {most: 300, isObject: true},
	models.StageMemory:  {most: 600, isObject: true},
	models.StageLook:    {most: 200},
	models.StageAdvice:  {most: 250},
	models.StageDigest:  {most: 600},
	models.StageLimit:   {most: 300},
}

// question is one thing that a stage asks a small model.
type question struct {
	stage   models.StageName
	request models.ChatRequest
	limit   time.Duration
}

// askSmallModel asks a question once for a turn: a retry with the same input
// reads the stored answer of an earlier call.
func (a *Agent) askSmallModel(ctx context.Context, t *trace, q question) (string, error) {
	hash, err := hashOf(q.request)
	if err != nil {
		return "", err
	}
	if kept, err := a.Journal.StageBy(ctx, t.turnID, q.stage, hash); err == nil {
		return kept.Output, nil
	} else if !errors.Is(err, models.ErrNotFound) {
		t.noteError(q.stage, err)
		return "", fmt.Errorf("reading stage %s: %w", q.stage, err)
	}
	q.request = toolcall.SizedStage(q.request, stageAnswers[q.stage].most, a.Settings.AnswerTokens)
	q.request.JSON = q.request.JSON || stageAnswers[q.stage].isObject
	callCtx, cancel := context.WithTimeout(ctx, a.limitOf(q.limit))
	defer cancel()
	began := a.Now()
	answer, err := a.Model.Complete(callCtx, q.request)
	if err != nil {
		t.noteError(q.stage, err)
		return "", fmt.Errorf("asking for %s: %w", q.stage, err)
	}
	if stageAnswers[q.stage].isWhole && toolcall.IsCut(answer) {
		answer.Text = ""
	}
	row := models.Stage{
		TurnID: t.turnID, Number: stageNumber(hash), Name: q.stage, Decision: string(q.stage) + " asked", InputHash: hash, Output: answer.Text,
		Model: answer.Model, Usage: answer.Usage, Millis: a.Now().Sub(began).Milliseconds(), CreatedAt: a.Now().UTC(),
	}
	// Not kept means asked again by a retry, and no more.
	if err := a.Journal.SaveStage(ctx, row); err != nil {
		t.note(q.stage, string(q.stage)+" not kept")
	} else {
		calls.Settle(ctx, row.Model, row.Usage)
	}
	return answer.Text, nil
}

// stageNumber derives the number of a question among those of a turn from its
// hash, so that it does not depend on the order in which attempts ask.
func stageNumber(hash string) int {
	var n int
	for _, c := range hash[:7] {
		n = n<<4 | int(hexDigit(c))
	}
	return n
}

func hexDigit(c rune) rune {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// hashOf returns a hash of a value by its JSON form.
func hashOf(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("hashing input: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// debugLength is how many characters of a field a debug text holds; it is a text message too.
const debugLength = 60

// debugMark begins every debug text; testers' phones filter on it.
const debugMark = "🐛 DEBUG:"

// DebugInput is what a debug text reports of a turn.
type DebugInput struct {
	Mode    wire.Mode
	Profile models.Profile
	Runs    []models.ToolRun
}

// DebugText reports to a tester what the turn did: mode, the profile as a model reads it,
// with personal data masked, counters and tools.
func DebugText(in DebugInput) string {
	cleaner := NewCleaner()
	var set []string
	for field, text := range in.Profile.All() {
		if value := cleaner.Text(*text, debugLength); value != "" {
			set = append(set, field.Name+": "+value)
		}
	}
	var tools []string
	for _, run := range in.Runs {
		outcome := "ok"
		if run.Failed {
			outcome = "failed"
		}
		tools = append(tools, run.Name+" "+outcome)
	}
	return fmt.Sprintf("%s mode %s\n%s\nmissing: %s\nsuccesses %d of %d prompts\ntools: %s",
		debugMark, in.Mode, cmp.Or(strings.Join(set, "\n"), "profile: empty"), listNames(coach.MissingFields(in.Profile)),
		in.Profile.SuccessCount, in.Profile.TotalPrompts, listNames(tools))
}

func listNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
