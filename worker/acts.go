package worker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // every worker agrees on the zones, also without zone files in its image

	"coachline/activities"
	"coachline/internal/agent"
	"coachline/internal/alert"
	"coachline/internal/coach"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/llm"
	"coachline/internal/metrics"
	"coachline/internal/offer"
	"coachline/internal/screening"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/internal/study"
	"coachline/internal/tools"
	"coachline/internal/wrap"
	"coachline/internal/zones"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// acts is every activity of the product.
type acts struct {
	knownModel   func(context.Context) models.Capability
	decisions    *activities.DecisionActivities
	turns        *activities.TurnLoader
	model        *activities.ModelActivities
	tools        *activities.ToolActivities
	turnEnds     *activities.TurnEnd
	subagents    *activities.SubagentActivities
	removals     *activities.RemovalActivities
	standing     *activities.StandingActivities
	notices      *activities.NoticeActivities
	remembering  *activities.MemoryActivities
	posts        *activities.SendActivities
	checks       *activities.ReconcileActivities
	laterRetries *activities.LaterRetries
	erasures     *activities.ErasureActivities
}

const (
	carrierTimeout = 10 * time.Second
	pageTimeout    = 15 * time.Second
)

// Outside is what activities reach outside of the database: the model, the carrier,
// the people on call, and the clock.
type Outside struct {
	Model   ModelClient
	Carrier CarrierClient
	Pager   activities.Pager
	Now     func() time.Time
}

// ModelClient answers and embeds.
type ModelClient interface {
	agent.Model
	agent.Embedder
}

// CarrierClient sends, looks up and deletes messages.
type CarrierClient interface {
	activities.Carrier
	activities.Deleter
	Fetch(ctx context.Context, providerSID string) (models.StatusCallback, error)
}

// newActs builds the activities of a worker with the servers that the configuration
// names.
func newActs(cfg config.Config, conns *connect.Connections, m *metrics.Metrics, stops *budgets) (*acts, error) {
	client, err := newModelClient(cfg.Model, conns.Clock.Now)
	if err != nil {
		return nil, err
	}
	sender, err := newCarrier(cfg)
	if err != nil {
		return nil, err
	}
	parts, err := NewParts(cfg, conns.Store, m)
	if err != nil {
		return nil, err
	}
	parts.logger = conns.Logger
	has := offer.New(cfg, parts.library)
	conns.Logger.Info("the coach has", "tools", has.Tools, "playbooks", has.Playbooks, "focuses", has.Focuses, "workspace", has.Workspace, "memory", has.Memory)
	return parts.newActs(Outside{
		Model: client, Carrier: sender, Now: conns.Clock.Now, Pager: alert.New(alert.Config{URL: cfg.Worker.AlertURL.Reveal(), Timeout: pageTimeout}),
	}, stops)
}

// Parts are what all activities of a process share. They are safe for concurrent
// use.
type Parts struct {
	cfg      config.Config
	rows     *store.Store
	metrics  *metrics.Metrics
	logger   *slog.Logger
	library  *prompts.Library
	registry *tools.Registry
	rules    coach.Rules
	studies  *study.Resolver
}

// NewParts loads texts, tools and rules for the activities on a store.
func NewParts(cfg config.Config, rows *store.Store, m *metrics.Metrics) (*Parts, error) {
	library, registry, err := loadWords(cfg, toolParts{rows: rows, events: m})
	if err != nil {
		return nil, err
	}
	rules, err := cfg.Coaching.Rules()
	if err != nil {
		return nil, err
	}
	return &Parts{
		cfg: cfg, rows: rows, metrics: m, logger: slog.Default(), library: library, registry: registry, rules: rules, studies: newStudies(cfg, rows, m, registry, slog.Default()),
	}, nil
}

func (p *Parts) newActs(o Outside, stops activities.Budgets) (*acts, error) {
	cfg, rows, library, registry, m := p.cfg, p.rows, p.library, p.registry, p.metrics
	model, carrier := m.Model(o.Model), m.Carrier(o.Carrier)
	memories := rows.Memory.WithVectorsOf(cfg.Model.Embedding)
	server, _ := o.Model.(agent.Server) // The models of rehearsals have none.
	replies := agent.New(agent.Config{
		Prompts: library, Model: model, Embedder: o.Model, Server: server, Memory: memories, Diary: memories, Journal: memories, Steps: memories,
		Attention: rows.Attention, Zones: zones.Load, Now: o.Now, Settings: replySettings(cfg),
	})
	agents := newStudyAgents(replies, p.studies)
	turns := &activities.TurnLoader{
		Store: withTranscriber(cfg, rows.Turns, p.newTranscriber(o)), Outbox: rows.Outbox, Prompts: library, Programme: cfg.Coaching.Programme, AlertsTeam: cfg.Worker.AlertURL.IsSet(),
		Helplines: cfg.Worker.Helplines, Studies: p.studies, Recent: activities.NewRecent(), Metrics: m,
		Limits: wire.Limits{
			Steps: cfg.Worker.MaxTurns, ToolCalls: cfg.Worker.MaxToolCalls, RunEvents: cfg.Worker.ContinueAsNewEvents,
			Debounce: cfg.Coaching.Debounce, DebounceMax: cfg.Coaching.DebounceMax,
		},
	}
	posts := &activities.SendActivities{Store: rows.Outbox, Carrier: carrier, Studies: p.studies, Now: o.Now, Metrics: m, ReassignedAfter: cfg.Coaching.ReassignedAfter}
	posts.Numbers, _ = o.Carrier.(activities.Numbers) // Those of rehearsals know none.
	decisions := &activities.DecisionActivities{Rules: p.rules, Studies: p.studies, Zones: zones.Load, Tools: registry, Calls: rows.Turns, States: activities.NewStates(rows.People), Metrics: m}
	return &acts{
		knownModel: replies.Capability, decisions: decisions,
		turns: turns,
		model: &activities.ModelActivities{Metrics: m, Turns: turns, Store: rows.Turns, Attention: rows.Attention, Looks: rows.Looks, Replies: agents, Tools: registry, Rules: decisions, Budgets: stops, Prices: cfg.Costs.Prices, TurnMicros: cfg.Costs.LimitMicros(cfg.Costs.TurnLimit), Now: o.Now, Costs: memories, ModelName: cfg.Model.Name, ModelTimeout: cfg.Model.Timeout},
		tools: &activities.ToolActivities{
			Drafts: agents,
			Store:  rows.Turns, Outbox: rows.Outbox, Tools: registry, Model: model, Embedder: o.Model, Facts: memories, Prompts: library, Zones: zones.Load,
			Alerts: rows.Looks, AlertsTeam: cfg.Worker.AlertURL.IsSet(), Helplines: cfg.Worker.Helplines,
			Programme: cfg.Coaching.Programme, ModelName: cfg.Model.Name, AnswerTokens: cfg.Model.AnswerTokens, ModelTimeout: cfg.Model.Timeout, Studies: p.studies, Now: o.Now, Costs: memories, Metrics: m,
		},
		turnEnds:    &activities.TurnEnd{Turns: turns, Posts: posts, Keeper: agents, After: memoryQueue{rows: rows.MemoryQueue, rest: cfg.Replies.HotWindow, now: o.Now}, Rules: decisions, Stages: memories, Metrics: m},
		subagents:   &activities.SubagentActivities{Store: rows.Turns, Tools: registry, Metrics: m},
		removals:    &activities.RemovalActivities{Store: rows.People},
		remembering: &activities.MemoryActivities{Store: rows.Turns, Queue: rows.MemoryQueue, Keeper: agents, Now: o.Now, Budgets: stops, Costs: memories, ModelName: cmp.Or(cfg.Model.Small, cfg.Model.Name)},
		standing:    &activities.StandingActivities{TakeOvers: rows.TakeOvers, People: rows.People},
		notices: &activities.NoticeActivities{
			Store: rows.Hints, Alerts: rows.Alerts, Pager: o.Pager,
			Carrier: carrier, Posts: posts, Prompts: library, Programme: cfg.Coaching.Programme, Studies: p.studies,
			Locale: cfg.Coaching.DefaultLocale(), AlertsTeam: cfg.Worker.AlertURL.IsSet(), Now: o.Now, Metrics: m,
			PublicURL: cfg.HTTP.PublicURL, HasWords: cfg.Worker.AlertWords == config.SwitchOn,
			Helplines: cfg.Worker.Helplines,
		},
		posts: posts, erasures: &activities.ErasureActivities{Store: rows.Erasures, Carrier: o.Carrier, Now: o.Now},
		checks:       &activities.ReconcileActivities{Store: rows.Outbox, Carrier: carrier, Now: o.Now, Metrics: m},
		laterRetries: &activities.LaterRetries{Store: rows.Outbox, Posts: posts, Rules: p.rules, Studies: p.studies, Zones: zones.Load, Now: o.Now},
	}, nil
}

func newModelClient(cfg config.Model, now func() time.Time) (*llm.Client, error) {
	own := connect.ModelConfig(cfg)
	own.HTTPClient, own.Now = &http.Client{Transport: newTransport()}, now
	client, err := llm.New(own)
	return client, wrap.Error(err, "building model client")
}

// loadWords loads the texts and the tools, which have to fit each other.
func loadWords(cfg config.Config, parts toolParts) (*prompts.Library, *tools.Registry, error) {
	library, instructions, err := loadLibrary(cfg.Worker.PromptsDir, cfg.Coaching.Programme, cfg.Replies.Focuses)
	if err != nil {
		return nil, nil, fmt.Errorf("COACH_PROMPTS_DIR: %w", err)
	}
	library = library.With(textFacts(cfg.Coaching))
	parts.playbooks, parts.instructions = library, instructions
	registry, err := newTools(cfg, parts)
	if err != nil {
		return nil, nil, err
	}
	err = checkPrompts(library, registry)
	return library, registry, wrap.Error(err, "COACH_PROMPTS_DIR")
}

// textFacts are what texts say of the installation.
func textFacts(cfg config.Coaching) prompts.Facts {
	return prompts.Facts{MaxPerDay: cfg.MaxInitiated, Support: cfg.Support, Terms: cfg.TermsURL, Formal: cfg.Address == config.AddressFormal}
}

// loadLibrary reads a folder of texts and checks them but for the tools that they
// name.
func loadLibrary(dir, programme string, focuses config.Switch) (*prompts.Library, *agent.Instructions, error) {
	library, err := prompts.LoadWith(dir, focuses == config.SwitchOn)
	if err != nil {
		return nil, nil, fmt.Errorf("loading prompts: %w", err)
	}
	for _, locale := range library.Locales() {
		if !screening.HasRules(locale) {
			return nil, nil, fmt.Errorf("folder %s: messages in that language are not screened for crisis and opt-out; languages with rules are %s",
				locale, strings.Join(screening.Languages(), ", "))
		}
	}
	instructions, err := agent.NewInstructions(library, programme)
	return library, instructions, err
}

func replySettings(cfg config.Config) agent.Settings {
	return agent.Settings{
		ChatModel: cfg.Model.Name, SmallModel: cfg.Model.Small, Endpoint: cfg.Model.Endpoint(),
		Hot: cfg.Replies.HotWindow, MemoryStep: agent.MemoryStep(cfg.Replies.MemoryStep),
		Programme: cfg.Coaching.Programme, AlertsTeam: cfg.Worker.AlertURL.IsSet(), Helplines: cfg.Worker.Helplines, HistoryLimit: cfg.Worker.HistoryLimit, FeedbackHistory: agent.HistoryOf(cfg.Worker.FeedbackHistory),
		Planner: cfg.Replies.Planner.Forced(), Digests: cfg.Replies.Digests.Forced(),
		Advice:      models.AdviceCheck(cfg.Replies.Advice),
		ToolDigests: cfg.Replies.ToolDigests.Forced(), Router: cfg.Replies.Router,
		ModelSize: cfg.Model.Size.Forced(), Protocol: cfg.Model.Protocol.Forced(), ContextTokens: cfg.Model.ContextTokens, AnswerTokens: cfg.Model.AnswerTokens,
		ModelTimeout: cfg.Model.Timeout,
		Limits: agent.Limits{
			Facts: cfg.Replies.RecalledFacts, CarryGroups: cfg.Replies.CarriedCalls, CarryChars: cfg.Replies.CarriedChars,
			Searches: cfg.Replies.ToolSearches, Stage: cfg.Replies.StageTimeout,
		},
	}
}

// checkPrompts refuses a text that names a tool which its mode does not offer:
// a model that is told to call what it does not have makes things up.
func checkPrompts(library *prompts.Library, registry *tools.Registry) error {
	offers := map[wire.Mode]prompts.Offer{}
	for _, mode := range []wire.Mode{wire.ModeIntake, wire.ModeFeedback} {
		offer := prompts.Offer{Words: registry.Vocabulary(mode)}
		for _, spec := range slices.Concat(registry.For(mode), registry.Controls(0)) {
			offer.Tools = append(offer.Tools, spec.Name)
		}
		offers[mode] = offer
	}
	return library.CheckTools(offers)
}

func newCarrier(cfg config.Config) (*sms.Client, error) {
	var callback string
	if cfg.HTTP.PublicURL != "" {
		callback = cfg.HTTP.PublicURL + "/twilio/status"
	}
	client, err := sms.New(sms.Config{
		AccountSID: cfg.Carrier.AccountSID, AuthToken: cfg.Carrier.AuthTokens.Reveal()[0],
		From: cfg.Carrier.From, MessagingServiceSID: cfg.Carrier.MessagingServiceSID,
		BaseURL: cfg.Carrier.BaseURL, StatusCallbackURL: callback, Timeout: carrierTimeout,
		Transport: newTransport(),
	})
	return client, wrap.Error(err, "building carrier client")
}
