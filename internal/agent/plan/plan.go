// Package plan decides which tools a turn offers, which coaching focus it is
// written in, and which steps it takes before its first model call: when a plan
// is worth asking for, what the answer means, which steps can be run
// without the chat model, what the model is told after each result, and which
// calls are refused. It is pure, and every function answers odd input with its
// fail-open value: no plan.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"coachline/internal/wrap"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// Kind is what a plan decides.
type Kind string

const (
	// KindEmpty: no plan, because none was asked for, the call failed or the
	// answer was no plan. Recall and routing go on as if there were no planner.
	KindEmpty Kind = "empty"
	// KindReplyOnly: the person needs an answer and nothing else. The routed
	// tools stay on offer; memory and direct execution are skipped.
	KindReplyOnly Kind = "reply_only"
	// KindSteps: Steps, or memory to look up first, or both.
	KindSteps Kind = "steps"
)

const (
	// maxSteps and stepChars bound a plan.
	maxSteps  = 5
	stepChars = 200
)

// replyOnlyStep is the one line that the planner writes when nothing has to be
// looked up or done; its prompt quotes it.
const replyOnlyStep = "Reply to the user."

// Plan is a planner's answer, or what stands in for it. The zero value is no
// plan at all; it means the same as KindEmpty.
type Plan struct {
	Kind Kind
	// Recall: memory is to be searched, for Topic where it is not empty.
	Recall bool
	Topic  string
	// Steps leave out the memory directive.
	Steps []Step
	// Names are the tools of the catalogue that any step names, in the
	// catalogue's order: what the plan adds to the allow-list.
	Names []string
}

// Step is one line of a plan. Tool is the tool that the line begins with; empty
// for a step that uses no tool.
type Step struct {
	Text string
	Tool string
}

// Catalogue is what a plan may name. Stop and Search are the names of the
// tools that end an exchange and search for tools; empty where there is none.
type Catalogue struct {
	Tools  []models.ToolSpec
	Stop   string
	Search string
}

// ReplyOnly returns the plan for a text that needs no planner.
func ReplyOnly() Plan {
	return Plan{Kind: KindReplyOnly, Steps: []Step{{Text: replyOnlyStep}}}
}

// Decision returns a short code for the stage's row; it holds no personal data.
func (p Plan) Decision() string {
	switch p.Kind {
	case KindReplyOnly:
		return string(KindReplyOnly)
	case KindSteps:
		code := fmt.Sprintf("%d steps, %d tools", len(p.Steps), len(p.toolSteps()))
		if p.Recall {
			code += ", recall"
		}
		return code
	case KindEmpty:
	}
	return string(KindEmpty)
}

// NeedsRecall reports what a plan says of memory: true to search, false to
// skip; decided is false when there is no plan, so that recall.Decide does.
func (p Plan) NeedsRecall() (recall, decided bool) {
	return p.Recall, p.Kind == KindReplyOnly || p.Kind == KindSteps
}

// Section returns the text of the system message's action plan: empty unless
// more than one step is left. Steps whose tool is not among tools, the ones on
// offer, are left out. It fails only when the prompt cannot be rendered; then
// go on without the section.
func Section(lib *prompts.Library, p Plan, tools []string) (string, error) {
	data := prompts.StageData{}
	for _, step := range p.Steps {
		if step.Tool == "" || slices.Contains(tools, step.Tool) {
			data.Steps = append(data.Steps, step.Text)
		}
	}
	if p.Kind != KindSteps || len(data.Steps) < 2 {
		return "", nil
	}
	text, err := lib.Render(prompts.ActionPlan, data)
	return text, wrap.Error(err, "rendering action plan")
}

// toolSteps returns the steps that begin with a tool; a plan without any is too
// vague to execute, and the routed tools stand.
func (p Plan) toolSteps() []Step {
	if p.Kind != KindSteps {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return s.Tool == "" })
}

func (c Catalogue) findSpec(name string) (models.ToolSpec, bool) {
	i := slices.IndexFunc(c.Tools, func(spec models.ToolSpec) bool { return spec.Name == name })
	if i < 0 || name == "" {
		return models.ToolSpec{}, false
	}
	return c.Tools[i], true
}

// isKnown reports whether a name may stand at the head of a step.
func (c Catalogue) isKnown(name string) bool {
	_, ok := c.findSpec(name)
	return ok || name != "" && (name == c.Stop || name == c.Search)
}

// CacheKey is everything that a selection depends on. Query is redacted.
type CacheKey struct {
	Query    string
	Strategy Strategy
	Tools    []string
	Mode     wire.Mode
	Channel  wire.Channel
	Focus    string
	Locale   string
}

// Hash returns the key as hex digits, from which the text cannot be read. The
// order of the tools does not matter.
func (k CacheKey) Hash() string {
	k.Tools = slices.Sorted(slices.Values(k.Tools))
	// Quoted fields do not run together.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", k))
	return hex.EncodeToString(sum[:])
}

// Cacheable reports whether a selection may be reused for the same key: not
// when it is the whole catalogue, which means that nothing was decided, and not
// when the strategy asked for had failed. Only a Selection is ever cached,
// never what AllowTools makes of it.
func (s Selection) Cacheable(tools []models.ToolSpec) bool {
	if s.Fallback {
		return false
	}
	for _, tool := range tools {
		if !slices.Contains(s.Names, tool.Name) {
			return true
		}
	}
	return false
}
