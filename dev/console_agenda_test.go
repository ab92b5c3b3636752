package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// useAgenda holds everybody's prompts on the agenda and releases them.
func useAgenda(t *testing.T, browser *browsertest.Browser, r *running) {
	p := browser.Open(t, r.table["Console"]+"agenda", browsertest.View{})
	p.ExpectText("No prompts are planned in this time.")
	p.ExpectText("No prompts are held.")
	p.ExpectAccessible()

	p.Eval(nil, `() => document.getElementById("hold").open = true`)
	p.Eval(nil, `() => document.getElementById("until").value = "2020-01-01T00:00"`)
	p.Fill("textbox", "Reason (kept in the audit)", "Public holiday")
	p.Click("button", "Hold prompts")
	p.ExpectText("Not done: Until: must be in the future")
	p.ExpectAccessible()
	p.Eval(nil, `() => document.getElementById("until").value = new Date(Date.now() + 864e5).toISOString().slice(0, 16)`)
	p.Click("button", "Show what it stops")
	p.ExpectText("It stops 0 planned prompts")
	// A form that is sent twice makes one hold.
	p.Eval(nil, `async () => {
		const form = document.querySelector("#hold form"), body = new URLSearchParams(new FormData(form));
		body.set("step", "hold");
		await fetch(form.action, {method: "POST", body});
	}`)
	p.Click("button", "Hold prompts")
	p.ExpectText("Everybody's prompts until")
	var holds int
	p.Eval(&holds, `() => document.querySelectorAll("section[aria-labelledby=holds] li").length`)
	require.Equal(t, 1, holds)
	p.ExpectText("Public holiday")
	p.ExpectAccessible()
	p.Look(browsertest.View{Width: 320, Dark: true})
	p.ExpectNoSideScroll()
	p.ExpectAccessible()

	p.Eval(nil, `() => document.querySelector("section[aria-labelledby=holds] li details").open = true`)
	p.Fill("textbox", "Reason (kept in the audit)", "Back at work")
	p.Click("button", "Release")
	p.ExpectText("No prompts are held.")
}
