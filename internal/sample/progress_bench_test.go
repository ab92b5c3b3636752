package sample_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/pgtest"
	"coachline/internal/sample"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
)

// BenchmarkStudyProgress counts how a study of 10,000 people goes, whose enrolments
// lie within so many days.
func BenchmarkStudyProgress(b *testing.B) {
	now := time.Date(2026, 3, 20, 15, 30, 0, 0, time.UTC)
	key, err := seal.Generate()
	require.NoError(b, err)
	ring, err := seal.Parse(key)
	require.NoError(b, err)
	for name, open := range map[string]func() string{
		"sqlite": func() string { return "sqlite:" + b.TempDir() + "/a.db" }, "postgres": func() string { return pgtest.Start(b) },
	} {
		for _, days := range []int{7, 60} {
			b.Run(fmt.Sprintf("%s/%d", name, days), func(b *testing.B) {
				s, err := store.Open(b.Context(), store.Config{URL: open(), Sealer: ring})
				require.NoError(b, err)
				b.Cleanup(func() { require.NoError(b, s.Close()) })
				require.NoError(b, sample.Store(b.Context(), s.Database(), sample.Config{People: 10_000, Seed: 5, Now: now, Days: days}, func(int) {}))
				for b.Loop() {
					_, progress, err := s.Reports.StudyProgress(b.Context(), models.DefaultStudy, now)
					require.NoError(b, err)
					require.NotEmpty(b, progress.Response)
				}
			})
		}
	}
}
