package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// takeOver takes a conversation over and hands it back, on the whole
// system: the coach is silent meanwhile, and answers what came then.
func takeOver(t *testing.T, browser *browsertest.Browser, r *running) {
	p := browser.Open(t, r.table["Console"]+"people?enrol=1", browsertest.View{})
	p.Fill("textbox", "Phone number", ada)
	p.Fill("textbox", "Name", "Ada")
	p.Fill("textbox", "Time zone, such as America/New_York", "America/New_York")
	p.Click("checkbox", "They have just signed up themselves: greet them at once")
	p.Click("button", "Enrol")
	p.ExpectText("Are you ready to start?")

	openForm(p, "Take the conversation over")
	p.Fill("textbox", "Note to the coach (never sent to the person)", "Her mother is ill")
	p.Fill("textbox", "Reason (kept in the audit)", "she asked for a person")
	p.ExpectAccessible()
	p.Click("button", "Take the conversation over")
	p.ExpectText("You have the conversation; the coach is silent")
	p.ExpectText("operator took this conversation over")
	p.ExpectAccessible()

	phone := browser.Open(t, r.table["Phones"], browsertest.View{})
	phone.ExpectText("Are you ready to start?")
	(&person{t: t, number: ada, r: r}).text("is anybody there?")
	p.ExpectText("is anybody there?") // It waits for the operator.
	p.Fill("textbox", "Message", "This is Eve from the team, I am here")
	p.Click("button", "Send")
	phone.ExpectText("This is Eve from the team, I am here")
	p.ExpectText("by operator")
	p.ExpectText("Her mother is ill")

	openForm(p, "Hand the conversation back")
	p.Click("radio", "Have the coach answer them")
	p.Fill("textbox", "Reason (kept in the audit)", "she is well again")
	p.Click("button", "Hand back")
	p.ExpectText("Handed back; the coach answers again")
	phone.ExpectText("What small habit would you like to start with?")

	// A number that is not enrolled.
	stranger := &person{t: t, number: "+12025550119", r: r}
	require.Contains(t, stranger.says("i want to kill myself"), "988")
	p.Click("link", "Today")
	p.ExpectText("Crisis: numbers that are not enrolled")
	p.ExpectAccessible()
	p.Click("link", "An unknown number")
	p.ExpectText("i want to kill myself")
	p.ExpectText("+12025550119, which is not enrolled")
	p.ExpectAccessible()
	p.Look(browsertest.View{Width: 320})
	p.ExpectNoSideScroll()
	p.Look(browsertest.View{})
	p.Click("button", "Acknowledge: I see to it")
	p.ExpectText("operator acknowledged the alert")
	p.Click("link", "Today")
	p.ExpectText("No open crisis.")
}
