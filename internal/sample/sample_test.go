package sample_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/pgtest"
	"coachline/internal/sample"
	"coachline/internal/seal"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

func TestSamplesAreEqual(t *testing.T) {
	now := time.Date(2026, 3, 20, 15, 30, 0, 0, time.UTC)
	key, err := seal.Generate()
	require.NoError(t, err)
	ring, err := seal.Parse(key)
	require.NoError(t, err)
	for name, urls := range map[string][2]string{
		"sqlite":   {"sqlite:" + t.TempDir() + "/a.db", "sqlite:" + t.TempDir() + "/b.db"},
		"postgres": {pgtest.Start(t), pgtest.Start(t)},
	} {
		t.Run(name, func(t *testing.T) {
			var found [2][]models.Person
			for i, url := range urls {
				s, err := store.Open(t.Context(), store.Config{URL: url, Sealer: ring})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, s.Close()) })
				told := 0
				cfg := sample.Config{People: 600 + 200*i, Seed: 5, Now: now}
				require.NoError(t, sample.Store(t.Context(), s.Database(), cfg, func(n int) { told = n }))
				require.Equal(t, cfg.People, told)
				require.ErrorIs(t, sample.Store(t.Context(), s.Database(), cfg, func(int) {}), sample.ErrSampled)
				found[i] = check(t, s, cfg)
			}
			require.Equal(t, found[0], found[1], "the first people are the same in a larger sample")
		})
	}
}

// check reads a sample as the product does, and returns its first people.
func check(t *testing.T, s *store.Store, cfg sample.Config) []models.Person {
	t.Helper()
	today, err := s.Reports.Today(t.Context(), cfg.Now, cfg.Now.Add(-72*time.Hour))
	require.NoError(t, err)
	require.Equal(t, cfg.People, today.People)
	require.Equal(t, 1, today.Attention[wire.AttentionCrisis])
	require.Positive(t, today.Silent)
	planned := 0
	for _, hour := range today.Hours {
		planned += hour.People
	}
	require.Greater(t, planned, cfg.People*8/10)
	costs, err := s.Costs.Sum(t.Context(), models.CostQuery{From: "2026-01-01", Until: "2026-12-31", By: models.CostByKind})
	require.NoError(t, err)
	require.Len(t, costs, 3)
	before := costs
	require.NoError(t, s.Costs.RecordCosts(t.Context(), nil))
	costs, err = s.Costs.Sum(t.Context(), models.CostQuery{From: "2026-01-01", Until: "2026-12-31", By: models.CostByKind})
	require.NoError(t, err)
	require.Equal(t, before, costs, "nothing is counted twice")
	var first []models.Person
	for _, id := range []string{"000001", "000100", "000599"} {
		p, err := s.People.Participant(t.Context(), sample.Prefix+id)
		require.NoError(t, err)
		page, err := s.People.List(t.Context(), models.PeopleQuery{PeopleFilter: models.PeopleFilter{Phone: p.Phone}, Now: cfg.Now})
		require.NoError(t, err)
		require.Len(t, page.People, 1)
		p.EnrolledAt, page.People[0].Participant = p.EnrolledAt.UTC(), models.Participant{ID: p.ID, PersonTexts: models.PersonTexts[string]{Name: p.Name}, Timezone: p.Timezone, Status: p.Status, NextSeq: p.NextSeq}
		first = append(first, page.People...)
	}
	return first
}
