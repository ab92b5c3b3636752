package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// useStudies adds a study with a consent text, has it recruit, and imports
// people who agreed to it.
func useStudies(t *testing.T, browser *browsertest.Browser, r *running) {
	p := browser.Open(t, r.table["Console"], browsertest.View{})
	p.Click("link", "Studies")
	p.ExpectText("People belong to one study for ever.")
	p.ExpectAccessible()
	p.ExpectNoSideScroll()
	p.Click("DisclosureTriangle", "Add a study")
	p.Fill("textbox", "Id, such as sleep-2026 (it never changes)", "sleep-2026")
	p.Fill("textbox", "Name", "Sleep")
	p.Click("button", "Add the study")
	p.ExpectText("Study sleep-2026 is draft. Nobody can be enrolled yet.")
	p.ExpectAccessible()
	p.Look(browsertest.View{Width: 320})
	p.ExpectNoSideScroll()
	p.Look(browsertest.View{})

	p.Click("DisclosureTriangle", "Change the settings")
	p.Fill("textbox", "Settings as JSON", `{"require_consent": true, "arms": [{"name": "a", "weight": 1}]}`)
	p.Fill("textbox", "Reason (kept in the audit)", "consent on paper")
	p.Click("button", "Change the settings")
	p.ExpectText("arms: must be two or more, or none")
	p.ExpectAccessible()
	p.Fill("textbox", "Settings as JSON", `{"require_consent": true}`)
	p.Fill("textbox", "Reason (kept in the audit)", "consent on paper")
	p.Click("button", "Change the settings")
	p.ExpectText("needed before a person is enrolled")
	p.Click("DisclosureTriangle", "Add a consent text or its next version")
	p.Fill("textbox", "Language, such as en", "en")
	p.Fill("textbox", "Text", "You agree to a text a day.")
	p.Click("button", "Add the text")
	p.ExpectText("en, version 1")
	p.Click("DisclosureTriangle", "Set the state to recruiting")
	p.Fill("textbox", "Reason (kept in the audit)", "approved")
	p.Click("button", "Set to recruiting")
	p.ExpectText("Study sleep-2026 is recruiting. People can be enrolled.")

	p.Click("DisclosureTriangle", "Export")
	p.ExpectText("A zip archive of tables under pseudonyms")
	p.ExpectAccessible()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.table["Console"]+"studies/sleep-2026/export?format=both", http.NoBody)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	archive, err := io.ReadAll(answer.Body)
	require.NoError(t, errors.Join(err, answer.Body.Close()))
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err, string(archive))
	for _, name := range []string{"manifest.json", "participants.csv", "participants.parquet"} {
		_, err = fs.Stat(files, name)
		require.NoError(t, err)
	}

	file := filepath.Join(t.TempDir(), "wave.csv")
	require.NoError(t, os.WriteFile(file, []byte("phone,name,consent_version\n+12125550101,Ada,1\n+12125550102,Bo,\n"), 0o600))
	p.Click("link", "People")
	p.Click("link", "Import people from a file")
	p.TabTo("combobox", "Study")
	p.Press(input.ArrowDown)
	p.ExpectValue("combobox", "Study", "sleep-2026")
	p.Upload(file)
	p.Click("button", "Check the file")
	p.ExpectText("must be the version of the study's consent text that the person agreed to")
	p.ExpectAccessible()
}
