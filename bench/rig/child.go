package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"coachline/internal/config"
	"coachline/internal/metrics"
	"coachline/models/wire"
	"coachline/starter"
	"coachline/worker"
)

// ChildArg as the only argument makes the program RunChild.
const ChildArg = "child"

// Role is a role of the product that runs as a child.
type Role string

// The roles.
const (
	Worker  Role = "worker"
	Starter Role = "starter"
)

// childInput is the first line that a child reads.
type childInput struct {
	Role    Role
	Environ []string
}

// Child is a role of the product in a process of its own, where nothing else takes
// memory, and which can be killed.
type Child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	// Ready is from the start of the process until it asked for tasks, or answered.
	Ready time.Duration
}

// StartChild runs this program again as a role, in the place of that of this
// process, which must be stopped.
func (p *Product) StartChild(ctx context.Context, role Role) (*Child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	c := &Child{cmd: exec.CommandContext(context.WithoutCancel(ctx), program, ChildArg)}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("opening the child's input: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("opening the child's output: %w", err)
	}
	c.out = bufio.NewReader(out)
	began := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the child: %w", err)
	}
	err = json.NewEncoder(c.in).Encode(childInput{role, p.environ})
	if err == nil {
		err = pollUntil(ctx, func(ctx context.Context) bool {
			return role == Starter && p.isReady(ctx) || role == Worker && isPolled(ctx, p.temporal, wire.QueueCoach, began)
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for the child: %w", err), c.Stop())
	}
	c.Ready = time.Since(began)
	return c, nil
}

// Memory is heap and stacks in use in the child after a collection, in bytes.
func (c *Child) Memory() (int64, error) {
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		return 0, fmt.Errorf("asking the child for its memory: %w", err)
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("reading the child's memory: %w", err)
	}
	bytes, err := strconv.ParseInt(line[:len(line)-1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the child's memory: %w", err)
	}
	return bytes, nil
}

// Stop lets the child drain and waits for its end.
func (c *Child) Stop() error {
	if err := errors.Join(c.in.Close(), c.cmd.Wait()); err != nil {
		return fmt.Errorf("stopping the child: %w", err)
	}
	return nil
}

// Kill ends the child at once.
func (c *Child) Kill() error {
	err := c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it was killed
	if err != nil {
		return fmt.Errorf("killing the child: %w", err)
	}
	return nil
}

// RunChild is the child's side: role and settings as the first line of in, a number
// written to out for each line after it, the end with the end of in.
func RunChild(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading the child's settings: %w", err)
	}
	var input childInput
	if err := json.Unmarshal(first, &input); err != nil {
		return fmt.Errorf("reading the child's settings: %w", err)
	}
	cfg, err := loadConfig(input.Environ)
	if err != nil {
		return err
	}
	m, err := metrics.New(metrics.Config{})
	if err != nil {
		return fmt.Errorf("building the child's metrics: %w", err)
	}
	roles := map[Role]func(context.Context, config.Config, *metrics.Metrics) error{Worker: worker.RunWith, Starter: starter.RunRoleWith}
	role := run(ctx, func(ctx context.Context) error { return roles[input.Role](ctx, cfg, m) })
	for {
		if _, err := lines.ReadString('\n'); err != nil {
			return role.stop() // The parent is done with us, or gone.
		}
		if _, err := fmt.Fprintln(out, processMemory()); err != nil {
			return errors.Join(fmt.Errorf("telling the parent: %w", err), role.stop())
		}
	}
}

func processMemory() uint64 {
	runtime.GC()
	runtime.GC() // What finalizers let go of in the first.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
