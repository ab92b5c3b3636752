package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"coachline/internal/config"
	"coachline/internal/metrics"
	"coachline/internal/wait"
	"coachline/starter"
	"coachline/worker"
)

// roleArg as the first argument makes the program a role of the product: its name and
// how far its clock is ahead follow.
const roleArg = "role"

// clocks are those of a storm that go wrong: machines' clocks are minutes apart.
var clocks = map[string]time.Duration{"worker2": 5 * time.Minute, "starter2": -5 * time.Minute}

// runRole runs a role by the settings of an environment, until it is killed.
func runRole(environ []string, role, ahead string) int {
	err := func() error {
		by, err := time.ParseDuration(ahead)
		if err != nil {
			return fmt.Errorf("reading how far the clock is ahead: %w", err)
		}
		cfg, err := config.Load(environ, nil)
		if err != nil {
			return fmt.Errorf("building settings: %w", err)
		}
		m, err := metrics.New(metrics.Config{})
		if err != nil {
			return fmt.Errorf("building metrics: %w", err)
		}
		ctx := wait.WithClock(context.Background(), wait.Clock{Now: func() time.Time { return time.Now().Add(by) }, After: time.After})
		if role == "worker" {
			return worker.RunWith(ctx, cfg, m)
		}
		return starter.RunRoleWith(ctx, cfg, m)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		return 1
	}
	return 0
}
