package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"coachline/models"
)

func reportCommand(p *program) *cobra.Command {
	c := &cobra.Command{Use: "report", Short: "Reports for authorities, without identifiers"}
	c.AddCommand(reportReferrals(p))
	return c
}

func reportReferrals(p *program) *cobra.Command {
	var year int
	c := &cobra.Command{Use: "referrals", Short: "Print how often people were told numbers to call in danger, by month, country, state and kind", Args: exactArgs(0)}
	c.Flags().IntVar(&year, "year", 0, "the year, of UTC; 0 is the present one")
	c.RunE = func(c *cobra.Command, _ []string) error {
		query := url.Values{}
		if year != 0 {
			query.Set("year", strconv.Itoa(year))
		}
		return callAndShow(c.Context(), p, request{path: "/reports/referrals", query: query}, renderReferrals)
	}
	return c
}

func renderReferrals(w io.Writer, report models.ReferralReport) error {
	rows := [][]string{{"MONTH", "COUNTRY", "STATE", "KIND", "COUNT"}}
	for _, g := range report.Groups {
		rows = append(rows, []string{g.Month, cmp.Or(g.Country, "-"), cmp.Or(g.State, "-"), string(g.Kind), strconv.Itoa(g.Count)})
	}
	if len(report.Groups) > 0 {
		if err := writeTable(w, rows); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d in %d, %d of them in groups of fewer than %d.\n", report.Total, report.Year, report.InSmallGroups, models.FewestReferrals)
	return err
}
