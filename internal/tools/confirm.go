package tools

import (
	"context"
	"slices"
	"strings"
	"time"

	"coachline/internal/segments"
	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
)

// Destructive calls delete what cannot be written again: forget_memory with
// all. They need a confirmation that the program has recorded: an earlier turn
// holds the request as a result of the tool, and the participant's next message
// says yes. No argument of the model replaces it. Deleting a schedule is not
// among them, since one call creates it again.

// What is known of the person is shown and deleted only for who has said lately that the
// number is still theirs: it may have gone to another.

// ConfirmationTime is how long a recorded request can be confirmed, and how long a yes
// counts that the number is still the person's.
const ConfirmationTime = 24 * time.Hour

// Confirmations reads what the participant of a turn has confirmed.
type Confirmations interface {
	// IsConfirmed reports whether the messages of the turn confirm a request
	// that an earlier turn recorded under this name. An error is worth a retry.
	IsConfirmed(ctx context.Context, request string) (bool, error)
	// IsSamePerson reports whether the person has said lately that the number is
	// still theirs. An error is worth a retry.
	IsSamePerson(ctx context.Context) (bool, error)
}

// confirmationAnswer is the result of a destructive call that waits for the
// participant. Confirm is the name of the request.
type confirmationAnswer struct {
	OK      bool   `json:"ok"`
	Confirm string `json:"confirm"`
	Error   string `json:"error"`
}

func isConfirmed(ctx context.Context, in RunInput, request string) (bool, error) {
	if in.Confirmations == nil {
		return false, nil
	}
	confirmed, err := in.Confirmations.IsConfirmed(ctx, request)
	return confirmed, wrap.Error(err, "reading the confirmation")
}

// forPerson has run carry out a call where the person has said that the number is still
// theirs, and records the request where they have not.
func forPerson(run func(context.Context, RunInput, Arguments) (Execution, error)) func(context.Context, RunInput, Arguments) (Execution, error) {
	return func(ctx context.Context, in RunInput, args Arguments) (Execution, error) {
		if in.Memory == nil {
			return Execution{}, noMemory()
		}
		isSame := false
		if in.Confirmations != nil {
			var err error
			if isSame, err = in.Confirmations.IsSamePerson(ctx); err != nil {
				return Execution{}, wrap.Error(err, "reading whose number it is")
			}
		}
		if !isSame {
			return askFirst(in, in.Call.Name+models.AsksPerson, "nothing was shown or deleted. A fixed text asks in place of your reply whether this is still the person; call again after their yes"), nil
		}
		return run(ctx, in, args)
	}
}

// askConfirmation records a request.
func askConfirmation(in RunInput, request string) Execution {
	return askFirst(in, request, "nothing was deleted. The request is recorded, and a fixed text asks the person in place of your reply; "+
		"call again after their yes. It counts for their next message only, and for 24 hours")
}

// askFirst answers a call that waits for the person. The program asks, in place of the
// reply.
func askFirst(in RunInput, request, why string) Execution {
	answer := marshalPlain(confirmationAnswer{Confirm: request, Error: why})
	return Execution{Result: models.ToolResult{CallID: in.Call.ID, Name: in.Call.Name, Failed: true, Content: answer}}
}

// IsSamePerson reports whether the person of a turn has said within ConfirmationTime that
// the number is still theirs: their newest answer to question, the program's own fixed
// text, is a yes. The window must hold both.
func IsSamePerson(turn models.TurnContext, question string, now time.Time) bool {
	isAsked, isSame := false, false
	for _, entry := range turn.Window {
		switch {
		case entry.Kind == models.KindToolCall, entry.Role == models.RoleTool, entry.Kind == models.KindDebug:
		case entry.Role == models.RoleAssistant:
			isAsked = segments.Smart(entry.Text) == segments.Smart(question) && now.Sub(entry.At) <= ConfirmationTime
		case entry.Role == models.RoleUser && isAsked:
			isAsked, isSame = false, text.SaysYes(entry.Text)
		}
	}
	return isSame
}

// HasConfirmed reports whether the messages of a turn confirm a request. An
// earlier turn must hold the request, not older than ConfirmationTime, and have ended
// with the question, the program's own fixed text; nothing that was written by
// or to the participant may stand between that and this turn. The window must hold the
// entries of both.
func HasConfirmed(turn models.TurnContext, request, question string, now time.Time) bool {
	var said []string
	asked := ""
	for _, entry := range slices.Backward(turn.Window) {
		switch {
		case entry.TurnID == turn.Turn.ID && entry.Role == models.RoleUser:
			said = append(said, entry.Text)
		case entry.TurnID == turn.Turn.ID, entry.Kind == models.KindToolCall, entry.Kind == models.KindDebug:
		case entry.Role == models.RoleUser:
			return false
		case entry.Role == models.RoleAssistant && asked == "":
			if segments.Smart(entry.Text) != segments.Smart(question) {
				return false
			}
			asked = entry.TurnID
		case models.RequestIn(entry.Text) == request:
			return asked == entry.TurnID && now.Sub(entry.At) <= ConfirmationTime && text.SaysYes(strings.Join(said, "\n"))
		}
	}
	return false
}

// AsksToForget reports whether a call of a turn has recorded the request to forget
// everything.
func AsksToForget(runs []models.ToolRun) bool {
	return slices.ContainsFunc(runs, func(run models.ToolRun) bool { return models.RequestIn(run.Result) == confirmForgetAll })
}
