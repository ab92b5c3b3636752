package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

var errNotConfirmed = errors.New("what you typed is not the id; nothing was done")

// participantErase takes an id only, of people who were removed too, and has it
// typed again.
func participantErase(p *program) *cobra.Command {
	var yes bool
	var reason string
	c := &cobra.Command{
		Use: "erase PARTICIPANT", Short: "Erase a person for ever: rows, histories, the carrier's copies", Args: exactArgs(1),
		Long: "Removes the participant if enrolled, then erases what the tables, Temporal and the carrier hold of the person.\n" +
			"PARTICIPANT is the id, also of a removed participant. Figures stay under the id. It cannot be undone.",
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for the id again")
	c.Flags().StringVar(&reason, "reason", "", "why; kept sealed, so it must not name the person")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !yes {
			if err := confirmID(p, args[0]); err != nil {
				return err
			}
		}
		body := api.NewErasure{Confirm: args[0], Reason: reason}
		return callAndShow(c.Context(), p, request{method: http.MethodPost, participant: args[0], path: "/erase", body: body}, renderErasure)
	}
	return c
}

func confirmID(p *program, id string) error {
	if _, err := fmt.Fprintf(p.err, "This cannot be undone. Type %s again: ", id); err != nil {
		return err
	}
	line, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the id: %w", err)
	}
	if strings.TrimSpace(line) != id {
		return errNotConfirmed
	}
	return nil
}

func erasureCommand(p *program) *cobra.Command {
	list := verb("list", "List erasures", func(c *cobra.Command, _ []string) error {
		return listAndShow(c.Context(), p, listing{erasuresPath, "erasures"}, url.Values{}, renderErasures)
	})
	show := verb("show PARTICIPANT", "Print the receipt of an erasure", func(c *cobra.Command, args []string) error {
		return callAndShow(c.Context(), p, request{path: erasuresPath + "/" + url.PathEscape(args[0])}, renderErasure)
	})
	number := verb("number PHONE", "Empty the texts of a number that is not enrolled", func(c *cobra.Command, args []string) error {
		in := request{method: http.MethodPost, path: "/strangers/erase", body: api.StrangerNumber{Phone: args[0]}}
		return callAndShow(c.Context(), p, in, func(w io.Writer, f api.StrangerForgotten) error {
			_, err := fmt.Fprintf(w, "Emptied: %d texts.\n%s\n", f.Texts, strings.Join(f.Notes, "\n"))
			return err
		})
	})
	return groupCommand("erasure", "Receipts of people who were erased", list, show, number)
}

const erasuresPath = "/erasures"

func renderErasure(w io.Writer, e models.Erasure) error {
	rows := [][]string{
		{"Erasure of", e.ParticipantID}, {"State", string(e.State)},
		{"Requested", formatInstant(e.RequestedAt) + " by " + e.RequestedBy},
	}
	if e.FinishedAt != nil {
		rows = append(rows, []string{"Finished", formatInstant(*e.FinishedAt)})
	}
	if e.Reason != "" {
		rows = append(rows, []string{"Reason", e.Reason})
	}
	for _, table := range slices.Sorted(maps.Keys(e.Rows)) {
		rows = append(rows, []string{"Rows of " + table, strconv.FormatInt(e.Rows[table], 10)})
	}
	rows = append(rows,
		[]string{"Workflow runs deleted", strconv.FormatInt(e.Executions, 10)},
		[]string{"Messages deleted by the carrier", strconv.FormatInt(e.CarrierMessages, 10)},
	)
	if e.CarrierUnknown > 0 {
		rows = append(rows, []string{"Messages without a known carrier id", strconv.FormatInt(e.CarrierUnknown, 10)})
	}
	if e.Problem != "" {
		rows = append(rows, []string{"Problem", e.Problem})
	}
	if err := writeTable(w, rows); err != nil {
		return err
	}
	for _, note := range e.Notes {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}

func renderErasures(w io.Writer, page api.ErasurePage) error {
	if len(page.Erasures) == 0 {
		_, err := fmt.Fprintln(w, "No person was erased.")
		return err
	}
	rows := [][]string{{"PARTICIPANT", "STATE", "REQUESTED", "BY", "FINISHED"}}
	for _, e := range page.Erasures {
		finished := ""
		if e.FinishedAt != nil {
			finished = formatInstant(*e.FinishedAt)
		}
		rows = append(rows, []string{e.ParticipantID, string(e.State), formatInstant(e.RequestedAt), e.RequestedBy, finished})
	}
	return writeTable(w, rows)
}
