// Package browsertest opens pages in a real browser, Chromium, for tests: it
// finds what is on a page by its role and accessible name, as a person or a
// screen reader does, types and clicks, changes size and colours, and checks a
// page with axe-core. A violation of the page's Content-Security-Policy and an
// uncaught exception fail the test that opened the page.
package browsertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-rod/rod"
)

const (
	startTimeout = 60 * time.Second
	// waiting is how long a page may take to show what a test expects.
	waiting = 30 * time.Second
)

// programs are the names that Chromium goes by.
var programs = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
}

// Browser is a running Chromium without a window and with an empty profile.
type Browser struct {
	rod *rod.Browser
}

// process is the browser's process and its profile.
type process struct {
	cmd     *exec.Cmd
	profile string
	ended   chan struct{}
}

// shared is the browser of this test program, and what became of its start.
var shared struct {
	once    sync.Once
	process *process
	browser *Browser
	err     error
}

// Run runs the tests of a package with one browser, which the first test that needs it
// starts, and returns the exit code. TestMain of every package that calls Start calls it.
func Run(m *testing.M) int {
	isRun.Store(true)
	code := m.Run()
	if shared.process == nil {
		return code
	}
	if err := shared.process.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the browser:", err)
		return max(code, 1)
	}
	return code
}

var isRun atomic.Bool

// Start returns the browser of the test program; its start takes about a second.
// Without Chromium the test is skipped, or fails where CI is set to true.
func Start(tb testing.TB) *Browser {
	tb.Helper()
	if !isRun.Load() {
		tb.Fatal("TestMain of this package must call browsertest.Run, which ends the browser")
	}
	program, err := findProgram()
	if err != nil && os.Getenv("CI") == "true" {
		tb.Fatal(err)
	}
	if err != nil {
		tb.Skip(err)
	}
	shared.once.Do(func() { shared.err = startShared(program) })
	if shared.err != nil {
		tb.Fatalf("starting %s: %v", program, shared.err)
	}
	return shared.browser
}

func startShared(program string) error {
	p, address, err := launch(program)
	if err != nil {
		return err
	}
	shared.process = p
	browser := rod.New().ControlURL(address).NoDefaultDevice()
	if err := browser.Connect(); err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	shared.browser = &Browser{rod: browser}
	return nil
}

func findProgram() (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium found: apt-get install chromium fonts-dejavu-core, or brew install --cask chromium")
}

// launch starts the program and returns the address of its DevTools.
func launch(program string) (*process, string, error) {
	profile, err := os.MkdirTemp("", "coachline-browser-")
	if err != nil {
		return nil, "", fmt.Errorf("making a profile: %w", err)
	}
	args := []string{
		"--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--user-data-dir=" + profile,
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium does not sandbox what root runs.
	}
	p := &process{profile: profile, ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.Background(), program, append(args, "about:blank")...)
	p.cmd.SysProcAttr = attributes()
	said, saying := io.Pipe()
	p.cmd.Stderr = saying
	started := make(chan error)
	go p.own(started, saying)
	if err := <-started; err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(profile))
	}
	address, err := p.readAddress(said)
	if err != nil {
		return nil, "", errors.Join(err, p.stop())
	}
	return p, address, nil
}

// own starts the process and waits for its end on one operating system thread,
// because the kernel ties the signal that a parent's death sends to the thread
// that made the child.
func (p *process) own(started chan<- error, saying *io.PipeWriter) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	// A killed browser has an exit code that says nothing.
	_ = saying.CloseWithError(p.cmd.Wait())
}

// readAddress waits until the browser says where its DevTools listen. What it
// writes afterwards is of no interest.
func (p *process) readAddress(said *io.PipeReader) (string, error) {
	timeout := time.AfterFunc(startTimeout, func() { _ = said.CloseWithError(errors.New("it did not say where it listens")) })
	defer timeout.Stop()
	var before strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if address, found := strings.CutPrefix(lines.Text(), "DevTools listening on "); found {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return address, nil
		}
		before.WriteString(lines.Text() + "\n")
	}
	return "", fmt.Errorf("%w: %s", errors.Join(errors.New("the browser ended"), lines.Err()), before.String())
}

// stop kills the browser with all its processes and removes the profile.
func (p *process) stop() error {
	err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	<-p.ended
	// Its child processes end after it and may still write to the profile.
	for range 50 {
		if os.RemoveAll(p.profile) == nil {
			return err
		}
		runtime.Gosched()
	}
	return errors.Join(err, os.RemoveAll(p.profile))
}
