package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"
	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

const summary = "DisclosureTriangle"

// conversation is the page of one person in a browser.
type conversation struct {
	*browsertest.Page
	ada     *person
	browser *browsertest.Browser
}

func (c *conversation) address() string {
	return strings.TrimSuffix(c.ada.r.table["Console"], "/") + "/people/" + c.ada.id
}

// another opens the page a second time.
func (c *conversation) another(t *testing.T) *browsertest.Page {
	return c.browser.Open(t, c.address(), browsertest.View{})
}

// openForm opens what a summary stands for, wherever the page has it while new
// messages move it.
func openForm(p *browsertest.Page, title string) {
	p.Eval(nil, `title => { [...document.querySelectorAll("summary")].find(s => s.textContent === title).click() }`, title)
}

// act opens a form, gives a reason and sends it.
func (c *conversation) act(title, button string) {
	openForm(c.Page, title)
	c.reason(button)
}

func (c *conversation) reason(button string) {
	c.Fill("textbox", "Reason (kept in the audit)", "asked for by phone")
	c.Click("button", button)
}

// TestConsoleConversation uses the page of a person as a coordinator does. The
// steps build on each other.
func TestConsoleConversation(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	r := launchIn(t, []string{"COACH_QUIET_HOURS=", "COACH_DEBOUNCE=0"}, "--ephemeral")
	p := &person{t: t, number: ada, r: r}
	require.Equal(t, http.StatusCreated, p.enroll("Ada", "America/New_York"))
	p.next(soon)
	c := &conversation{ada: p, browser: browser}
	c.Page = browser.Open(t, c.address(), browsertest.View{})
	c.ExpectText("Are you ready to start?")
	for _, step := range []struct {
		name string
		run  func(*testing.T, *conversation)
	}{
		{"live answer and why", expectWhy}, {"message with a draft that stays", expectDraft}, {"refused form keeps what was filled in", expectRefusal},
		{"two operators", expectConflict}, {"narrow, dark and forced colours", expectLooks}, {"pause by keyboard and resume", expectPause},
		{"daily prompts of an operator", expectSchedules}, {"crisis is marked as handled", expectCrisis}, {"failed delivery and a new number", expectFailure},
		{"mode and memory", expectMode}, {"without script", expectPlainForms}, {"opt-out and removal", expectOptOut}, {"erasure", expectErasure},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, c) }) {
			return
		}
	}
}

func expectWhy(t *testing.T, c *conversation) {
	require.Contains(t, c.ada.says("hi"), "habit")
	c.ExpectText("What small habit would you like") // without a reload
	c.ExpectText("delivered")
	c.ExpectAccessible()
	var label string
	c.Eval(&label, `() => [...document.querySelectorAll('a[aria-label^="Why"]')].at(-1).getAttribute("aria-label")`)
	c.Click("link", label)
	for _, text := range []string{label, "Prompt version", "Tokens", "Stage", "What came in", "What went out", "habit"} {
		c.ExpectText(text)
	}
	openForm(c.Page, "The whole record as JSON")
	c.ExpectText(`"prompt_version"`)
	c.ExpectAccessible()
	c.Look(browsertest.View{Width: 320, Height: 700, Dark: true})
	c.ExpectNoSideScroll()
	c.ExpectAccessible()
	c.Look(browsertest.View{})
	c.Click("link", "Back to the conversation")
	c.ExpectText("Are you ready to start?")
}

func expectDraft(t *testing.T, c *conversation) {
	c.Fill("textbox", "Message", "Hello from the")
	c.ada.text("what was that again?")
	c.ExpectText("what was that again?")
	c.ExpectText(c.ada.next(soon)) // so that what is clicked moves no more
	c.ExpectValue("textbox", "Message", "Hello from the")
	c.Fill("textbox", "Message", "Hello from the team")
	c.Click("button", "Send")
	c.ExpectText("Message queued")
	require.Equal(t, "Hello from the team", c.ada.next(soon))
}

func expectRefusal(_ *testing.T, c *conversation) {
	openForm(c.Page, "Change name, time zone, locale or background")
	c.Fill("textbox", "Time zone", "Mars/Base")
	c.Fill("textbox", "Background", "likes to walk")
	c.reason("Save")
	c.ExpectText("Not done: Time zone: unknown zone")
	c.ExpectValue("textbox", "Time zone", "Mars/Base")
	c.ExpectValue("textbox", "Background", "likes to walk")
	c.ExpectValue("textbox", "Reason (kept in the audit)", "asked for by phone")
	c.ExpectAccessible()
	c.Fill("textbox", "Time zone", "Europe/Berlin")
	c.Click("button", "Save")
	c.ExpectText("Participant updated")
	c.ExpectText("likes to walk")
	c.ExpectText("Europe/Berlin")
	c.ExpectText("asked for by phone") // in the audit beside it
}

func expectConflict(t *testing.T, c *conversation) {
	other := c.another(t)
	openForm(other, "Change name, time zone, locale or background")
	other.Fill("textbox", "Name", "Adela")
	openForm(c.Page, "Change name, time zone, locale or background")
	c.Fill("textbox", "Name", "Adele")
	c.reason("Save")
	c.ExpectText("Participant updated")
	other.ExpectText("Adele") // live, and the half-written form stays as it was
	other.ExpectValue("textbox", "Name", "Adela")
	other.Fill("textbox", "Reason (kept in the audit)", "a letter")
	other.Click("button", "Save")
	other.ExpectText("Not done: somebody else has changed this person")
	other.ExpectText(`Name was "Ada" and is now "Adele".`)
	other.ExpectValue("textbox", "Name", "Adela")
	other.ExpectAccessible()
	other.Click("button", "Save")
	other.ExpectText("Participant updated")
	c.ExpectText("Adela")
}

func expectLooks(_ *testing.T, c *conversation) {
	for _, view := range []browsertest.View{{Width: 320, Height: 700}, {Dark: true}, {ForcedColors: true}} {
		c.Look(view)
		c.ExpectNoSideScroll()
		c.ExpectAccessible()
	}
	c.Look(browsertest.View{})
}

func expectPause(t *testing.T, c *conversation) {
	c.TabTo(summary, "Pause")
	c.Press(input.Enter)
	c.TabTo("textbox", "Reason (kept in the audit)")
	c.Type("on holiday")
	c.Eval(nil, `() => document.getElementById("pause-until").value = "2020-01-01T09:00"`)
	c.Press(input.Tab)
	c.ExpectFocus("button", "Show what it does")
	c.Press(input.Tab)
	c.ExpectFocus("button", "Pause")
	c.Press(input.Enter)
	c.ExpectText("Not done: Until: must be in the future")
	until := time.Now().AddDate(0, 0, 3).Format("2006-01-02") + "T09:00"
	c.Eval(nil, `until => document.getElementById("pause-until").value = until`, until)
	c.Click("button", "Show what it does")
	c.ExpectText("The person is resumed on")
	c.ExpectAccessible()
	c.Click("button", "Pause")
	c.ExpectText("on holiday")
	c.ExpectText("Paused until")
	c.ExpectText("pause end") // of the list of what is due
	agenda := c.browser.Open(t, c.ada.r.table["Console"]+"agenda?span=week", browsertest.View{})
	agenda.ExpectText("Pauses that end")
	agenda.ExpectText("Adela")
	agenda.ExpectAccessible()
	c.ada.text("are you there?")
	c.ExpectText("Waiting messages")
	c.ExpectAccessible()
	openForm(c.Page, "Resume")
	c.Click("radio", "Count them as read")
	c.reason("Resume")
	c.ExpectText("Resumed")
	c.ExpectNoText("Waiting messages")
}

// expectSchedules adds a daily prompt a few hours ahead, moves its next one, and
// removes it.
func expectSchedules(t *testing.T, c *conversation) {
	zone, err := time.LoadLocation("Europe/Berlin") // since the refused form was corrected
	require.NoError(t, err)
	tomorrow := time.Now().In(zone).AddDate(0, 0, 1)
	openForm(c.Page, "Add a daily prompt")
	c.Eval(nil, `() => document.getElementById("schedule-add-at").value = "12:00"`)
	c.Fill("textbox", "Reason (kept in the audit)", "asked for by phone")
	c.Click("button", "Show what it does")
	c.ExpectText("nothing was done yet; the next prompt would go out on")
	c.ExpectAccessible()
	c.Click("button", "Add the daily prompt")
	c.ExpectText("12:00 Europe/Berlin")
	openForm(c.Page, "Move the next prompt of 12:00")
	c.Eval(nil, `at => document.querySelector('[id^="prompt-move"][id$="-to"]').value = at`, tomorrow.AddDate(0, 0, 7).Format("2006-01-02")+"T12:00")
	c.Fill("textbox", "Reason (kept in the audit)", "asked for by phone")
	c.Click("button", "Move the prompt")
	c.ExpectText("New time: must be before the prompt that follows")
	c.ExpectAccessible()
	openForm(c.Page, "Move the next prompt of 12:00") // closes it
	openForm(c.Page, "Remove the daily prompt of 12:00")
	c.Fill("textbox", "Reason (kept in the audit)", "asked for by phone")
	c.Click("button", "Remove the daily prompt")
	c.ExpectText("Removed")
}

func expectCrisis(t *testing.T, c *conversation) {
	c.ada.says("I want to kill myself")
	c.ExpectText("Needs a person: crisis")
	c.ExpectText("possible crisis: self harm")
	c.ExpectAccessible()
	c.Click("link", "Mark as handled") // opens the form
	c.Fill("textbox", "What was done (kept sealed with the alert)", "called back, a friend is there")
	c.reason("Mark as handled")
	c.ExpectText("Marked as handled")
	c.ExpectNoText("Needs a person")
}

func expectFailure(t *testing.T, c *conversation) {
	status, answer := send(t, http.MethodPost, strings.TrimSuffix(c.ada.r.table["Phones"], "/")+"/faults",
		map[string]any{"target": "carrier", "kind": "http", "status": 400, "code": 21614, "to": ada})
	require.Equal(t, http.StatusCreated, status, answer)
	c.Fill("textbox", "Message", "Does this arrive?")
	c.Click("button", "Send")
	c.ExpectText("Code 21614: the number is not a mobile number. Ask the person by another way for the right number, and change it here.")
	c.ExpectText("The carrier cannot reach the number")
	c.ExpectAccessible()
	openForm(c.Page, "Change the phone number")
	c.Fill("textbox", "New phone number", "12")
	c.reason("Change the number")
	c.ExpectText("Not done: New phone number: ")
	c.ExpectValue("textbox", "New phone number", "12")
	c.ada.number = "+12025550177"
	c.Fill("textbox", "New phone number", c.ada.number)
	c.Click("button", "Change the number")
	c.ExpectText("Participant updated")
	c.ExpectText(c.ada.number)
	c.ada.seen = 0
	c.Fill("textbox", "Message", "Now it does.")
	c.Click("button", "Send")
	require.Equal(t, "Now it does.", c.ada.next(soon))
}

func expectMode(_ *testing.T, c *conversation) {
	openForm(c.Page, "Set the mode")
	c.Eval(nil, `() => { document.getElementById("mode").value = "FEEDBACK" }`)
	c.reason("Set the mode")
	c.ExpectText("Mode set")
	c.ExpectText("feedback")
	c.act("Forget everything", "Forget everything")
	c.ExpectText("Forgotten")
	c.ExpectAccessible()
}

// expectPlainForms reads and acts as a browser without script does.
func expectPlainForms(t *testing.T, c *conversation) {
	status, body := sendForm(t, c.address()+"/pause", "reason=by+hand&about=people/"+c.ada.id+"/pause")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Paused")
	require.Contains(t, body, "Now it does.")
	status, body = sendForm(t, c.address()+"/resume", "reason=again&waiting=nonsense&about=people/"+c.ada.id+"/resume")
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, body, "Not done: ")
	require.NotContains(t, body, "Resumed")
	c.ExpectText("paused")
}

func expectOptOut(_ *testing.T, c *conversation) {
	c.act("Record an opt-out", "Record the opt-out")
	c.ExpectText("The person has opted out; nothing may be sent until they text START.")
	c.ExpectText("opt out")
	c.ExpectText("operator")
	c.ExpectAccessible()
	c.act("Remove from the programme", "Remove")
	c.ExpectText("Participant removed")
}

func expectErasure(t *testing.T, c *conversation) {
	ben := &person{t: t, number: "+12025550188", r: c.ada.r}
	require.Equal(t, http.StatusCreated, ben.enroll("Ben", "UTC"))
	ben.next(soon)
	erased := &conversation{ada: ben, browser: c.browser}
	erased.Page = erased.another(t)
	openForm(erased.Page, "Erase the person")
	erased.Fill("textbox", "The person's id once more: "+ben.id, ada)
	erased.reason("Erase for good")
	erased.ExpectText("Not done: The person's id once more: must be the participant's id")
	erased.ExpectAccessible()
	erased.Fill("textbox", "The person's id once more: "+ben.id, ben.id)
	erased.Click("button", "Erase for good")
	erased.ExpectText("Erasure of " + ben.id)
	erased.ExpectText("The person is being erased")
	erased.ExpectAccessible()
	erased.ExpectText("Finished")
}

// sendForm posts a form and follows the redirect with its cookie.
func sendForm(t *testing.T, address, form string) (int, string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := (&http.Client{Jar: jar}).Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}
