package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
)

// TestConfigurationPage holds that the page's table is the one that the code
// prints: make record RUN=TestConfigurationPage
func TestConfigurationPage(t *testing.T) {
	const (
		page  = "../../docs/configuration.md"
		begin = "<!-- begin: coachline config --markdown -->\n"
		end   = "<!-- end -->"
	)
	code, table, complaint := call(t, nil, "config", "--markdown")
	require.Equal(t, exitDone, code, complaint)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found, "%s has no line %q", page, begin)
	shown, after, found := strings.Cut(rest, end)
	require.True(t, found, "%s has no line %q", page, end)
	if goldens.ShouldRecord() {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+table+end+after), 0o600))
		shown = table
	}
	require.Equal(t, table, shown)
}
