package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models/wire"
)

func attentionCommand(p *program) *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use: "attention", Short: "List what operators should look at, oldest first", Args: exactArgs(0),
		Long: "Lists what operators should look at, oldest first. `coachline participant attend ID` ends it.\n" +
			"  crisis       a message may be a crisis; prompts are held until it is ended\n" +
			"  person       they asked for a human; REASON says what for\n" +
			"  unreachable  the carrier cannot reach the number\n" +
			"  send         an answer was given up undelivered\n" +
			"  refusal      the model did not answer; the fixed text was sent\n" +
			"  stuck        a text of theirs ended the workflow twice; the fixed text answered it\n" +
			"  unanswered   the model wanted to leave a question without an answer\n" +
			"  lost_rows    the database has lost what it had stored of them\n" +
			"  flood        more messages came than are answered; of numbers that are not enrolled\n" +
			"               it ends by itself, when none came for a day\n" +
			"  wrong_number the number may be another person's; coaching is paused\n" +
			"  minor        they said that they are not 18 yet, in a study for adults; coaching is paused\n" +
			"  erasure      the person asks to delete their data, or the carrier has not deleted an erased\n" +
			"               person's messages, which ends by itself\n" +
			"  language     a text is in a language that the screening does not read",
	}
	c.Flags().StringVar(&kind, "kind", "", "only "+attentionKinds())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if kind != "" && !slices.Contains(wire.Attentions(), wire.Attention(kind)) {
			return usageError{fmt.Errorf("--kind: %q is none of %s", kind, attentionKinds())}
		}
		query := url.Values{}
		if wire.Attention(kind) != "" {
			query.Set("kind", string(wire.Attention(kind)))
		}
		return listAndShow(c.Context(), p, listing{"/attention", "attention"}, query, renderAttention)
	}
	return c
}

func attentionKinds() string {
	var names []string
	for _, kind := range wire.Attentions() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

func participantAttend(p *program) *cobra.Command {
	var note string
	c := &cobra.Command{Use: "attend ID", Short: "End what an operator should look at; prompts go on", Args: exactArgs(1)}
	c.Flags().StringVar(&note, "note", "", "what was done, kept sealed with the alert of a crisis")
	c.RunE = func(c *cobra.Command, args []string) error {
		body := api.AttentionClearing{Clear: true, Note: note}
		r := request{method: http.MethodPost, participant: args[0], path: "/attention", body: body}
		return callAndShow(c.Context(), p, r, func(w io.Writer, v api.AttentionCleared) error {
			text := "The participant needs no more attention; prompts go on with their next slot."
			if v.Attention != "" {
				text = "Attention: " + string(v.Attention) + "."
			}
			_, err := fmt.Fprintln(w, text)
			return err
		})
	}
	return c
}

func renderAttention(w io.Writer, all api.AttentionPage) error {
	if len(all.Attention) == 0 {
		_, err := fmt.Fprintln(w, "Nothing needs an operator.")
		return err
	}
	rows := [][]string{{"ID", "NAME", "KIND", "SINCE", "SEEN TO BY", "CODE", "REF", "REASON"}}
	for _, a := range all.Attention {
		rows = append(rows, []string{cmp.Or(a.ParticipantID, "-"), cmp.Or(a.Name, a.Phone), string(a.Kind), formatInstant(a.Since), seenToBy(a), a.Code, a.Ref, a.Reason})
	}
	return writeTable(w, rows)
}

// seenToBy is the operator who has the conversation, or else who acknowledged the
// alerts.
func seenToBy(a api.Attention) string {
	if a.TakenOver != nil {
		return a.TakenOver.By
	}
	return a.AcknowledgedBy
}
