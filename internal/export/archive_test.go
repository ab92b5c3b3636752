package export_test

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/export"
	"coachline/models"
	"coachline/models/wire"
)

// manyTurns is a study of one person with so many turns; seen is called now and then.
type manyTurns struct {
	models.StudyRows
	turns int
	seen  func()
}

var lone = models.StudyPerson{ID: "p1", Timezone: "Europe/Berlin"}

func (m manyTurns) People(fn func(models.StudyPerson) error) error { return fn(lone) }

func (m manyTurns) Turns(fn func(models.StudyPerson, models.Turn) error) error {
	for n := range m.turns {
		turn := models.Turn{ID: fmt.Sprintf("p1-t%d", n), ParticipantID: "p1", Number: n, Kind: wire.TurnMessage, Outcome: "sent", StartedAt: time.Unix(int64(n), 0)}
		if err := fn(lone, turn); err != nil {
			return err
		}
		if n%3_000 == 0 {
			m.seen()
		}
	}
	return nil
}

func (manyTurns) Prompts(func(models.StudyPerson, models.Prompt) error) error            { return nil }
func (manyTurns) Outbound(func(models.StudyPerson, models.Outbox) error) error           { return nil }
func (manyTurns) Inbound(func(models.StudyPerson, models.Inbound) error) error           { return nil }
func (manyTurns) Decisions(func(models.StudyPerson, models.DecisionOutcome) error) error { return nil }
func (manyTurns) Allocations(func(models.StudyPerson, models.Allocation) error) error    { return nil }
func (manyTurns) Alerts(func(models.StudyPerson, models.Alert) error) error              { return nil }
func (manyTurns) Disclosures(func(models.StudyPerson, models.Disclosure) error) error    { return nil }
func (manyTurns) StudyConsents(func(models.StudyPerson, models.StudyConsent) error) error {
	return nil
}
func (manyTurns) Costs(func(models.StudyPerson, models.Cost) error) error     { return nil }
func (manyTurns) Audit(func(models.StudyPerson, models.AuditRow) error) error { return nil }

func study() models.Study {
	return models.Study{ID: "walk-1", PseudonymKey: []byte(strings.Repeat("k", 32))}
}

// TestMemoryIsFlat writes 120,000 turns in each format and looks at what is kept: in
// the second half no more than in the first, which holds whole row groups of Parquet.
func TestMemoryIsFlat(t *testing.T) {
	for _, format := range export.Formats() {
		var seen []uint64
		rows := manyTurns{turns: 120_001, seen: func() {
			runtime.GC()
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			seen = append(seen, now.HeapAlloc)
		}}
		require.NoError(t, export.Write(io.Discard, export.Input{Study: study(), Rows: rows, Format: format}))
		files := 1
		if format == export.FormatBoth {
			files = 2
		}
		require.Len(t, seen, 41*files)
		for file := range slices.Chunk(seen, 41) {
			first, most := slices.Max(file[:20]), slices.Max(file)
			require.Less(t, most, first+1<<20, format)
			require.Less(t, most-slices.Min(file), uint64(16<<20), format)
		}
	}
}

func TestStudyWithoutKey(t *testing.T) {
	err := export.Write(io.Discard, export.Input{Study: models.Study{ID: "walk-1"}, Rows: manyTurns{}})
	require.ErrorContains(t, err, "no key for pseudonyms")
}
