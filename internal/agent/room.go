package agent

import (
	"slices"
	"strings"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// composer builds a request, and builds it anew when less room is left than was
// known.
type composer func() (models.ChatRequest, error)

// leftOut is what a request goes without because it would be too long; each value
// includes those before it.
type leftOut int

const (
	withAll leftOut = iota
	withoutPlaybooks
	withoutFarMemory
	withoutOldHistory
	withoutTools
	withoutDigests
)

// leftOutNames are what operators read.
var leftOutNames = [...]string{"nothing", "playbooks", "far memory", "old history", "tools of no mode", "digests"}

// nearMemory is how many characters of memory stay when far memory goes.
const nearMemory = 600

// temperature is how freely replies are written; a request that repeats one is
// answered more freely.
const temperature = 0.4

// fitRequest builds a request and leaves out what it can do without, in the order of
// leftOut, until it fits into the model's context with its answer. The last four
// entries stay. What was left out is noted.
func (r *runningStep) fitRequest(build func(leftOut) (models.ChatRequest, error)) (models.ChatRequest, error) {
	for cut := withAll; ; cut++ {
		request, err := build(cut)
		if err != nil {
			return request, err
		}
		request = r.sized(request)
		if cut >= withoutOldHistory {
			request = toolcall.Fit(request, r.holds)
		}
		if cut == withoutDigests || r.holds(request) {
			r.noteCut(cut)
			return request, nil
		}
	}
}

// asItIs returns a composer for a request of which only old history can go.
func (r *runningStep) asItIs(request models.ChatRequest) composer {
	return func() (models.ChatRequest, error) {
		fitting := toolcall.Fit(r.sized(request), r.holds)
		if len(fitting.Messages) < len(request.Messages) {
			r.trace.note(models.StageModel, "model without "+leftOutNames[withoutOldHistory])
		}
		return fitting, nil
	}
}

// sized returns a request with what bounds its answer.
func (r *runningStep) sized(request models.ChatRequest) models.ChatRequest {
	request = r.ending.Apply(toolcall.Sized(request, r.turn.capability))
	if request.Temperature == 0 {
		request.Temperature = temperature
	}
	return request
}

// holds reports whether a request fits as the model will be sent it.
func (r *runningStep) holds(request models.ChatRequest) bool {
	if r.turn.capability.ContextTokens <= 0 {
		return true
	}
	offered, err := toolcall.Offer(r.agent.Prompts, r.turn.capability, request)
	return err != nil || toolcall.Holds(offered, r.turn.capability)
}

// noteCut notes what was left out since the newest request.
func (r *runningStep) noteCut(cut leftOut) {
	for name := r.cut + 1; name <= cut; name++ {
		r.trace.note(models.StageModel, "model without "+leftOutNames[name])
	}
	r.cut = max(r.cut, cut)
}

// noteCapability notes what is known of the model, in a turn's first step.
func (r *runningStep) noteCapability() {
	if r.input.Step <= 1 {
		r.trace.note(models.StageModel, "model "+DescribeCapability(r.turn.capability))
	}
}

// cutSpecs leaves out the tool that reads playbooks, then all that no mode is made
// of.
func (r *runningStep) cutSpecs(specs []models.ToolSpec, cut leftOut) []models.ToolSpec {
	if cut < withoutPlaybooks {
		return specs
	}
	return slices.DeleteFunc(slices.Clone(specs), func(spec models.ToolSpec) bool {
		return spec.Name == r.turn.offer.Playbook || cut >= withoutTools && !slices.Contains(r.turn.offer.Core, spec.Name)
	})
}

// cutMemory keeps the first lines of what is remembered, which say who the person is,
// then none.
func cutMemory(block string, cut leftOut) string {
	switch {
	case cut >= withoutDigests:
		return ""
	case cut < withoutFarMemory || len(block) <= nearMemory:
		return block
	}
	kept := block[:nearMemory]
	return strings.TrimSpace(kept[:max(strings.LastIndexByte(kept, '\n'), 0)])
}
