package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// selfRest is the pause before a process is started again that ended by
// itself, as a service manager would.
const selfRest = 500 * time.Millisecond

// Program is how a process is started.
type Program struct {
	Name string
	Path string
	Args []string
	Env  []string
	// As is who runs it; nil means ourselves.
	As *syscall.Credential
}

// Fleet keeps processes running: a process that ends is started again until
// Stop. It is safe for concurrent use.
type Fleet struct {
	dir   string
	trace *Trace
	stop  chan struct{}
	group sync.WaitGroup

	mu        sync.Mutex
	processes map[string]*process
	restarts  map[string]int
}

// NewFleet writes the processes' output into a folder.
func NewFleet(dir string, trace *Trace) *Fleet {
	return &Fleet{dir: dir, trace: trace, stop: make(chan struct{}), processes: map[string]*process{}, restarts: map[string]int{}}
}

// process is one program and its present run.
type process struct {
	program Program
	log     *os.File

	mu      sync.Mutex
	running *os.Process
	ended   chan struct{} // of the present run
	killed  bool
	rest    time.Duration
}

// Run starts a program and keeps it running.
func (f *Fleet) Run(p Program) error {
	log, err := os.OpenFile(filepath.Join(f.dir, p.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", p.Name, err)
	}
	one := &process{program: p, log: log}
	f.mu.Lock()
	f.processes[p.Name] = one
	f.mu.Unlock()
	f.group.Go(func() { f.keep(one) })
	return nil
}

// keep runs the program again and again. It holds its operating system thread:
// the kernel ties the signal that a parent's death sends to the thread that
// made the child.
func (f *Fleet) keep(p *process) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer p.log.Close()
	for {
		err := p.run(f.stop)
		select {
		case <-f.stop:
			return
		default:
		}
		rest, killed := p.pause()
		if !killed {
			f.trace.Note("%s ended by itself: %v", p.program.Name, err)
			f.mu.Lock()
			f.restarts[p.program.Name]++
			f.mu.Unlock()
		}
		select {
		case <-f.stop:
			return
		case <-time.After(rest):
		}
	}
}

// run starts the program and waits for its end.
func (p *process) run(stop <-chan struct{}) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, p.program.Path, p.program.Args...)
	cmd.Dir, cmd.Env = filepath.Dir(p.log.Name()), p.program.Env
	if p.program.As != nil {
		cmd.Dir = "/"
	}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.log, p.log, attributes(p.program.As)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	ended := make(chan struct{})
	p.mu.Lock()
	p.running, p.ended, p.killed, p.rest = cmd.Process, ended, false, selfRest
	p.mu.Unlock()
	err := cmd.Wait()
	p.mu.Lock()
	p.running = nil
	p.mu.Unlock()
	close(ended)
	return err
}

func (p *process) pause() (rest time.Duration, killed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.rest, selfRest/10), p.killed
}

// kill returns when the process is gone; false: it was not running, or another
// caller is killing it.
func (f *Fleet) kill(name string, rest time.Duration) bool {
	f.mu.Lock()
	p := f.processes[name]
	f.mu.Unlock()
	if p == nil {
		return false
	}
	p.mu.Lock()
	running, ended := p.running, p.ended
	if running == nil || p.killed {
		p.mu.Unlock()
		return false
	}
	p.killed, p.rest = true, rest
	err := running.Kill()
	p.mu.Unlock()
	<-ended
	return err == nil
}

// freeze stops a process and lets it go on after a while, unless it ended
// meanwhile; false: it was not running.
func (f *Fleet) freeze(name string, frozen time.Duration) bool {
	f.mu.Lock()
	p := f.processes[name]
	f.mu.Unlock()
	if p == nil {
		return false
	}
	p.mu.Lock()
	running, ended := p.running, p.ended
	p.mu.Unlock()
	if running == nil || running.Signal(syscall.SIGSTOP) != nil {
		return false
	}
	f.group.Go(func() {
		select {
		case <-ended:
			return
		case <-f.stop:
		case <-time.After(frozen):
		}
		_ = running.Signal(syscall.SIGCONT) // It may be gone by now.
	})
	return true
}

// Restarts counts the ends that the driver did not cause, by process.
func (f *Fleet) Restarts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]int{}
	for name, n := range f.restarts {
		out[name] = n
	}
	return out
}

// Stop ends every process and waits for its end.
func (f *Fleet) Stop() {
	close(f.stop)
	f.group.Wait()
}

// The ports that FreePort tries lie below those that the kernel gives to
// outgoing connections: a process that was killed has to find its own free when
// it is started again.
const (
	lowestPort = 20000
	portSpan   = 12000
	portTries  = 100
)

// FreePort finds a port that no process listens on now.
func FreePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	var problem error
	for range portTries {
		port := lowestPort + rand.IntN(portSpan)
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			problem = err
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("looking for a free port: %w", problem)
}
