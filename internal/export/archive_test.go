package export_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/export"
	"coachline/models"
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
		turn := models.Turn{ID: fmt.Sprintf("p1-t%d", n), ParticipantID: "p1", Number: n, StartedAt: time.Unix(int64(n), 0)}
		if err := fn(lone, turn); err != nil {
			return err
		}
		if n%20_000 == 0 {
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
func (manyTurns) StudyConsents(func(models.StudyPerson, models.StudyConsent) error) error {
	return nil
}
func (manyTurns) Costs(func(models.StudyPerson, models.Cost) error) error { return nil }

func study() models.Study {
	return models.Study{ID: "walk-1", PseudonymKey: []byte(strings.Repeat("k", 32))}
}

// TestMemoryIsFlat writes some ten megabytes of turns and looks at what is kept.
func TestMemoryIsFlat(t *testing.T) {
	var first, most uint64
	rows := manyTurns{turns: 80_001, seen: func() {
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		if first == 0 {
			first = now.HeapAlloc
		}
		most = max(most, now.HeapAlloc)
	}}
	require.NoError(t, export.Write(io.Discard, export.Input{Study: study(), Rows: rows}))
	require.Less(t, most, first+2<<20)
}

func TestStudyWithoutKey(t *testing.T) {
	err := export.Write(io.Discard, export.Input{Study: models.Study{ID: "walk-1"}, Rows: manyTurns{}})
	require.ErrorContains(t, err, "no key for pseudonyms")
}
