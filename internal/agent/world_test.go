package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/agent"
	"coachline/internal/agent/marks"
	"coachline/internal/agent/recall"
	"coachline/internal/agent/toolcall"
	"coachline/internal/dbtest"
	"coachline/internal/memory"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

const (
	ann       = "conv_ann"
	testKeys  = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	largeName = "gpt-4.1"
	smallName = "llama-3.2-3b"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// The purposes of requests, recognised by the beginning of the system message.
const (
	chat      = "chat"
	planner   = "planner"
	router    = "router"
	extractor = "extractor"
	digester  = "digest"
	resolver  = "resolver"
	stepper   = "memory step"
	limiter   = "limit"
	closer    = "closing"
	chooser   = "focus"
	adviser   = "advice"
)

var beginnings = map[string]string{
	"Break the person's message":  planner,
	"Choose which tools":          router,
	"Find what to look up":        extractor,
	"Below are notes about":       digester,
	"Turn the step":               resolver,
	"Decide whether the person's": stepper,
	"Work on the message below":   limiter,
	"A conversation between a person and their coach has come": closer,
	"Choose the coaching focus":                                chooser,
	"Judge a text before an automated habit coach sends it":    adviser,
}

func purposeOf(req models.ChatRequest) string {
	for words, name := range beginnings {
		if strings.HasPrefix(req.Messages[0].Content, words) {
			return name
		}
	}
	return chat
}

// said is one scripted answer.
type said struct {
	text, thinking string
	calls          []models.ToolCall
	finish         string
	err            error
	// second says that the second server answers.
	second bool
}

func textAnswers(lines ...string) []said {
	var out []said
	for _, line := range lines {
		out = append(out, said{text: line})
	}
	return out
}

func callAnswer(name, arguments string) said {
	return said{calls: []models.ToolCall{{ID: "call-" + name, Name: name, Arguments: arguments}}}
}

// scriptedModel answers each purpose from its own script and repeats the last
// line.
type scriptedModel struct {
	script map[string][]said
	asked  map[string][]models.ChatRequest
	// left is how much time the newest request for a purpose had.
	left map[string]time.Duration
	// limit is the context of a server that counts tokens and refuses what is longer; 0
	// is none.
	limit int
	// began is called before each answer.
	began func(purpose string)
}

func newScriptedModel() *scriptedModel {
	return &scriptedModel{script: map[string][]said{}, asked: map[string][]models.ChatRequest{}, left: map[string]time.Duration{}}
}

func (d *scriptedModel) on(purpose string, answers ...said) { d.script[purpose] = answers }

func (d *scriptedModel) Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	what := purposeOf(req)
	if d.began != nil {
		d.began(what)
	}
	d.asked[what] = append(d.asked[what], req)
	if end, ok := ctx.Deadline(); ok {
		d.left[what] = time.Until(end)
	}
	used := models.Usage{}
	if d.limit > 0 && what == chat {
		used.Prompt = toolcall.Tokens(req, 3.4)
		if used.Prompt+req.MaxTokens > d.limit {
			return models.ChatResponse{}, &models.ModelError{Class: models.ModelOverflow, ContextTokens: d.limit, PromptTokens: used.Prompt}
		}
	}
	answer := said{}
	switch what {
	case chat:
		answer.text = "Fine."
	case adviser:
		answer.text = `{"verdict":"fine","kind":"other","text":""}`
	}
	if lines := d.script[what]; len(lines) > 0 {
		answer = lines[0]
		if len(lines) > 1 {
			d.script[what] = lines[1:]
		}
	}
	return models.ChatResponse{Text: answer.text, Thinking: answer.thinking, Calls: answer.calls, FinishReason: answer.finish, Model: req.Model, Usage: used, Second: answer.second}, answer.err
}

func (d *scriptedModel) count(purpose string) int { return len(d.asked[purpose]) }

func (d *scriptedModel) total() int {
	n := 0
	for _, requests := range d.asked {
		n += len(requests)
	}
	return n
}

// everything returns all that any model was ever sent.
func (d *scriptedModel) everything() string {
	text, err := json.Marshal(d.asked)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// vectors embeds a text as the bag of its words.
type vectors struct {
	calls int
	err   error
	// none: no vector comes back.
	none bool
}

func (v *vectors) Embed(_ context.Context, texts []string) ([][]float32, error) {
	v.calls++
	if v.err != nil {
		return nil, v.err
	}
	if v.none {
		return nil, nil
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = wordVector(text)
	}
	return out, nil
}

func wordVector(text string) []float32 {
	out := make([]float32, 1024)
	out[0] = 0.01 // a text without words has a direction too
	for _, word := range recall.Words(text) {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(word))
		out[sum.Sum32()%1024]++
	}
	return out
}

// rows is the real memory, with a count and a failure for each port method.
type rows struct {
	*memory.Store
	calls map[string]int
	fails map[string]error
	// found is added to what a search brings up.
	found []models.FoundFact
}

func (r *rows) enter(name string) error {
	r.calls[name]++
	return r.fails[name]
}

func (r *rows) Recall(ctx context.Context, id string) (models.Memory, error) {
	if err := r.enter("recall"); err != nil {
		return models.Memory{}, err
	}
	return r.Store.Recall(ctx, id)
}

func (r *rows) Find(ctx context.Context, q models.FactQuery) ([]models.FoundFact, error) {
	if err := r.enter("find"); err != nil {
		return nil, err
	}
	found, err := r.Store.Find(ctx, q)
	return append(found, r.found...), err
}

func (r *rows) SaveFact(ctx context.Context, fact models.Fact, vector []float32) (models.Fact, error) {
	if err := r.enter("save"); err != nil {
		return models.Fact{}, err
	}
	return r.Store.SaveFact(ctx, fact, vector)
}

func (r *rows) CloseConversation(ctx context.Context, c models.Closing) error {
	if err := r.enter("close"); err != nil {
		return err
	}
	return r.Store.CloseConversation(ctx, c)
}

func (r *rows) LastStep(ctx context.Context, id string, before int, since time.Time) (models.Step, error) {
	if err := r.enter("round"); err != nil {
		return models.Step{}, err
	}
	return r.Store.LastStep(ctx, id, before, since)
}

func (r *rows) StageBy(ctx context.Context, turnID string, name models.StageName, hash string) (models.Stage, error) {
	if err := r.enter("stage"); err != nil {
		return models.Stage{}, err
	}
	return r.Store.StageBy(ctx, turnID, name, hash)
}

func (r *rows) SaveStage(ctx context.Context, row models.Stage) error {
	if err := r.enter("save stage"); err != nil {
		return err
	}
	return r.Store.SaveStage(ctx, row)
}

func (r *rows) Capability(ctx context.Context, model, endpoint string) (models.Capability, error) {
	if err := r.enter("capability"); err != nil {
		return models.Capability{}, err
	}
	return r.Store.Capability(ctx, model, endpoint)
}

func (r *rows) SaveCapability(ctx context.Context, row models.Capability) error {
	if err := r.enter("save capability"); err != nil {
		return err
	}
	return r.Store.SaveCapability(ctx, row)
}

// world is an agent on a real memory, with one person, a scripted model and a
// clock that stands unless it is moved.
type world struct {
	t        testing.TB
	people   *store.Store
	rows     *rows
	model    *scriptedModel
	vectors  *vectors
	settings agent.Settings
	offer    agent.Offer
	mode     wire.Mode
	kind     wire.TurnKind
	zones    func(string) (*time.Location, error)
	now      time.Time
	library  *prompts.Library
	pipe     *agent.Agent
	// The conversation, and the current turn.
	window []models.Message
	steps  []models.Step
	runs   []models.ToolRun
	number int
	// alter changes what a turn is loaded with.
	alter func(c *models.TurnContext)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	ring, err := seal.Parse(testKeys)
	require.NoError(t, err)
	people, err := store.Open(t.Context(), store.Config{URL: dbtest.SQLite(t), Sealer: ring})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, people.Close()) })
	facts := people.Memory
	w := &world{
		t: t, people: people, now: start, mode: wire.ModeIntake, kind: wire.TurnReply, zones: time.LoadLocation,
		rows:  &rows{Store: facts, calls: map[string]int{}, fails: map[string]error{}},
		model: newScriptedModel(), vectors: &vectors{},
		settings: agent.Settings{
			ChatModel: largeName, SmallModel: "helper", Endpoint: "model.example/v1", Hot: 5 * time.Minute, Advice: models.AdviceNone,
			MemoryStep: agent.MemoryAfter, Programme: "Coachline", HistoryLimit: 30, Router: "all",
		},
	}
	w.enrol(ann, "+15550000001")
	registry, err := tools.New()
	require.NoError(t, err)
	ordinary := registry.For(w.mode)
	w.offer = agent.Offer{
		Specs: ordinary, Controls: registry.Controls(0),
		Stop: registry.Stop(), Search: registry.Search(),
	}
	w.openAgent()
	return w
}

// useSmallModel makes the chat model one that needs every help.
func (w *world) useSmallModel() *world {
	w.settings.ChatModel = smallName
	w.openAgent()
	return w
}

// openAgent starts the agent anew, as another worker would.
func (w *world) openAgent() {
	if w.library == nil {
		library, err := prompts.Load("")
		require.NoError(w.t, err)
		w.library = library
	}
	w.pipe = agent.New(agent.Config{
		Prompts: w.library, Model: w.model, Embedder: w.vectors, Memory: w.rows, Diary: w.rows, Journal: w.rows, Steps: w.rows,
		Attention: w.people.Attention, Zones: func(name string) (*time.Location, error) { return w.zones(name) },
		Now: func() time.Time { return w.now }, Settings: w.settings,
	})
}

func (w *world) enrol(id, phone string) {
	_, err := w.people.People.Enroll(w.t.Context(), models.Participant{
		ID: id, Phone: phone, Timezone: "Europe/Berlin", Locale: "en", Channel: wire.ChannelSMS, EnrolledAt: start,
	}, "operator")
	require.NoError(w.t, err)
}

// beginTurn opens the next turn of a participant.
func (w *world) beginTurn(id string) string {
	w.number++
	turn := models.TurnID(id, w.number)
	_, err := w.people.Turns.BeginTurn(w.t.Context(), wire.PrepareTurnInput{
		ParticipantID: id, TurnID: turn, Number: w.number, Mode: w.mode, Plan: wire.TurnPlan{Kind: w.kind}, Now: w.now,
	})
	require.NoError(w.t, err)
	return turn
}

// storeFacts stores facts, each learnt in a turn of its own a day apart.
func (w *world) storeFacts(id string, kind models.FactKind, texts ...string) {
	for i, text := range texts {
		at := w.now.AddDate(0, 0, i-len(texts)-1)
		_, err := w.rows.Store.SaveFact(w.t.Context(), models.Fact{
			ParticipantID: id, Kind: kind, Text: text, TurnID: w.beginTurn(id), CreatedAt: at, UpdatedAt: at,
		}, wordVector(text))
		require.NoError(w.t, err)
	}
}

func (w *world) addEntry(entry models.Message) {
	entry.ID = int64(len(w.window) + 1)
	entry.ParticipantID = ann
	if entry.At.IsZero() {
		entry.At = w.now
	}
	w.window = append(w.window, entry)
}

// addText begins a turn with a text of the person.
func (w *world) addText(text string) *world {
	w.steps, w.runs = nil, nil
	turn := w.beginTurn(ann)
	w.addEntry(models.Message{TurnID: turn, Role: models.RoleUser, Kind: models.KindMessage, Text: text})
	return w
}

func (w *world) turnID() string { return models.TurnID(ann, w.number) }

func (w *world) turnContext() models.TurnContext {
	w.t.Helper()
	c, err := w.people.Turns.TurnContext(w.t.Context(), w.turnID(), 0)
	require.NoError(w.t, err)
	c.Window, c.Steps, c.Runs = slices.Clone(w.window), slices.Clone(w.steps), slices.Clone(w.runs)
	if w.alter != nil {
		w.alter(&c)
	}
	return c
}

// runStep runs the next step and keeps it, as the activity does.
func (w *world) runStep() models.Step {
	w.t.Helper()
	step, err := w.callStep(wire.CallModelInput{})
	require.NoError(w.t, err)
	return step
}

func (w *world) callStep(in wire.CallModelInput) (models.Step, error) {
	w.t.Helper()
	in.ParticipantID, in.TurnID, in.Step, in.Mode, in.Kind = ann, w.turnID(), len(w.steps)+1, w.mode, w.kind
	step, err := w.pipe.Respond(w.t.Context(), agent.StepInput{Input: in, Context: w.turnContext(), Offer: w.offer})
	if err == nil {
		w.steps = append(w.steps, step)
	}
	return step, err
}

// addResults stores what the calls of the newest step came to.
func (w *world) addResults(results ...models.ToolResult) {
	w.t.Helper()
	step := w.steps[len(w.steps)-1]
	for i, result := range results {
		text, err := json.Marshal(result)
		require.NoError(w.t, err)
		w.runs = append(w.runs, models.ToolRun{TurnID: step.TurnID, Step: step.Number, Call: i, Name: result.Name, Result: string(text), Failed: result.Failed})
	}
}

// endTurn ends the turn with its newest text, and its calls in the window.
func (w *world) endTurn() {
	w.t.Helper()
	for _, step := range w.steps {
		if step.Calls == "" {
			continue
		}
		calls, err := step.ToolCalls()
		require.NoError(w.t, err)
		for i := range calls {
			calls[i].ID = fmt.Sprintf("call-s%d-c%d", step.Number, i)
		}
		w.addJSON(models.KindToolCall, models.RoleAssistant, calls)
		for _, run := range w.runs {
			if run.Step != step.Number {
				continue
			}
			result, err := run.ToolResult()
			require.NoError(w.t, err)
			result.CallID, result.Name = calls[run.Call].ID, calls[run.Call].Name
			w.addJSON(models.KindToolResult, models.RoleTool, result)
		}
	}
	text := "Fine."
	if n := len(w.steps); n > 0 && w.steps[n-1].Text != "" {
		text = w.steps[n-1].Text
	}
	w.addEntry(models.Message{TurnID: w.turnID(), Role: models.RoleAssistant, Kind: models.KindReply, Text: text})
}

func (w *world) addJSON(kind models.EntryKind, role models.Role, value any) {
	text, err := json.Marshal(value)
	require.NoError(w.t, err)
	w.addEntry(models.Message{TurnID: w.turnID(), Role: role, Kind: kind, Text: string(text)})
}

// runExchange runs a whole turn of texts.
func (w *world) runExchange(text string) models.Step {
	w.t.Helper()
	step := w.addText(text).runStep()
	w.endTurn()
	return step
}

// readTrace reads what a step keeps beside its text.
func readTrace(t testing.TB, step models.Step) agent.Trace {
	t.Helper()
	var out agent.Trace
	require.NoError(t, json.Unmarshal([]byte(step.Trace), &out))
	return out
}

func stageDecisions(t testing.TB, step models.Step) []string {
	t.Helper()
	var out []string
	for _, stage := range readTrace(t, step).Stages {
		out = append(out, stage.Decision)
	}
	return out
}

func allowedTools(t testing.TB, step models.Step) []string {
	t.Helper()
	return readTrace(t, step).Prepared.Allowed
}

func calls(t testing.TB, step models.Step) []models.ToolCall {
	t.Helper()
	out, err := step.ToolCalls()
	require.NoError(t, err)
	return out
}

// lastRequest returns the newest request for a purpose.
func (w *world) lastRequest(purpose string) models.ChatRequest {
	w.t.Helper()
	requests := w.model.asked[purpose]
	require.NotEmpty(w.t, requests, purpose)
	return requests[len(requests)-1]
}

// systemMessage returns what the program says in the newest request: before the
// conversation, and in the notes behind it.
func (w *world) systemMessage() string {
	w.t.Helper()
	messages := w.lastRequest(chat).Messages
	said := messages[0].Content
	for _, message := range messages[1:] {
		if _, notes, found := strings.Cut("\n\n"+message.Content, marks.Notes); found && message.Role == "user" {
			said += "\n\n" + notes
		}
	}
	return said
}

func offeredTools(req models.ChatRequest) []string {
	var names []string
	for _, tool := range req.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func trueFlag() *bool { yes := true; return &yes }

func busyAnswer() said { return said{err: &models.ModelError{Class: models.ModelBusy, Message: "no"}} }
