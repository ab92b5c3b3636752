package cli

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func takeOverCommand(p *program) *cobra.Command {
	return groupCommand("takeover", "Write to a person in the place of the coach", takeOverStart(p), takeOverEnd(p), takeOverList(p))
}

func takeOverStart(p *program) *cobra.Command {
	var until string
	var body api.NewTakeOver
	c := &cobra.Command{
		Use: "start ID", Short: "Silence the coach; write with coachline send", Args: exactArgs(1),
		Long: "The coach is silent at once. What the person writes waits, prompts and check-ins are recorded as missed;\n" +
			"safety texts, STOP, START and HELP work as ever. `coachline send` writes in your name.",
	}
	c.Flags().StringVar(&until, "until", "", "when the coach writes again by itself: as of coachline hold, at most 7 days away (default in 4 hours)")
	c.Flags().StringVar(&body.Reason, "reason", "", "why; kept sealed")
	c.Flags().StringVar(&body.Note, "note", "", "what the coach is told afterwards")
	c.Flags().BoolVar(&body.Force, "force", false, "also when another operator has the conversation")
	c.RunE = func(c *cobra.Command, args []string) error {
		if until != "" {
			instant, err := parseInstant(until, time.Now())
			if err != nil {
				return usageError{fmt.Errorf("--until: %w", err)}
			}
			body.Until = &instant
		}
		r := request{method: http.MethodPost, participant: args[0], path: "/takeover", body: body}
		return callAndShow(c.Context(), p, r, func(w io.Writer, p api.Participant) error { return renderTakeOvers(w, []api.Participant{p}) })
	}
	return c
}

func takeOverEnd(p *program) *cobra.Command {
	var waiting string
	var body api.TakeOverEnd
	c := &cobra.Command{Use: "end ID", Short: "Have the coach write again", Args: exactArgs(1)}
	c.Flags().StringVar(&waiting, "waiting", "", "what becomes of texts that came meanwhile: answer or read (default: answer those of today)")
	c.Flags().StringVar(&body.Note, "note", "", "what the coach is told")
	c.Flags().BoolVar(&body.Force, "force", false, "also when another operator has the conversation")
	c.RunE = func(c *cobra.Command, args []string) error {
		body.Waiting = models.WaitingAction(waiting)
		if waiting != "" && body.Waiting != models.WaitingAnswer && body.Waiting != models.WaitingRead {
			return usageError{fmt.Errorf("--waiting: %q is neither answer nor read", waiting)}
		}
		r := request{method: http.MethodDelete, participant: args[0], path: "/takeover", body: body}
		return callAndShow(c.Context(), p, r, func(w io.Writer, p api.Participant) error {
			_, err := fmt.Fprintf(w, "The coach writes to %s again.\n", p.ID)
			return err
		})
	}
	return c
}

func takeOverList(p *program) *cobra.Command {
	return verb("list", "List the conversations that operators have taken over", func(c *cobra.Command, _ []string) error {
		return listAndShow(c.Context(), p, participantListing, filterParticipants(models.ParticipantQuery{TakenOver: true}), func(w io.Writer, page api.ParticipantPage) error {
			return renderTakeOvers(w, page.Participants)
		})
	})
}

func renderTakeOvers(w io.Writer, list []api.Participant) error {
	rows := [][]string{{"PARTICIPANT", "BY", "SINCE", "UNTIL"}}
	for _, p := range list {
		if p.TakenOver != nil {
			rows = append(rows, []string{p.ID, p.TakenOver.By, formatInstant(p.TakenOver.Since), formatInstant(p.TakenOver.Until)})
		}
	}
	if len(rows) == 1 {
		_, err := fmt.Fprintln(w, "No conversation is taken over.")
		return err
	}
	return writeTable(w, rows)
}
