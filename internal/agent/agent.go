// Package agent runs one step of a model: it redacts what was written, routes
// and plans, recalls, composes the request, calls the model and judges the
// answer; after the reply it remembers and summarises. Model and store are
// reached through the interfaces declared here. Every step but redaction fails
// open: what it would have added is left out, and the person gets an answer.
package agent

import (
	"cmp"
	"context"
	"time"

	"coachline/internal/agent/outgoing"
	"coachline/internal/agent/plan"
	"coachline/internal/fresh"
	"coachline/internal/helplines"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// Model completes chat requests; its errors are *models.ModelError.
type Model interface {
	Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error)
}

// Embedder turns texts into vectors of one length, one for each.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Memory holds what was learnt of people.
type Memory interface {
	Recall(ctx context.Context, participantID string) (models.Memory, error)
	Find(ctx context.Context, q models.FactQuery) ([]models.FoundFact, error)
	SaveFact(ctx context.Context, fact models.Fact, vector []float32) (models.Fact, error)
	UpdateFact(ctx context.Context, change models.Fact, vector []float32) (models.Fact, error)
	FactsWithoutVector(ctx context.Context, participantID string, limit int) ([]models.Fact, error)
	KeepVectors(ctx context.Context, participantID string, facts []models.Fact, vectors [][]float32) error
}

// ClosingStore keeps what a conversation came to.
type ClosingStore interface {
	CloseConversation(ctx context.Context, c models.Closing) error
}

// Attention asks for an operator.
type Attention interface {
	RaiseAttention(ctx context.Context, entry models.AttentionEntry) (raised bool, err error)
}

// StageStore keeps what stages asked of models, and what models can do.
type StageStore interface {
	StageBy(ctx context.Context, turnID string, name models.StageName, inputHash string) (models.Stage, error)
	SaveStage(ctx context.Context, row models.Stage) error
	Capability(ctx context.Context, model, endpoint string) (models.Capability, error)
	SaveCapability(ctx context.Context, row models.Capability) error
}

// Time limits of what a stage asks, in the order of their importance to the
// person who waits, for models.UsualModelTimeout.
const (
	plannerLimit   = 6 * time.Second
	smallLimit     = 8 * time.Second
	embeddingLimit = 5 * time.Second
	// closingLimit bounds calls that no reply waits for; a shorter timeout leaves it.
	closingLimit = 60 * time.Second
)

// limitOf returns a time limit for the timeout that is set.
func (a *Agent) limitOf(usual time.Duration) time.Duration {
	if usual == closingLimit {
		return max(models.InProportion(usual, a.Settings.ModelTimeout), usual)
	}
	share := a.Settings.Limits.Stage.Seconds() / smallLimit.Seconds()
	return models.InProportion(time.Duration(float64(usual)*share), a.Settings.ModelTimeout)
}

// MemoryStep says when the facts in a person's message are stored.
type MemoryStep string

const (
	// MemoryAfter stores them once the reply is out.
	MemoryAfter MemoryStep = "after"
	// MemoryBefore stores them before the model is asked, so that the reply can
	// confirm.
	MemoryBefore MemoryStep = "before"
	// MemoryOff stores none.
	MemoryOff MemoryStep = "off"
)

// Settings are the operator's choices.
type Settings struct {
	ChatModel, SmallModel string
	// ModelSize and ContextTokens say what the chat model is; empty and 0 leave it to
	// its server and its name. AnswerTokens are kept of the context for an answer; 0
	// goes by whether the model thinks before it answers.
	ModelSize models.ModelSize
	// Protocol is how tools are offered; empty goes by what is known of the model.
	Protocol                    models.Protocol
	ContextTokens, AnswerTokens int
	// ModelTimeout is how long an answer of a model is awaited; stages before a reply
	// have their share of it. 0 is models.UsualModelTimeout.
	ModelTimeout time.Duration
	// Endpoint separates what is learnt of a model here from what holds
	// elsewhere; it must hold no key.
	Endpoint string
	// Hot is how long a conversation goes on after its newest entry.
	Hot        time.Duration
	MemoryStep MemoryStep
	Programme  string
	// AlertsTeam says that an open crisis was paged to a person of the team.
	AlertsTeam bool
	// Helplines are the numbers of countries; nil are the programme's own.
	Helplines    *helplines.Table
	HistoryLimit int
	// FeedbackHistory takes its place in mode FEEDBACK.
	FeedbackHistory History
	// Planner forces the planner on or off; nil leaves it to the model's size:
	// large models plan by themselves.
	Planner *bool
	// Digests does the same for the digest of memory, ToolDigests for those of
	// what outside tools returned.
	Digests, ToolDigests *bool
	// Advice says which drafts are judged before they are sent; empty is models.AdviceAuto.
	Advice models.AdviceCheck
	// Router is one of route's strategies; an unknown one counts as auto.
	Router string
	Limits Limits
}

// Limits bound what a reply may use. 0 is what is usual.
type Limits struct {
	// Facts are the most facts that a deep search of memory adds.
	Facts int
	// CarryGroups are the most groups of tool rows of earlier turns that a turn sees, and
	// CarryChars the most characters of each row.
	CarryGroups, CarryChars int
	// Searches are the most searches for tools in one reply.
	Searches int
	// Stage is how long the small model is awaited; the planner and vectors have their
	// share of it.
	Stage time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Facts: cmp.Or(l.Facts, deepFacts), CarryGroups: cmp.Or(l.CarryGroups, plan.CarryGroups), CarryChars: cmp.Or(l.CarryChars, plan.CarryEntryChars),
		Searches: cmp.Or(l.Searches, manySearches), Stage: cmp.Or(l.Stage, smallLimit),
	}
}

// Config holds what an Agent needs.
type Config struct {
	Prompts  *prompts.Library
	Model    Model
	Embedder Embedder
	// Server describes its models; nil for one that does not.
	Server  Server
	Memory  Memory
	Diary   ClosingStore
	Journal StageStore
	Steps   Steps
	// Attention hears of a person who is younger than 18 by what they wrote; nil: nobody.
	Attention Attention
	Zones     func(name string) (*time.Location, error)
	Now       func() time.Time
	Settings  Settings
}

// Agent is safe for use by several goroutines.
type Agent struct {
	Config
	clean  *Cleaner
	caches caches
	known  *fresh.Value[models.Capability]
	// instructions are what no participant is to read; nil where the texts
	// cannot be rendered.
	instructions *Instructions
	// fixed are the texts that only the programme sends, outage those of them that
	// stand in for a model.
	fixed, outage, declined *outgoing.Fixed
	// requestEnds are what requests end with, which no first text may repeat.
	requestEnds *outgoing.Fixed
	// notices are what the programme joins to texts of the coach.
	notices []string
}

// New builds an Agent; everything in cfg but Server is required.
func New(cfg Config) *Agent {
	cfg.Settings.Limits = cfg.Settings.Limits.withDefaults()
	p := &Agent{Config: cfg, clean: NewCleaner(), caches: newCaches(), known: &fresh.Value[models.Capability]{}}
	if cfg.Prompts == nil {
		return p
	}
	p.fixed, p.outage, p.declined = newFixed(cfg.Prompts, cfg.Settings.Programme)
	p.requestEnds = outgoing.NewFixed(requestEnds(cfg.Prompts, cfg.Settings.Programme))
	p.notices = newNotices(cfg.Prompts, cfg.Settings.Programme)
	if read, err := NewInstructions(cfg.Prompts, cfg.Settings.Programme); err == nil {
		p.instructions = read
	}
	return p
}

// Overlay replaces some of an Agent's settings; an empty field leaves it.
type Overlay struct {
	Prompts                          *prompts.Library
	Programme, ChatModel, SmallModel string
	Advice                           models.AdviceCheck
	History, FeedbackHistory         History
}

// History is a limit of messages in place of another, where it is set.
type History struct {
	IsSet bool
	Limit int
}

// HistoryOf returns a limit that is set unless it is nil.
func HistoryOf(limit *int) History {
	if limit == nil {
		return History{}
	}
	return History{IsSet: true, Limit: *limit}
}

// historyLimit bounds the messages that the model reads in a mode.
func (s Settings) historyLimit(mode wire.Mode) int {
	if mode == wire.ModeFeedback && s.FeedbackHistory.IsSet {
		return s.FeedbackHistory.Limit
	}
	return s.HistoryLimit
}

// With returns an Agent with other settings that shares everything else. What it
// learns of its chat model is its own.
func (a *Agent) With(over Overlay) *Agent {
	cfg := a.Config
	cfg.Prompts = cmp.Or(over.Prompts, cfg.Prompts)
	cfg.Settings.Programme = cmp.Or(over.Programme, cfg.Settings.Programme)
	if over.ChatModel != "" && over.ChatModel != cfg.Settings.ChatModel {
		// The operator's settings are about the model of the installation.
		cfg.Settings.ChatModel, cfg.Settings.ModelSize, cfg.Settings.Protocol, cfg.Settings.ContextTokens = over.ChatModel, "", "", 0
	}
	cfg.Settings.Advice = cmp.Or(over.Advice, cfg.Settings.Advice)
	cfg.Settings.SmallModel = cmp.Or(over.SmallModel, cfg.Settings.SmallModel)
	if over.History.IsSet {
		cfg.Settings.HistoryLimit = over.History.Limit
	}
	cfg.Settings.FeedbackHistory = cmp.Or(over.FeedbackHistory, cfg.Settings.FeedbackHistory)
	out := New(cfg)
	out.caches = a.caches
	return out
}

// Offer is what a turn may call: the tools that the mode permits, and the
// names of the tools with a meaning of their own.
type Offer struct {
	Specs []models.ToolSpec
	// Controls steer the turn: the end of an exchange, the search for tools.
	// They are offered independently of the router.
	Controls []models.ToolSpec
	// Core are the tools that the mode is made of; no router takes them away.
	Core []string
	// Few are those that a small model is offered, the first and the last whatever is asked
	// for; none: it is offered as many as others.
	Few    []string
	Stop   string
	Search string
	// Playbook is the tool that reads playbooks; Specs says whether it is there.
	Playbook string
	// Outside are the tools whose results hold text from outside the programme,
	// Compact those among them that no digest is made of.
	Outside, Compact []string
	// Recalled are the tools whose results hold what participants wrote before.
	Recalled []string
}

// NewOffer returns what a turn may call: the tools of its mode, and of them those that
// the mode needs for a person with that profile. A channel with few rights has the few
// tools that it may, all of them.
func NewOffer(registry *tools.Registry, mode wire.Mode, profile models.Profile, rights models.Rights) Offer {
	ordinary, core, few := registry.For(mode), registry.Core(mode, profile), registry.Few(mode, profile)
	if rights.ReadOnly {
		ordinary = registry.ReadOnly(ordinary)
		core, few = specNames(ordinary), nil
	}
	outside, compact := registry.Outside()
	return Offer{
		Specs: ordinary, Controls: registry.Controls(len(ordinary) - len(core)), Core: core, Few: few,
		Stop: registry.Stop(), Search: registry.Search(), Playbook: registry.Playbook(), Outside: outside, Compact: compact,
		Recalled: registry.Recalled(),
	}
}
