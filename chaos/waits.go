package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"coachline/chaos/harness"
	"coachline/internal/sim/twilio"
)

const (
	// waitPace is about how long a person thinks before the next text.
	waitPace = 2 * time.Second
	// waitApart is the time from one kill to the next: longer than anybody waits.
	waitApart = 45 * time.Second
	waitLimit = 2 * time.Minute
)

// wait is how long a person waited for the answer to a text that came at an instant.
type wait struct {
	at   time.Time
	took time.Duration
}

// measureWaits has people text and wait for the answer, kills the worker at times and
// starts it again at once, and prints the longest waits after each kill.
func measureWaits(ctx context.Context, s settings, out io.Writer) (err error) {
	sys, err := start(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.close(false)) }()
	people, err := sys.enrol(ctx)
	if err != nil {
		return err
	}
	if !twilio.Pause(ctx, waitApart/2) {
		return ctx.Err()
	}
	texting, stop := context.WithCancel(ctx)
	defer stop()
	var waits waitList
	var group sync.WaitGroup
	for _, p := range people {
		group.Go(func() { p.textAndWait(ctx, texting, &waits) })
	}
	var kills []time.Time
	for range s.Waits {
		if !twilio.Pause(ctx, waitApart) {
			return ctx.Err()
		}
		kills = append(kills, time.Now())
		sys.board.Kill(sys.workers[0], "to measure waits", time.Millisecond)
	}
	twilio.Pause(ctx, waitApart)
	stop()
	group.Wait()
	waits.print(out, kills)
	return nil
}

// textAndWait texts, waits for the answer, and texts again.
func (p *person) textAndWait(ctx, texting context.Context, waits *waitList) {
	for n := 1; twilio.Pause(texting, waitPace/2+time.Duration(p.random.Int64N(int64(waitPace)))); n++ {
		one := text{token: fmt.Sprintf("m%04d", n), sid: p.sid(n)}
		at := time.Now()
		if p.post(ctx, one, p.name+" "+one.token+" hello", false) != nil {
			return
		}
		answered := func(m harness.Sent) bool { return m.Phone == p.number && strings.Contains(m.Body, one.token) }
		for !slices.ContainsFunc(p.sys.carrier.Sent(), answered) && time.Since(at) < waitLimit {
			twilio.Pause(ctx, lookEvery)
		}
		waits.add(wait{at, time.Since(at)})
	}
}

type waitList struct {
	mu  sync.Mutex
	all []wait
}

func (w *waitList) add(one wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, one)
}

// print shows how long the people waited who texted within a few seconds of each kill.
func (w *waitList) print(out io.Writer, kills []time.Time) {
	fmt.Fprintf(out, "%d texts, waits in seconds\n", len(w.all))
	for i, kill := range kills {
		var near []float64
		for _, one := range w.all {
			if since := one.at.Sub(kill); since > -waitPace-time.Second && since < waitApart/3 {
				near = append(near, one.took.Seconds())
			}
		}
		slices.Sort(near)
		if len(near) == 0 {
			continue
		}
		long := 0
		for _, took := range near {
			if took > 5 {
				long++
			}
		}
		fmt.Fprintf(out, "kill %d: %3d texts, half %.1f, 90 %% %.1f, slowest %.1f; more than 5 s: %d\n",
			i+1, len(near), near[len(near)/2], near[len(near)*9/10], near[len(near)-1], long)
	}
}
