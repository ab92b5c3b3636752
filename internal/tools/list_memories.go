package tools

import (
	"context"
	"encoding/json"
	"fmt"
)

// Lister gives what is stored about one person, who is bound by the caller:
// all facts, or those about a topic when it is not empty. An error is worth a
// retry.
type Lister interface {
	ListMemories(ctx context.Context, topic string) (Memories, error)
}

// Memories are facts of one person, newest first, without deleted ones. They
// are personal data.
type Memories struct {
	// IDs and Lines go together; a line is the fact as a model reads it,
	// "[2026-11-20] Walks at seven. (f1)".
	IDs   []string
	Lines []string
	// Text is a list for the person, short enough to send. Where not all facts
	// fit it ends with "(+4)": four more.
	Text string
	// Sure says that the topic means every one of them, and no other. Otherwise
	// they share some of its words. It says nothing without a topic.
	Sure bool
}

// listMemories answers what is known about the person. It changes nothing.
func listMemories() Tool {
	return Tool{
		Name:        "list_memories",
		Description: "List what is stored about the person, as a text for your reply, when they ask what you know about them or keep, or to see the ids of memories.",
		Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "topic": {
      "type": "string",
      "maxLength": 300,
      "description": "Only what is stored about this."
    }
  },
  "additionalProperties": false
}`),
		ReadOnly: true,
		Recalls:  true,
		Modes:    bothModes(),
		Keywords: "know known stored store saved memory memories data information info file record privacy gdpr " +
			"sabes conoces guardado guardados guardas datos información memoria privacidad " +
			"sais savez connais enregistré enregistre données donnees informations mémoire memoire confidentialité " +
			"weißt weisst wissen kennst gespeichert speicherst daten informationen gedächtnis datenschutz " +
			"sabe conhece guardou guarda dados informações informacoes privacidade",
		Run: forPerson(showMemories),
	}
}

type listAnswer struct {
	OK    bool   `json:"ok"`
	Count int    `json:"count"`
	Text  string `json:"text"`
	Note  string `json:"note"`
}

func showMemories(ctx context.Context, in RunInput, args Arguments) (Execution, error) {
	stored, err := in.Memory.ListMemories(ctx, args.Text("topic"))
	if err != nil {
		return Execution{}, fmt.Errorf("listing memories: %w", err)
	}
	answer := listAnswer{OK: true, Count: len(stored.IDs), Text: stored.Text}
	switch {
	case answer.Count == 0 && args.Text("topic") != "":
		answer.Note = "No memory is stored about that. The profile is kept apart from these."
	case answer.Count == 0:
		answer.Note = "No memory is stored. The profile is kept apart from these."
	default:
		answer.Note = "Put this text into your reply as it is. (+n) at its end stands for n more; a topic shows them. The profile is kept apart from these."
	}
	return Execution{Result: successResult(in.Call, answer)}, nil
}
