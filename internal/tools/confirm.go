package tools

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"coachline/internal/segments"
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
			return asked == entry.TurnID && now.Sub(entry.At) <= ConfirmationTime && SaysYes(strings.Join(said, "\n"))
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

// longestYes is how many words an answer of yes has at most; a longer message
// says something else as well.
const longestYes = 12

// Words of an answer, in the languages that ship and some more. OK and thanks
// are no yes: they also follow an explanation.
var (
	yesWords = wordsOf(`yes yeah yep yup yess ya y sure confirm confirmed absolutely definitely certainly proceed
		sí si claro confirmo adelante hazlo hágalo dale ja jawohl jep klar sicher bestätige bestätigt genau unbedingt
		oui ouais confirme certainement sim confirmado pode isso sì certo confermo evet bevestig zeker 👍 ✅ 👌`)
	noWords = wordsOf(`no nope nah not don't dont never wait stop cancel except but keep nein nee nicht kein keine keinen nie niemals aber warte behalte
		nunca tampoco espera pero salvo non pas jamais ne attends mais sauf garde não nao jamais espere mas exceto niet geen nooit maar hayır`)
	deleteWords = wordsOf(`delete erase forget wipe remove borra bórralo borrar elimina olvida lösche lösch löschen vergiss entferne
		efface supprime oublie apaga apague exclua esqueça cancella dimentica wis verwijder`)
	allWords = wordsOf(`everything all it todo eso alles das tout ça tudo isso tutto het`)
)

func wordsOf(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

// SaysYes reports whether a message is a plain yes: a short one without a
// question and without a word of refusal, which holds a word of consent, or
// tells to delete everything.
func SaysYes(text string) bool { return saysYes(text, yesWords) }

// agreeWords are more of a yes to a question about a time, where it does no harm.
var agreeWords = wordsOf(`ok okay okey k good fine great perfect works sounds deal gut passt super perfekt prima vale bueno bien perfecto listo
	accord parfait tá beleza ótimo combinado perfeito bom`)

// agrees reports whether a message is a yes, or an OK.
func agrees(text string) bool { return saysYes(text, yesWords) || saysYes(text, agreeWords) }

func saysYes(text string, yesWords map[string]bool) bool {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '\'' || unicode.Is(unicode.Sk, r) || unicode.Is(unicode.Variation_Selector, r)
	})
	if len(words) == 0 || len(words) > longestYes || strings.ContainsAny(text, "?？؟") {
		return false
	}
	consents, deletes, everything := false, false, false
	for _, word := range words {
		if noWords[word] {
			return false
		}
		consents = consents || yesWords[word]
		deletes = deletes || deleteWords[word]
		everything = everything || allWords[word]
	}
	return consents || deletes && everything
}
