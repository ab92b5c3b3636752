package temporal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

// skipLimit is how many times a run may skip before it stops to: each back-off counts.
const skipLimit = 10_000

// Clock is the machine's time and how far an engine that skips time is ahead of it.
// Processes that open the same file share it. It only goes forward, and is safe for
// concurrent use.
type Clock struct {
	offset *atomic.Int64 // in the file
	mu     sync.Mutex
	asleep []sleeper
}

type sleeper struct {
	until time.Time
	wake  chan time.Time
}

// OpenClock opens the clock in a file, which is made where it is missing.
func OpenClock(file string) (*Clock, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the clock: %w", err)
	}
	const size = int(unsafe.Sizeof(atomic.Int64{}))
	if err := f.Truncate(int64(size)); err != nil {
		return nil, fmt.Errorf("making the clock: %w", errors.Join(err, f.Close()))
	}
	cell, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("sharing the clock: %w", err)
	}
	return &Clock{offset: (*atomic.Int64)(unsafe.Pointer(&cell[0]))}, nil
}

// Now is the machine's time and what was skipped.
func (c *Clock) Now() time.Time { return time.Now().Add(c.ahead()) }

func (c *Clock) ahead() time.Duration { return time.Duration(c.offset.Load()) }

// AtLeast moves the clock to an instant where it is not there yet, and wakes whom After
// has wait for it.
func (c *Clock) AtLeast(at time.Time) {
	ahead := int64(at.Round(0).Sub(time.Now().Round(0)))
	for old := c.offset.Load(); ahead > old && !c.offset.CompareAndSwap(old, ahead); {
		old = c.offset.Load()
	}
	c.wake()
}

// After returns a channel that gets the time when d has passed on this clock.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	s := sleeper{until: c.Now().Add(d), wake: make(chan time.Time, 1)}
	c.mu.Lock()
	c.asleep = append(c.asleep, s)
	c.mu.Unlock()
	time.AfterFunc(d, c.wake)
	return s.wake
}

// Asleep counts the waits of this process that are not over.
func (c *Clock) Asleep() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asleep)
}

func (c *Clock) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	var still []sleeper
	for _, s := range c.asleep {
		if s.until.After(now) {
			still = append(still, s)
			continue
		}
		s.wake <- now
	}
	c.asleep = still
}

// Intercept is an interceptor of a Temporal client. A workflow that it starts begins at
// this clock's time, and an activity that it is given pulls the clock to its attempt's
// start: the server skips back-offs, which a clock that stands still would not see.
//
//nolint:revive // the arguments are those of grpc.UnaryClientInterceptor
func (c *Clock) Intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if ahead := c.ahead(); ahead > time.Second {
		switch r := req.(type) {
		case *workflowservice.StartWorkflowExecutionRequest:
			r.WorkflowStartDelay, r.TimeSkippingConfig = durationpb.New(ahead), skipBy("begin", ahead)
		case *workflowservice.SignalWithStartWorkflowExecutionRequest:
			r.WorkflowStartDelay, r.TimeSkippingConfig = durationpb.New(ahead), skipBy("begin", ahead)
		}
	}
	err := invoke(ctx, method, req, reply, cc, options...)
	switch r := reply.(type) {
	case *workflowservice.PollActivityTaskQueueResponse:
		c.pull(r)
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		for _, task := range r.GetActivityTasks() {
			c.pull(task)
		}
	}
	return err
}

// pull leaves the clock alone for an activity of no workflow, which runs in real time.
func (c *Clock) pull(task *workflowservice.PollActivityTaskQueueResponse) {
	if task.GetWorkflowExecution().GetWorkflowId() != "" && task.GetStartedTime() != nil {
		c.AtLeast(task.GetStartedTime().AsTime())
	}
}

func skipBy(id string, d time.Duration) *commonpb.TimeSkippingConfig {
	return &commonpb.TimeSkippingConfig{Enabled: true, MaxSessionSkipCount: skipLimit, FastForwardConfig: &commonpb.FastForwardConfig{Id: id, Duration: durationpb.New(d)}}
}
