package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"coachline/internal/wrap"
	"coachline/models"
)

// Forgetter erases what is stored about one person, who is bound by the
// caller. Both methods may be repeated after an error.
type Forgetter interface {
	// ForgetMemories erases facts for good and returns the ids that are gone
	// now, whether this call or an earlier one erased them. Ids that the person
	// never had are left out.
	ForgetMemories(ctx context.Context, ids []string) ([]string, error)
	// ForgetAll erases all facts, the daily notes and the summary, and returns
	// how many facts there were.
	ForgetAll(ctx context.Context) (int, error)
}

// forgetMemory erases memories on the person's wish. Unclear wishes delete
// nothing and fail, which keeps the tool on offer for the person's answer.
// Results name ids and never the words that were erased. A call that is
// repeated erases nothing more, and its result says what is not stored now.
func forgetMemory() Tool {
	return Tool{
		Name: "forget_memory",
		Description: "Delete what is stored about the person, for good, only when they ask you to forget or delete something. " +
			"Give one of id, topic, all. An unclear topic deletes nothing and names what may be meant: ask, then call again with the id. " +
			"all deletes nothing at first: a fixed text asks the person; after their yes call it again. Say only what the result says was deleted.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "id": {
      "type": "string",
      "maxLength": 64,
      "description": "One memory, as a look-up of memories shows it."
    },
    "topic": {
      "type": "string",
      "maxLength": 300,
      "description": "Every memory about this, in the words of the person."
    },
    "all": {
      "type": "boolean",
      "description": "true: everything that is remembered."
    }
  },
  "additionalProperties": false
}`),
		Modes: bothModes(),
		Keywords: "forget delete erase remove wipe clear discard " +
			"olvida olvidar olvides olvídalo borra borrar bórralo elimina eliminar quita " +
			"oublie oublier oubliez efface effacer effacez supprime supprimer supprimez " +
			"vergiss vergessen vergesst lösche löschen lösch loesche loeschen entferne entfernen " +
			"esquece esquecer esqueça apaga apagar apague exclui excluir",
		Tidy: tidyForget,
		Run:  forPerson(runForget),
	}
}

// tidyForget also drops a false, which models send to say "not given", and
// confirmed, which is not the model's to say.
func tidyForget(args Arguments) {
	tidyTexts(args)
	delete(args, "confirmed")
	if args["all"] == false {
		delete(args, "all")
	}
}

func runForget(ctx context.Context, in RunInput, args Arguments) (Execution, error) {
	id, topic, all := memoryID(args.Text("id")), args.Text("topic"), args["all"] == true
	switch {
	case id != "" && topic == "" && !all:
		return forgetOne(ctx, in, id)
	case id == "" && topic != "" && !all:
		return forgetTopic(ctx, in, topic)
	case id == "" && topic == "" && all:
		return forgetEverything(ctx, in)
	}
	return Execution{}, models.BadField(argumentsField, "need exactly one of id, topic, all; nothing was deleted")
}

// memoryID reads an id that a model may have copied with its brackets.
func memoryID(given string) string { return strings.ToLower(strings.Trim(given, "()[]. ")) }

type forgetAnswer struct {
	OK      bool     `json:"ok"`
	Deleted []string `json:"deleted"`
	Count   int      `json:"count"`
	Note    string   `json:"note"`
}

func forgetOne(ctx context.Context, in RunInput, id string) (Execution, error) {
	gone, err := in.Memory.ForgetMemories(ctx, []string{id})
	if err != nil {
		return Execution{}, fmt.Errorf("forgetting memory: %w", err)
	}
	if len(gone) == 0 {
		return Execution{}, models.BadField("id", "%s is no memory of this person, so nothing was deleted; list_memories shows the ids", shortName(id))
	}
	return forgetResult(in, gone), nil
}

// idWord matches an id in a text.
var idWord = regexp.MustCompile(`(?i)\bf[0-9]+\b`)

// forgetTopic deletes only what the topic surely means. A topic that holds
// what looks like an id ("F1") is never sure: it may be a word of the person,
// and a repeated call would find other memories by its remaining words.
func forgetTopic(ctx context.Context, in RunInput, topic string) (Execution, error) {
	meant, err := in.Memory.ListMemories(ctx, topic)
	if err != nil {
		return Execution{}, fmt.Errorf("listing memories: %w", err)
	}
	if len(meant.IDs) == 0 {
		return Execution{Result: successResult(in.Call, forgetAnswer{
			OK: true, Deleted: []string{}, Note: "No memory about that is stored now. The profile and the conversation are kept apart from these.",
		})}, nil
	}
	if !meant.Sure || idWord.MatchString(topic) {
		return Execution{}, models.BadField("topic", "does not say for sure which memory is meant, so nothing was deleted. "+
			"Ask the person, then call again with the id. It may be: %s", listCandidates(meant.Lines))
	}
	gone, err := in.Memory.ForgetMemories(ctx, meant.IDs)
	if err != nil {
		return Execution{}, fmt.Errorf("forgetting memories: %w", err)
	}
	return forgetResult(in, gone), nil
}

// maxCandidates bounds how many memories a question can name.
const maxCandidates = 5

func listCandidates(lines []string) string {
	text := strings.Join(lines[:min(len(lines), maxCandidates)], "; ")
	if more := len(lines) - maxCandidates; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

func forgetResult(in RunInput, gone []string) Execution {
	return Execution{Result: successResult(in.Call, forgetAnswer{
		OK: true, Deleted: append([]string{}, gone...), Count: len(gone),
		Note: "Deleted for good, with what the daily notes and the summary said of it. The messages of the conversation and the profile stay and may still mention it; say so, and do not bring it up.",
	})}
}

// confirmForgetAll names the request to forget everything in ConfirmationAnswer.
const confirmForgetAll = "forget_memory all"

func forgetEverything(ctx context.Context, in RunInput) (Execution, error) {
	confirmed, err := isConfirmed(ctx, in, confirmForgetAll)
	if err != nil {
		return Execution{}, err
	}
	if !confirmed {
		return askConfirmation(in, confirmForgetAll), nil
	}
	n, err := in.Memory.ForgetAll(ctx)
	return Execution{Result: successResult(in.Call, forgetAnswer{
		OK: true, Deleted: []string{}, Count: n,
		Note: "No memory, daily note or summary is stored now. The profile, the schedules and the texts of the conversation stay.",
	})}, wrap.Error(err, "forgetting all memories")
}
