package main

import (
	"bytes"
	"flag"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

var updatePictures = flag.Bool("pictures", false, "write docs/images anew")

// maxPicture is the most bytes of a picture in the documentation.
const maxPicture = 150_000

// TestPictures plans a habit on the phone page and finds the participant's
// workflow in the Temporal UI, as the README shows them. The pictures are
// written with: go test ./dev -run TestPictures -pictures
func TestPictures(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	r := launchIn(t, []string{"COACH_QUIET_HOURS=", "COACH_DEBOUNCE=0"}, "--ephemeral")
	p := browser.Open(t, r.table["Phones"], browsertest.View{Width: 900, Height: 760})
	p.Fill("textbox", "Phone number", ada)
	p.Fill("textbox", "Name (may stay empty)", "Ada")
	p.Fill("textbox", "Time zone", "America/New_York")
	p.Click("button", "Enrol")
	p.ExpectText("Are you ready to start?")
	for _, exchange := range [][2]string{
		{"hi", "What small habit would you like to start with?"},
		{"a short walk", "Why does that matter to you?"},
		{"more energy", "What time of day suits you best"},
		{"8:00 am", "What do you already do every day"},
		{"my morning coffee", "Here is the plan"},
		{"yes please", "You get a text every day at 08:00"},
	} {
		p.Type(exchange[0])
		p.Click("button", "Send")
		p.ExpectText(exchange[1])
	}
	keepPicture(t, p, "phone.png")

	status, body := send(t, http.MethodGet, r.table["API"]+"/conversation/participants", nil)
	require.Equal(t, http.StatusOK, status, body)
	id := regexp.MustCompile(`conv_\w+`).FindString(body)
	ui := browser.Open(t, r.table["Temporal UI"]+"/namespaces/default/workflows/participant-"+id, browsertest.View{Width: 1280, Height: 940})
	ui.ExpectText("participant-" + id)
	ui.ExpectText("America/New_York") // The codec opens the payloads.
	ui.ExpectText("MessageReceived")
	if *updatePictures {
		// The names of the timeline are drawn some seconds later, and nothing on the page tells when.
		ui.Eval(nil, `() => new Promise(drawn => setTimeout(drawn, 8000))`)
	}
	keepPicture(t, ui, "workflow.png")
}

// keepPicture writes what the page shows where the flag asks for it, compressed
// better than the browser does.
func keepPicture(t *testing.T, p *browsertest.Page, name string) {
	t.Helper()
	if !*updatePictures {
		return
	}
	picture, err := png.Decode(bytes.NewReader(p.Picture()))
	require.NoError(t, err)
	var small bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, picture))
	require.LessOrEqual(t, small.Len(), maxPicture, name)
	require.NoError(t, os.WriteFile(filepath.Join("..", "docs", "images", name), small.Bytes(), 0o600))
}

// TestConsolePictures shows the console with a few people, as the README does. The
// pictures are written with: go test ./dev -run TestConsolePictures -pictures
func TestConsolePictures(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	r := launchIn(t, calm, "--ephemeral")
	people := []*person{{t: t, number: ada, r: r}, {t: t, number: "+12025550124", r: r}, {t: t, number: "+12025550125", r: r}}
	for i, name := range []string{"Ada", "Ben", "Cleo"} {
		require.Equal(t, http.StatusCreated, people[i].enroll(name, "America/New_York"))
		people[i].next(soon)
	}
	for _, words := range []string{"hi", "a short walk", "more energy", "8:00 am", "my morning coffee", "yes please"} {
		people[0].says(words)
	}
	people[1].says("hi")
	people[2].says("I don't want to live any more")

	view := browsertest.View{Width: 1000, Height: 760}
	p := browser.Open(t, r.table["Console"], view)
	p.ExpectText("Cleo wrote")
	keepPicture(t, p, "console-today.png")
	p.Click("link", "People")
	p.Click("link", "Ada")
	p.ExpectText("You get a text every day at 08:00")
	keepPicture(t, p, "console-conversation.png")
	p.Click("link", "Agenda")
	p.ExpectText("Ada")
	keepPicture(t, p, "console-agenda.png")
}
