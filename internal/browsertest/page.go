package browsertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
)

// View is how a page is looked at. The zero value is 1280 by 800 in light
// colours.
type View struct {
	Width, Height int
	Dark          bool
	// ForcedColors replaces the page's colours by the system's, as Windows'
	// contrast themes do.
	ForcedColors  bool
	ReducedMotion bool
}

// Page is one page in a private context of its own: no cookie or storage of
// another page is in it. Its methods wait up to half a minute for what they
// need and end the test when it does not come.
type Page struct {
	tb      testing.TB
	rod     *rod.Page
	private *rod.Browser

	mu      sync.Mutex
	reports []string
	// flushed gets the markers that say that all earlier events were read.
	flushed chan string
	flushes int
}

// Open opens a page. When the test ends, violations of the page's
// Content-Security-Policy and uncaught exceptions fail it; a failed test leaves
// a picture of the page in build/browser.
func (b *Browser) Open(tb testing.TB, address string, view View) *Page {
	tb.Helper()
	private, err := b.rod.Incognito()
	if err != nil {
		tb.Fatalf("opening a private context: %v", err)
	}
	tb.Cleanup(func() {
		if err := (proto.TargetDisposeBrowserContext{BrowserContextID: private.BrowserContextID}).Call(b.rod); err != nil {
			tb.Errorf("closing a private context: %v", err)
		}
	})
	return openTab(tb, private, address, view)
}

// Another opens a page in a further tab of the same context, with the same cookies.
func (p *Page) Another(address string) *Page {
	p.tb.Helper()
	return openTab(p.tb, p.private, address, View{})
}

func openTab(tb testing.TB, private *rod.Browser, address string, view View) *Page {
	tb.Helper()
	opened, err := private.Page(proto.TargetCreateTarget{URL: "about:blank"})
	if err != nil {
		tb.Fatalf("opening a page: %v", err)
	}
	p := &Page{tb: tb, rod: opened, private: private, flushed: make(chan string, 1)}
	p.listen()
	tb.Cleanup(func() {
		if reports := p.Reports(); len(reports) > 0 {
			tb.Errorf("the page reported:\n%s", strings.Join(reports, "\n"))
		}
		p.keepPicture()
	})
	p.Look(view)
	p.Visit(address)
	return p
}

// Visit leads the page to an address.
func (p *Page) Visit(address string) {
	p.tb.Helper()
	p.try("opening "+address, p.rod.Timeout(waiting).Navigate(address))
	p.try("loading "+address, p.rod.Timeout(waiting).WaitLoad())
}

// Front puts the page's tab before the others.
func (p *Page) Front() {
	p.tb.Helper()
	_, err := p.rod.Activate()
	p.try("putting a tab to the front", err)
}

// RunFirst runs a script of JavaScript in each page that is visited from now on, before
// any of the page's own.
func (p *Page) RunFirst(script string) {
	p.tb.Helper()
	_, err := p.rod.EvalOnNewDocument(script)
	p.try("preparing pages", err)
}

const flushMark = "browsertest flush "

// listen collects reports from now on.
func (p *Page) listen() {
	p.try("listening to reports", proto.AuditsEnable{}.Call(p.rod))
	wait := p.rod.EachEvent(
		func(e *proto.AuditsIssueAdded) {
			if d := e.Issue.Details.ContentSecurityPolicyIssueDetails; d != nil {
				p.report("Content-Security-Policy: %s refused %s (%s)", d.ViolatedDirective, d.BlockedURL, d.ContentSecurityPolicyViolationType)
			}
		},
		func(e *proto.RuntimeExceptionThrown) {
			p.report("uncaught: %s %s", e.ExceptionDetails.Text, describe(e.ExceptionDetails.Exception))
		},
		func(e *proto.RuntimeConsoleAPICalled) {
			if len(e.Args) == 1 && strings.HasPrefix(e.Args[0].Value.Str(), flushMark) {
				p.flushed <- e.Args[0].Value.Str()
			}
		},
	)
	go wait()
}

// describe is what an exception says of itself; a thrown nothing says nothing.
func describe(exception *proto.RuntimeRemoteObject) string {
	if exception == nil {
		return ""
	}
	return exception.Description
}

func (p *Page) report(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reports = append(p.reports, fmt.Sprintf(format, args...))
}

// Reports returns the violations of the Content-Security-Policy and the
// uncaught exceptions since the last call, and forgets them.
func (p *Page) Reports() []string {
	p.tb.Helper()
	p.flushes++
	mark := fmt.Sprint(flushMark, p.flushes)
	// The browser delivers events in order; violations are queued as tasks.
	p.eval(`async mark => { await new Promise(done => setTimeout(done)); console.debug(mark) }`, mark)
	for got := ""; got != mark; {
		got = <-p.flushed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	reports := p.reports
	p.reports = nil
	return reports
}

// Look changes how the page is looked at.
func (p *Page) Look(view View) {
	p.tb.Helper()
	if view.Width == 0 {
		view.Width, view.Height = 1280, 800
	}
	choose := func(is bool, yes, no string) string {
		if is {
			return yes
		}
		return no
	}
	p.try("setting the size", p.rod.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: view.Width, Height: view.Height, DeviceScaleFactor: 1}))
	p.try("setting the colours", proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{
		{Name: "prefers-color-scheme", Value: choose(view.Dark, "dark", "light")},
		{Name: "forced-colors", Value: choose(view.ForcedColors, "active", "none")},
		{Name: "prefers-reduced-motion", Value: choose(view.ReducedMotion, "reduce", "no-preference")},
	}}.Call(p.rod))
}

// Click clicks what has a role and an accessible name, such as button, Save.
func (p *Page) Click(role, name string) {
	p.tb.Helper()
	p.try(fmt.Sprintf("clicking the %s %q", role, name), p.find(role, name).Click(proto.InputMouseButtonLeft, 1))
}

// Fill replaces the text of a field by typing.
func (p *Page) Fill(role, name, text string) {
	p.tb.Helper()
	field := p.find(role, name)
	doing := fmt.Sprintf("filling the %s %q", role, name)
	p.try(doing, field.SelectAllText())
	p.try(doing, p.rod.Keyboard.Type(input.Backspace))
	p.Type(text)
}

// Upload chooses a file in the page's one file field.
func (p *Page) Upload(path string) {
	p.tb.Helper()
	field, err := p.rod.Timeout(waiting).Element(`input[type="file"]`)
	p.try("looking for the file field", err)
	p.try("choosing a file", field.SetFiles([]string{path}))
}

// Type types text where the focus is.
func (p *Page) Type(text string) {
	p.tb.Helper()
	p.try("typing", p.rod.InsertText(text))
}

// Press presses keys one after the other, such as input.Tab.
func (p *Page) Press(keys ...input.Key) {
	p.tb.Helper()
	p.try("pressing keys", p.rod.Keyboard.Type(keys...))
}

// PressWith presses a key while another is held down, such as Shift and Tab.
func (p *Page) PressWith(held, key input.Key) {
	p.tb.Helper()
	p.try("pressing keys", p.rod.KeyActions().Press(held).Type(key).Do())
}

// TabTo presses Tab until the focus is on what has a role and a name, at most
// 50 times.
func (p *Page) TabTo(role, name string) {
	p.tb.Helper()
	wanted := p.find(role, name)
	for range 50 {
		if p.isFocused(wanted) {
			return
		}
		p.Press(input.Tab)
	}
	p.tb.Fatalf("Tab does not lead to the %s %q", role, name)
}

// ExpectFocus waits until the focus is on what has a role and a name.
func (p *Page) ExpectFocus(role, name string) {
	p.tb.Helper()
	wanted := p.find(role, name)
	err := wanted.Timeout(waiting).Wait(rod.Eval(`() => document.activeElement === this`))
	p.try(fmt.Sprintf("waiting for the focus on the %s %q", role, name), err)
}

// ExpectText waits until the page shows a text.
func (p *Page) ExpectText(text string) {
	p.tb.Helper()
	limited := p.rod.Timeout(waiting)
	for pause := rod.DefaultSleeper(); ; {
		// A page that is left meanwhile answers with an error.
		shown, err := limited.Evaluate(rod.Eval(`text => document.body.innerText.includes(text)`, text))
		if err == nil && shown.Value.Bool() {
			return
		}
		if pause(limited.GetContext()) != nil {
			p.tb.Fatalf("the page does not show %q: %v; it shows\n%s", text, err, p.Text())
		}
	}
}

// ExpectNoText waits until the page shows a text no more: what a click leads to may
// still be on its way.
func (p *Page) ExpectNoText(text string) {
	p.tb.Helper()
	limited := p.rod.Timeout(waiting)
	for pause := rod.DefaultSleeper(); ; {
		shown, err := limited.Evaluate(rod.Eval(`text => !!document.body && !document.body.innerText.includes(text)`, text))
		if err == nil && shown.Value.Bool() {
			return
		}
		if pause(limited.GetContext()) != nil {
			p.tb.Fatalf("the page still shows %q: %v; it shows\n%s", text, err, p.Text())
		}
	}
}

// ExpectValue waits until a field holds a text.
func (p *Page) ExpectValue(role, name, text string) {
	p.tb.Helper()
	field := p.find(role, name)
	err := field.Timeout(waiting).Wait(rod.Eval(`text => this.value === text`, text))
	p.try(fmt.Sprintf("waiting for %q in the %s %q", text, role, name), err)
}

// Text returns what the page shows now.
func (p *Page) Text() string {
	p.tb.Helper()
	return p.eval(`() => document.body.innerText`).Value.Str()
}

// Has reports whether the page holds something with a role and a name now.
func (p *Page) Has(role, name string) bool {
	p.tb.Helper()
	nodes, err := p.query(role, name)
	p.try(fmt.Sprintf("looking for the %s %q", role, name), err)
	return len(nodes) > 0
}

// ExpectNoSideScroll fails the test when the page is wider than its view.
func (p *Page) ExpectNoSideScroll() {
	p.tb.Helper()
	size := p.eval(`() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]`).Value.Arr()
	if size[0].Int() > size[1].Int() {
		p.tb.Errorf("the page is %d px wide in a view of %d px", size[0].Int(), size[1].Int())
	}
}

// Eval runs a function of JavaScript in the page and reads its result into a
// value, which may be nil.
func (p *Page) Eval(into any, function string, args ...any) {
	p.tb.Helper()
	result := p.eval(function, args...)
	if into == nil {
		return
	}
	raw, err := result.Value.MarshalJSON()
	p.try("reading a result", err)
	p.try("reading a result", json.Unmarshal(raw, into))
}

func (p *Page) eval(function string, args ...any) *proto.RuntimeRemoteObject {
	p.tb.Helper()
	result, err := p.rod.Timeout(waiting).Evaluate(rod.Eval(function, args...).ByPromise())
	p.try("running "+function, err)
	return result
}

func (p *Page) try(doing string, err error) {
	p.tb.Helper()
	if err != nil {
		p.tb.Fatalf("%s: %v", doing, err)
	}
}

func (p *Page) isFocused(e *rod.Element) bool {
	p.tb.Helper()
	result, err := e.Eval(`() => document.activeElement === this`)
	p.try("looking for the focus", err)
	return result.Value.Bool()
}

var errNotUnique = errors.New("there is not exactly one")

func (p *Page) find(role, name string) *rod.Element {
	p.tb.Helper()
	limited := p.rod.Timeout(waiting)
	for pause := rod.DefaultSleeper(); ; {
		nodes, err := p.query(role, name)
		if err == nil && len(nodes) != 1 {
			err = fmt.Errorf("%w: %d", errNotUnique, len(nodes))
		}
		if err == nil {
			var element *rod.Element
			if element, err = p.rod.ElementFromNode(&proto.DOMNode{BackendNodeID: nodes[0].BackendDOMNodeID}); err == nil {
				return element
			}
		}
		if pause(limited.GetContext()) != nil {
			p.tb.Fatalf("looking for the %s %q: %v; the page shows\n%s", role, name, err, p.Text())
		}
	}
}

// query asks the browser's accessibility tree.
func (p *Page) query(role, name string) ([]*proto.AccessibilityAXNode, error) {
	document, err := p.rod.Timeout(waiting).Evaluate(rod.Eval(`() => document`).ByObject())
	if err != nil {
		return nil, err
	}
	found, err := proto.AccessibilityQueryAXTree{ObjectID: document.ObjectID, Role: role, AccessibleName: name}.Call(p.rod)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found.Nodes, func(n *proto.AccessibilityAXNode) bool { return n.Ignored }), nil
}

// Picture returns what the view shows now, as a PNG.
func (p *Page) Picture() []byte {
	p.tb.Helper()
	picture, err := p.rod.Timeout(waiting).Screenshot(false, nil)
	p.try("taking a picture", err)
	return picture
}

var notInFileNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// keepPicture leaves a picture of the page of a failed test.
func (p *Page) keepPicture() {
	if !p.tb.Failed() {
		return
	}
	folder, err := buildFolder()
	if err != nil {
		p.tb.Log("no picture:", err)
		return
	}
	picture, err := p.rod.Timeout(waiting).Screenshot(true, nil)
	if err != nil {
		p.tb.Log("no picture:", err)
		return
	}
	path := filepath.Join(folder, notInFileNames.ReplaceAllString(p.tb.Name(), "_")+".png")
	if err := errors.Join(os.MkdirAll(folder, 0o750), os.WriteFile(path, picture, 0o600)); err != nil {
		p.tb.Log("no picture:", err)
		return
	}
	p.tb.Log("a picture of the page:", path)
}

// buildFolder is build/browser of the module that the test belongs to.
func buildFolder() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return filepath.Join(folder, "build", "browser"), nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("the tests run outside of a module")
		}
		folder = parent
	}
}
