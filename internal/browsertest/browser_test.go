package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

const goodPage = `<!doctype html><html lang="en"><title>Sample</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">
<main><h1>Sample</h1><label for="who">Who</label> <input id="who"> <button id="greet">Greet</button>
<p id="out"></p></main><script src="/script.js"></script></html>`

// serve answers with a page, its script and its style under a strict policy.
func serve(t *testing.T, page string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; require-trusted-types-for 'script'")
		_, _ = w.Write([]byte(page))
	})
	mux.HandleFunc("/script.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte(`document.getElementById("greet").addEventListener("click", () => {
			document.getElementById("out").textContent = "Hello, " + document.getElementById("who").value;
			document.cookie = "who=1";
		});`))
	})
	mux.HandleFunc("/style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		_, _ = w.Write([]byte(`p { color: #000 } @media (prefers-color-scheme: dark) { p { color: #111 } }
			@media (forced-colors: active) { p { margin: 3px } } @media (prefers-reduced-motion) { p { padding: 5px } }`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// ruleIDs are the rules that a page breaks.
func ruleIDs(p *browsertest.Page) []string {
	ids := []string{}
	for _, v := range p.Violations() {
		ids = append(ids, v.ID)
	}
	return ids
}

func TestPage(t *testing.T) {
	browser := browsertest.Start(t)
	address := serve(t, goodPage)

	t.Run("by mouse", func(t *testing.T) {
		p := browser.Open(t, address, browsertest.View{})
		p.Fill("textbox", "Who", "Bea")
		p.Fill("textbox", "Who", "Ada")
		p.ExpectValue("textbox", "Who", "Ada")
		p.Click("button", "Greet")
		p.ExpectText("Hello, Ada")
		p.ExpectAccessible()
		require.Empty(t, p.Reports())
		require.True(t, p.Has("button", "Greet"))
		require.False(t, p.Has("link", "Greet"))
	})
	t.Run("by keyboard, without another page's cookies", func(t *testing.T) {
		p := browser.Open(t, address, browsertest.View{})
		var cookie string
		p.Eval(&cookie, `() => document.cookie`)
		require.Empty(t, cookie)
		p.TabTo("textbox", "Who")
		p.Type("Ben")
		p.Press(input.Tab)
		p.ExpectFocus("button", "Greet")
		p.PressWith(input.ShiftLeft, input.Tab)
		p.ExpectFocus("textbox", "Who")
		p.TabTo("button", "Greet")
		p.Press(input.Enter)
		p.ExpectText("Hello, Ben")
	})
	t.Run("looks", func(t *testing.T) {
		p := browser.Open(t, address, browsertest.View{Width: 320, Height: 600})
		p.ExpectNoSideScroll()
		style := func() (got struct {
			Width                  int
			Color, Margin, Padding string
		}) {
			p.Eval(&got, `() => { const s = getComputedStyle(document.getElementById("out"));
				return { width: innerWidth, color: s.color, margin: s.marginTop, padding: s.paddingTop } }`)
			return got
		}
		require.Equal(t, 320, style().Width)
		require.Equal(t, "rgb(0, 0, 0)", style().Color)
		p.Look(browsertest.View{Dark: true, ForcedColors: false, ReducedMotion: true})
		require.Equal(t, 1280, style().Width)
		require.Equal(t, "rgb(17, 17, 17)", style().Color)
		require.Equal(t, "5px", style().Padding)
		p.Look(browsertest.View{ForcedColors: true})
		require.Equal(t, "3px", style().Margin)
	})
}

// TestPageFindsFaults: what the checks are for is found.
func TestPageFindsFaults(t *testing.T) {
	browser := browsertest.Start(t)
	p := browser.Open(t, serve(t, `<!doctype html><html><title>Faulty</title><main><h1>Faulty</h1><img src="data:,">
		<input><p style="margin: 0">styled</p></main><script>var inline = 1</script>
		<script src="/script.js"></script></html>`), browsertest.View{})
	require.Subset(t, ruleIDs(p), []string{"html-has-lang", "image-alt", "label"})
	reports := p.Reports()
	require.Len(t, reports, 3, "%q", reports)
	require.Contains(t, reports[0]+reports[1]+reports[2], "style-src")
	require.Contains(t, reports[0]+reports[1]+reports[2], "script-src")
	require.Contains(t, reports[0]+reports[1]+reports[2], "uncaught")
	require.Empty(t, p.Reports(), "each is reported once")
}

// TestExpectNoText: the page after a click may come late.
func TestExpectNoText(t *testing.T) {
	browser := browsertest.Start(t)
	address := serve(t, `<!doctype html><html lang="en"><title>Late</title><link rel="icon" href="data:,"><main><h1>Late</h1>
		<button id="greet">Greet</button> <input id="who" aria-label="Who"> <p id="out">a secret</p></main><script src="/script.js"></script></html>`)
	p := browser.Open(t, address, browsertest.View{})
	p.Eval(nil, `() => { setTimeout(() => document.getElementById("greet").click(), 300) }`)
	p.ExpectNoText("a secret")
	p.ExpectText("Hello,")
}
