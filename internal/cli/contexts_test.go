package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// people serves two participants as the API does, and notes the paths and
// tokens of its requests.
func people(t *testing.T) (url string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	list := []map[string]any{
		{"id": "conv_a1", "phone_number": "+12025550123", "name": "Ada", "timezone": "America/New_York"},
		{"id": "conv_b2", "phone_number": "+12025550124", "name": "Bo", "timezone": "UTC"},
		{"id": "conv_b3", "phone_number": "+12025550125", "name": "Bo", "timezone": "UTC"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		var result any = map[string]any{"participants": list, "next_cursor": nil}
		switch r.URL.Path {
		case "/conversation/participants/conv_a1":
			result = list[0]
		case "/conversation/participants/conv_a1/state":
			result = map[string]any{"mode": "INTAKE", "status": "active", "due": []any{map[string]any{"kind": "reminder", "at": "2026-11-21T12:50:00Z"}}}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "ok", "result": result})
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// runIn runs the program with a configuration folder of its own.
func runIn(t *testing.T, p *program, args ...string) (code int, out, complaint string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p.in, p.out, p.err = strings.NewReader(""), &stdout, &stderr
	code = p.runCommand(context.Background(), args)
	return code, stdout.String(), stderr.String()
}

func TestParticipantsByPhoneAndName(t *testing.T) {
	url, asked := people(t)
	environ := []string{"COACH_URL=" + url}
	for ref, want := range map[string]string{
		"conv_a1": "conv_a1", "ada": "conv_a1", "+1 (202) 555-0123": "conv_a1", "2025550123": "conv_a1",
	} {
		code, out, complaint := runIn(t, &program{environ: environ, configFolder: t.TempDir()}, "participant", "show", ref)
		require.Equal(t, exitDone, code, complaint)
		require.Contains(t, out, want, ref)
	}
	for ref, want := range map[string]string{
		"bo": "2 participants are named \"bo\": give one of the ids conv_b2, conv_b3", "eve": `no participant has the id, phone number or name "eve"`,
	} {
		code, _, complaint := runIn(t, &program{environ: environ, configFolder: t.TempDir()}, "participant", "remove", ref)
		require.Equal(t, exitFailed, code)
		require.Contains(t, complaint, want)
	}
	require.NotContains(t, strings.Join(*asked, "\n"), "DELETE")
	for _, args := range []string{"participant resume ada", "takeover start ada", "takeover end ada"} {
		*asked = nil
		runIn(t, &program{environ: environ, configFolder: t.TempDir()}, strings.Fields(args)...)
		require.Contains(t, strings.Join(*asked, "\n"), "/conversation/participants/conv_a1", args)
	}
}

func TestTimersShowLocalTimes(t *testing.T) {
	url, _ := people(t)
	code, out, complaint := runIn(t, &program{environ: []string{"COACH_URL=" + url}, configFolder: t.TempDir()}, "timers", "ada")
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, out, "2026-11-21 12:50:00Z (Sat 07:50 EST)")
}

func TestContexts(t *testing.T) {
	url, asked := people(t)
	folder := t.TempDir()
	secret := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(secret, []byte("s3cret\n"), 0o600))
	do := func(args ...string) (int, string, string) {
		return runIn(t, &program{configFolder: folder}, args...)
	}
	code, _, complaint := do("context", "add", "trial", "--url", url, "--token-file", secret)
	require.Equal(t, exitDone, code, complaint)
	code, _, complaint = do("context", "add", "other", "--url", "http://127.0.0.1:1")
	require.Equal(t, exitDone, code, complaint)

	code, out, complaint := do("participant", "list")
	require.Equal(t, exitDone, code, complaint)
	require.Contains(t, out, "conv_a1")
	require.Contains(t, (*asked)[0], "Bearer s3cret")

	code, out, _ = do("context", "list")
	require.Equal(t, exitDone, code)
	require.Regexp(t, `\*\s+trial`, out)
	require.NotContains(t, out, "s3cret")

	for args, want := range map[string]string{
		"participant list --context nowhere": `no context "nowhere"`, "context use nowhere": `no context "nowhere"`,
		"participant list --context other": "http://127.0.0.1:1",
	} {
		code, _, complaint = do(strings.Fields(args)...)
		require.Equal(t, exitFailed, code)
		require.Contains(t, complaint, want)
	}
	code, _, complaint = do("context", "add", "bad", "--url", "coach.example.org")
	require.Equal(t, exitUsage, code)
	require.Contains(t, complaint, "--url")

	code, _, complaint = do("context", "remove", "trial")
	require.Equal(t, exitDone, code, complaint)
	_, out, _ = do("context", "list")
	require.NotContains(t, out, "trial")

	// COACH_URL goes before the current context, --url before both.
	*asked = nil
	code, _, complaint = runIn(t, &program{configFolder: folder, environ: []string{"COACH_URL=http://127.0.0.1:1"}}, "participant", "list", "--url", url)
	require.Equal(t, exitDone, code, complaint)
	require.Len(t, *asked, 1)
}

// TestBesideDev: a command on the folder of a development system needs no
// settings of its own, and one with settings of its own ignores that system.
func TestBesideDev(t *testing.T) {
	url, asked := people(t)
	path := filepath.Join(t.TempDir(), "dev.env")
	require.NoError(t, os.WriteFile(path, []byte("COACH_HTTP_ADDR='"+strings.TrimPrefix(url, "http://")+"'\nCOACH_PUBLIC_URL='"+url+"'\n"), 0o600))
	code, _, complaint := runIn(t, &program{devEnviron: path, configFolder: t.TempDir()}, "participant", "list")
	require.Equal(t, exitDone, code, complaint)
	require.Len(t, *asked, 1)

	code, _, complaint = runIn(t, &program{devEnviron: path, configFolder: t.TempDir(), environ: []string{"COACH_URL=http://127.0.0.1:1"}}, "participant", "list")
	require.Equal(t, exitFailed, code)
	require.Contains(t, complaint, "http://127.0.0.1:1")
	require.Len(t, *asked, 1)
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, _ := runIn(t, &program{}, "completion", shell)
		require.Equal(t, exitDone, code)
		require.Contains(t, out, "coachline")
	}
	url, _ := people(t)
	p := &program{environ: []string{"COACH_URL=" + url}, configFolder: t.TempDir()}
	_, out, _ := runIn(t, p, "__complete", "participant", "show", "conv_b")
	require.Contains(t, out, "conv_b2\tBo\nconv_b3\tBo\n")
	_, out, _ = runIn(t, p, "__complete", "timers", "A")
	require.Contains(t, out, "Ada\tAda\n")
	_, out, _ = runIn(t, p, "__complete", "participant", "add", "")
	require.NotContains(t, out, "conv_")
}

func TestUsageNamesTheCommand(t *testing.T) {
	for args, want := range map[string]string{
		"participant lst":         `unknown command "lst" for "coachline participant"; did you mean list?`,
		"trancsript x":            "did you mean transcript?",
		"participant list --loud": "coachline participant list: unknown flag: --loud\nTry: coachline participant list --help",
	} {
		code, _, complaint := runIn(t, &program{}, strings.Fields(args)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, complaint, want)
	}
	code, out, _ := runIn(t, &program{}, "--version")
	require.Equal(t, exitDone, code)
	require.True(t, strings.HasPrefix(out, "coachline "), out)
}
