package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/internal/calls"
	"coachline/internal/helplines"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts/pages"
)

// turn is what the stages read. Its texts are redacted.
type turn struct {
	context models.TurnContext
	mode    wire.Mode
	kind    wire.TurnKind
	offer   Offer
	zone    *time.Location
	now     time.Time
	// carryOver is what the turn before left; capability is what the chat model
	// can do.
	carryOver  plan.Carried
	capability models.Capability
	focus      pages.Page
	// written are the participant's messages as they came; no model sees them.
	written []string
	// lines are the numbers of the participant's country.
	lines helplines.Lines
}

// Prepared is what the stages before the first model call came to. It is kept
// with the step that it was made for, and later steps go on from it.
type Prepared struct {
	// Allowed are the names of the tools on offer, Label how they were chosen.
	Allowed []string  `json:"allowed"`
	Label   string    `json:"label"`
	Plan    plan.Plan `json:"plan"`
	// Focus is the name of the operator's focus; empty where there is none.
	Focus string `json:"focus,omitempty"`
	// Parts are the clauses of a compound text.
	Parts []string `json:"parts,omitempty"`
	// Memory is the block of what is remembered, framed; personal data.
	Memory string `json:"memory,omitempty"`
	// Profile is the Profile section of the turn's requests; personal data.
	Profile string `json:"profile,omitempty"`
	// Older is the digest of messages that the model does not read as they are;
	// nil where it reads all of the turn.
	Older *Older `json:"older,omitempty"`
	// Newest is the entry of the conversation that it was made for.
	Newest int64 `json:"newest"`
}

// queryText returns the text that is being answered. It is empty for a turn
// that answers none.
func (t turn) queryText() string {
	if t.kind == wire.TurnPrompt || t.kind == wire.TurnCheckIn {
		return ""
	}
	var texts []string
	for _, entry := range slices.Backward(t.context.Window) {
		if entry.Role != models.RoleUser {
			break
		}
		texts = append(texts, entry.Text)
	}
	slices.Reverse(texts)
	return strings.Join(texts, "\n")
}

// messagesBefore returns the conversation without the texts being answered.
func (t turn) messagesBefore() []models.Message {
	end := len(t.context.Window)
	for end > 0 && t.context.Window[end-1].Role == models.RoleUser {
		end--
	}
	return t.context.Window[:end]
}

// newestID returns the id of the newest entry of the window, 0 for none.
func (t turn) newestID() int64 {
	if n := len(t.context.Window); n > 0 {
		return t.context.Window[n-1].ID
	}
	return 0
}

func (t turn) participantID() string { return t.context.Participant.ID }

// momentLine returns the line that tells a small model when and where the text
// was written. It does not use the clock: a retry must send an equal request to
// find the stored answer, and "yesterday" is meant from the time of the text.
func (t turn) momentLine() string {
	at := t.now
	if n := len(t.context.Window); n > 0 && !t.context.Window[n-1].At.IsZero() {
		at = t.context.Window[n-1].At
	}
	return fmt.Sprintf("Local time: %s (%s); UTC: %s", at.In(t.zone).Format("Monday 2006-01-02 15:04"), t.zone, at.UTC().Format(time.RFC3339))
}

// offeredNames returns the names of every tool of the mode.
func (t turn) offeredNames() []string { return specNames(t.offer.allSpecs()) }

// prepareStep runs the stages before the first model call. A turn that answers
// no text has nothing to route, plan or search for.
func (a *Agent) prepareStep(ctx context.Context, tr *trace, t turn) Prepared {
	query := t.queryText()
	if t.kind == wire.TurnGreeting {
		// The first message must carry the legal footer and calls no tool.
		t.offer = Offer{}
	}
	out := Prepared{Allowed: t.offeredNames(), Label: string(plan.StrategyAll), Focus: t.focus.Name, Newest: t.newestID(), Profile: joinLines(ProfileLines(t.context.Profile))}
	if query == "" {
		out.Memory = a.composeMemory(ctx, tr, t, plan.ReplyOnly())
		return out
	}
	tools := t.offer.Specs
	in := plan.AllowInput{
		Selection: a.selectTools(ctx, tr, t, query), Failed: t.carryOver.Failed, Catalogue: tools, Always: t.fixedNames(),
	}
	out.Plan = a.makePlan(ctx, tr, t, selectSpecs(t.offer.allSpecs(), plan.AllowTools(in).Names))
	in.Planned = out.Plan.Names
	in.Kept = a.offeredBefore(ctx, tr, t, in.Selection)
	allowed := plan.AllowTools(in)
	out.Allowed, out.Label = allowed.Names, allowed.Label
	if t.capability.Size == models.SizeSmall && len(t.offer.Few) > 0 {
		in.Kept = t.calledLately(a.Settings.Hot)
		out.Allowed = t.pickFew(in)
	}
	tr.note(models.StageRoute, fmt.Sprintf("route %s %d of %d", allowed.Label, len(allowed.Names), len(t.offeredNames())))
	if t.capability.Protocol != models.ProtocolNative && len(out.Plan.Steps) == 0 {
		out.Parts = plan.Split(query, t.context.Participant.Locale)
	}
	out.Memory = a.composeMemory(ctx, tr, t, out.Plan)
	if t.kind == wire.TurnReply && a.memoryStepFor(t) == MemoryBefore {
		out.Memory = a.rememberFirst(ctx, tr, t, out.Memory)
	}
	return out
}

// fixedNames returns the tools that no router removes: those that the mode
// itself is made of, and the controls.
func (t turn) fixedNames() []string {
	return append(slices.Clone(t.offer.Core), specNames(t.offer.Controls)...)
}

// allSpecs returns all tools of the turn, in the order they are offered: first those that
// each request has, so that requests share their beginning.
func (o Offer) allSpecs() []models.ToolSpec {
	others := slices.DeleteFunc(slices.Clone(o.Specs), func(spec models.ToolSpec) bool { return slices.Contains(o.Core, spec.Name) })
	return slices.Concat(selectSpecs(o.Specs, o.Core), o.Controls, others)
}

// selectTools returns the router's pick, from the cache where the same was
// asked in this conversation.
func (a *Agent) selectTools(ctx context.Context, tr *trace, t turn, query string) plan.Selection {
	tools := t.offer.Specs
	strategy := plan.Strategy(a.Settings.Router).Settle(len(tools))
	if !plan.Needed(query) && (strategy == plan.StrategyModel || strategy == plan.StrategyEmbedding) {
		// Small talk is not worth a call of any model.
		strategy = plan.StrategyKeyword
	}
	key := t.participantID() + "/" + plan.CacheKey{
		Query: query, Strategy: strategy, Tools: t.offeredNames(), Mode: t.mode,
		Channel: t.context.Participant.Channel, Focus: t.focus.Name, Locale: t.context.Participant.Locale,
	}.Hash()
	if kept, ok := a.caches.selections.Get(key); ok {
		return kept
	}
	in := plan.RouteInput{Query: query, Tools: tools}
	if strategy == plan.StrategyKeyword && len(t.offer.Core) > 0 {
		in.Tools = withoutDescriptions(tools)
	}
	picked := plan.SelectTools(strategy, in, a.gatherEvidence(ctx, tr, t, router{strategy, in}))
	if picked.By == plan.StrategyAll && strategy != plan.StrategyAll && len(t.offer.Core) > 0 {
		// No word asks for a tool: what the mode is made of is enough, and the model can
		// search for the others.
		picked.Names, picked.By = nil, plan.StrategyKeyword
	}
	if picked.Cacheable(tools) {
		a.caches.selections.Add(key, picked)
	}
	return picked
}

// withoutDescriptions leaves tools with their names and keywords: where the others are a
// search away, only words that ask for a tool bring it.
func withoutDescriptions(tools []models.ToolSpec) []models.ToolSpec {
	out := slices.Clone(tools)
	for i := range out {
		out[i].Description = ""
	}
	return out
}

// offeredBefore returns the tools that the conversation has had on offer: those
// of its newest turn, read from the turn's record so that every worker knows
// them, and those whose calls succeeded. A new conversation has none but the tool that
// waits for a yes; there are none where everything is picked anyway. A record that cannot
// be read counts as none.
func (a *Agent) offeredBefore(ctx context.Context, tr *trace, t turn, picked plan.Selection) []string {
	if len(picked.Names) >= len(t.offer.Specs) {
		return nil
	}
	if t.carryOver.Fresh {
		return t.awaitsYes()
	}
	return append(a.traceBefore(ctx, tr, t).Prepared.Allowed, t.calledLately(a.Settings.Hot)...)
}

// awaitsYes returns the tool whose request the person was asked to confirm last.
func (t turn) awaitsYes() []string {
	for _, entry := range slices.Backward(t.context.Window) {
		if entry.Role == models.RoleUser && entry.TurnID != t.context.Turn.ID {
			return nil
		}
		if name, _, isRequest := strings.Cut(models.RequestIn(entry.Text), " "); isRequest {
			return []string{name}
		}
	}
	return nil
}

// calledLately returns the tools whose calls succeeded in the conversation that goes on.
func (t turn) calledLately(hot time.Duration) []string {
	var names []string
	for _, entry := range t.hotMessages(hot) {
		var result models.ToolResult
		if entry.Kind == models.KindToolResult && json.Unmarshal([]byte(entry.Text), &result) == nil && !result.Failed {
			names = append(names, result.Name)
		}
	}
	return names
}

// router is what a strategy is asked.
type router struct {
	strategy plan.Strategy
	input    plan.RouteInput
}

// gatherEvidence returns what a strategy needs to pick tools: a model's answer,
// vectors, or nothing.
func (a *Agent) gatherEvidence(ctx context.Context, tr *trace, t turn, asked router) plan.RouteEvidence {
	in := asked.input
	switch asked.strategy {
	case plan.StrategyModel:
		request, err := plan.RouterRequest(a.Prompts, plan.RouterInput{
			RouteInput: in, Dialogue: plan.Dialogue(t.messagesBefore()), Context: t.momentLine(), Model: a.Settings.SmallModel,
		})
		if err != nil {
			tr.noteError(models.StageRoute, err)
			return plan.RouteEvidence{}
		}
		answer, err := a.askSmallModel(ctx, tr, question{stage: models.StageRoute, request: request, limit: smallLimit})
		if err != nil {
			return plan.RouteEvidence{}
		}
		return plan.RouteEvidence{Answer: answer}
	case plan.StrategyEmbedding:
		return a.embedTools(ctx, tr, in)
	case plan.StrategyAuto, plan.StrategyAll, plan.StrategyKeyword:
	}
	return plan.RouteEvidence{}
}

// leastLikeness is the similarity from which a tool's description meets a text.
const leastLikeness = 0.3

// embedTools returns the vectors of the text and of the tools' descriptions.
func (a *Agent) embedTools(ctx context.Context, tr *trace, in plan.RouteInput) plan.RouteEvidence {
	texts := []string{in.Query}
	for _, tool := range in.Tools {
		texts = append(texts, tool.Name+": "+tool.Description)
	}
	vectors, err := a.embedTexts(ctx, tr, texts)
	if err != nil {
		tr.noteError(models.StageEmbed, err)
		return plan.RouteEvidence{}
	}
	found := plan.RouteEvidence{Query: vectors[0], Vectors: map[string][]float32{}, MinScore: leastLikeness}
	for i, tool := range in.Tools {
		found.Vectors[tool.Name] = vectors[i+1]
	}
	return found
}

// embedTexts returns one vector for each text, within embeddingLimit. What it costs
// is in the trace.
func (a *Agent) embedTexts(ctx context.Context, tr *trace, texts []string) ([][]float32, error) {
	limited, cancel := context.WithTimeout(ctx, a.limitOf(embeddingLimit))
	defer cancel()
	asking, asked := calls.With(limited)
	vectors, err := a.Embedder.Embed(asking, texts)
	for _, call := range asked.Open() {
		calls.Record(ctx, call)
		if !call.Lost {
			tr.stages = append(tr.stages, models.Stage{
				TurnID: tr.turnID, Name: models.StageEmbed, Decision: "embed asked", Model: call.Model, Usage: call.Usage, CreatedAt: tr.now().UTC(),
			})
		}
	}
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("embedding %d texts: got %d vectors", len(texts), len(vectors))
	}
	return vectors, err
}

// makePlan asks for a plan where one is worth the call; small talk has its plan
// without a call, and a large model plans by itself.
func (a *Agent) makePlan(ctx context.Context, tr *trace, t turn, specs []models.ToolSpec) plan.Plan {
	query := t.queryText()
	if !plan.Needed(query) {
		tr.note(models.StagePlan, plan.ReplyOnly().Decision())
		return plan.ReplyOnly()
	}
	if !a.needsPlanner(t.capability) {
		return plan.Plan{Kind: plan.KindEmpty}
	}
	request, err := plan.PlannerRequest(a.Prompts, plan.PlannerInput{
		Query: query, Dialogue: plan.Dialogue(t.messagesBefore()), Context: t.momentLine(), Tools: specs, Model: a.Settings.SmallModel,
	})
	if err != nil {
		tr.noteError(models.StagePlan, err)
		return plan.Plan{Kind: plan.KindEmpty}
	}
	answer, err := a.askSmallModel(ctx, tr, question{stage: models.StagePlan, request: request, limit: plannerLimit})
	if err != nil {
		return plan.Plan{Kind: plan.KindEmpty}
	}
	// Read against all tools of the mode: a step may name one that the router
	// left out, and adds it.
	drawn := plan.Parse(answer, t.newCatalogue(t.offer.allSpecs()))
	tr.note(models.StagePlan, drawn.Decision())
	return drawn
}

// needsPlanner reports whether a planner runs for a model: as the operator sets
// it, or for small models and those in the two-phase protocol.
func (a *Agent) needsPlanner(c models.Capability) bool {
	if a.Settings.Planner != nil {
		return *a.Settings.Planner
	}
	return !isSlow(c) && (c.Size == models.SizeSmall || c.Protocol == models.ProtocolTwoPhase)
}

// makesDigests reports whether a digest runs: as the operator sets it, or for small
// models that are not slow.
func makesDigests(setting *bool, c models.Capability) bool {
	return recall.IsDigestEnabled(setting, c.Size) && (setting != nil || !isSlow(c))
}

// slowModel is the speed, in tokens a second, below which a reply waits for no stage
// that it can do without.
const slowModel = 200

// isSlow reports whether the model was measured to be slow.
func isSlow(c models.Capability) bool { return c.TokensPerSecond > 0 && c.TokensPerSecond < slowModel }

// newCatalogue returns the catalogue of some tools of the turn.
func (t turn) newCatalogue(specs []models.ToolSpec) plan.Catalogue {
	return plan.Catalogue{Tools: specs, Stop: t.offer.Stop, Search: t.offer.Search}
}

// selectSpecs keeps the specs of some names, in their order.
func selectSpecs(specs []models.ToolSpec, names []string) []models.ToolSpec {
	var out []models.ToolSpec
	for _, spec := range specs {
		if slices.Contains(names, spec.Name) {
			out = append(out, spec)
		}
	}
	return out
}
