package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a case means the same everywhere

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"coachline/activities"
	"coachline/eval/cases"
	"coachline/internal/agent"
	"coachline/internal/config"
	"coachline/internal/memory"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
	"coachline/worker"
)

const (
	personID = "conv_1"
	phone    = "+12025550123"
	ourPhone = "+15017122661"
	actor    = "eval"
)

// conversation is one case under way.
type conversation struct {
	driver   *Driver
	ctx      context.Context //nolint:containedctx // callbacks of the environment take none
	script   cases.Case
	suite    testsuite.WorkflowTestSuite
	env      *testsuite.TestWorkflowEnvironment
	store    *store.Store
	memory   *memory.Store
	model    *recorder
	carrier  *carrier
	keeping  *activities.MemoryActivities
	progress progress
}

func (d *Driver) open(ctx context.Context, c cases.Case, begins time.Time) (*conversation, error) {
	key, err := seal.Generate()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	ring, err := seal.Parse(key)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	p := &conversation{driver: d, ctx: ctx, script: c, model: &recorder{client: d.model, prices: d.settings.Costs.Prices, earlier: &prefixes{}, run: d.run}, progress: progress{broken: &brokenTools{}}}
	if p.store, err = store.Open(ctx, store.Config{URL: "sqlite::memory:", Sealer: ring}); err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	p.progress.broken.Turns = p.store.Turns
	if err := p.prepareTables(begins); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	if err := p.register(begins); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	return p, nil
}

// prepareTables puts in place what was there before the conversation.
func (p *conversation) prepareTables(begins time.Time) error {
	p.memory = p.store.Memory
	for i, person := range append([]cases.Person{p.script.Person}, p.script.Others...) {
		id := fmt.Sprintf("conv_%d", i+1)
		number := phone[:len(phone)-1] + fmt.Sprint(3+i)
		if err := p.enrolResident(resident{person, id, number, begins}); err != nil {
			return fmt.Errorf("enrolling %s: %w", person.Name, err)
		}
	}
	if protocol := p.driver.column.Protocol; protocol != "" {
		return p.memory.SaveCapability(p.ctx, models.Capability{
			Model: p.driver.column.Model, Endpoint: p.driver.endpoint(), Protocol: protocol, Size: sizeFor(protocol),
			Reason: "setting", LearntAt: begins,
		})
	}
	return nil
}

// sizeFor: tools as text are for small models, with all that the product does
// for those.
func sizeFor(p models.Protocol) models.ModelSize {
	if p == models.ProtocolNative {
		return models.SizeLarge
	}
	return models.SizeSmall
}

// resident is a participant to enrol.
type resident struct {
	cases.Person
	id, phone string
	begins    time.Time
}

func (p *conversation) enrolResident(r resident) error {
	// It is no participant's first day: what is remembered is older than the
	// conversation.
	since := r.begins.AddDate(-1, 0, 0)
	if r.New {
		since = r.begins
	}
	_, err := p.store.People.Enroll(p.ctx, models.Participant{
		ID: r.id, Phone: r.phone, PersonTexts: models.PersonTexts[string]{Name: r.Name, Background: r.Background}, Timezone: r.Zone, Locale: r.Locale,
		Channel: wire.ChannelSMS, Status: wire.StatusActive, Mode: r.mode(), EnrolledAt: since,
	}, actor)
	if err != nil {
		return fmt.Errorf("storing: %w", err)
	}
	if r.New {
		return nil
	}
	if err := p.saveProfile(r, since); err != nil {
		return err
	}
	for i, fact := range r.Facts {
		if err := p.saveFact(r, i, fact); err != nil {
			return err
		}
	}
	rows := make([]wire.Schedule, len(r.Schedules))
	for i, times := range r.Schedules {
		rows[i] = scheduleOf(fmt.Sprintf("sch-%d", i+1), times)
	}
	if err := p.store.Turns.SaveState(p.ctx, wire.SaveStateInput{ParticipantID: r.id, Mode: r.mode(), Schedules: rows, Now: since}); err != nil {
		return fmt.Errorf("storing schedules: %w", err)
	}
	return nil
}

func (r resident) mode() wire.Mode {
	if r.Mode == "" {
		return wire.ModeIntake
	}
	return r.Mode
}

// saveProfile is stored as a tool would have done in an earlier turn.
func (p *conversation) saveProfile(r resident, at time.Time) error {
	turn := models.TurnID(r.id, 1)
	_, err := p.store.Turns.BeginTurn(p.ctx, wire.PrepareTurnInput{
		ParticipantID: r.id, TurnID: turn, Number: 1, Mode: r.mode(), Plan: wire.TurnPlan{Kind: wire.TurnMessage}, Now: at,
	})
	if err != nil {
		return fmt.Errorf("storing profile: %w", err)
	}
	row, err := p.store.People.Profile(p.ctx, r.id)
	if err != nil {
		return fmt.Errorf("storing profile: %w", err)
	}
	row.HabitDomain, row.MotivationalFrame = r.Profile.HabitDomain, r.Profile.MotivationalFrame
	row.PreferredTime, row.PromptAnchor = r.Profile.PreferredTime, r.Profile.PromptAnchor
	row.AdditionalInfo = r.Profile.AdditionalInfo
	err = p.store.Turns.CommitTool(p.ctx, models.ToolCommit{
		Run: models.ToolRun{TurnID: turn, Name: "save_user_profile", CreatedAt: at}, Profile: &row,
	})
	if err != nil {
		return fmt.Errorf("storing profile: %w", err)
	}
	return nil
}

func (p *conversation) saveFact(r resident, i int, fact cases.Fact) error {
	var vector []float32
	// A server without vectors leaves the search by words, as in the product.
	if vectors, err := p.driver.model.Embed(p.ctx, []string{fact.Text}); err == nil && len(vectors) == 1 {
		vector = vectors[0]
	}
	_, err := p.memory.SaveFact(p.ctx, models.Fact{
		ParticipantID: r.id, Kind: fact.Kind, Text: fact.Text, TurnID: fmt.Sprintf("%s-before-%d", r.id, i+1),
		CreatedAt: r.begins.AddDate(0, 0, -fact.DaysAgo),
	}, vector)
	if err != nil {
		return fmt.Errorf("storing a fact: %w", err)
	}
	return nil
}

func scheduleOf(id, times string) wire.Schedule {
	if from, to, window := strings.Cut(times, "-"); window {
		return wire.Schedule{ID: id, Type: wire.ScheduleRandom, From: from, To: to}
	}
	return wire.Schedule{ID: id, Type: wire.ScheduleFixed, At: times}
}

// register makes the worker's own workflows and activities known, with this model and
// this carrier. Tools may be broken, and what follows a reply is done between steps.
func (p *conversation) register(begins time.Time) error {
	p.suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	p.env = p.suite.NewTestWorkflowEnvironment()
	p.env.SetStartTime(begins)
	p.env.SetTestTimeout(patience)
	p.env.SetWorkerOptions(sdkworker.Options{DeadlockDetectionTimeout: patience}) // A machine may be short of processors.
	p.carrier = &carrier{store: p.store}
	settings := p.driver.settings
	if p.script.Focuses {
		settings.Replies.Focuses = config.SwitchOn
	}
	parts, err := worker.NewParts(settings, p.store, p.driver.metrics)
	if err != nil {
		return err
	}
	set, err := parts.NewSet(worker.Outside{Model: answering{p.model, p.driver.model, p.driver.model}, Carrier: p.carrier, Now: p.env.Now})
	if err != nil {
		return err
	}
	set.Tools.Store, set.TurnEnds.After, p.keeping = p.progress.broken, &p.progress, set.Memory
	set.Register(p.env)
	return nil
}

// answering is the model, whose answers are written down.
type answering struct {
	*recorder
	agent.Embedder
	agent.Server
}

// brokenTools is the store for tools, some of whose results cannot be kept.
type brokenTools struct {
	*store.Turns
	names []string
}

// CommitTool fails for the tools that are broken.
func (b *brokenTools) CommitTool(ctx context.Context, commit models.ToolCommit) error {
	if slices.Contains(b.names, commit.Run.Name) {
		return errors.New("the store is away")
	}
	return b.Turns.CommitTool(ctx, commit)
}
