package tools

import (
	"context"
	"encoding/json"
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

// ConfirmationTime is how long a recorded request can be confirmed.
const ConfirmationTime = 24 * time.Hour

// Confirmations reads what the participant of a turn has confirmed.
type Confirmations interface {
	// IsConfirmed reports whether the messages of the turn confirm a request
	// that an earlier turn recorded under this name. An error is worth a retry.
	IsConfirmed(ctx context.Context, request string) (bool, error)
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

// askConfirmation records a request. The program asks, in place of the reply.
func askConfirmation(in RunInput, request string) Execution {
	return Execution{Result: models.ToolResult{CallID: in.Call.ID, Name: in.Call.Name, Failed: true, Content: marshalPlain(confirmationAnswer{
		Confirm: request,
		Error: "nothing was deleted. The request is recorded, and a fixed text asks the person in place of your reply; " +
			"call again after their yes. It counts for their next message only, and for 24 hours",
	})}}
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
		case requestIn(entry.Text) == request:
			return asked == entry.TurnID && now.Sub(entry.At) <= ConfirmationTime && text.SaysYes(strings.Join(said, "\n"))
		}
	}
	return false
}

// AsksToForget reports whether a call of a turn has recorded the request to forget
// everything.
func AsksToForget(runs []models.ToolRun) bool {
	return slices.ContainsFunc(runs, func(run models.ToolRun) bool { return requestIn(run.Result) == confirmForgetAll })
}

// requestIn returns the request that a stored result of a tool recorded; empty for any
// other text.
func requestIn(stored string) string {
	result, err := models.ToolRun{Result: stored}.ToolResult()
	if err != nil || !result.Failed {
		return ""
	}
	var answer confirmationAnswer
	if json.Unmarshal([]byte(result.Content), &answer) != nil || !strings.HasPrefix(answer.Confirm, result.Name+" ") {
		return ""
	}
	return answer.Confirm
}
