package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func holdCommand(p *program) *cobra.Command {
	return groupCommand("hold", "Hold prompts until a date; replies go on", holdAdd(p), holdList(p), holdRelease(p))
}

func holdAdd(p *program) *cobra.Command {
	var until, reason, participant, study string
	c := &cobra.Command{
		Use: "add --until WHEN", Short: "Hold the prompts of all participants, of a study's, or of one", Args: exactArgs(0),
		Long: "Holds prompts, reminders, feedback questions and check-ins of all participants, of those of a study, or of one. Replies go on.\n" +
			"What falls due meanwhile is recorded as missed and not sent later.",
	}
	c.Flags().StringVar(&until, "until", "", "date, local time such as 2026-01-02T09:00, RFC 3339 instant, or duration such as 36h")
	c.Flags().StringVar(&participant, "participant", "", "hold this participant's prompts only")
	c.Flags().StringVar(&study, "study", "", "hold the prompts of this study's people only")
	c.Flags().StringVar(&reason, "reason", "", "why; kept sealed")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if until == "" {
			return usageError{errors.New("--until is needed")}
		}
		if participant != "" && study != "" {
			return usageError{errors.New("--participant and --study exclude each other")}
		}
		instant, err := parseInstant(until, time.Now())
		if err != nil {
			return usageError{fmt.Errorf("--until: %w", err)}
		}
		hold := api.NewHold{Until: instant, Reason: reason}
		if participant != "" {
			hold.Scope, hold.ScopeID = models.HoldParticipant, participant
		}
		if study != "" {
			hold.Scope, hold.ScopeID = models.HoldStudy, study
		}
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: holdsPath, body: hold}, renderHold)
	}
	return c
}

func holdList(p *program) *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "list", Short: "List active holds", Args: exactArgs(0)}
	c.Flags().BoolVar(&all, "all", false, "also those that are over")
	c.RunE = func(c *cobra.Command, _ []string) error {
		query := url.Values{}
		if !all {
			query.Set("active", "true")
		}
		list, err := listItems[json.RawMessage](c.Context(), p.client, listing{holdsPath, "holds"}, query)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("encoding the holds: %w", err)
		}
		return showResult(p, result{raw: raw}, renderHolds)
	}
	return c
}

func holdRelease(p *program) *cobra.Command {
	return verb("release HOLD", "End a hold before its time", func(c *cobra.Command, args []string) error {
		id, err := parseNumber("hold", args[0])
		if err != nil {
			return err
		}
		return callAndShow(c.Context(), p, request{method: http.MethodDelete, path: holdsPath + "/" + strconv.FormatInt(id, 10)}, renderHold)
	})
}

// parseInstant reads an RFC 3339 instant, a date or a local time in the zone of
// now, or a duration from now. A date means its first instant.
func parseInstant(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	if delay, err := time.ParseDuration(text); err == nil {
		return now.Add(delay).Truncate(time.Second), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time; use 2026-01-02, 2026-01-02T09:00, 2026-01-02T09:00:00Z or a duration such as 36h", text)
}

const holdsPath = "/holds"

func renderHold(w io.Writer, h models.Hold) error { return renderHolds(w, []models.Hold{h}) }

func renderHolds(w io.Writer, list []models.Hold) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No prompts are held.")
		return err
	}
	rows := [][]string{{"HOLD", "STATE", "FOR", "UNTIL", "SINCE", "REASON"}}
	for _, h := range list {
		state := "over"
		switch {
		case h.Active:
			state = "active"
		case h.ReleasedAt != nil:
			state = "released " + formatInstant(*h.ReleasedAt)
		}
		whose := string(h.Scope)
		if h.ScopeID != "" {
			whose = h.ScopeID
		}
		rows = append(rows, []string{strconv.FormatInt(h.ID, 10), state, whose, formatInstant(h.Until), formatInstant(h.CreatedAt), h.Reason})
	}
	return writeTable(w, rows)
}
