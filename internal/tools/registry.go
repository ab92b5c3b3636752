// Package tools holds what the model may call: one file per tool with its
// name, description, schema and meaning. It parses and checks arguments,
// turns calls that change the workflow's state into events for the rules, and
// runs the others. Profile changes are committed by the caller; what is to be
// forgotten is erased through the memory that the caller passes.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"coachline/models"
)

// Tool describes one tool of the registry.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON schema (draft 2020-12) of the arguments, given to
	// the model and checked against.
	Schema json.RawMessage
	// InWorkflow says that the call becomes an event that the rules decide (Event);
	// otherwise it is run (Run).
	InWorkflow bool
	// Ends says that a call of it that succeeds ends the exchange without any reply.
	Ends bool
	// ReadOnly says that it looks something up and changes nothing, so that a channel
	// with few rights may offer it.
	ReadOnly bool
	Modes    []models.Mode
	// Outside says that its results hold what strangers wrote, fenced; Compact that they are
	// short by design, and no digest is made of them.
	Outside, Compact bool
	// Recalls says that its results hold what participants wrote before.
	Recalls bool
}

// Extra is a tool of another package, for operators who want it: what New is
// not given costs nothing.
type Extra struct {
	Tool
	// Keywords are words of several languages, divided by spaces, that ask for
	// the tool and that its description lacks.
	Keywords string
	// Answer is what a call came to, as the model reads it. argument is a text
	// among the call's arguments, empty when it is absent. A
	// *models.FieldError gives a failed result, any other error is worth a
	// retry.
	Answer func(ctx context.Context, turnID string, argument func(name string) string) (string, error)
	// Control says that it is offered beside the tools of a mode and never routed away.
	Control bool
	// Says means that what Answer returns is sent to the person, and the model
	// reads that it is being sent.
	Says bool
	// Inspect, when set, is shown the arguments as they came, before they are
	// checked. Its error is worth a retry.
	Inspect func(ctx context.Context, turnID, arguments string) error
}

// onItsWay is what the model reads of a text that the person is sent.
const onItsWay = "it is on its way; do not repeat it in your final words"

func (e Extra) toDefinition() *definition {
	return &definition{
		Tool: e.Tool, keywords: e.Keywords, control: e.Control, tidy: tidyTexts, inspect: e.Inspect,
		run: func(ctx context.Context, in RunInput, args arguments) (Execution, error) {
			content, err := e.Answer(ctx, in.TurnID, args.textOf)
			if err != nil {
				return Execution{}, err
			}
			if e.Says {
				return Execution{Say: content, Result: successResult(in.Call, map[string]any{"ok": true, "note": onItsWay})}, nil
			}
			return Execution{Result: models.ToolResult{CallID: in.Call.ID, Name: in.Call.Name, Content: content}}, nil
		},
	}
}

// HabitWriter writes one habit prompt for a profile. It returns an error only
// for failures that are worth a retry, and never an empty text.
type HabitWriter interface {
	HabitPrompt(ctx context.Context, p models.Profile, notes string) (string, error)
}

// Memory is what the memory tools reach: what is stored about the one person
// whom the caller bound.
type Memory interface {
	Recaller
	Lister
	Forgetter
}

// RunInput is one call to run, with the profile it works on.
type RunInput struct {
	Call models.ToolCall
	// TurnID is the turn that the call belongs to.
	TurnID  string
	Profile models.Profile
	Now     time.Time
	Writer  HabitWriter
	// Subagent says that the call is one of a subagent's, and nothing but ForSubagents
	// may be run.
	Subagent bool
	// Memory is nil where mode or channel forbids it, Finder where no
	// tool search is offered; calls that need them are refused then.
	Memory Memory
	Finder Finder
	// Playbooks are read in the place of the registry's; nil: those are read.
	Playbooks Playbooks
	// Confirmations knows what the participant has confirmed. Without it no
	// destructive call is carried out.
	Confirmations Confirmations
}

// Execution is what a call came to. Profile is nil when nothing changed;
// otherwise it replaces the row, if its Version still matches.
type Execution struct {
	Result  models.ToolResult
	Profile *models.Profile
	// CountSuccess says that the person reported success with the newest prompt.
	CountSuccess bool
	// Say is a text that the person is sent with the result; empty for none.
	Say string
}

// definition is a tool with its behaviour; one of event and run is set.
type definition struct {
	Tool
	// keywords are words of several languages, divided by spaces, that ask for
	// the tool and that its description lacks.
	keywords string
	// control says that the tool steers the turn and is offered beside those of a mode.
	control bool
	// tidy brings arguments into the form that the schema describes.
	tidy    func(args arguments)
	inspect func(ctx context.Context, turnID, arguments string) error
	event   func(args arguments, newID string) (models.Event, error)
	run     func(ctx context.Context, in RunInput, args arguments) (Execution, error)

	compiled *jsonschema.Schema
	asking   []string // keywords, one each
}

// Registry is the fixed set of tools. It is safe for use by several
// goroutines.
type Registry struct {
	order []string
	tools map[string]*definition
}

// Option adds tools that need something of the installation.
type Option func([]*definition) []*definition

// With adds tools of other packages behind those of the registry.
func With(extras ...Extra) Option {
	return func(all []*definition) []*definition {
		for _, extra := range extras {
			all = append(all, extra.toDefinition())
		}
		return all
	}
}

// New builds the registry. It fails only when a schema does not compile.
func New(options ...Option) (*Registry, error) {
	r := &Registry{tools: map[string]*definition{}}
	all := []*definition{
		transitionState(), saveUserProfile(), schedulerTool(), generateHabitPrompt(),
		searchMemory(), listMemories(), forgetMemory(), endExchange(), findTools(),
	}
	for _, add := range options {
		all = add(all)
	}
	for _, def := range all {
		compiled, err := compileSchema(def.Name, def.Schema)
		if err != nil {
			return nil, fmt.Errorf("compiling schema of %s: %w", def.Name, err)
		}
		def.compiled, def.asking = compiled, strings.Fields(def.keywords)
		r.order = append(r.order, def.Name)
		r.tools[def.Name] = def
	}
	return r, nil
}

// bothModes lists both modes: every tool is offered in every mode, because both modes' texts
// ask for each of them.
func bothModes() []models.Mode { return []models.Mode{models.ModeIntake, models.ModeFeedback} }

// For lists the ordinary tools of a mode as the model is given them, always in
// the same order, so that requests share their beginning. An unknown mode gets
// the tools of INTAKE, the mode that it falls back to.
func (r *Registry) For(mode models.Mode) []models.ToolSpec {
	if !mode.Known() {
		mode = models.ModeIntake
	}
	specs := make([]models.ToolSpec, 0, len(r.order))
	for _, name := range r.order {
		def := r.tools[name]
		if !def.control && slices.Contains(def.Modes, mode) {
			specs = append(specs, def.toSpec())
		}
	}
	return specs
}

// ReadOnly keeps of some tools those that change nothing.
func (r *Registry) ReadOnly(specs []models.ToolSpec) []models.ToolSpec {
	var out []models.ToolSpec
	for _, spec := range specs {
		if def, ok := r.tools[spec.Name]; ok && def.ReadOnly {
			out = append(out, spec)
		}
	}
	return out
}

func (d *definition) toSpec() models.ToolSpec {
	return models.ToolSpec{Name: d.Name, Description: d.Description, Schema: d.Schema, Keywords: d.asking}
}

// smallCatalogue is the most ordinary tools that are offered without a search
// among them.
const smallCatalogue = 8

// Controls lists the tools that are offered beside a catalogue of that many
// ordinary tools, in every mode: the one that ends an exchange, the search
// where the catalogue is large enough for one, and those that give a task
// away where New was told.
func (r *Registry) Controls(ordinary int) []models.ToolSpec {
	var specs []models.ToolSpec
	for _, name := range r.order {
		if r.tools[name].control && (name != searchTool || ordinary > smallCatalogue) {
			specs = append(specs, r.tools[name].toSpec())
		}
	}
	return specs
}

// Stop returns the name of the tool that ends an exchange.
func (r *Registry) Stop() string { return r.tools[stopTool].Name }

// Search returns the name of the tool that finds tools, whether it is offered or
// not; Controls says that.
func (r *Registry) Search() string { return r.tools[searchTool].Name }

// Playbook returns the name of the tool that reads playbooks, whether there is one
// or not; For says that.
func (r *Registry) Playbook() string { return readTool }

// Outside lists the tools whose results hold what strangers wrote, and those
// among them that no digest is made of.
func (r *Registry) Outside() (all, compact []string) {
	for _, name := range r.order {
		def := r.tools[name]
		if def.Outside {
			all = append(all, name)
		}
		if def.Outside && def.Compact {
			compact = append(compact, name)
		}
	}
	return all, compact
}

// Recalled lists the tools whose results hold what participants wrote before.
func (r *Registry) Recalled() []string {
	var out []string
	for _, name := range r.order {
		if r.tools[name].Recalls {
			out = append(out, name)
		}
	}
	return out
}

// Lookup finds a tool by name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	def, ok := r.tools[name]
	if !ok {
		return Tool{}, false
	}
	return def.Tool, true
}

// Vocabulary lists the argument names of a mode's tools and the values they
// are limited to: the words that an instruction for that mode may use.
func (r *Registry) Vocabulary(mode models.Mode) []string {
	var words []string
	for _, spec := range r.For(mode) {
		for name, property := range r.tools[spec.Name].compiled.Properties {
			words = append(words, name)
			words = append(words, allowedValues(property)...)
			if property.Items2020 != nil {
				words = append(words, allowedValues(property.Items2020)...)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Event turns a call of a tool that changes the workflow's state into the
// event that the rules decide. newID is the id that a created schedule gets.
// Bad arguments are a *models.FieldError whose text is written for the model.
func (r *Registry) Event(call models.ToolCall, newID string) (models.Event, error) {
	def, err := r.findTool(call.Name)
	if err != nil {
		return models.Event{}, err
	}
	if def.event == nil {
		return models.Event{}, fmt.Errorf("tool %s is run, not decided", call.Name)
	}
	args, err := def.parseArguments(call.Arguments)
	if err != nil {
		return models.Event{}, err
	}
	return def.event(args, newID)
}

// Run executes a call of a tool that is not decided. Bad arguments and unmet
// needs give a failed result and a nil error, and change nothing. An error is
// worth a retry, which repeats no effect: profile changes are stored by the
// caller, and to forget again changes nothing.
func (r *Registry) Run(ctx context.Context, in RunInput) (Execution, error) {
	def, err := r.findTool(in.Call.Name)
	if err != nil {
		return Execution{Result: Failure(in.Call, err)}, nil
	}
	if in.Subagent && !def.forSubagents() {
		return Execution{Result: Failure(in.Call, models.BadField("tool", "a helper has no tool called %s; it can look things up and change nothing", def.Name))}, nil
	}
	if def.run == nil {
		return Execution{}, fmt.Errorf("tool %s is decided, not run", in.Call.Name)
	}
	if def.inspect != nil {
		if err := def.inspect(ctx, in.TurnID, in.Call.Arguments); err != nil {
			return Execution{}, fmt.Errorf("inspecting %s: %w", in.Call.Name, err)
		}
	}
	args, err := def.parseArguments(in.Call.Arguments)
	if err != nil {
		return Execution{Result: Failure(in.Call, err)}, nil
	}
	out, err := def.run(ctx, in, args)
	if field := (*models.FieldError)(nil); errors.As(err, &field) {
		return Execution{Result: Failure(in.Call, field)}, nil
	}
	if err != nil {
		return Execution{}, fmt.Errorf("running %s: %w", in.Call.Name, err)
	}
	return out, nil
}

// Failure returns the result of a call that changed nothing; the text of err is
// what the model reads.
func Failure(call models.ToolCall, err error) models.ToolResult {
	content := marshalPlain(struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}{Error: err.Error()})
	return models.ToolResult{CallID: call.ID, Name: call.Name, Content: content, Failed: true}
}

func (r *Registry) findTool(name string) (*definition, error) {
	if def, ok := r.tools[name]; ok {
		return def, nil
	}
	var names []string
	for _, spec := range r.For(models.ModeIntake) {
		names = append(names, spec.Name)
	}
	return nil, models.BadField("tool", "there is no tool called %s; available are %s", shortName(name), strings.Join(names, ", "))
}

// successResult builds the result of a call that did what it was asked.
func successResult(call models.ToolCall, answer any) models.ToolResult {
	return models.ToolResult{CallID: call.ID, Name: call.Name, Content: marshalPlain(answer)}
}

// marshalPlain writes JSON as the model should read it, without HTML escapes. The
// values are our own structs of texts and numbers, which always encode.
func marshalPlain(v any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return `{"ok":false,"error":"the result cannot be shown"}`
	}
	return strings.TrimSpace(out.String())
}
