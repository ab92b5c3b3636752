package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []string
		bad  string
	}{
		{"none", nil, ""},
		{"all", []string{"-backend", "sqlite", "-load", "burst", "-load", "cost", "-people", "9", "-model-delay", "2s", "-reports"}, ""},
		{"compare", []string{"-compare", "a.json", "b.json"}, ""},
		{"compare one", []string{"-compare", "a.json"}, "want 2 arguments"},
		{"stray", []string{"steady"}, "want 0 arguments"},
		{"unknown load", []string{"-load", "sleep"}, "want one of"},
		{"unknown backend", []string{"-backend", "oracle"}, "oracle"},
		{"outside", []string{"-load", "disk", "-binary", "old/dev"}, ""},
		{"outside beside others", []string{"-load", "disk", "-load", "cost"}, "name no other"},
		{"a program for nothing", []string{"-binary", "old/dev"}, "the load disk"},
		{"no sleep", []string{"-load", "disk", "-rest", "0s"}, "more than 0"},
		{"negative delay", []string{"-model-delay", "-1s"}, "0 or more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.in, io.Discard)
			if c.bad == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.bad)
		})
	}
}

func TestEveryLoadHasItsOwnNameAndLimit(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range All() {
		require.False(t, seen[l.Name], l.Name)
		require.Positive(t, l.Limit, l.Name)
		seen[l.Name] = true
	}
}

// TestThreePeople runs small loads from end to end. It looks at counts alone:
// times belong to the machine.
func TestThreePeople(t *testing.T) {
	old := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(old) })
	dir := t.TempDir()
	first, profiles := filepath.Join(dir, "first.json"), filepath.Join(dir, "profiles")
	var out, errs bytes.Buffer
	args := []string{"-people", "3", "-load", "burst", "-load", "cost", "-reports", "-json", first, "-profile", profiles}
	require.NoError(t, run(t.Context(), args, &out, &errs), errs.String())

	got, err := Read(first)
	require.NoError(t, err)
	require.Equal(t, "memory", got.Backend)
	counts := map[string]int{}
	values := map[string]Figure{}
	for _, f := range got.Figures {
		counts[f.Load]++
		values[f.Load+"/"+f.Case+"/"+f.Name+"/"+f.Unit] = f
		require.Contains(t, out.String(), f.Name)
	}
	require.Equal(t, map[string]int{"burst": 2, "cost": 29}, counts)

	require.Equal(t, 6, values["burst/model 0s, 3 people/last answer/ms"].Count, "two rounds, all are answered")
	plain := values["cost/plain reply/history of a turn/events"]
	require.Equal(t, OK, plain.Verdict(), "%v events", plain.Product)
	require.InDelta(t, 16, *plain.Bare, 0.01, "signal, two activities, three workflow tasks")
	require.InDelta(t, 3, *values["cost/plain reply/billable actions of a turn/actions"].Bare, 0.01)
	tool := values["cost/one tool/history of a turn/events"]
	require.Equal(t, OK, tool.Verdict(), "%v events", tool.Product)

	for _, name := range []string{"cpu", "allocs", "heap", "block", "mutex", "goroutine"} {
		info, err := os.Stat(filepath.Join(profiles, name+".pprof"))
		require.NoError(t, err)
		require.Positive(t, info.Size())
	}
	var compared bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-compare", first, first}, &compared, &errs))
	require.Equal(t, len(got.Figures), strings.Count(compared.String(), "same +0%"))
}

// measured runs the benchmark and returns its figures by case, name and unit.
func measured(t *testing.T, args ...string) (map[string]Figure, Run) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.json")
	var out, errs bytes.Buffer
	require.NoError(t, run(t.Context(), append(args, "-json", file), &out, &errs), errs.String())
	got, err := Read(file)
	require.NoError(t, err)
	values := map[string]Figure{}
	for _, f := range got.Figures {
		require.Contains(t, out.String(), f.Name)
		values[f.Case+"/"+f.Name+"/"+f.Unit] = f
	}
	require.Len(t, values, len(got.Figures), "no two figures have one name")
	return values, got
}
