package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coachline/internal/text"
	"coachline/models"
)

const (
	// rememberedCalls is how many calls back a repeat is recognised.
	rememberedCalls = 5
	// namedTools is how many tools a refusal lists.
	namedTools = 5
	// breakAfter is how often a tool may fail alike before it is no longer
	// offered.
	breakAfter = 3
)

// Past is one call that was executed in this reply, with its result. Calls that
// were refused are not among them: they cost a turn and no call.
type Past struct {
	Call   models.ToolCall
	Result models.ToolResult
	// Direct: a step of the plan was executed without the chat model.
	Direct bool
}

// Reason is why a call is refused.
type Reason string

const (
	ReasonNone       Reason = ""
	ReasonNotAllowed Reason = "not_allowed"
	ReasonBroken     Reason = "broken"
	ReasonDuplicate  Reason = "duplicate"
	ReasonSearches   Reason = "search_limit"
	ReasonCalls      Reason = "call_limit"
)

// Refusal says why a call is not executed; Message is the tool error that the
// model reads. The zero value lets the call run.
type Refusal struct {
	Reason  Reason
	Message string
}

// Limits bound the calls of one reply: Calls those of ordinary tools,
// Searches those of the tool search. The turns of the model are bounded
// outside.
type Limits struct {
	Calls    int
	Searches int
}

// ScreenInput is what a call is held against.
type ScreenInput struct {
	// Allowed is the allow-list of the turn, in the order it is offered.
	Allowed []string
	// Search is the name of the tool search; empty where there is none.
	Search string
	Past   []Past
	Limits Limits
}

// Screen decides whether a call that a model made is executed: not when its
// tool is not on offer, failed alike three times, was called with
// equal arguments among the last five calls and answered, or has used up
// its share. Searches for tools do not use up the share of the
// others.
func Screen(call models.ToolCall, in ScreenInput) Refusal {
	if !slices.Contains(in.Allowed, call.Name) {
		return Refusal{ReasonNotAllowed, notAllowed(call.Name, in.Allowed)}
	}
	if slices.Contains(Broken(in.Past), call.Name) {
		return Refusal{ReasonBroken, fmt.Sprintf("%s failed %d times in the same way and is not on offer any more in this reply. "+
			"Tell the person what could not be done, without claiming that it was.", call.Name, breakAfter)}
	}
	searches := 0
	for _, past := range in.Past {
		if in.Search != "" && past.Call.Name == in.Search {
			searches++
		}
	}
	if in.Search != "" && call.Name == in.Search && searches >= in.Limits.Searches {
		return Refusal{ReasonSearches, fmt.Sprintf("No more than %d searches for tools in one reply. Use the tools that are on offer, or answer.", in.Limits.Searches)}
	}
	if place, repeated := findAnswered(call, in.Past); repeated {
		return Refusal{ReasonDuplicate, fmt.Sprintf("%s was called with the same arguments already in this reply (call %d). "+
			"Use the result that is above instead of calling again.", call.Name, place)}
	}
	if call.Name != in.Search && len(in.Past)-searches >= in.Limits.Calls {
		return Refusal{ReasonCalls, fmt.Sprintf("No more than %d tool calls in one reply. Answer with what the results above say.", in.Limits.Calls)}
	}
	return Refusal{}
}

func notAllowed(name string, allowed []string) string {
	if len(allowed) == 0 {
		return fmt.Sprintf("There is no tool called %s, and none is on offer. Answer in words.", text.Truncate(name, lineChars))
	}
	return fmt.Sprintf("There is no tool called %s here. On offer are: %s.", text.Truncate(name, lineChars), strings.Join(allowed[:min(len(allowed), namedTools)], ", "))
}

// Broken names the tools that failed three times with the same error since
// they last succeeded, in the order they broke. Leave them out of the
// allow-list for the rest of the reply.
func Broken(past []Past) []string {
	counts := map[[2]string]int{}
	var broken []string
	for _, one := range past {
		name := one.Call.Name
		if !one.Result.Failed {
			for key := range counts {
				if key[0] == name {
					delete(counts, key)
				}
			}
			continue
		}
		key := [2]string{name, strings.Join(strings.Fields(one.Result.Content), " ")}
		counts[key]++
		if counts[key] >= breakAfter && !slices.Contains(broken, name) {
			broken = append(broken, name)
		}
	}
	return broken
}

// CallKey identifies a call: its name and its arguments as JSON with sorted
// keys, so that their order does not matter and the case of a value does.
// Arguments that are no JSON count as they are written.
func CallKey(call models.ToolCall) string {
	arguments := strings.TrimSpace(call.Arguments)
	if arguments == "" {
		arguments = "{}"
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(arguments))
	decoder.UseNumber()
	if decoder.Decode(&value) == nil && !decoder.More() {
		if sorted := encodeJSON(value); sorted != nil {
			arguments = string(sorted)
		}
	}
	return call.Name + " " + arguments
}

// findAnswered finds a call among the last ones that returned text; steps
// executed directly count even when they failed. place counts the calls
// of the reply from 1.
func findAnswered(call models.ToolCall, past []Past) (place int, ok bool) {
	key := CallKey(call)
	seen := 0
	for i, one := range slices.Backward(past) {
		if !one.Direct && (one.Result.Failed || strings.TrimSpace(one.Result.Content) == "") {
			continue
		}
		if seen++; seen > rememberedCalls {
			break
		}
		if CallKey(one.Call) == key {
			return i + 1, true
		}
	}
	return 0, false
}

// AllowInput is what a turn's allow-list is made of: the router's
// selection, tools that the plan names, tools that failed a moment ago, tools
// that a search brought up, tools that the conversation had on offer already.
type AllowInput struct {
	Selection Selection
	Planned   []string
	Failed    []string
	Found     []string
	// Kept were on offer in an earlier turn of the conversation. They stay, so
	// that the tool list of a conversation only grows and the provider's prefix
	// cache holds.
	Kept []string
	// Catalogue is what mode and channel permit; nothing else gets in.
	Catalogue []models.ToolSpec
	// Always are offered in every mode and channel: stop and tool search, where
	// they exist.
	Always []string
}

// Allowed is the allow-list of a turn, and how it came about: "keyword",
// "keyword+carryover", "model+plan+carryover".
type Allowed struct {
	Names []string
	Label string
}

// AllowTools joins what was picked, planned, carried over and found, and keeps
// what mode and channel permit, in the order of the catalogue; Always comes
// last. The inputs stay as they are. The label tells only of names that were
// added.
func AllowTools(in AllowInput) Allowed {
	picked := map[string]bool{}
	add := func(names []string) bool {
		added := false
		for _, name := range names {
			known := slices.ContainsFunc(in.Catalogue, func(tool models.ToolSpec) bool { return tool.Name == name })
			if known && !picked[name] {
				picked[name] = true
				added = true
			}
		}
		return added
	}
	label := string(in.Selection.By)
	add(in.Selection.Names)
	// What failed comes before the plan, which is made with it, while
	// the label names the plan first.
	carried := add(in.Failed)
	if add(in.Planned) {
		label += "+plan"
	}
	if carried {
		label += "+carryover"
	}
	if add(in.Found) {
		label += "+search"
	}
	if add(in.Kept) {
		label += "+kept"
	}
	names := inOrder(in.Catalogue, picked)
	for _, name := range in.Always {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return Allowed{Names: names, Label: label}
}
