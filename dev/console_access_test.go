package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

const goodPassword = "correct horse battery"

// TestConsoleAccess uses the screens of an administrator on the whole system:
// people and their roles, tokens, sessions, the audit and the settings.
func TestConsoleAccess(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	r := launchIn(t, nil, "--ephemeral")
	p := browser.Open(t, r.table["Console"], browsertest.View{})
	narrow := browsertest.View{Width: 320, Height: 700}

	p.Click("link", "Access")
	p.ExpectText("Until there is an administrator")
	p.ExpectAccessible()
	addUser(p, "ada", "too short")
	p.ExpectText("Not done: password: must have at least 12 characters")
	p.ExpectValue("textbox", "Login, such as ada or ada@example.org", "ada")
	p.ExpectAccessible()
	p.Fill("textbox", "Password", goodPassword)
	p.Click("button", "Add a user")
	p.ExpectText("User created")
	p.ExpectAccessible()
	p.Look(narrow)
	p.ExpectNoSideScroll()
	p.ExpectAccessible()
	p.Look(browsertest.View{})

	secret := makeToken(t, p)
	p.Click("link", "Access")
	require.NotContains(t, p.Text(), secret, "the secret is shown once")

	signInAndOut(t, browser, p, r.table["Console"])
	readAudit(t, p, narrow)

	p.Click("link", "Settings")
	p.ExpectText("COACH_PAYLOAD_KEYS")
	p.ExpectAccessible()
	p.Click("link", "Run the checks")
	p.ExpectText("What was checked just now")
	p.ExpectAccessible()
	p.Look(narrow)
	p.ExpectNoSideScroll()
	require.Empty(t, p.Reports(), "the content security policy refused nothing")
}

func addUser(p *browsertest.Page, login, password string) {
	p.Click("DisclosureTriangle", "Add a user")
	p.Fill("textbox", "Login, such as ada or ada@example.org", login)
	p.Fill("textbox", "Name", "Ada L")
	p.Fill("textbox", "Password", password)
	p.Fill("textbox", "Reason (kept in the audit)", "new coach")
	p.Click("button", "Add a user")
}

// makeToken makes a token and returns its secret.
func makeToken(t *testing.T, p *browsertest.Page) string {
	t.Helper()
	p.Click("DisclosureTriangle", "Make a token")
	p.Fill("textbox", "Name, which the audit shows", "redcap")
	p.Click("checkbox", "export:read")
	p.Fill("textbox", "Reason (kept in the audit)", "nightly export")
	p.Click("button", "Make a token")
	p.ExpectText("Copy it now; it is not shown again:")
	p.ExpectAccessible()
	for word := range strings.FieldsSeq(p.Text()) {
		if strings.HasPrefix(word, "clt_") {
			return word
		}
	}
	t.Fatal("the page shows no token")
	return ""
}

// signInAndOut signs ada in in a second browser, and out from the first.
func signInAndOut(t *testing.T, browser *browsertest.Browser, admin *browsertest.Page, console string) {
	t.Helper()
	p := browser.Open(t, console+"login", browsertest.View{})
	p.ExpectAccessible()
	p.Fill("textbox", "Login", "ada")
	p.Fill("textbox", "Password", "wrong horse battery")
	p.Click("button", "Sign in")
	p.ExpectText("Login or password is wrong.")
	p.ExpectAccessible()
	p.Fill("textbox", "Password", goodPassword)
	p.Click("button", "Sign in")
	p.ExpectText("Ada L (coach)")
	require.False(t, p.Has("link", "Access"), "a coach manages no users")
	require.False(t, p.Has("link", "Audit"))
	admin.Click("link", "Access")
	admin.ExpectText("Browsers that are signed in")
	admin.Click("DisclosureTriangle", "Sign ada out")
	admin.Fill("textbox", "Reason (kept in the audit)", "left her desk")
	admin.Click("button", "Sign ada out")
	admin.ExpectText("Signed out")
	p.Click("link", "People")
	// On this machine without a token the next page is the local administrator's.
	p.ExpectText("Signed in as admin without a password")
}

func readAudit(t *testing.T, p *browsertest.Page, narrow browsertest.View) {
	t.Helper()
	p.Click("link", "Audit")
	p.ExpectText("user_create")
	p.ExpectText("left her desk")
	p.ExpectAccessible()
	p.Fill("textbox", "Action, such as update", "token_create")
	p.Click("button", "Show")
	p.ExpectText("Rows that match")
	p.ExpectText("nightly export")
	require.NotContains(t, p.Text(), "left her desk")
	var exported string
	p.Eval(&exported, `async () => (await fetch([...document.links].find(a => a.text === "Export these rows as CSV").href)).text()`)
	require.Contains(t, exported, "token_create")
	require.NotContains(t, exported, "session_revoke")
	p.Click("link", "Check the chain")
	p.ExpectText("The audit is whole")
	p.ExpectAccessible()
	p.Look(narrow)
	p.ExpectNoSideScroll()
	p.Look(browsertest.View{})
}
