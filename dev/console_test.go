package main

import (
	"slices"
	"strings"
	"testing"

	"coachline/internal/browsertest"
)

// TestConsoleOfProgramme uses the screens of the whole programme on one system, each
// part as the one before has left it.
func TestConsoleOfProgramme(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	r := launchIn(t, calm, "--ephemeral")
	t.Run("agenda", func(t *testing.T) { useAgenda(t, browser, r) })
	t.Run("delivery", func(t *testing.T) { useDelivery(t, browser, r) })
	t.Run("studies", func(t *testing.T) { useStudies(t, browser, r) })
	t.Run("import", func(t *testing.T) { importPeople(t, browser, r) })
}

// TestConsoleOfOperators uses what operators do for one person and for each other, on
// one system.
func TestConsoleOfOperators(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	receiver := startReceiver(t)
	r := launchIn(t, append(slices.Clone(calm), "COACH_WEB_ALLOW="+strings.TrimPrefix(receiver.url, "http://")), "--ephemeral")
	t.Run("take-over", func(t *testing.T) { takeOver(t, browser, r) })
	t.Run("access", func(t *testing.T) { useAccess(t, browser, r, receiver) })
}

// TestConsole uses the console as a coordinator does, on the whole system.
func TestConsole(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	r := launchIn(t, []string{"COACH_QUIET_HOURS=", "COACH_DEBOUNCE=0"}, "--ephemeral")
	p := browser.Open(t, r.table["Console"], browsertest.View{})
	p.ExpectText("Signed in as admin without a password")
	p.ExpectText("Nobody is enrolled yet")
	p.ExpectAccessible()

	p.Click("link", "Enrol the first person")
	p.Fill("textbox", "Phone number", "nonsense")
	p.Click("button", "Enrol")
	p.ExpectText("Not done: Phone number: ")
	p.ExpectAccessible()
	p.Fill("textbox", "Phone number", ada)
	p.Fill("textbox", "Name", "Ada")
	p.Fill("textbox", "Time zone, such as America/New_York", "America/New_York")
	p.Click("checkbox", "They have just signed up themselves: greet them at once")
	p.Click("button", "Enrol")
	p.ExpectText("Are you ready to start?") // The greeting comes without a reload.
	p.ExpectAccessible()

	// A text from her phone and its answer show up while a draft is written.
	p.Fill("textbox", "Message", "Hello from the")
	phone := browser.Open(t, r.table["Phones"], browsertest.View{})
	phone.ExpectText("Are you ready to start?")
	phone.Type("hi")
	phone.Click("button", "Send")
	phone.ExpectText("habit")
	p.ExpectText("habit")
	p.ExpectValue("textbox", "Message", "Hello from the")
	p.Fill("textbox", "Message", "Hello from the team")
	p.Click("button", "Send")
	p.ExpectText("Hello from the team")
	phone.ExpectText("Hello from the team")
}
