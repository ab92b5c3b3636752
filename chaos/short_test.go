package main

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShortForm is the command's short form, some points of each turn: `make faults`
// shows its output.
func TestShortForm(t *testing.T) {
	old := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(old) })
	var out bytes.Buffer
	err := run(t.Context(), []string{"-short"}, &out)
	t.Log(out.String())
	require.NoError(t, err, "a run failed; the output above says how it is run alone")
}
