package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"coachline/internal/config"
	"coachline/models/wire"
)

// part is one thing that runs and can be stopped.
type part struct {
	name string
	stop func() error
}

// system is what runs, in the order it was started.
type system struct {
	parts []part
	// failed gets the end of a part that was not told to stop.
	failed chan error
}

func newSystem() *system { return &system{failed: make(chan error, 8)} }

func (s *system) add(name string, stop func() error) {
	s.parts = append(s.parts, part{name: name, stop: stop})
}

// stop ends every part, the last started first, also when one fails.
func (s *system) stop() error {
	var problems []error
	for _, p := range slices.Backward(s.parts) {
		if err := p.stop(); err != nil {
			problems = append(problems, fmt.Errorf("stopping the %s: %w", p.name, err))
		}
	}
	s.parts = nil
	return errors.Join(problems...)
}

// role is a production role to run in this process.
type role struct {
	name  string
	run   func(context.Context, config.Config) error
	ready func(context.Context) bool
}

// start runs a role and returns when it is ready. The role's own context ends
// when the system stops it and not when ctx does, so that parts end in order.
func (s *system) start(ctx context.Context, r role, settings config.Config) error {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	var ended error
	go func() {
		defer close(done)
		ended = r.run(inner, settings)
	}()
	s.add(r.name, func() error {
		cancel()
		<-done
		return ended
	})
	if err := await(ctx, done, r.ready); err != nil {
		return fmt.Errorf("starting the %s: %w", r.name, err)
	}
	go func() {
		<-done
		if inner.Err() == nil {
			s.failed <- fmt.Errorf("the %s ended", r.name)
		}
	}()
	return nil
}

// await polls: the roles have no word for being ready but what they answer.
func await(ctx context.Context, done <-chan struct{}, ready func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready(ctx) {
		select {
		case <-tick.C:
		case <-done:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func answers(address string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return false
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}
}

// polls says whether some worker asks Temporal for workflow tasks.
func polls(c client.Client) func(context.Context) bool {
	return func(ctx context.Context) bool {
		queue, err := c.DescribeTaskQueue(ctx, wire.QueueCoach, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
		return err == nil && len(queue.Pollers) > 0
	}
}
