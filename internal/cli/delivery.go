package cli

import (
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
)

func deliveryCommand(p *program) *cobra.Command {
	var days int
	var sender string
	c := &cobra.Command{Use: "delivery", Short: "Print how texts fared: by day, by sender, failures by code, lateness of prompts", Args: exactArgs(0)}
	c.Flags().IntVar(&days, "days", 7, "how many UTC days, today among them; 1 to 90")
	c.Flags().StringVar(&sender, "sender", "", "only texts that this number or messaging service posted")
	c.RunE = func(c *cobra.Command, _ []string) error {
		query := url.Values{"days": {strconv.Itoa(days)}}
		if sender != "" {
			query.Set("sender", sender)
		}
		return callAndShow(c.Context(), p, request{path: "/delivery", query: query}, renderDelivery)
	}
	return c
}

func renderDelivery(w io.Writer, report api.DeliveryReport) error {
	days := [][]string{{"DAY", "IN", "OUT", "SEGMENTS", "DELIVERED", "FAILED"}}
	for _, d := range report.Days {
		days = append(days, numbersAfter(d.Day, d.In, d.Out, d.Segments, d.Delivered, d.Failed))
	}
	senders := [][]string{{"SENDER", "OUT", "SEGMENTS", "DELIVERED", "FAILED"}}
	for _, s := range report.Senders {
		name := s.Sender
		if name == "" {
			name = "-"
		}
		senders = append(senders, numbersAfter(name, s.Out, s.Segments, s.Delivered, s.Failed))
	}
	failures := [][]string{{"CODE", "TEXTS", "MEANING", "WHAT TO DO"}}
	for _, f := range report.Failures {
		failures = append(failures, []string{f.Code, strconv.Itoa(f.Texts), f.Meaning, f.NextStep})
	}
	for _, table := range [][][]string{days, senders, failures} {
		if len(table) == 1 {
			continue
		}
		if err := writeTable(w, table); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)).Round(time.Second) }
	_, err := fmt.Fprintf(w, "%d prompts: half at most %s late, 95 %% at most %s, %d more than 5 minutes. %d texts of unknown outcome.\n",
		report.Prompts.Prompts, seconds(report.Prompts.MedianSeconds), seconds(report.Prompts.P95Seconds), report.Prompts.Late, report.Unknown.Texts)
	return err
}

func numbersAfter(name string, numbers ...int) []string {
	row := []string{name}
	for _, n := range numbers {
		row = append(row, strconv.Itoa(n))
	}
	return row
}
