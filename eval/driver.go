package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"coachline/eval/cases"
	"coachline/internal/config"
	"coachline/internal/connect"
	"coachline/internal/llm"
	"coachline/internal/metrics"
	"coachline/models"
	"coachline/prompts"
)

// Setup is what a run is about: a model, the prompts, and how tools are
// offered.
type Setup struct {
	Model, Small string
	// PromptsDir overrides embedded prompts; empty uses the embedded ones.
	PromptsDir string
	// Protocol is how tools are offered; empty leaves it to what the product
	// knows of the model.
	Protocol models.Protocol
	// Scripted: the model is the script.
	Scripted bool
}

// Config is what a Driver needs.
type Config struct {
	Column Setup
	// Settings give the address and keys of the model, and the coaching rules;
	// its names of models and its prompts folder are those of Column instead.
	Settings config.Config
}

// Driver plays cases for one column. It is safe for use by several goroutines.
type Driver struct {
	column   Setup
	settings config.Config
	model    *llm.Client
	library  *prompts.Library
	metrics  *metrics.Metrics
	secrets  []string
	// rests closes a conversation once it has rested, as the product does, and not after
	// each reply.
	rests bool
	// run are the prompts of all conversations so far.
	run *prefixes
}

// New builds a driver. Errors name the setting or the prompts folder.
func New(cfg Config) (*Driver, error) {
	d := &Driver{column: cfg.Column, settings: cfg.Settings, run: &prefixes{}}
	if d.column.Small == "" {
		d.column.Small = d.column.Model
	}
	// A case says itself when it happens, so prompts are not spread.
	d.settings.Model.Name, d.settings.Model.Small, d.settings.Worker.PromptsDir = d.column.Model, d.column.Small, d.column.PromptsDir
	d.settings.Coaching.PromptSpread = 0
	var err error
	if d.library, err = prompts.Load(cfg.Column.PromptsDir); err != nil {
		return nil, fmt.Errorf("loading prompts: %w", err)
	}
	d.library = d.library.WithMaxPerDay(cfg.Settings.Coaching.MaxInitiated)
	if d.metrics, err = metrics.New(metrics.Config{}); err != nil {
		return nil, fmt.Errorf("building metrics: %w", err)
	}
	if d.secrets, err = d.instructions(); err != nil {
		return nil, err
	}
	own := connect.ModelConfig(cfg.Settings.Model)
	own.Logger = slog.New(slog.DiscardHandler)
	d.model, err = llm.New(own)
	if err != nil {
		return nil, fmt.Errorf("building model client: %w", err)
	}
	return d, nil
}

// PromptVersion is the hash of the prompts in use.
func (d *Driver) PromptVersion() string { return d.library.Version() }

// instructions are the texts that no reply may repeat.
func (d *Driver) instructions() ([]string, error) {
	var out []string
	for _, name := range []prompts.Name{prompts.Persona, prompts.Intake, prompts.Feedback} {
		text, err := d.library.Render(name, prompts.PersonaData{Programme: d.settings.Coaching.Programme})
		if err != nil {
			return nil, fmt.Errorf("rendering prompt %s: %w", name, err)
		}
		out = append(out, text)
	}
	return out, nil
}

// endpoint names the server without what else its address may hold.
func (d *Driver) endpoint() string {
	return d.settings.Model.Endpoint()
}

// Play plays one case from its beginning, in a world of its own, and returns
// what happened in each step. An error is a defect of the case or of the
// product; what a model did wrong is in the exchanges.
func (d *Driver) Play(ctx context.Context, c cases.Case) (steps []Exchange, err error) {
	begins, err := c.Begins()
	if err != nil {
		return nil, err
	}
	p, err := d.open(ctx, c, begins)
	if err != nil {
		return nil, fmt.Errorf("setting up: %w", err)
	}
	defer func() {
		// The environment panics when nothing happens for as long as it waits.
		if broken := recover(); broken != nil {
			err = fmt.Errorf("playing: %v", broken)
		}
		if closed := p.store.Close(); err == nil && closed != nil {
			err = fmt.Errorf("closing the store: %w", closed)
		}
	}()
	return p.run()
}

// patience is how long the environment waits for a model.
const patience = 10 * time.Minute
