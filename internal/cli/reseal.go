package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/connect"
	"coachline/internal/database"
)

func resealCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "reseal", Short: "Seal stored data anew with the first payload key, bound to its rows", Args: exactArgs(0),
		Long: "Seal stored data anew with the first key of COACH_PAYLOAD_KEYS, each value bound to its row and column, and\n" +
			"compute phone indexes anew that another index key made. It works on the database itself, beside running\n" +
			"roles. It may be stopped and run again: what is done is skipped. Afterwards no row needs the older keys.",
		RunE: func(c *cobra.Command, _ []string) error { return runReseal(c.Context(), p) },
	}
}

// errUnreadableRows says that the report names values that could not be opened.
var errUnreadableRows = errors.New("some values could not be opened and stay as they are; older keys are still needed")

func runReseal(ctx context.Context, p *program) error {
	cfg, err := p.besideDev()
	if err != nil {
		return err
	}
	rows, err := connect.OpenDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	done, err := resealRows(ctx, p, rows)
	if err = errors.Join(err, rows.Close()); err != nil {
		return err
	}
	if err := printResealed(p, done); err != nil {
		return err
	}
	if len(done.Unreadable) > 0 {
		return errUnreadableRows
	}
	return nil
}

func resealRows(ctx context.Context, p *program, rows *database.Database) (database.Resealed, error) {
	if err := rows.PrepareKeys(ctx); err != nil {
		return database.Resealed{}, err
	}
	total, err := rows.CountSealed(ctx)
	if err != nil {
		return database.Resealed{}, err
	}
	progress := p.newMeter("rows")
	defer progress.endPart()
	return rows.Reseal(ctx, func(table string, done database.Resealed) { progress.setProgress(table, done.Rows, total) })
}

func printResealed(p *program, done database.Resealed) error {
	if p.json {
		return json.NewEncoder(p.out).Encode(done)
	}
	fmt.Fprintf(p.out, "%d rows read, %d values sealed anew, %d phone indexes computed anew\n", done.Rows, done.Values, done.Indexes)
	for _, value := range done.Unreadable {
		fmt.Fprintf(p.out, "cannot be opened: %s\n", value)
	}
	if len(done.Released) > 0 {
		fmt.Fprintf(p.out, "no row needs %s any longer; keep it in the list until Temporal has dropped the histories that it sealed\n",
			strings.Join(done.Released, ", "))
	}
	return nil
}
