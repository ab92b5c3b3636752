package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/conversation/participants/conv_1/memory/export":
			_, _ = w.Write([]byte("PK\x03\x04 rest"))
		case "/conversation/participants/conv_2/memory/export":
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"status":"error","message":"participant not found"}`))
		default:
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<html>"))
		}
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}

	t.Run("to the output", func(t *testing.T) {
		code, out, complaint := call(t, environ, "participant", "export", "conv_1")
		require.Equal(t, exitDone, code, complaint)
		require.Equal(t, "PK\x03\x04 rest", out)
	})
	t.Run("to a new file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ada.zip")
		code, out, complaint := call(t, environ, "participant", "export", "conv_1", "--out", path)
		require.Equal(t, exitDone, code, complaint)
		require.Empty(t, out)
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "PK\x03\x04 rest", string(raw))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

		code, _, complaint = call(t, environ, "participant", "export", "conv_1", "--out", path)
		require.Equal(t, exitFailed, code)
		require.Contains(t, complaint, "file exists")
	})
	t.Run("not to a terminal", func(t *testing.T) {
		terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
		if err != nil {
			t.Skip("this machine has no terminals: ", err)
		}
		t.Cleanup(func() { require.NoError(t, terminal.Close()) })
		var complaint strings.Builder
		p := &program{in: strings.NewReader(""), out: terminal, err: &complaint, environ: environ}
		require.Equal(t, exitUsage, p.runCommand(t.Context(), []string{"participant", "export", "conv_1"}))
		require.Contains(t, complaint.String(), "not written to a terminal; name a file with -o memory.zip, or redirect")
	})
	for id, want := range map[string]string{"conv_2": "participant not found (HTTP 404)", "conv_3": "not one of this API (HTTP 502)"} {
		t.Run("P3 refused "+id, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.zip")
			code, _, complaint := call(t, environ, "participant", "export", id, "--out", path)
			require.Equal(t, exitFailed, code)
			require.Contains(t, complaint, want)
			require.NoFileExists(t, path)
		})
	}
}
