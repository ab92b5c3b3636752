// Package harness runs the product's processes in a chaos run and stands around
// them: it kills and freezes processes, serves the carrier, the model and the
// receiver of alerts that they talk to, and stands between them and the Temporal
// server, with points at which something can go wrong.
package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"coachline/internal/sim/twilio"
)

// Point is a named moment of a turn at which a process can be killed. It is seen
// from outside: by the carrier, by the model, or between a process and the
// Temporal server.
type Point string

// The points. Those that say "before" lose the call that made them known.
const (
	BeforeSignal      Point = "after claim, before signal"
	AfterSignal       Point = "after signal, before its record"
	BeforeUpdate      Point = "before an update is told"
	DuringModelCall   Point = "during the model call"
	AfterModelAnswer  Point = "between model and persist"
	BeforeAcceptance  Point = "after the claim to send, before the carrier"
	AfterAcceptance   Point = "between carrier acceptance and its answer"
	AfterAnswer       Point = "between the carrier's answer and its record"
	BeforeContinue    Point = "before continue-as-new"
	AfterContinue     Point = "after continue-as-new"
	BeforeTaskDone    Point = "before a workflow task is answered"
	AfterTaskDone     Point = "after a workflow task is answered"
	BeforeActivity    Point = "before an activity is answered"
	AfterActivityDone Point = "after an activity is answered"
)

// Target is whose calls a fault hits.
type Target string

// The targets.
const (
	TargetModel    Target = "model"
	TargetCarrier  Target = "carrier"
	TargetLookup   Target = "lookup"
	TargetCallback Target = "callback"
	TargetPager    Target = "pager"
	// TargetConnect are new connections to the carrier, TargetMarks the relay's
	// records of what was delivered.
	TargetConnect Target = "connection to the carrier"
	TargetMarks   Target = "delivery marks"
)

// Fault is how one call goes wrong.
type Fault string

// The faults. Those of callbacks hit all reports about one text.
const (
	FaultBusy         Fault = "429"
	FaultError        Fault = "500"
	FaultGateway      Fault = "unreadable 502"
	FaultReset        Fault = "connection reset"
	FaultHang         Fault = "hang"
	FaultMalformed    Fault = "malformed answer"
	FaultTimeoutAfter Fault = "time-out after acceptance"
	FaultResetAfter   Fault = "reset after acceptance"
	FaultGarbledAfter Fault = "unreadable answer after acceptance"
	FaultCodedBefore  Fault = "503 with a code before acceptance"
	FaultCodedAfter   Fault = "500 with a code after acceptance"
	FaultSlow         Fault = "slow"
	FaultRefused      Fault = "refused"
	FaultLate         Fault = "late"
	FaultTwice        Fault = "twice"
	FaultReversed     Fault = "out of order"
)

// Trap kills a process at a point.
type Trap struct {
	Point Point
	// Victim is the process to kill; empty means the one that came to the point.
	Victim string
	// Wait passes between the point and the kill, Rest before the restart.
	Wait, Rest time.Duration
}

// Board holds what is armed and counts what happened. It is safe for
// concurrent use.
type Board struct {
	fleet *Fleet
	trace *Trace

	mu     sync.Mutex
	traps  []Trap
	faults map[Target][]Fault
	kills  map[string]int
	hits   map[string]int
	// reached are the points at which a process was killed.
	reached map[Point]bool
}

// NewBoard is a board with nothing armed.
func NewBoard(fleet *Fleet, trace *Trace) *Board {
	return &Board{
		fleet: fleet, trace: trace, faults: map[Target][]Fault{},
		kills: map[string]int{}, hits: map[string]int{}, reached: map[Point]bool{},
	}
}

// Arm sets a trap for the next process that comes to its point.
func (b *Board) Arm(t Trap) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.traps = append(b.traps, t)
}

// Spoil lets the next call of a target go wrong.
func (b *Board) Spoil(target Target, fault Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults[target] = append(b.faults[target], fault)
}

// Disarm takes everything back that has not happened.
func (b *Board) Disarm() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.traps, b.faults = nil, map[Target][]Fault{}
}

// Reached are the points at which a process was killed.
func (b *Board) Reached() map[Point]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.reached)
}

// Pass tells the board that a process came to a point; true: it was killed
// there.
func (b *Board) Pass(ctx context.Context, point Point, process string) bool {
	b.mu.Lock()
	at := slices.IndexFunc(b.traps, func(t Trap) bool { return t.Point == point })
	if at < 0 {
		b.mu.Unlock()
		return false
	}
	trap := b.traps[at]
	b.traps = slices.Delete(b.traps, at, at+1)
	b.mu.Unlock()
	twilio.Pause(ctx, trap.Wait)
	victim := trap.Victim
	if victim == "" {
		victim = process
	}
	return b.Kill(victim, string(point), trap.Rest) && victim == process
}

// Kill ends a process as kill -9 does and has it restarted after rest; false:
// it was not running.
func (b *Board) Kill(process, why string, rest time.Duration) bool {
	if !b.fleet.kill(process, rest) {
		b.trace.Note("kill of %s (%s): it was not running", process, why)
		return false
	}
	b.trace.Note("killed %s (%s), down for %s", process, why, rest)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kills[strings.TrimRight(process, "0123456789")+": "+why]++
	b.reached[Point(why)] = true
	return true
}

// Freeze stops a process with SIGSTOP and lets it go on after a while; false: it
// was not running.
func (b *Board) Freeze(process string, frozen time.Duration) bool {
	if !b.fleet.freeze(process, frozen) {
		b.trace.Note("freeze of %s: it was not running", process)
		return false
	}
	b.Count(fmt.Sprintf("%s: frozen", strings.TrimRight(process, "0123456789")))
	b.trace.Note("froze %s for %s", process, frozen)
	return true
}

// Count notes a fault that did not wait for a call.
func (b *Board) Count(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hits[what]++
}

// Take uses up the oldest fault of a target.
func (b *Board) Take(target Target) (Fault, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := b.faults[target]
	if len(waiting) == 0 {
		return "", false
	}
	fault := waiting[0]
	b.faults[target] = waiting[1:]
	b.hits[fmt.Sprintf("%s: %s", target, fault)]++
	b.trace.Note("fault %s: %s", target, fault)
	return fault, true
}

// Counts are the kills and the faults that happened, by what they were.
func (b *Board) Counts() (kills, faults map[string]int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.kills), maps.Clone(b.hits)
}

// Total is the number of kills and faults that happened.
func (b *Board) Total() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, count := range b.kills {
		n += count
	}
	for _, count := range b.hits {
		n += count
	}
	return n
}
