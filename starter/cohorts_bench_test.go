package starter

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/coach"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
)

// BenchmarkCohort checks and enrols 10,000 people on SQLite.
func BenchmarkCohort(b *testing.B) {
	url := "sqlite:" + filepath.Join(b.TempDir(), "coach.db")
	benchCohort(b, url)
}

func benchCohort(b *testing.B, url string) {
	ring, err := seal.Parse("k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	require.NoError(b, err)
	rows, err := store.Open(b.Context(), store.Config{URL: url, Sealer: ring})
	require.NoError(b, err)
	defer func() { require.NoError(b, rows.Close()) }()
	quiet, err := coach.ParseQuietHours("21:00-08:00")
	require.NoError(b, err)
	cfg := Config{Store: rows, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Defaults: Defaults{Rules: coach.Rules{Quiet: quiet}}}.withDefaults()
	h := newTestCohorts(cfg, cfg.Now)
	const people = 10000
	for n := 0; b.Loop(); n++ {
		var file strings.Builder
		file.WriteString("phone,name,timezone,background\n")
		for i := range people {
			fmt.Fprintf(&file, "+1212%07d,Person %d,,plays the cello\n", 2000000+n*people+i, i)
		}
		id := fmt.Sprintf("coh_%d", n)
		job, err := rows.Cohorts.CreateCohort(b.Context(), models.Cohort{ID: id, File: []byte(file.String()), Region: "US", Zone: "UTC", PerMinute: 15, CreatedAt: time.Now()})
		require.NoError(b, err)
		begun := time.Now()
		_, err = h.checkCohort(b.Context(), job)
		require.NoError(b, err)
		checked := time.Since(begun)
		_, err = rows.Cohorts.ConfirmCohort(b.Context(), models.CohortStep{ID: id, Now: time.Now()})
		require.NoError(b, err)
		require.NoError(b, h.sweepCohorts(b.Context()))
		done, err := rows.Cohorts.Cohort(b.Context(), id)
		require.NoError(b, err)
		require.Equal(b, people, done.Enrolled)
		b.ReportMetric(checked.Seconds(), "s/check")
		b.ReportMetric((time.Since(begun) - checked).Seconds(), "s/enrol")
	}
}
