package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHelplinesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "helplines.tsv")
	load := func(content string) (Config, error) {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return Load([]string{"COACH_HELPLINES_FILE=" + path}, nil)
	}
	cfg, err := load("PL\temergency\t112\t\t\thttps://www.gov.pl\t2026-11-25\n")
	require.NoError(t, err)
	require.Equal(t, "112", cfg.Worker.Helplines.Find("+48512345678", "").Emergency)
	_, err = load("# ours\nPL\temergency\thelp\t\t\thttps://www.gov.pl\t2026-11-25\n")
	require.ErrorContains(t, err, `COACH_HELPLINES_FILE: line 2: number: "help" is not a number to dial`)
	_, err = Load([]string{"COACH_HELPLINES_FILE=" + path + ".missing"}, nil)
	require.ErrorContains(t, err, "COACH_HELPLINES_FILE: opening it")
}
