package main

import (
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func value(v float64) *float64 { return &v }

func TestPercentile(t *testing.T) {
	ten := Durations{10, 3, 1, 7, 5, 2, 9, 4, 8, 6}
	for _, c := range []struct {
		name string
		in   Durations
		p    float64
		want time.Duration
	}{
		{"nothing", nil, 50, 0},
		{"one", Durations{7}, 99, 7},
		{"median", ten, 50, 5},
		{"p95", ten, 95, 10},
		{"p91 needs more than nine", ten, 91, 10},
		{"p90", ten, 90, 9},
		{"all", ten, 100, 10},
		{"next to none", ten, 0.001, 1},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, c.in.Percentile(c.p)) })
	}
	require.Equal(t, Durations{10, 3, 1}, ten[:3], "the observations stay in order")
}

func TestPercentileIsAnObservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := Durations(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 50).Draw(t, "duration"))
		}), 1, 40).Draw(t, "all"))
		p := rapid.Float64Range(0.1, 100).Draw(t, "p")
		got := all.Percentile(p)
		require.Contains(t, all, got)
		within := 0
		for _, d := range all {
			if d <= got {
				within++
			}
		}
		require.GreaterOrEqual(t, float64(within), p/100*float64(len(all)))
	})
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Figure
		want Verdict
	}{
		{"no target", Figure{Product: 1, Better: Lower}, NoTarget},
		{"at the limit", Figure{Product: 20, Better: Lower, Target: &Target{Limit: 20}}, OK},
		{"above", Figure{Product: 21, Better: Lower, Target: &Target{Limit: 20}}, Missed},
		{"enough", Figure{Product: 21, Better: Higher, Target: &Target{Limit: 20}}, OK},
		{"too little", Figure{Product: 19, Better: Higher, Target: &Target{Limit: 20}}, Missed},
		{"ratio met", Figure{Product: 13, Bare: value(10), Better: Lower, Target: &Target{Limit: 1.3, OfRatio: true}}, OK},
		{"ratio missed", Figure{Product: 7, Bare: value(10), Better: Higher, Target: &Target{Limit: 0.8, OfRatio: true}}, Missed},
		{"ratio of nothing", Figure{Product: 0, Better: Lower, Target: &Target{Limit: 1, OfRatio: true}}, Missed},
		{"ratio to zero", Figure{Product: 1, Bare: value(0), Better: Lower, Target: &Target{Limit: 1, OfRatio: true}}, Missed},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, c.in.Verdict()) })
	}
}

func sample() Run {
	return Run{
		StartedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Backend: "memory", Go: "go1.26.8", CPUs: 2,
		Figures: []Figure{
			{Load: "steady", Case: "1 person", Name: "median", Unit: "ms", Count: 9, Product: 12.5, Bare: value(10), Webhook: value(11), Better: Lower, Target: &Target{Limit: 1.3, OfRatio: true}},
			{Load: "steady", Name: "replies", Unit: "/s", Count: 3, Product: 150, Bare: value(200), Better: Higher, Target: &Target{Limit: 0.8, OfRatio: true}},
			{Load: "cold", Name: "up", Unit: "ms", Count: 1, Product: 812, Better: Lower},
		},
	}
}

func TestRunGoesThroughJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, sample().Write(path))
	got, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, sample(), got)
	_, err = Read(path + ".absent")
	require.Error(t, err)
}

func TestTable(t *testing.T) {
	var out strings.Builder
	require.NoError(t, sample().WriteText(&out))
	for _, line := range []string{
		"server on memory, 2 CPUs, go1.26.8, 2026-11-21 09:00 UTC",
		"median, ms|9|12.5|10|11|1.25|<= 1.30 x bare|ok",
		"replies, /s|3|150|200|-|0.75|>= 0.80 x bare|missed",
		"cold|up, ms|1|812|-|-|-|",
	} {
		require.Contains(t, columns(out.String()), line)
	}
}

// columns puts one bar where the table has spaces between columns.
func columns(table string) string { return regexp.MustCompile(` {2,}`).ReplaceAllString(table, "|") }

func TestCompare(t *testing.T) {
	one := func(product float64, bare *float64, better Better) Figure {
		return Figure{Load: "l", Name: "n", Product: product, Bare: bare, Better: better}
	}
	for _, c := range []struct {
		name     string
		was, now Figure
		want     Change
		relative float64
	}{
		{"the same", one(5, nil, Lower), one(5, nil, Lower), Same, 0},
		{"noise", one(100, nil, Lower), one(109, nil, Lower), Same, 0.09},
		{"slower", one(100, nil, Lower), one(150, nil, Lower), Loss, 0.5},
		{"faster", one(100, nil, Lower), one(50, nil, Lower), Gain, -0.5},
		{"more replies", one(100, nil, Higher), one(150, nil, Higher), Gain, 0.5},
		{"fewer replies", one(100, nil, Higher), one(50, nil, Higher), Loss, -0.5},
		{"a slower machine", one(10, value(10), Lower), one(20, value(20), Lower), Same, 0},
		{"a ratio that grew", one(10, value(10), Lower), one(20, value(10), Lower), Loss, 1},
		{"from nothing", one(0, nil, Lower), one(1, nil, Lower), Loss, math.Inf(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Compare(Run{Figures: []Figure{c.was}}, Run{Figures: []Figure{c.now}})
			require.Len(t, got, 1)
			require.Equal(t, c.want, got[0].Change)
			if math.IsInf(c.relative, 1) {
				require.True(t, math.IsInf(got[0].Relative, 1))
				return
			}
			require.InDelta(t, c.relative, got[0].Relative, 1e-9)
		})
	}
}

func TestCompareFindsWhatIsNewAndGone(t *testing.T) {
	before, after := sample(), sample()
	before.Figures = before.Figures[:2]
	after.Figures = after.Figures[1:]
	got := Compare(before, after)
	require.Len(t, got, 3)
	require.Equal(t, []Change{Same, Added, Absent}, []Change{got[0].Change, got[1].Change, got[2].Change})
	var out strings.Builder
	require.NoError(t, WriteComparison(&out, got))
	require.Contains(t, out.String(), "gone")
	require.Contains(t, out.String(), "new")
}
