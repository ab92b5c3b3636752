package main

import (
	"slices"
	"strings"
	"time"

	"coachline/models"
)

// Exchange is what happened in one step. It holds a made-up person's words.
type Exchange struct {
	// Text is what the person wrote, Sent what went out, Calls the tool calls.
	Text  string
	Sent  []Sent
	Calls []Call
	// Requests are all chat requests of the step.
	Requests []models.ChatRequest
	// Before and After are what was stored around the step.
	Before, After Stored
	// Secrets are the instructions that no reply may repeat.
	Secrets []string
	Cost    Cost
	// Took is how long the first reply took, by the clock of this machine; 0 without one.
	Took time.Duration
	// Guards are what the checks of outgoing texts decided, such as "guard placeholder".
	Guards []string
	// Outcome is how the last turn ended: reply, fallback, ...
	Outcome string
}

// Sent is a text that reached the carrier.
type Sent struct {
	Kind     models.EntryKind
	Body     string
	Segments int
}

// Call is a tool call and what came of it.
type Call struct {
	Tool string
	Args map[string]any
	// Failed: it failed, or it was refused and not carried out.
	Failed bool
	Result string
}

// Stored is what the tables hold of the person.
type Stored struct {
	Facts     []string
	Profile   map[string]string
	Schedules []string // "08:00" or "09:00-11:00"
}

// known lists what is stored, as a reader is told it.
func (s Stored) known() []string {
	out := slices.Clone(s.Facts)
	for _, field := range sortedKeys(s.Profile) {
		if s.Profile[field] != "" {
			out = append(out, strings.ReplaceAll(field, "_", " ")+": "+s.Profile[field])
		}
	}
	if len(s.Schedules) > 0 {
		out = append(out, "texts go out at "+strings.Join(s.Schedules, ", "))
	}
	return out
}

// Cost is what the step asked of the model. Tokens are the server's counts.
type Cost struct {
	// Calls are all chat calls, Background those among them that followed the
	// reply; Failed are calls that gave no answer.
	Calls      int `json:"calls"`
	Background int `json:"background"`
	Failed     int `json:"failed"`
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	// Cached is the part of Prompt that the server says it had. Prefix is the
	// part that repeats the beginning of an earlier call of the conversation,
	// regardless of what the server says.
	Cached int `json:"cached_tokens"`
	Prefix int `json:"prefix_tokens"`
	// RunPrefix is the part of Prompt that repeats the beginning of any earlier
	// call of the run: of other conversations too, as a provider keeps one
	// cache for all requests of an account.
	RunPrefix int `json:"run_prefix_tokens"`
	// Micros are what the calls cost in millionths of the currency of the price list,
	// Unpriced those that it has no price for.
	Micros   int64 `json:"micros"`
	Unpriced int   `json:"unpriced"`
}

// Add sums two costs.
func (c Cost) Add(other Cost) Cost {
	return Cost{
		Calls: c.Calls + other.Calls, Background: c.Background + other.Background, Failed: c.Failed + other.Failed,
		Prompt: c.Prompt + other.Prompt, Completion: c.Completion + other.Completion,
		Cached: c.Cached + other.Cached, Prefix: c.Prefix + other.Prefix,
		RunPrefix: c.RunPrefix + other.RunPrefix, Micros: c.Micros + other.Micros, Unpriced: c.Unpriced + other.Unpriced,
	}
}

// Reply is everything that went out, as one text.
func (e Exchange) Reply() string {
	var parts []string
	for _, s := range e.Sent {
		parts = append(parts, s.Body)
	}
	return strings.Join(parts, "\n")
}

func (e Exchange) segments() int {
	n := 0
	for _, s := range e.Sent {
		n += s.Segments
	}
	return n
}
