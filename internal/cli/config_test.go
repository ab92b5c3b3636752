package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
)

func TestConfigShowsSettingsWithoutSecrets(t *testing.T) {
	environ := []string{"COACH_API_TOKEN=do-not-show-this-token-of-40-characters", "COACH_MODEL=mine"}
	code, out, complaint := call(t, environ, "config")
	require.Equal(t, exitDone, code, complaint)
	require.NotContains(t, out, "do-not-show")
	require.Regexp(t, `COACH_MODEL +mine +environment`, out)
	require.Regexp(t, `COACH_PREP_TIME +10m0s +default`, out)

	code, out, complaint = call(t, environ, "config", "--json")
	require.Equal(t, exitDone, code, complaint)
	require.NotContains(t, out, "do-not-show")
	require.Contains(t, out, `{"name":"COACH_MODEL","value":"mine","source":"environment"}`)

	code, _, complaint = call(t, []string{"COACH_PREP_TIME=soon"}, "config")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "COACH_PREP_TIME")
}

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
