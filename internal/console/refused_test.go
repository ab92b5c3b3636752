package console_test

import (
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// TestFocusIsOnWhatWasDone: after an action the title and the focus say what came of it;
// of a refused form the wrong field is named as the page names it, marked and focused.
func TestFocusIsOnWhatWasDone(t *testing.T) {
	browser := browsertest.Start(t)
	w, address := serveThings(t, "Ann", "Ben")
	title := func(p *browsertest.Page) (text string) {
		p.Eval(&text, `() => document.title`)
		return text
	}
	p := browser.Open(t, address+"people/ann", browsertest.View{})
	p.Eval(nil, `() => document.getElementById("do-pause").open = true`)
	p.Fill("textbox", "Reason (kept in the audit)", "on holiday")
	p.Eval(nil, `() => document.getElementById("pause-until").value = "2020-01-01T09:00"`)
	p.Click("button", "Pause")
	p.ExpectText("Not done: Until: must be in the future")
	require.Equal(t, "Not done: Ann · Coachline", title(p))
	var field struct{ Focused, Invalid, Described string }
	p.Eval(&field, `() => {
		const marked = document.querySelectorAll("[aria-invalid]");
		return { focused: document.activeElement.id, invalid: [...marked].map((e) => e.id).join(), described: marked[0]?.getAttribute("aria-describedby") };
	}`)
	require.Equal(t, struct{ Focused, Invalid, Described string }{"pause-until", "pause-until", "problem"}, field)
	p.ExpectAccessible()
	p.Eval(nil, `() => document.getElementById("pause-until").value = "2027-01-01T09:00"`)
	p.Click("button", "Pause")
	p.ExpectText("Paused")
	require.Equal(t, "Paused · Ann · Coachline", title(p))
	p.Eval(&field.Focused, `() => document.activeElement.id`)
	require.Equal(t, "notice", field.Focused)
	p.ExpectAccessible()
	w.expectStreams(t, 1)
	redraw(p, w, "Ben", "Ann")
	var first string
	p.Eval(&first, `() => document.querySelector("main > *").id + " " + document.activeElement.id`)
	require.Equal(t, "notice notice", first, "a page that is drawn anew leaves it where it is")

	w.refuse = "phone_number: must be a number"
	p.Visit(address + "people?enrol=1")
	p.Fill("textbox", "Phone number", "nonsense")
	p.Click("button", "Enrol")
	p.ExpectText("Not done: Phone number: must be a number")
	p.ExpectFocus("textbox", "Phone number")
	w.refuse = "somebody else was first"
	p.Visit(address + "agenda")
	p.Eval(nil, `() => document.getElementById("release-66").open = true`)
	p.Fill("textbox", "Reason (kept in the audit)", "it is over")
	p.Click("button", "Release")
	p.ExpectText("Not done: somebody else was first")
	p.Eval(&field.Focused, `() => document.activeElement.id`)
	require.Equal(t, "problem", field.Focused)
	var open bool
	p.Eval(&open, `() => document.getElementById("release-66").open`)
	require.True(t, open, "what was filled in is shown")
}

// TestPromptAtOnceIsAsked: a daily prompt that would go out at once is asked about where it
// was asked for, and the answer goes with the form.
func TestPromptAtOnceIsAsked(t *testing.T) {
	browser := browsertest.Start(t)
	w, address := serveThings(t, "Ann")
	w.refuse = "first: 12:05 is so near"
	p := browser.Open(t, address+"people/ann", browsertest.View{})
	add := func(reason string) {
		p.Eval(nil, `(reason) => {
			const form = document.getElementById("do-schedule-add");
			form.open = true;
			form.querySelector("[name=at]").value = "12:05";
			form.querySelector("[name=reason]").value = reason;
		}`, reason)
		p.Click("button", "Add the daily prompt")
	}
	var choices int
	p.Eval(&choices, `() => document.querySelectorAll("[name=first]").length`)
	require.Zero(t, choices)
	add("asked on the telephone")
	p.ExpectText("Not done: Today's prompt: 12:05 is so near")
	p.ExpectFocus("combobox", "Today's prompt")
	p.ExpectAccessible()
	p.Eval(nil, `() => { document.querySelector("[name=first]").value = "tomorrow"; }`)
	w.refuse = ""
	add("asked on the telephone")
	p.ExpectText("Added")
	require.JSONEq(t, `{"type":"fixed","at":"12:05","first":"tomorrow"}`, w.sent)
}

// TestNewsIsTold: a crisis and a text that come while a page is open are told by live
// regions, once, and what was there before is not.
func TestNewsIsTold(t *testing.T) {
	browser := browsertest.Start(t)
	for path, tt := range map[string]struct{ region, says string }{
		"":           {"news-urgent", "Cleo wrote a text that may be a crisis. An unknown number wrote a text that may be a crisis"},
		"people/ann": {"news", "New text: heard of Cleo"},
	} {
		w, address := serveThings(t, "Ann", "Ben")
		p := browser.Open(t, address+path, browsertest.View{})
		w.expectStreams(t, 1)
		says := func() (text string) {
			p.Eval(&text, `(region) => document.getElementById(region).textContent`, tt.region)
			return text
		}
		redraw(p, w, "Ben")
		require.Empty(t, says(), path)
		redraw(p, w, "Ben", "Cleo")
		require.Equal(t, tt.says, says())
		p.ExpectAccessible()
		p.Eval(nil, `(region) => { document.getElementById(region).textContent = "" }`, tt.region)
		redraw(p, w, "Cleo", "Ben")
		require.Empty(t, says(), path)
	}
}

// TestFewTabsToTheWork: the message to a person, the list of people and Enrol are a few
// presses of Tab away.
func TestFewTabsToTheWork(t *testing.T) {
	browser := browsertest.Start(t)
	names := []string{"Ann", "Ben", "Cleo", "Dora", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon"}
	_, address := serveThings(t, names...)
	p := browser.Open(t, address+"people/ann", browsertest.View{})
	p.Press(input.Tab, input.Tab)
	p.ExpectFocus("link", "Skip to the message")
	p.Press(input.Enter)
	p.ExpectFocus("textbox", "Message")
	p.ExpectAccessible()
	p.Visit(address + "people")
	p.Press(input.Tab)
	p.ExpectFocus("link", "Skip to content")
	p.Press(input.Enter, input.Tab)
	p.ExpectFocus("DisclosureTriangle", "Enrol a person")
	p.ExpectAccessible()

	_, address = serveThings(t)
	p.Visit(address + "people")
	require.False(t, p.Has("link", "Skip to the list"), "there is none")
	p.ExpectAccessible()
}
