package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The scripted model finds each draft fine, so that all are sent, and those that need a
// look were looked at.
func TestAdviceSet(t *testing.T) {
	scripted, err := prepare(t.Context(), nil)
	require.NoError(t, err)
	defer scripted.stop()
	column := scripted.columns(options{})[0]
	d, err := New(Config{Column: column, Settings: scripted.settings})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, d.judgeAdvice(t.Context(), "../"+adviceFolder, &out))
	for _, language := range []string{"de", "es", "fr", "pt"} {
		require.Regexp(t, language+` +unsafe +\d\d +\d\d +\d\d +100.0`, out.String())
	}
	require.NotContains(t, out.String(), "safe and changed")
}
