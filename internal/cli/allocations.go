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
	"strconv"
	"strings"
	"time"

	"coachline/internal/api"
	"coachline/internal/trial"
	"coachline/models"
)

func allocationsPath(id string) string { return studyPath(id) + "/allocations" }

// ListAllocations prints the record of a study's allocations.
func (c *Commands) ListAllocations(ctx context.Context, id string) error {
	return listAndShow(ctx, c, listing{allocationsPath(id), "allocations"}, url.Values{}, func(w io.Writer, page api.AllocationPage) error {
		rows := [][]string{{"NUMBER", "PARTICIPANT", "ARM", "STRATUM", "METHOD", "BLOCK", "BY", "AT"}}
		for _, a := range page.Allocations {
			rows = append(rows, []string{
				strconv.FormatInt(a.Number, 10), a.ParticipantID, a.Arm, a.Stratum, string(a.Method), strconv.Itoa(a.Block), a.AllocatedBy,
				a.AllocatedAt.UTC().Format(time.RFC3339),
			})
		}
		return writeTable(w, rows)
	})
}

// AllocateParticipant draws the arm of a person, which is not shown.
func (c *Commands) AllocateParticipant(ctx context.Context, id string, body api.NewAllocation) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: allocationsPath(id), body: body}, func(w io.Writer, a api.Allocated) error {
		_, err := fmt.Fprintf(w, "Participant %s is allocated, number %d.\n", a.ParticipantID, a.Number)
		return err
	})
}

// ShowStudySeed prints the seed of a study's allocations in Base64.
func (c *Commands) ShowStudySeed(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: studyPath(id) + "/seed"}, func(w io.Writer, s api.StudySeed) error {
		_, err := fmt.Fprintln(w, s.Seed)
		return err
	})
}

// LocalCheck says with what the allocations of a study are checked on this machine.
type LocalCheck struct {
	// SeedFile holds the seed in Base64; empty has the server check.
	SeedFile string
	// RecordFile holds a record that was printed as JSON before; empty reads it from
	// the server.
	RecordFile string
}

// VerifyAllocations prints whether the allocations of a study are those that were
// drawn, and its decision points those that were recorded, and the first row that is
// not. The error is ErrCheckFailed when one is not.
func (c *Commands) VerifyAllocations(ctx context.Context, id string, local LocalCheck) error {
	got, err := c.checkAllocations(ctx, id, local)
	if err != nil {
		return err
	}
	var check api.AllocationCheck
	if err := got.decodeInto(&check); err != nil {
		return err
	}
	err = showResult(c, got, renderAllocationCheck)
	if !check.OK {
		err = errors.Join(err, ErrCheckFailed)
	}
	return err
}

func (c *Commands) checkAllocations(ctx context.Context, id string, local LocalCheck) (result, error) {
	if local.SeedFile == "" {
		return c.client.do(ctx, request{method: http.MethodGet, path: allocationsPath(id) + "/check"})
	}
	seed, err := readSeed(local.SeedFile)
	if err != nil {
		return result{}, err
	}
	rows, err := c.readRecord(ctx, id, local.RecordFile)
	if err != nil {
		return result{}, err
	}
	got, err := c.client.do(ctx, request{method: http.MethodGet, path: studyPath(id)})
	if err != nil {
		return result{}, err
	}
	var study api.Study
	if err := got.decodeInto(&study); err != nil {
		return result{}, err
	}
	design := trial.Design{StudyID: id, Seed: seed, Arms: study.Settings.Arms, Randomisation: study.Settings.Randomisation}
	raw, err := json.Marshal(verifyRows(design, rows))
	return result{raw: raw}, err
}

func verifyRows(design trial.Design, rows []models.Allocation) api.AllocationCheck {
	out := api.AllocationCheck{OK: true, Rows: int64(len(rows))}
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
func (c *Commands) readRecord(ctx context.Context, id, path string) ([]models.Allocation, error) {
	if path == "" {
		return listItems[models.Allocation](ctx, c.client, listing{allocationsPath(id), "allocations"}, url.Values{})
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

func renderAllocationCheck(w io.Writer, check api.AllocationCheck) error {
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

func describeDecisions(check api.DecisionCheck) string {
	switch {
	case check.Problem != "":
		return fmt.Sprintf("Decision point %d of participant %s is not right: %s. The %d rows before it are.", check.BadRow, check.ParticipantID, check.Problem, check.Rows)
	case check.Unchained > 0:
		return fmt.Sprintf("The decision points are those that were recorded: %d rows of %d people, of whom %d have rows without hashes only.", check.Rows, check.People, check.Unchained)
	}
	return fmt.Sprintf("The decision points are those that were recorded: %d rows of %d people.", check.Rows, check.People)
}
