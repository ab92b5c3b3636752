package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// TestPhonePage enrols and texts in a browser, on the whole system with a
// token: what the page shows is what the API, the worker and the script say.
func TestPhonePage(t *testing.T) {
	t.Parallel()
	const token = "an-operators-token-of-enough-letters"
	browser := browsertest.Start(t)
	r := launchIn(t, []string{"COACH_API_TOKEN=" + token, "COACH_QUIET_HOURS=", "COACH_DEBOUNCE=0"}, "--ephemeral")
	p := browser.Open(t, r.table["Phones"], browsertest.View{})
	p.Fill("textbox", "Phone number", "+1 202 555 01")
	p.Click("button", "Enrol")
	p.ExpectText("Not enrolled. Phone number: not a possible number; write it with + and the country code")
	p.Fill("textbox", "Phone number", ada)
	p.Fill("textbox", "Time zone", "Mars/Olympus")
	p.Click("button", "Enrol")
	p.ExpectText("Not enrolled. Time zone: ")
	p.Fill("textbox", "Name (may stay empty)", "Ada")
	p.Fill("textbox", "Time zone", "Europe/Berlin")
	p.Click("button", "Enrol")
	p.ExpectText("Enrolled " + ada)
	p.ExpectText("STOP")
	p.ExpectAccessible()
	p.Type("hi")
	p.Click("button", "Send")
	p.ExpectText("habit")
	p.ExpectAccessible()

	p.Fill("textbox", "Phone number", ada)
	p.Click("button", "Enrol")
	p.ExpectText("Not enrolled. ")
	page := ""
	p.Eval(&page, `async () => document.documentElement.outerHTML + await (await fetch("/sim/phones")).text()`)
	require.NotContains(t, page, token)
	resp, err := http.Get(r.table["API"] + "/conversation/participants")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode, "the API does ask for the token")
}
