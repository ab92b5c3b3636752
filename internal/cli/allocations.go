package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/internal/trial"
	"coachline/models"
)

func studyVerify(p *program) *cobra.Command {
	var local LocalCheck
	c := &cobra.Command{
		Use: "verify STUDY", Short: "Draw every allocation again, check the decision points, and name the first row that is not right", Args: exactArgs(1),
		Long: "The server checks the record, the arms of its people and the decision points. With --seed-file this machine checks the\n" +
			"record, and trusts the server with nothing but the study's settings; --record takes a record that was saved with study\n" +
			"allocations --json.\n" +
			"The exit code is 1 when a row is not right.",
	}
	c.Flags().StringVar(&local.SeedFile, "seed-file", "", "file with the study's seed, as study seed prints it")
	c.Flags().StringVar(&local.RecordFile, "record", "", "file with the record; needs --seed-file")
	c.RunE = func(c *cobra.Command, args []string) error {
		if local.RecordFile != "" && local.SeedFile == "" {
			return usageError{errors.New("--record needs --seed-file")}
		}
		got, err := checkAllocations(c.Context(), p, args[0], local)
		if err != nil {
			return err
		}
		var check models.AllocationCheck
		if err := got.decodeInto(&check); err != nil {
			return err
		}
		err = showResult(p, got, renderAllocationCheck)
		if !check.OK {
			err = errors.Join(err, ErrCheckFailed)
		}
		return err
	}
	return c
}

func studyAllocate(p *program) *cobra.Command {
	var strata []string
	c := &cobra.Command{
		Use: "allocate STUDY PARTICIPANT", Short: "Draw the arm of a person whose strata are now known", Args: exactArgs(2),
		Long: "The arm is not shown. A person who is enrolled with all strata known is allocated at once.",
	}
	c.Flags().StringArrayVar(&strata, "stratum", nil, "NAME=LEVEL; for each stratum that is no field of the person")
	c.RunE = func(c *cobra.Command, args []string) error {
		body := api.NewAllocation{ParticipantID: args[1]}
		var err error
		if body.Strata, err = parseStrata(strata); err != nil {
			return err
		}
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: allocationsPath(args[0]), body: body}, func(w io.Writer, a api.Allocated) error {
			_, err := fmt.Fprintf(w, "Participant %s is allocated, number %d.\n", a.ParticipantID, a.Number)
			return err
		})
	}
	return c
}

// parseStrata reads what --stratum was given; nil for nothing.
func parseStrata(given []string) (map[string]string, error) {
	var strata map[string]string
	for _, text := range given {
		name, level, found := strings.Cut(text, "=")
		if !found {
			return nil, usageError{errors.New("--stratum must be NAME=LEVEL")}
		}
		if strata == nil {
			strata = map[string]string{}
		}
		strata[name] = level
	}
	return strata, nil
}

func allocationsPath(id string) string { return studyPath(id) + "/allocations" }

// LocalCheck says with what the allocations of a study are checked on this machine.
type LocalCheck struct {
	// SeedFile holds the seed in Base64; empty has the server check.
	SeedFile string
	// RecordFile holds a record that was printed as JSON before; empty reads it from
	// the server.
	RecordFile string
}

func checkAllocations(ctx context.Context, p *program, id string, local LocalCheck) (result, error) {
	if local.SeedFile == "" {
		return p.client.do(ctx, request{path: allocationsPath(id) + "/check"})
	}
	seed, err := readSeed(local.SeedFile)
	if err != nil {
		return result{}, err
	}
	rows, err := readRecord(ctx, p, id, local.RecordFile)
	if err != nil {
		return result{}, err
	}
	study, err := fetch[api.Study](ctx, p, studyPath(id))
	if err != nil {
		return result{}, err
	}
	design := trial.Design{StudyID: id, Seed: seed, Arms: study.Settings.Arms, Randomisation: study.Settings.Randomisation}
	raw, err := json.Marshal(verifyRows(design, rows))
	return result{raw: raw}, err
}

func verifyRows(design trial.Design, rows []models.Allocation) models.AllocationCheck {
	out := models.AllocationCheck{OK: true, Rows: int64(len(rows))}
	if fault := trial.Verify(design, rows); fault != nil {
		out.OK, out.Rows, out.BadRow, out.Problem = false, fault.Number-1, fault.Number, fault.Problem
	}
	if out.Rows > 0 {
		out.Head = rows[out.Rows-1].Hash
	}
	return out
}

func readSeed(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the seed: %w", err)
	}
	seed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: must hold the seed in Base64, as coachline study seed prints it", path)
	}
	return seed, nil
}

// readRecord reads the allocations of a study from a file, or from the server.
func readRecord(ctx context.Context, p *program, id, path string) ([]models.Allocation, error) {
	if path == "" {
		return listItems[models.Allocation](ctx, p.client, listing{allocationsPath(id), "allocations"}, url.Values{})
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	var page api.AllocationPage
	if err := json.Unmarshal(text, &page); err != nil {
		return nil, fmt.Errorf("%s: %w; write it with coachline study allocations --json", path, err)
	}
	return page.Allocations, nil
}

func renderAllocationCheck(w io.Writer, check models.AllocationCheck) error {
	text := fmt.Sprintf("The allocations are those that were drawn: %d rows, head %s.", check.Rows, check.Head)
	if check.Problem != "" {
		text = fmt.Sprintf("Row %d is not right: %s. The %d rows before it are.", check.BadRow, check.Problem, check.Rows)
	}
	if check.Decisions != nil {
		text += "\n" + describeDecisions(*check.Decisions)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

func describeDecisions(check models.DecisionCheck) string {
	switch {
	case check.Problem != "":
		return fmt.Sprintf("Decision point %d of participant %s is not right: %s. The %d rows before it are.", check.BadRow, check.ParticipantID, check.Problem, check.Rows)
	case check.Unchained > 0:
		return fmt.Sprintf("The decision points are those that were recorded: %d rows of %d people, of whom %d have rows without hashes only.", check.Rows, check.People, check.Unchained)
	}
	return fmt.Sprintf("The decision points are those that were recorded: %d rows of %d people.", check.Rows, check.People)
}
