package recall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

// ClosingInput is what a conversation that rests is read with.
type ClosingInput struct {
	ParticipantID string
	// Entries are the entries of the conversation, oldest first; what an earlier
	// closing has read is skipped.
	Entries []models.Message
	Memory  models.Memory
	Zone    *time.Location
	// ContextTokens is the window of the model; 0 is unknown.
	ContextTokens int
}

// ClosingPlan is what one call is to make of a conversation that rests.
type ClosingPlan struct {
	note       NotePlan
	summary    SummaryPlan
	hasSummary bool
	dialogue   []string
}

// PlanClosing says what is new in a conversation; open is false where nothing
// is. What the person had forgotten since they said it is left out, and of facts and note
// what raised an alert.
func PlanClosing(in ClosingInput) (plan ClosingPlan, open bool) {
	kept := dropForgotten(in.Entries)
	calm := slices.DeleteFunc(slices.Clone(kept), func(entry models.Message) bool { return entry.Danger != models.DangerNone })
	plan.note, open = PlanNote(NoteInput{
		ParticipantID: in.ParticipantID, Entries: calm, Notes: in.Memory.Notes, Zone: in.Zone, ContextTokens: in.ContextTokens,
	})
	in.Memory.Summary.ParticipantID = in.ParticipantID
	plan.summary, plan.hasSummary = PlanSummary(SummaryInput{Entries: kept, Summary: in.Memory.Summary, ContextTokens: in.ContextTokens})
	for _, entry := range calm {
		if line := noteLine(entry); line != "" && entry.ID <= plan.note.from {
			plan.dialogue = append(plan.dialogue, line)
		}
	}
	return plan, open
}

// Says returns what the person wrote in it, a line each.
func (p ClosingPlan) Says() string { return joinLines(p.note.said) }

// ClosingAsk is what the call is asked beside the plan.
type ClosingAsk struct {
	// Profile are the lines of the person's profile, which holds where a fact
	// disagrees with it.
	Profile []string
	// Facts are those that the answer may change; a nil list asks for no facts.
	Facts []models.Fact
	Zone  *time.Location
	Model string
	// Tries counts the answers so far, so that no two requests are alike: one that
	// was asked before would be answered from the record.
	Tries int
}

// closingTokens is what the server may spend on facts and a note; a summary
// comes on top.
const closingTokens = 1024

// Request asks for facts, note and, where it is time, summary in one JSON object.
// It fails only when the prompt cannot be rendered.
func (p ClosingPlan) Request(lib *prompts.Library, ask ClosingAsk) (models.ChatRequest, error) {
	earlier := strings.TrimSpace(p.note.Earlier.Text)
	data := prompts.ClosingData{
		Facts: ask.Facts != nil, FactChars: maxFact, Dialogue: lastLines(p.dialogue), Note: earlier, Rewrite: p.note.Rewrite,
		NoteWords: p.note.wordsLeft(), Conversation: p.note.Material,
	}
	if data.Facts {
		data.Known = factLines(ask.Facts, ask.Zone)
		for _, line := range ask.Profile {
			data.Profile = append(data.Profile, text.TruncateWithin(plainLine(line), factChars))
		}
	}
	if p.hasSummary {
		data.Summary, data.SummaryChars = true, summaryChars
		data.Earlier, data.Older = strings.TrimSpace(p.summary.Earlier.Text), p.summary.Material
	}
	if ask.Tries > 0 {
		data.Refused = refusedNote(ask.Tries, FaultUnreadable.retryNote())
	}
	body, err := lib.Render(prompts.Closing, data)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering closing: %w", err)
	}
	req := newRequest(ask.Model, body, "Go ahead.")
	req.JSON, req.MaxTokens = true, closingTokens
	if p.hasSummary {
		req.MaxTokens += summaryTokens
	}
	return req, nil
}

// factLines lists facts with their ids, as a request for changes needs them.
func factLines(facts []models.Fact, zone *time.Location) []string {
	var lines []string
	for _, fact := range facts {
		lines = append(lines, fmt.Sprintf("%s (%s, %s): %s",
			fact.ID, fact.Kind, localDate(fact.UpdatedAt, zone), text.TruncateWithin(plainLine(fact.Text), factChars)))
	}
	return lines
}

// Closed is what a conversation came to.
type Closed struct {
	// Operations are the facts to save or to change; Faults say why others are not.
	Operations []Operation
	Faults     []Fault
	Note       models.Note
	// Summary is nil where none was due, or where the answer holds none.
	Summary *models.Summary
	// IsMinor says that the person is younger than 18 by what they wrote.
	IsMinor bool
}

// maxOperations bounds the facts of one conversation.
const maxOperations = 12

// Read reads the answer to Request. ok is false where it is no JSON object; then
// the rest only says that the conversation was read. A fact that may not be
// stored is left out with its fault, and takes no other with it.
func (p ClosingPlan) Read(answer string, known Known, now time.Time) (closed Closed, ok bool) {
	var raw struct {
		Facts   []json.RawMessage `json:"facts"`
		Note    jsonText          `json:"note"`
		Summary jsonText          `json:"summary"`
		Minor   jsonYes           `json:"minor"`
	}
	ok = text.FirstObject(answer, &raw)
	note := strings.TrimSpace(string(raw.Note))
	if note == "" {
		note = "NONE"
	}
	closed.Note, _ = p.note.Merge(note, now)
	closed.IsMinor = bool(raw.Minor)
	if summary, drawn := p.summary.Merge(string(raw.Summary), now); p.hasSummary && drawn {
		closed.Summary = &summary
	}
	for _, item := range raw.Facts[:min(len(raw.Facts), maxOperations)] {
		op, fault := ParseStep(string(item), known)
		switch {
		case fault != FaultNone:
			closed.Faults = append(closed.Faults, fault)
		case op.Action != ActionNone:
			closed.Operations = append(closed.Operations, op)
			known.Facts = append(slices.Clone(known.Facts), models.Fact{ID: op.ID, Kind: op.Kind, Text: op.Text})
		}
	}
	return closed, ok
}

// jsonText is a text, or the lines of one; anything else is empty, so that it
// spoils nothing beside it.
type jsonText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *jsonText) UnmarshalJSON(data []byte) error {
	var one string
	var lines []string
	if json.Unmarshal(data, &one) == nil {
		*t = jsonText(one)
	} else if json.Unmarshal(data, &lines) == nil {
		*t = jsonText(strings.Join(lines, "\n"))
	}
	return nil
}

// jsonYes is true; anything else is false, so that it spoils nothing beside it.
type jsonYes bool

// UnmarshalJSON implements json.Unmarshaler.
func (y *jsonYes) UnmarshalJSON(data []byte) error {
	*y = string(data) == "true"
	return nil
}

// forgetTool is the tool that a person's wish to forget is carried out by.
const forgetTool = "forget_memory"

// dropForgotten leaves out the entries that speak of a topic which the person
// had forgotten after them, so that it does not come back.
func dropForgotten(entries []models.Message) []models.Message {
	var topics [][]string
	var kept []models.Message
	for _, entry := range slices.Backward(entries) {
		if entry.Kind == models.KindToolCall {
			topics = append(topics, forgottenTopics(entry)...)
		}
		if !mentionsAny(entry.Text, topics) || entry.Kind == models.KindToolCall {
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}

// forgottenTopics returns the content words of each topic that calls of a model
// had forgotten.
func forgottenTopics(entry models.Message) [][]string {
	var calls []models.ToolCall
	if json.Unmarshal([]byte(entry.Text), &calls) != nil {
		return nil
	}
	var topics [][]string
	for _, call := range calls {
		var args struct {
			Topic string `json:"topic"`
		}
		if call.Name == forgetTool && json.Unmarshal([]byte(call.Arguments), &args) == nil {
			if words := Words(args.Topic); len(words) > 0 {
				topics = append(topics, words)
			}
		}
	}
	return topics
}

// mentionsAny reports whether a text speaks of one of some topics: it holds every
// content word of it.
func mentionsAny(body string, topics [][]string) bool {
	words := Words(body)
	return slices.ContainsFunc(topics, func(topic []string) bool {
		return len(topic) > 0 && countMatches(topic, words) == len(topic)
	})
}
