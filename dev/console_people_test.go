package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// TestConsolePeople finds people and does things for several of them at once, from
// today's screen.
func TestConsolePeople(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	r := launchIn(t, calm, "--ephemeral")
	anna := &person{t: t, number: ada, r: r}
	ben := &person{t: t, number: "+12025550124", r: r}
	require.Equal(t, http.StatusCreated, anna.enroll("Ada Quill", "America/New_York"))
	require.Equal(t, http.StatusCreated, ben.enroll("Ben Adams", "Europe/Berlin"))
	anna.next(soon)
	ben.next(soon)

	p := browser.Open(t, r.table["Console"], browsertest.View{})
	todayShowsACrisis(p, anna)
	findPeople(t, p)
	crisisIsTakenOver(p, anna)
	filtersAreSaved(p)
	choiceOutlivesAChange(p, ben)
	sendToSeveral(p, anna, ben)
	pauseEverybody(p)
	smallDarkAndByKeyboard(browser, t, r)
}

// todayShowsACrisis: it comes without a reload and leads to the list behind it.
func todayShowsACrisis(p *browsertest.Page, anna *person) {
	p.ExpectText("No open crisis.")
	p.ExpectAccessible()
	anna.says("I want to kill myself")
	p.ExpectText("Crisis: 1 person")
	p.ExpectText("Ada Quill wrote ")
	p.ExpectAccessible()
	p.Click("link", "Crisis: 1 person")
	p.ExpectText("Attention")
	p.ExpectText("Ada Quill")
	require.True(anna.t, isTicked(p, "Crisis"))
	require.False(anna.t, isTicked(p, "Failed text"))
	p.ExpectAccessible()
}

// isTicked reports whether the box with a label is ticked.
func isTicked(p *browsertest.Page, label string) (ticked bool) {
	p.Eval(&ticked, `(label) => [...document.querySelectorAll("label")].find((l) => l.textContent.trim() === label).querySelector("input").checked`, label)
	return ticked
}

// crisisIsTakenOver: Today and the list of people say who sees to a crisis.
func crisisIsTakenOver(p *browsertest.Page, anna *person) {
	p.Click("link", "Today")
	p.ExpectText("not acknowledged")
	status, answer := send(anna.t, http.MethodPost, anna.api("/takeover"), map[string]any{})
	require.Equal(anna.t, http.StatusOK, status, answer)
	p.ExpectText("operator took the conversation over just now. operator acknowledged the alert just now.")
	p.ExpectAccessible()
	p.Click("link", "People")
	p.ExpectText("2 people found")
	p.Click("checkbox", "are taken over")
	p.Click("button", "Find")
	p.ExpectText("1 person found")
	p.ExpectText("operator, just now")
	var chosen string
	p.Eval(&chosen, `() => document.getElementById("f-taken_over_by").value = "alert"`)
	p.Click("button", "Find")
	p.ExpectText("0 people found")
	p.Click("link", "Show everybody")
	p.Click("checkbox", "Crisis")
	p.Click("checkbox", "Failed text")
	p.Click("button", "Find")
	p.ExpectText("1 person found")
	p.ExpectAccessible()
	status, answer = send(anna.t, http.MethodDelete, anna.api("/takeover"), map[string]any{})
	require.Equal(anna.t, http.StatusOK, status, answer)
	p.Click("link", "Show everybody")
	p.ExpectText("2 people found")
}

// filtersAreSaved saves the filters of the list under a name, and goes back to them.
func filtersAreSaved(p *browsertest.Page) {
	p.Fill("searchbox", "Part of the name", "quill")
	p.Click("checkbox", "Crisis")
	p.Click("button", "Find")
	p.ExpectText("1 person found")
	openForm(p, "Save these filters")
	p.Fill("textbox", "Name of the saved filters", "Open crises")
	p.Click("checkbox", "Show them to every operator")
	p.ExpectAccessible()
	p.Click("button", "Save")
	p.ExpectText("Saved")
	p.ExpectValue("searchbox", "Part of the name", "")
	openForm(p, "Save these filters")
	p.Fill("textbox", "Name of the saved filters", "Open crises")
	p.Click("button", "Save")
	p.ExpectText("Not done: Name of the saved filters: is taken by another view of yours")
	p.Click("link", "Show everybody")
	p.ExpectText("2 people found")
	p.Click("link", "Open crises")
	p.ExpectText("1 person found")
	p.ExpectText("of operator")
	openForm(p, "Delete saved filters")
	p.ExpectAccessible()
	p.Click("button", "Delete “Open crises”")
	p.ExpectText("View deleted")
	p.ExpectText("2 people found")
}

func findPeople(t *testing.T, p *browsertest.Page) {
	p.Click("link", "Show everybody")
	p.ExpectText("2 people found")
	require.False(t, isTicked(p, "Crisis"))
	p.Fill("searchbox", "Part of the name", "QUILL")
	p.Click("button", "Find")
	p.ExpectText("1 person found")
	p.ExpectText("Ada Quill")
	p.Click("link", "Show everybody")
	p.ExpectText("2 people found")
	p.Fill("textbox", "Whole phone number", "(202) 555-0124")
	p.Click("button", "Find")
	p.ExpectText("1 person found")
	p.ExpectText("Ben Adams")
	p.Fill("textbox", "Whole phone number", "12")
	p.Click("button", "Find")
	p.ExpectText("Not done: Whole phone number: ")
	p.ExpectText("0 people found")
	p.ExpectAccessible()
	p.Click("link", "Show everybody")
	p.ExpectText("2 people found")
}

// choiceOutlivesAChange: boxes that are ticked stay so when the page redraws itself,
// not only the one that has the focus.
func choiceOutlivesAChange(p *browsertest.Page, ben *person) {
	p.Click("checkbox", "Choose Ben Adams")
	p.Click("checkbox", "Choose Ada Quill")
	cleo := &person{t: ben.t, number: "+12025550125", r: ben.r}
	require.Equal(ben.t, http.StatusCreated, cleo.enroll("Cleo", "UTC"))
	p.ExpectText("3 people found")
	var ticked bool
	p.Eval(&ticked, `() => document.querySelector('[aria-label="Choose Ben Adams"]').checked`)
	require.True(ben.t, ticked)
}

// sendToSeveral shows who is meant; a person who left meanwhile fails alone.
func sendToSeveral(p *browsertest.Page, anna, ben *person) {
	p.Click("button", "Send a message…")
	p.ExpectText("Send a message: 2 people")
	p.ExpectText("Ada Quill")
	p.ExpectText("Ben Adams")
	p.ExpectAccessible()
	p.Fill("textbox", "Message", "The office is closed today.")
	p.Fill("textbox", "Reason (kept in the audit)", "public holiday")
	status, answer := send(ben.t, http.MethodDelete, ben.api(""), nil)
	require.Equal(ben.t, http.StatusOK, status, answer)
	p.Click("button", "Send a message for 2 people")
	p.ExpectText("Done for 1 person.")
	p.ExpectText("Failed for 1 person")
	p.ExpectText("participant not found")
	p.ExpectAccessible()
	require.Contains(anna.t, anna.next(soon), "The office is closed today.")
}

func pauseEverybody(p *browsertest.Page) {
	p.Click("link", "Back to people")
	p.Click("checkbox", "Everybody whom these filters list, up to 200")
	p.Click("button", "Pause…")
	p.ExpectText("Pause: 2 people")
	p.Fill("textbox", "Reason (kept in the audit)", " ")
	p.Click("button", "Pause for 2 people")
	p.ExpectText("Not done: Reason: must not be empty")
	p.Fill("textbox", "Reason (kept in the audit)", "server work")
	p.Click("button", "Pause for 2 people")
	p.ExpectText("Done for 2 people.")
	p.ExpectText("None failed.")
	p.Click("link", "Back to people")
	p.ExpectText("Paused")
}

func smallDarkAndByKeyboard(browser *browsertest.Browser, t *testing.T, r *running) {
	small := browsertest.View{Width: 320, Height: 640, Dark: true}
	p := browser.Open(t, r.table["Console"], small)
	p.ExpectText("enrolled in all")
	p.ExpectNoSideScroll()
	p.ExpectAccessible()
	p.TabTo("link", "2 enrolled in all")
	p.Press(input.Enter)
	p.ExpectText("Ada Quill")
	p.ExpectNoSideScroll()
	p.ExpectAccessible()
	p.TabTo("checkbox", "Choose Ada Quill")
	p.Press(input.Space)
	p.TabTo("button", "Resume…")
	p.Press(input.Enter)
	p.ExpectText("Resume: 1 person")
	p.ExpectNoSideScroll()
	p.ExpectAccessible()
	p.TabTo("textbox", "Reason (kept in the audit)")
	p.Type("work is done")
	p.Press(input.Enter)
	p.ExpectText("Done for 1 person.")
	contrast := browser.Open(t, strings.TrimSuffix(r.table["Console"], "/")+"/people?sort=name", browsertest.View{ForcedColors: true})
	contrast.ExpectText("Ada Quill")
	contrast.ExpectAccessible()
}
