package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateExample = flag.Bool("example", false, "write what the commands of docs/example.md print anew")

const examplePage = "../docs/example.md"

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```")
	// variable matches what differs from run to run.
	variable = regexp.MustCompile(`\b(?:conv_|coh_)?[0-9a-f]{24,64}\b|played in [0-9.hms]+|, the last [0-9-]+ [0-9:]+Z`)
)

// exampleRun runs the commands of the page in one folder.
type exampleRun struct {
	t       *testing.T
	folder  string
	environ []string
}

// newExampleRun copies the files of the example beside a program that talks to r.
func newExampleRun(t *testing.T, r *running) *exampleRun {
	t.Helper()
	for _, program := range []string{"bash", "sed", "python3", "Rscript"} {
		_, err := exec.LookPath(program)
		if err != nil && os.Getenv("CI") != "true" {
			t.Skipf("the worked example runs %s: %v; make rscript installs R", program, err)
		}
		require.NoError(t, err, "the worked example runs %s", program)
	}
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", filepath.Join(programs, "coachline"), "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	e := &exampleRun{t: t, folder: t.TempDir()}
	e.environ = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), "COACH_URL="+r.table["API"], "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8")
	require.NoError(t, os.CopyFS(e.folder, os.DirFS("../docs/example")))
	return e
}

// print runs a command and returns what it prints, without the display of its
// progress, and its exit code unless that is 0.
func (e *exampleRun) print(command string) string {
	e.t.Helper()
	cmd := exec.CommandContext(e.t.Context(), "bash", "-c", command)
	cmd.Dir, cmd.Env = e.folder, e.environ
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		require.Positive(e.t, code, "%s: %v %s", command, err, complaint.String())
		require.NotEqual(e.t, 2, code, "%s: %s", command, complaint.String())
		out.WriteString("# exit code " + strconv.Itoa(code) + "\n")
	}
	return variable.ReplaceAllStringFunc(out.String(), func(found string) string {
		if strings.HasPrefix(found, "played") {
			return "played in …"
		}
		if strings.HasPrefix(found, ", the last") {
			return ", the last …"
		}
		prefix, _, isID := strings.Cut(found, "_")
		if !isID {
			return "…"
		}
		return prefix + "_…"
	})
}

// TestWorkedExample runs each command of docs/example.md in the order of the page,
// in a folder that holds only the files of docs/example, and compares what it prints.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	e := newExampleRun(t, launch(t, "--ephemeral"))
	page, err := os.ReadFile(examplePage)
	require.NoError(t, err)
	commands := 0
	got := consoleBlock.ReplaceAllStringFunc(string(page), func(block string) string {
		var out strings.Builder
		for line := range strings.Lines(consoleBlock.FindStringSubmatch(block)[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				commands++
				out.WriteString(line)
				out.WriteString(e.print(command))
			}
		}
		return "```console\n" + out.String() + "```"
	})
	require.Greater(t, commands, 10)
	if *updateExample {
		require.NoError(t, os.WriteFile(examplePage, []byte(got), 0o600))
	}
	require.Equal(t, string(page), got, "go test ./dev -run TestWorkedExample -example writes the page anew")
}
