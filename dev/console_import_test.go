package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// importPeople imports a file with faults and its mended successor, as a
// coordinator does.
func importPeople(t *testing.T, browser *browsertest.Browser, r *running) {
	p := browser.Open(t, r.table["Console"], browsertest.View{})
	p.Click("link", "People")
	p.Click("link", "Import people from a file")
	p.ExpectText("nobody is enrolled before you confirm")
	p.ExpectAccessible()
	p.ExpectNoSideScroll()

	file := filepath.Join(t.TempDir(), "spring.csv")
	write := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("phone,name,timezone\n+12125550101,Ada,EST\n+12125550101,Bo,\n12,Cy,\n+12125550104,Dee,UTC\n")
	p.Upload(file)
	p.Click("button", "Check the file")
	p.ExpectText("Faults in the file: 3. No person was enrolled")
	p.ExpectText("timezone: names no place, whose clock changes would count; use America/New_York")
	p.ExpectText("phone_number: not a possible number")
	p.ExpectAccessible()
	p.Look(browsertest.View{Width: 320})
	p.ExpectNoSideScroll()
	p.Look(browsertest.View{})

	var text strings.Builder
	text.WriteString("phone,name,timezone\n")
	for i := range 60 {
		fmt.Fprintf(&text, "+1212555%04d,Person %d,\n", i, i)
	}
	write(text.String())
	p.Click("link", "Import another file")
	p.Upload(file)
	p.Fill("spinbutton", "Most greetings a minute (empty: what the sender's rate leaves beside replies)", "600")
	p.Click("button", "Check the file")
	p.ExpectText("60 people can be enrolled. Nobody is enrolled yet.")
	p.ExpectText("America/New_York (from the number)")
	p.ExpectText("at most 600 a minute")
	p.ExpectText("Last greeting")
	p.ExpectAccessible()
	p.Look(browsertest.View{Width: 320})
	p.ExpectNoSideScroll()
	p.Look(browsertest.View{})
	p.Fill("textbox", "Reason (kept in the audit)", "spring wave")
	p.Click("button", "Enrol 60 people")
	p.ExpectText("Done: 60 people are enrolled, 0 were skipped.") // It follows without a reload.
	p.ExpectAccessible()
	p.Click("link", "All people")
	p.ExpectText("Import people from a file")
	p.ExpectText("Person ")
}
