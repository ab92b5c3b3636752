package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeterLogsWithoutATerminal(t *testing.T) {
	var log bytes.Buffer
	m := (&program{err: &log}).newMeter("rows")
	m.setProgress("participants", 2, 5)
	m.setProgress("participants", 3, 5)
	require.Empty(t, log.String(), "a part that goes on")
	m.setProgress("turns", 5, 5)
	m.endPart()
	require.Equal(t, "participants: 3 of 5 rows\nturns: 5 of 5 rows\n", log.String())

	log.Reset()
	(&program{err: &log}).newMeter("rows").endPart()
	require.Empty(t, log.String(), "nothing was done")
}

func TestMeterDrawsOnATerminal(t *testing.T) {
	var screen bytes.Buffer
	m := (&program{err: &screen, bars: true}).newMeter("rows")
	drawn := func() string {
		defer screen.Reset()
		return screen.String()
	}
	m.setProgress("participants", 3, 10)
	require.Regexp(t, `participants +30% .*\(3/10`, drawn())
	m.setProgress("turns", 10, 10)
	require.Regexp(t, `\r +\r$`, drawn(), "a full bar is taken away")
	m.setProgress("participants", 4, 10)
	require.Regexp(t, `participants +40% .*\(4/10`, drawn(), "the work begins anew")
	m.endPart()
	require.Regexp(t, `\r +\r$`, drawn())
}

// TestProgressOfAnExport: a bar or a count on standard error, and nothing but
// the archive on standard output.
func TestProgressOfAnExport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "200000")
		_, _ = w.Write(bytes.Repeat([]byte("x"), 200_000))
	}))
	t.Cleanup(server.Close)
	for _, bars := range []bool{false, true} {
		t.Run(fmt.Sprint("bars ", bars), func(t *testing.T) {
			code, out, complaint := runIn(t, &program{environ: []string{"COACH_URL=" + server.URL}, configFolder: t.TempDir(), bars: bars}, "participant", "export", "conv_1")
			require.Equal(t, exitDone, code, complaint)
			require.Len(t, out, 200_000)
			if !bars {
				require.Equal(t, "export: 200000 of 200000 bytes\n", complaint)
				return
			}
			require.Contains(t, complaint, "export")
			require.Contains(t, complaint, "/200 kB")
			require.NotContains(t, complaint, "\n", "it is one line")
		})
	}
}
