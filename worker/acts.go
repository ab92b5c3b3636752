package worker

import (
	"fmt"
	"time"
	_ "time/tzdata" // every worker agrees on the zones, whatever its image holds

	"coachline/activities"
	"coachline/internal/coach"
	"coachline/internal/config"
	"coachline/internal/dial"
	"coachline/internal/llm"
	"coachline/internal/sms"
	"coachline/internal/tools"
	"coachline/models"
	"coachline/prompts"
)

// acts is every activity of the product.
type acts struct {
	decisions *activities.Decisions
	turns     *activities.Turns
	talk      *activities.Talk
	tools     *activities.Tools
	closing   *activities.Closing
	posts     *activities.Posts
	checks    *activities.Reconciling
}

const carrierTimeout = 10 * time.Second

func newActs(cfg config.Config, ties *dial.Ties) (*acts, error) {
	registry, err := tools.New()
	if err != nil {
		return nil, fmt.Errorf("building tools: %w", err)
	}
	library, err := loadPrompts(cfg.Worker.PromptsDir, registry)
	if err != nil {
		return nil, fmt.Errorf("COACH_PROMPTS_DIR: %w", err)
	}
	rules, err := coachingRules(cfg.Coaching)
	if err != nil {
		return nil, err
	}
	model, err := llm.New(llm.Config{BaseURL: cfg.Model.BaseURL, Keys: cfg.Model.Keys()})
	if err != nil {
		return nil, fmt.Errorf("building model client: %w", err)
	}
	carrier, err := newCarrier(cfg)
	if err != nil {
		return nil, err
	}
	zones := coach.Zones(time.LoadLocation)
	turns := &activities.Turns{
		Store: ties.Store, Archive: ties.Store, Prompts: library, Programme: cfg.Coaching.Programme,
		Limits: models.Limits{
			Rounds: cfg.Worker.MaxTurns, ToolCalls: cfg.Worker.MaxToolCalls, RunEvents: cfg.Worker.ContinueAsNewEvents,
		},
	}
	posts := &activities.Posts{Store: ties.Store, Carrier: carrier, Now: time.Now}
	return &acts{
		decisions: &activities.Decisions{Rules: rules, Zones: zones, Tools: registry, Calls: ties.Store},
		turns:     turns,
		talk: &activities.Talk{
			Turns: turns, Store: ties.Store, Model: model, Tools: registry, Prompts: library, Zones: zones,
			ModelName: cfg.Model.Name, HistoryLimit: cfg.Worker.HistoryLimit, Now: time.Now,
		},
		tools: &activities.Tools{
			Store: ties.Store, Tools: registry, Model: model, Prompts: library, Zones: zones,
			ModelName: cfg.Model.Name, Now: time.Now,
		},
		closing: &activities.Closing{Turns: turns, Posts: posts},
		posts:   posts,
		checks:  &activities.Reconciling{Store: ties.Store, Carrier: carrier, Now: time.Now},
	}, nil
}

// loadPrompts refuses a text that names a tool which its mode does not offer: a
// model that is told to call what it does not have makes things up.
func loadPrompts(dir string, registry *tools.Registry) (*prompts.Library, error) {
	library, err := prompts.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("loading prompts: %w", err)
	}
	offers := map[models.Mode]prompts.Offer{}
	for _, mode := range []models.Mode{models.ModeIntake, models.ModeFeedback} {
		offer := prompts.Offer{Words: registry.Vocabulary(mode)}
		for _, spec := range registry.For(mode) {
			offer.Tools = append(offer.Tools, spec.Name)
		}
		offers[mode] = offer
	}
	return library, library.CheckTools(offers)
}

func coachingRules(c config.Coaching) (coach.Rules, error) {
	quiet, err := coach.ParseQuietHours(c.QuietHours)
	if err != nil {
		return coach.Rules{}, fmt.Errorf("COACH_QUIET_HOURS: %w", err)
	}
	return coach.Rules{
		PrepTime: c.PrepTime, PromptSpread: c.PromptSpread, PromptGrace: c.PromptGrace, ReminderDelay: c.ReminderDelay,
		AutoFeedbackDelay: c.AutoFeedbackDelay, FeedbackTimeout: c.FeedbackTimeout,
		FeedbackFollowup: c.FeedbackFollowup, Debounce: c.Debounce, DebounceMax: c.DebounceMax, Quiet: quiet,
	}, nil
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
	})
	if err != nil {
		return nil, fmt.Errorf("building carrier client: %w", err)
	}
	return client, nil
}
