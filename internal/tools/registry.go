// Package tools holds what the model may call: one file per tool with its
// name, description, schema and meaning. It parses and checks arguments,
// turns calls that change the workflow's state into events for the rules, and
// runs the others. Profile changes are committed by the caller; what is to be
// forgotten is erased through the memory that the caller passes.
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"coachline/internal/coach"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
)

// Tool is what the model is told of a tool, and what a call of it does. One of
// Event and Run is set.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON schema (draft 2020-12) of the arguments, given to
	// the model and checked against.
	Schema json.RawMessage
	Modes  []wire.Mode
	// Studies are the ids of those whose people it is for; empty is everyone.
	Studies []string
	// Keywords are words of several languages, divided by spaces, that ask for
	// the tool and that its description lacks.
	Keywords string
	// Core are the modes that are made of it, so that it is offered there without being
	// asked for. Needed, when set, says for which profiles that is so.
	Core   []wire.Mode
	Needed func(p models.Profile) bool
	// Control says that it steers the turn: it is offered beside the tools of a mode
	// and never routed away.
	Control bool
	// Ends says that a call of it that succeeds ends the exchange without any reply.
	Ends bool
	// ReadOnly says that it looks something up and changes nothing, so that a channel
	// with few rights may offer it.
	ReadOnly bool
	// Outside says that its results hold what strangers wrote, fenced; Compact that they are
	// short by design, and no digest is made of them.
	Outside, Compact bool
	// Recalls says that its results hold what participants wrote before.
	Recalls bool

	// Inspect, when set, is shown the arguments as they came, before they are
	// checked. Its error is worth a retry.
	Inspect func(ctx context.Context, turnID, arguments string) error
	// Tidy brings arguments into the form that the schema describes; nil cleans
	// texts and drops empty ones.
	Tidy func(args Arguments)
	// Event is what the rules decide of a call that changes the workflow's state;
	// newID is the id that a created schedule gets.
	Event func(args Arguments, newID string) (wire.Event, error)
	// Run carries a call out. A *models.FieldError gives a failed result, any
	// other error is worth a retry.
	Run func(ctx context.Context, in RunInput, args Arguments) (Execution, error)

	compiled *jsonschema.Schema
	shown    json.RawMessage // Schema as the model is given it
	asking   []string        // Keywords, one each
}

// InWorkflow reports whether a call becomes an event that the rules decide; any
// other tool is run.
func (t *Tool) InWorkflow() bool { return t.Event != nil }

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
	// Zone is the person's; nil is UTC.
	Zone   *time.Location
	Writer HabitWriter
	// Mode is the turn's and Study the person's; both may be empty.
	Mode  wire.Mode
	Study string
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
	// Concerns raises alerts about the turn's message; nil where there is none.
	Concerns Concerns
}

// Execution is what a call came to. Profile is nil when nothing changed;
// otherwise it replaces the row, if its Version still matches.
type Execution struct {
	Result  models.ToolResult
	Profile *models.Profile
	// Outcome is what the person reported of the newest prompt; empty for nothing.
	Outcome models.PromptOutcome
	// NeedsPerson raises attention; the result says why.
	NeedsPerson bool
	// PauseUntil holds what we start until then, in place of an earlier pause; zero ends
	// that, nil leaves it.
	PauseUntil *time.Time
	// Say is a text that the person is sent with the result; empty for none.
	Say string
}

// TextResult is a call that came to a text, as the model reads it.
func TextResult(call models.ToolCall, text string) Execution {
	return Execution{Result: models.ToolResult{CallID: call.ID, Name: call.Name, Content: text}}
}

// SayResult is a call that sends the person a text; the model reads that it is
// being sent.
func SayResult(call models.ToolCall, text string) Execution {
	note := "it is on its way; do not repeat it in your final words"
	return Execution{Say: text, Result: successResult(call, map[string]any{"ok": true, "note": note})}
}

// Registry is the set of tools. It is safe for use by several goroutines.
type Registry struct{ current atomic.Pointer[tables] }

// tables are never changed.
type tables struct {
	order []string
	tools map[string]*Tool
}

// everywhere lists the tools that every installation has.
func everywhere() []Tool {
	return []Tool{
		transitionState(), saveUserProfile(), schedulerTool(), generateHabitPrompt(),
		searchMemory(), listMemories(), forgetMemory(), reportConcern(), askForPerson(), pausePrompts(), endExchange(), findTools(),
	}
}

// Names lists every tool that an installation can have, those that an operator
// turns on included, sorted. A study may leave out any of them.
func Names() []string {
	names := []string{readTool, "message", "web_search", "web_fetch"} // of packages that stand on this one
	for _, tool := range slices.Concat(everywhere(), Subagents()) {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// New builds the registry of the tools that every installation has, and of more
// behind them. It fails only when a schema does not compile.
func New(more ...Tool) (*Registry, error) {
	r := &Registry{}
	r.current.Store(&tables{tools: map[string]*Tool{}})
	return r, r.Add(append(everywhere(), more...)...)
}

// Add puts tools behind the others, or in the place of those of their names. Where it fails
// nothing has changed. It is called by one goroutine at a time.
func (r *Registry) Add(more ...Tool) error {
	before := r.current.Load()
	now := &tables{order: slices.Clone(before.order), tools: maps.Clone(before.tools)}
	for _, tool := range more {
		compiled, err := compileSchema(tool.Name, tool.Schema)
		if err != nil {
			return fmt.Errorf("compiling schema of %s: %w", tool.Name, err)
		}
		if tool.Tidy == nil {
			tool.Tidy = tidyTexts
		}
		tool.shown = shownSchema(tool.Schema)
		tool.compiled, tool.asking = compiled, strings.Fields(tool.Keywords)
		if now.tools[tool.Name] == nil {
			now.order = append(now.order, tool.Name)
		}
		now.tools[tool.Name] = &tool
	}
	r.current.Store(now)
	return nil
}

// NotFor lists the tools that are not for the people of a study.
func (r *Registry) NotFor(study string) []string {
	return r.named(func(t *Tool) bool { return !t.isFor(study) })
}

func (t *Tool) isFor(study string) bool {
	return len(t.Studies) == 0 || slices.Contains(t.Studies, study)
}

// bothModes lists both modes, which all tools have but the one that writes a prompt.
func bothModes() []wire.Mode { return []wire.Mode{wire.ModeIntake, wire.ModeFeedback} }

// For lists the ordinary tools of a mode as the model is given them, always in
// the same order, so that requests share their beginning. An unknown mode gets
// the tools of INTAKE, the mode that it falls back to.
func (r *Registry) For(mode wire.Mode) []models.ToolSpec {
	if !mode.Known() {
		mode = wire.ModeIntake
	}
	specs := make([]models.ToolSpec, 0, len(r.current.Load().order))
	for _, name := range r.current.Load().order {
		tool := r.current.Load().tools[name]
		if !tool.Control && slices.Contains(tool.Modes, mode) {
			specs = append(specs, tool.toSpec())
		}
	}
	return specs
}

// ReadOnly keeps of some tools those that change nothing.
func (r *Registry) ReadOnly(specs []models.ToolSpec) []models.ToolSpec {
	var out []models.ToolSpec
	for _, spec := range specs {
		if tool, ok := r.current.Load().tools[spec.Name]; ok && tool.ReadOnly {
			out = append(out, spec)
		}
	}
	return out
}

func (t *Tool) toSpec() models.ToolSpec {
	return models.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.shown, Keywords: t.asking}
}

// bounds are the parts of a schema that check a call and tell a model nothing.
var bounds = regexp.MustCompile(`,"(?:(?:min|max)(?:Length|Items|imum)":\d+|additionalProperties":false|pattern":"(?:\\.|[^"\\])*")`)

// shownSchema returns a schema as the model is given it: on one line, without what only
// checks a call. That null erases is said once, in the tool's description.
func shownSchema(schema json.RawMessage) json.RawMessage {
	var line bytes.Buffer
	if json.Compact(&line, schema) != nil {
		return schema
	}
	return bytes.ReplaceAll(bounds.ReplaceAll(line.Bytes(), nil), []byte(`["string","null"]`), []byte(`"string"`))
}

// Controls lists the tools that are offered in every mode, whatever a text asks for:
// those that report danger, ask for a person and end an exchange, those that give a task
// away where New was told, and the search where a number of tools are left out.
func (r *Registry) Controls(leftOut int) []models.ToolSpec {
	var specs []models.ToolSpec
	for _, name := range r.current.Load().order {
		if r.current.Load().tools[name].Control && (name != searchTool || leftOut > 0) {
			specs = append(specs, r.current.Load().tools[name].toSpec())
		}
	}
	return specs
}

// Stop returns the name of the tool that ends an exchange.
func (r *Registry) Stop() string { return r.current.Load().tools[stopTool].Name }

// Search returns the name of the tool that finds tools, whether it is offered or
// not; Controls says that.
func (r *Registry) Search() string { return r.current.Load().tools[searchTool].Name }

// Playbook returns the name of the tool that reads playbooks, whether there is one
// or not; For says that.
func (r *Registry) Playbook() string { return readTool }

// Outside lists the tools whose results hold what strangers wrote, and those
// among them that no digest is made of.
func (r *Registry) Outside() (all, compact []string) {
	return r.named(func(t *Tool) bool { return t.Outside }), r.named(func(t *Tool) bool { return t.Outside && t.Compact })
}

// Core lists the tools that a mode is made of, for a person with that profile.
func (r *Registry) Core(mode wire.Mode, profile models.Profile) []string {
	if !mode.Known() {
		mode = wire.ModeIntake
	}
	return r.named(func(t *Tool) bool {
		return slices.Contains(t.Core, mode) && (t.Needed == nil || t.Needed(profile))
	})
}

// Few lists what a small model is offered for a person with that profile: the profile's
// tool, one that the mode turns on where the profile is complete, and the one that
// reports danger.
func (r *Registry) Few(mode wire.Mode, profile models.Profile) []string {
	few := []string{SaveTool}
	switch {
	case mode == wire.ModeFeedback:
		few = append(few, "transition_state")
	case len(coach.MissingFields(profile)) == 0:
		few = append(few, "scheduler")
	}
	return append(few, models.ToolReportConcern)
}

// Breakable lists the ordinary tools that are run, so that something outside the
// workflow can fail them.
func (r *Registry) Breakable() []string {
	return r.named(func(t *Tool) bool { return t.Run != nil && !t.Control })
}

// named lists the tools of which something is so.
func (r *Registry) named(is func(t *Tool) bool) []string {
	var out []string
	for _, name := range r.current.Load().order {
		if is(r.current.Load().tools[name]) {
			out = append(out, name)
		}
	}
	return out
}

// Recalled lists the tools whose results hold what participants wrote before.
func (r *Registry) Recalled() []string {
	return r.named(func(t *Tool) bool { return t.Recalls })
}

// Lookup finds a tool by name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	tool, ok := r.current.Load().tools[name]
	if !ok {
		return Tool{}, false
	}
	return *tool, true
}

// Vocabulary lists the argument names of a mode's tools and the values they
// are limited to: the words that an instruction for that mode may use.
func (r *Registry) Vocabulary(mode wire.Mode) []string {
	var words []string
	for _, spec := range r.For(mode) {
		for name, property := range r.current.Load().tools[spec.Name].compiled.Properties {
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
func (r *Registry) Event(call models.ToolCall, newID string) (wire.Event, error) {
	tool, err := r.findTool(call.Name)
	if err != nil {
		return wire.Event{}, err
	}
	if tool.Event == nil {
		return wire.Event{}, fmt.Errorf("tool %s is run, not decided", call.Name)
	}
	args, err := tool.parseArguments(call.Arguments)
	if err != nil {
		return wire.Event{}, err
	}
	return tool.Event(args, newID)
}

// Run executes a call of a tool that is not decided. Bad arguments and unmet
// needs give a failed result and a nil error, and change nothing. An error is
// worth a retry, which repeats no effect: profile changes are stored by the
// caller, and to forget again changes nothing.
func (r *Registry) Run(ctx context.Context, in RunInput) (Execution, error) {
	tool, err := r.findTool(in.Call.Name)
	if err != nil {
		return Execution{Result: Failure(in.Call, err)}, nil
	}
	if in.Subagent && !tool.forSubagents() {
		return Execution{Result: Failure(in.Call, models.BadField("tool", "a helper has no tool called %s; it can look things up and change nothing", tool.Name))}, nil
	}
	if !tool.isFor(in.Study) || in.Mode.Known() && !slices.Contains(tool.Modes, in.Mode) {
		return Execution{Result: Failure(in.Call, models.BadField("tool", "%s is not offered here; go on without it", tool.Name))}, nil
	}
	if tool.Run == nil {
		return Execution{}, fmt.Errorf("tool %s is decided, not run", in.Call.Name)
	}
	if tool.Inspect != nil {
		if err := tool.Inspect(ctx, in.TurnID, in.Call.Arguments); err != nil {
			return Execution{}, fmt.Errorf("inspecting %s: %w", in.Call.Name, err)
		}
	}
	args, err := tool.parseArguments(in.Call.Arguments)
	if err != nil {
		return Execution{Result: Failure(in.Call, err)}, nil
	}
	out, err := tool.Run(ctx, in, args)
	if field := (*models.FieldError)(nil); errors.As(err, &field) {
		return Execution{Result: Failure(in.Call, field)}, nil
	}
	return out, wrap.Errorf(err, "running %s", in.Call.Name)
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

func (r *Registry) findTool(name string) (*Tool, error) {
	if tool, ok := r.current.Load().tools[name]; ok {
		return tool, nil
	}
	var names []string
	for _, spec := range r.For(wire.ModeIntake) {
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
