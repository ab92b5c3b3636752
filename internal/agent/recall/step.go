package recall

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

// Action is what the memory step does.
type Action string

const (
	ActionNone   Action = "none"
	ActionSave   Action = "save"
	ActionUpdate Action = "update"
	// ActionEnd is an update to what no longer holds, which stays as an event.
	ActionEnd Action = "end"
)

// Rights are the actions that mode and channel allow; without any the step
// does not run.
type Rights struct {
	Save, Update bool
}

// Occasion is what decides whether the memory step runs.
type Occasion struct {
	Rights Rights
	// Off: the operator turned the step off.
	Off bool
	// Acknowledges: the text holds nothing but greeting, thanks or assent.
	Acknowledges bool
	// Alerts: the text raised an alert, and what is said in a crisis is no fact.
	Alerts bool
	// Query is the person's text; blank for a turn that no person's text began.
	Query string
}

// Due reports whether the memory step runs, and a short code of why not.
func (o Occasion) Due() (due bool, reason string) {
	switch {
	case o.Off:
		return false, "off"
	case !o.Rights.Save && !o.Rights.Update:
		return false, "forbidden"
	case len(wordRuns(o.Query)) == 0:
		return false, "no text"
	case o.Acknowledges:
		return false, "acknowledgement"
	case o.Alerts:
		return false, "alert"
	}
	return true, ""
}

// StepAsk is what the memory step is asked. Facts are those that this turn
// found; for a retry, all facts of the person. Fault is what was wrong with
// the answer before, empty at first. Profile are the lines of the person's
// profile, which holds where a fact disagrees with it. Tries counts the answers
// so far, so that no two requests of a turn are alike: one that was asked
// before would be answered from the record.
type StepAsk struct {
	Query    string
	Profile  []string
	Dialogue []string
	Facts    []models.Fact
	Rights   Rights
	Fault    Fault
	Tries    int
	Zone     *time.Location
	Model    string
}

// StepRequest asks what to remember of the newest text. It has one
// system message and the person's text as the only user message. It fails only
// when the prompt cannot be rendered; then nothing is remembered.
func StepRequest(lib *prompts.Library, ask StepAsk) (models.ChatRequest, error) {
	data := prompts.StageData{Query: ask.Query, Dialogue: lastLines(ask.Dialogue), Limit: maxFact}
	for _, line := range ask.Profile {
		data.Profile = append(data.Profile, text.TruncateWithin(plainLine(line), factChars))
	}
	data.Facts = factLines(ask.Facts, ask.Zone)
	if !ask.Rights.Save {
		data.Steps = append(data.Steps, "Saving something new is not allowed here.")
	}
	if !ask.Rights.Update || len(ask.Facts) == 0 {
		data.Steps = append(data.Steps, "There is no fact that you may update.")
	}
	if note := ask.Fault.retryNote(); note != "" {
		data.Steps = append(data.Steps, refusedNote(ask.Tries, note))
	}
	text, err := lib.Render(prompts.MemoryStep, data)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering memory step: %w", err)
	}
	return newRequest(ask.Model, text, ask.Query), nil
}

func refusedNote(tries int, note string) string {
	if tries < 2 {
		return "Your last answer was refused: " + note
	}
	return fmt.Sprintf("Your last %d answers were refused, the newest because %s", tries, note)
}

// Operation is what the memory step decided. ID is the fact to update.
type Operation struct {
	Action Action
	ID     string
	Kind   models.FactKind
	Text   string
}

// Decision returns the code that the record of stages keeps: "memory save
// goal", "memory update f1", "memory none".
func (o Operation) Decision() string {
	switch o.Action {
	case ActionSave:
		return "memory save " + string(o.Kind)
	case ActionUpdate:
		return "memory update " + o.ID
	case ActionNone, ActionEnd:
	}
	return "memory none"
}

// Outcome returns the one line that the step leaves for the reply, after all
// retries: what was remembered under id, or that nothing was and why. It is
// empty when there was nothing to remember. Fault is the newest one, or empty;
// only models read the line.
func (o Operation) Outcome(id string, fault Fault) string {
	switch {
	case fault == FaultDuplicate:
		return "Known already; nothing was changed."
	case fault != FaultNone:
		return "Error: nothing was remembered: " + fault.replyReason()
	case o.Action == ActionSave:
		return "Remembered: " + o.Text + " (" + id + ")"
	case o.Action == ActionUpdate:
		return "Remembered in place of what was known: " + o.Text + " (" + id + ")"
	}
	return ""
}

// Known is what an answer is checked against: the person's facts, what the
// step may do, and the coach's recent texts, whose words are not the person's.
type Known struct {
	Facts  []models.Fact
	Rights Rights
	Coach  []string
}

// ParseStep reads the answer to StepRequest. A fault, when not empty, says why
// the operation may not be carried out; the operation is then ActionNone. A
// text is at most 300 characters, says something of the person, and is neither
// an instruction, a question, a secret nor what the coach said; an update
// names a known fact and keeps its kind where the answer gives none.
func ParseStep(answer string, known Known) (Operation, Fault) {
	var raw struct {
		Action string `json:"action"`
		ID     string `json:"id"`
		Kind   string `json:"kind"`
		Text   string `json:"text"`
	}
	none := Operation{Action: ActionNone}
	if !text.FirstObject(answer, &raw) {
		return none, FaultUnreadable
	}
	op := Operation{
		Action: Action(strings.ToLower(strings.TrimSpace(raw.Action))), ID: strings.TrimSpace(raw.ID),
		Kind: models.FactKind(strings.ToLower(strings.TrimSpace(raw.Kind))), Text: plainLine(text.Memorable(raw.Text)),
	}
	if op.Action == ActionEnd {
		op.Action, op.Kind = ActionUpdate, models.FactEvent
	}
	if op.Action == ActionNone || op.Action == "" && op.Text == "" {
		return none, FaultNone
	}
	if fault := op.findFault(known); fault != FaultNone {
		return none, fault
	}
	return op, FaultNone
}

// findFault returns why the operation may not be carried out. It completes the
// operation: ids as they are stored, kinds of updates.
func (o *Operation) findFault(known Known) Fault {
	switch o.Action {
	case ActionSave:
		if !known.Rights.Save {
			return FaultForbidden
		}
		o.ID = ""
	case ActionUpdate:
		if !known.Rights.Update {
			return FaultForbidden
		}
		if !o.findFact(known.Facts) {
			return FaultUnknownID
		}
	case ActionNone, ActionEnd:
	default:
		return FaultAction
	}
	if !slices.Contains(models.FactKinds(), o.Kind) {
		return FaultKind
	}
	if fault := textFault(o.Text, known.Coach); fault != FaultNone {
		return fault
	}
	if _, twice := o.Duplicate(asFound(known.Facts)); twice {
		return FaultDuplicate
	}
	return FaultNone
}

// findFact finds the fact that the operation names, and takes over its id and a
// kind that is missing.
func (o *Operation) findFact(facts []models.Fact) bool {
	at := slices.IndexFunc(facts, func(fact models.Fact) bool { return strings.EqualFold(fact.ID, o.ID) && fact.DeletedAt == nil })
	if at < 0 || o.ID == "" {
		return false
	}
	o.ID = facts[at].ID
	if o.Kind == "" {
		o.Kind = facts[at].Kind
	}
	return true
}

func asFound(facts []models.Fact) []models.FoundFact {
	out := make([]models.FoundFact, 0, len(facts))
	for _, fact := range facts {
		out = append(out, models.FoundFact{Fact: fact, ByWords: true})
	}
	return out
}

// sameScore is the similarity from which on two facts say the same.
const sameScore = 0.95

// Duplicate finds a fact that states the same as the operation: of equal words,
// in any case and with any signs, or of a similarity of at least 0.95 in near,
// the hits of a search for the operation's text. A fact is no duplicate of its
// own update unless the words are equal, since then nothing changes.
func (o Operation) Duplicate(near []models.FoundFact) (id string, found bool) {
	if o.Action == ActionNone {
		return "", false
	}
	for _, hit := range near {
		if hit.Fact.DeletedAt != nil {
			continue
		}
		alike := hit.Likeness >= sameScore && hit.Fact.ID != o.ID
		if alike || normalText(hit.Fact.Text) == normalText(o.Text) && (hit.Fact.ID != o.ID || hit.Fact.Kind == o.Kind) {
			return hit.Fact.ID, true
		}
	}
	return "", false
}
