package plan

import (
	"encoding/json"
	"slices"
	"time"

	"coachline/models"
)

// CarryOverInput is the conversation up to the texts being answered, which are
// the run of user entries at its end.
type CarryOverInput struct {
	Entries   []models.Message // oldest first
	Catalogue []models.ToolSpec
	Now       time.Time
	// Hot is how long a conversation goes on after its newest entry.
	Hot time.Duration
	// Stop is the tool that ends an exchange.
	Stop string
}

// Carried is what the turn before leaves to this one.
type Carried struct {
	// Fresh: nothing was said within the hot window. Clear the caches of the
	// conversation and carry no tool rows into the window.
	Fresh bool
	// Ended: the turn before ended the exchange, or the person ended and began again.
	// Clear the caches; tool rows up to the end are dropped in any case.
	Ended bool
	// Failed names the tools whose calls failed, in the catalogue's order.
	Failed []string
	// Orphans names tools whose calls have no result; for the log.
	Orphans []string
}

// CarryOver reads the turn before. It walks back to the first text of the
// person and pairs calls with results by id, or by tool name where a result has
// no call of its id. Only the stored failure flag counts, not what a result
// says. Names that are no longer in the catalogue are dropped. In a fresh
// conversation nothing is carried.
func CarryOver(in CarryOverInput) Carried {
	before := beforeAnswered(in.Entries)
	if !hasRecent(before, in.Now.Add(-in.Hot)) {
		return Carried{Fresh: true}
	}
	calls, results := lastTurn(before)
	byID := map[string]models.ToolResult{}
	byName := map[string]bool{}
	failed := map[string]bool{}
	for _, result := range results {
		i := slices.IndexFunc(calls, func(call models.ToolCall) bool { return call.ID != "" && call.ID == result.CallID })
		name := result.Name
		if i >= 0 {
			name = calls[i].Name
			byID[result.CallID] = result
		} else {
			byName[name] = true
		}
		failed[name] = failed[name] || result.Failed
	}
	out := Carried{Ended: isAfterConsent(before)}
	for _, call := range calls {
		out.Ended = out.Ended || in.Stop != "" && call.Name == in.Stop
		_, paired := byID[call.ID]
		if !paired && !byName[call.Name] {
			out.Orphans = append(out.Orphans, call.Name)
		}
	}
	out.Failed = inOrder(in.Catalogue, failed)
	return out
}

// isFromPerson reports whether an entry is the person's own text; results that
// a text protocol stored under the user's role are not.
func isFromPerson(entry models.Message) bool {
	return entry.Role == models.RoleUser && entry.Kind != models.KindToolResult && entry.Kind != models.KindToolCall
}

func beforeAnswered(entries []models.Message) []models.Message {
	end := len(entries)
	for end > 0 && isFromPerson(entries[end-1]) {
		end--
	}
	return entries[:end]
}

// hasRecent reports whether an entry, debug texts apart, is not older than an
// instant.
func hasRecent(entries []models.Message, since time.Time) bool {
	return slices.ContainsFunc(entries, func(entry models.Message) bool {
		return entry.Kind != models.KindDebug && !entry.At.Before(since)
	})
}

// isAfterConsent reports whether the newest text before was about consent, as STOP and START
// are.
func isAfterConsent(entries []models.Message) bool {
	for _, entry := range slices.Backward(entries) {
		if isFromPerson(entry) || entry.Kind == models.KindConsent {
			return entry.Kind == models.KindConsent
		}
	}
	return false
}

// lastTurn collects the calls and results after the person's last text. Entries
// that cannot be read are left out.
func lastTurn(entries []models.Message) (calls []models.ToolCall, results []models.ToolResult) {
	for _, entry := range slices.Backward(entries) {
		if isFromPerson(entry) {
			break
		}
		if entry.Kind == models.KindToolCall {
			calls = append(callsOf(entry), calls...)
		}
		if result, ok := resultOf(entry); ok {
			results = append(results, result)
		}
	}
	return calls, results
}

func callsOf(entry models.Message) []models.ToolCall {
	var calls []models.ToolCall
	if err := json.Unmarshal([]byte(entry.Text), &calls); err != nil {
		return nil
	}
	return calls
}

func resultOf(entry models.Message) (models.ToolResult, bool) {
	var result models.ToolResult
	if entry.Kind != models.KindToolResult || json.Unmarshal([]byte(entry.Text), &result) != nil {
		return models.ToolResult{}, false
	}
	return result, true
}
