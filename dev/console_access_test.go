package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/browsertest"
	"coachline/models"
)

const goodPassword = "correct horse battery"

// useAccess uses the screens of an administrator on the whole system:
// people and their roles, tokens, sessions, the audit and the settings.
func useAccess(t *testing.T, browser *browsertest.Browser, r *running, receiver webhookReceiver) {
	p := browser.Open(t, r.table["Console"], browsertest.View{})
	narrow := browsertest.View{Width: 320, Height: 700}

	p.Click("link", "Access")
	p.ExpectText("Until there is an administrator")
	p.ExpectAccessible()
	addUser(p, "ada", "too short")
	p.ExpectText("Not done: Password: must have at least 12 characters")
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
	p.ExpectNoText(secret) // the secret is shown once

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
	p.Look(browsertest.View{})
	useWebhooks(t, p, webhookWorld{api: r.table["API"], receiver: receiver.url, takes: receiver.takes, narrow: narrow})
	require.Empty(t, p.Reports(), "the content security policy refused nothing")
}

// webhookWorld is what useWebhooks works on: the API, a receiver and whether it takes
// what it is told.
type webhookWorld struct {
	api, receiver string
	takes         *atomic.Bool
	narrow        browsertest.View
}

// webhookReceiver is a receiver of webhooks that answers 503 until it takes events.
type webhookReceiver struct {
	url   string
	takes *atomic.Bool
}

func startReceiver(t *testing.T) webhookReceiver {
	t.Helper()
	takes := new(atomic.Bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !takes.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	return webhookReceiver{server.URL, takes}
}

// useWebhooks adds a webhook, sees that it fails and why, mends it, changes it and
// removes it.
func useWebhooks(t *testing.T, p *browsertest.Page, w webhookWorld) {
	t.Helper()
	p.Click("link", "Settings")
	p.Click("link", "Webhooks")
	p.ExpectText("No other system is told of anything.")
	p.ExpectAccessible()
	p.Click("DisclosureTriangle", "Add a webhook")
	p.Fill("textbox", "Address that events are posted to (https)", "http://example.org/")
	p.Click("checkbox", "prompt.status")
	p.Fill("textbox", "Reason (kept in the audit)", "nightly import")
	p.Click("button", "Add a webhook")
	p.ExpectText("Not done: Address that events are posted to: must begin with https://")
	p.ExpectAccessible()
	p.Fill("textbox", "Address that events are posted to (https)", w.receiver)
	p.Click("button", "Add a webhook")
	p.ExpectText("it is not shown again:")
	p.ExpectAccessible()
	first := wordWith(t, p, "whsec_")
	p.Click("link", w.receiver)
	p.ExpectText("prompt.status")
	p.ExpectNoText(first) // the secret is shown once

	p.Click("button", "Send a test")
	p.ExpectText("The test will be delivered within seconds")
	hook := expectFailing(t, w.api)
	p.Click("link", "Webhooks")
	p.ExpectText("503")
	p.ExpectAccessible()
	p.Look(w.narrow)
	p.ExpectNoSideScroll()
	p.Look(browsertest.View{})
	p.Click("link", w.receiver)
	p.ExpectText("takes no events since")
	p.Click("link", "Only events that were not delivered")
	p.ExpectText("webhook.test")
	p.ExpectAccessible()

	w.takes.Store(true)
	p.Click("DisclosureTriangle", "Deliver again")
	p.Fill("textbox", "Reason (kept in the audit)", "the receiver was down")
	p.Click("button", "Deliver again")
	p.ExpectText("1 event will be delivered again")
	var page api.Envelope[api.WebhookDeliveryPage]
	require.True(t, waits(soon, func() bool {
		getJSON(t, w.api+"/webhooks/"+hook.ID+"/deliveries?open=true", &page)
		return len(page.Result.Deliveries) == 0
	}))
	changeWebhook(t, p, w, first)
}

// changeWebhook changes the events, the state and the secret of the webhook on the
// page, and removes it.
func changeWebhook(t *testing.T, p *browsertest.Page, w webhookWorld, first string) {
	t.Helper()
	p.Click("link", "Only events that were not delivered")
	p.ExpectText("No events.")
	p.Click("DisclosureTriangle", "Change the webhook")
	p.Click("checkbox", "prompt.status")
	p.Click("radio", "disabled")
	p.Fill("textbox", "Reason (kept in the audit)", "moving house")
	p.Click("button", "Change the webhook")
	p.ExpectText("Webhook changed")
	p.ExpectText("It is disabled.")
	p.ExpectText("every type")
	p.ExpectAccessible()
	p.Look(w.narrow)
	p.ExpectNoSideScroll()
	p.Look(browsertest.View{})
	p.Click("DisclosureTriangle", "Draw a new secret")
	p.Fill("textbox", "Reason (kept in the audit)", "it leaked")
	p.Click("button", "Draw a new secret")
	p.ExpectText("it is not shown again:")
	require.NotEqual(t, first, wordWith(t, p, "whsec_"))
	p.Click("DisclosureTriangle", "Remove the webhook")
	p.Fill("textbox", "Reason (kept in the audit)", "no longer wanted")
	p.Click("button", "Remove the webhook")
	p.ExpectText("No other system is told of anything.")
	p.Click("link", "Audit")
	p.ExpectText("webhook_test")
	p.ExpectText("moving house")
	p.ExpectText("no longer wanted")
}

// expectFailing waits until the one webhook fails.
func expectFailing(t *testing.T, address string) models.Webhook {
	t.Helper()
	var list api.Envelope[api.WebhookList]
	require.True(t, waits(soon, func() bool {
		getJSON(t, address+"/webhooks", &list)
		return list.Result.Webhooks[0].FailingSince != nil
	}))
	return list.Result.Webhooks[0]
}

// wordWith returns the word of the page that begins with a prefix.
func wordWith(t *testing.T, p *browsertest.Page, prefix string) string {
	t.Helper()
	for word := range strings.FieldsSeq(p.Text()) {
		if strings.HasPrefix(word, prefix) {
			return word
		}
	}
	t.Fatalf("the page shows no %s", prefix)
	return ""
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
	return wordWith(t, p, "clt_")
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
	p.ExpectNoText("left her desk")
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
