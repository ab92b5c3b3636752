package twilio

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

func TestPageFiles(t *testing.T) {
	api := newParticipantsAPI(t)
	b := start(t, enrolConfig(api))
	for path, kind := range map[string]string{
		"": "text/html; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "page.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		resp, err := http.Get(b.URL + "/sim/" + path)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
		require.Equal(t, kind, resp.Header.Get("Content-Type"), path)
		require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-store", resp.Header.Get("Cache-Control"), path)
		for _, forbidden := range []string{apiToken, "https://", "innerHTML", "insertAdjacentHTML", "document.write", "style=", "<style", "onclick"} {
			require.NotContains(t, string(body), forbidden, path)
		}
		policy := resp.Header.Get("Content-Security-Policy")
		require.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, policy, "data:")
	}
	resp, err := http.Get(b.URL + "/sim/other.js")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
}

// coached is a simulator whose coach repeats what it is texted.
func coached(t *testing.T) *bench {
	t.Helper()
	var b *bench
	a := newApp(t, func(_ int, h hook) int {
		if h.path == "/twilio/inbound" {
			form := url.Values{"To": {h.form.Get("From")}, "From": {coachPhone}, "Body": {"You said: " + h.form.Get("Body")}}
			if resp, err := http.DefaultClient.Do(b.sendRequest(t, form)); err == nil {
				_ = resp.Body.Close()
			}
		}
		return http.StatusOK
	})
	cfg := enrolConfig(newParticipantsAPI(t))
	cfg.InboundURL = a.URL + "/twilio/inbound"
	b = start(t, cfg)
	return b
}

func TestPhonePage(t *testing.T) {
	browser := browsertest.Start(t)
	t.Run("enrol, text, answer", func(t *testing.T) {
		p := browser.Open(t, coached(t).URL+"/sim/", browsertest.View{})
		p.Fill("textbox", "Phone number", "+1 (2025550123")
		p.Fill("textbox", "Name (may stay empty)", "Ada")
		p.Click("button", "Enrol")
		p.ExpectText("Enrolled +12025550123. The greeting is on its way.")
		p.ExpectFocus("textbox", "Text to the coach")
		p.Type("hello")
		p.Click("button", "Send")
		p.ExpectText("You said: hello")
		p.ExpectValue("textbox", "Text to the coach", "")
	})
	t.Run("wrong number, wrong zone", func(t *testing.T) {
		p := browser.Open(t, coached(t).URL+"/sim/", browsertest.View{})
		p.Fill("textbox", "Phone number", "12")
		p.Click("button", "Enrol")
		p.ExpectText("Not enrolled. Phone number: not a possible number")
		p.ExpectFocus("textbox", "Phone number")
		p.ExpectAccessible()
		p.Fill("textbox", "Phone number", "+12025550123")
		p.Fill("textbox", "Time zone", "Nowhere")
		p.Click("button", "Enrol")
		p.ExpectText("Not enrolled. Time zone: unknown zone")
		p.ExpectFocus("textbox", "Time zone")
		p.Fill("textbox", "Time zone", "Europe/Berlin")
		p.Click("button", "Enrol")
		p.ExpectText("Enrolled +12025550123.")
		p.ExpectNoText("Not enrolled") // an error goes with its cause
		p.Fill("textbox", "Phone number", "34")
		p.Click("button", "Add without enrolling")
		p.ExpectText("Not added. Phone number: want + and country code")
	})
	t.Run("by keyboard", func(t *testing.T) {
		p := browser.Open(t, coached(t).URL+"/sim/", browsertest.View{})
		p.TabTo("textbox", "Phone number")
		p.Type("+12025550123")
		p.TabTo("button", "Enrol")
		p.Press(input.Enter)
		p.ExpectFocus("textbox", "Text to the coach")
		p.Type("from the keys")
		p.Press(input.Enter)
		p.ExpectText("You said: from the keys")
		p.TabTo("textbox", "Phone number")
		p.Type("+12025550124")
		p.TabTo("button", "Add without enrolling")
		p.Press(input.Space)
		p.ExpectFocus("textbox", "Text to the coach")
		p.TabTo("button", "+12025550123 You said: from the keys")
		p.Press(input.Enter)
		p.ExpectFocus("textbox", "Text to the coach")
		p.ExpectText("You said: from the keys")
	})
	t.Run("without an API", func(t *testing.T) {
		p := browser.Open(t, start(t, config(nil)).URL+"/sim/", browsertest.View{})
		p.ExpectText("+15005550006")
		require.False(t, p.Has("button", "Enrol"))
		p.Fill("textbox", "Phone number", "+12025550123")
		p.Press(input.Enter)
		p.ExpectFocus("textbox", "Text to the coach")
		p.Type("hello")
		p.Press(input.Enter)
		p.ExpectText("The text was not sent. no address for inbound texts is configured")
		p.ExpectValue("textbox", "Text to the coach", "hello")
	})
}

// TestPhonePageLooks: every state of the page passes axe-core in every look,
// and needs no scrolling to the side.
func TestPhonePageLooks(t *testing.T) {
	browser := browsertest.Start(t)
	views := map[string]browsertest.View{
		"light": {}, "dark": {Dark: true}, "forced colours": {ForcedColors: true}, "forced dark colours": {ForcedColors: true, Dark: true},
		"320 px": {Width: 320, Height: 640}, "320 px dark": {Width: 320, Height: 640, Dark: true},
		"320 px forced colours": {Width: 320, Height: 640, ForcedColors: true}, "short": {Width: 1280, Height: 320},
	}
	b := coached(t)
	p := browser.Open(t, b.URL+"/sim/", browsertest.View{})
	check := func(state string) {
		for name, view := range views {
			p.Look(view)
			p.ExpectAccessible()
			p.ExpectNoSideScroll()
			require.False(t, t.Failed(), "%s, %s", state, name)
		}
		p.Look(browsertest.View{})
	}
	p.ExpectText("+15005550006")
	check("empty")
	p.Fill("textbox", "Phone number", "12")
	p.Click("button", "Enrol")
	p.ExpectText("Not enrolled.")
	check("refused")
	p.Fill("textbox", "Phone number", "+12025550123")
	p.Click("button", "Enrol")
	p.ExpectFocus("textbox", "Text to the coach")
	check("enrolled")
	p.Type(strings.Repeat("a-long-word-", 20))
	p.Click("button", "Send")
	p.ExpectText("You said: a-long-word-")
	p.ExpectText("delivered")
	require.NoError(t, b.sim.network.noteScript())
	p.ExpectText("The answers on these phones come from a script.")
	check("a conversation")
}
