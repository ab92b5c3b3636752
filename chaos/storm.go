package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"coachline/chaos/harness"
	"coachline/internal/sim/twilio"
)

// mishap is one thing that goes wrong: a trap, a kill without a reason, or a
// fault of the carrier or the model.
type mishap struct {
	point  harness.Point
	victim string // process or kind of process; of a trap: empty is the caller
	target harness.Target
	fault  harness.Fault
	freeze bool // the victim is frozen instead of killed
}

// longestRest is how long a killed process stays down at most.
const longestRest = 1500 * time.Millisecond

// A process is frozen for less or more than the ten seconds after which a
// heartbeat is missed.
const (
	shortestFreeze = time.Second
	longestFreeze  = 14 * time.Second
)

// requiredPoints are the points that a run must have killed a process at.
func requiredPoints() []harness.Point {
	return []harness.Point{
		harness.BeforeSignal, harness.DuringModelCall, harness.AfterModelAnswer, harness.AfterAcceptance, harness.AfterAnswer,
		harness.BeforeContinue, harness.AfterContinue,
	}
}

// coreMoves are the moves that every run has, however short.
func coreMoves() []mishap {
	var moves []mishap
	for _, point := range requiredPoints() {
		moves = append(moves, mishap{point: point})
	}
	moves = append(moves, pagerMoves()...)
	return append(moves, []mishap{
		{victim: "starter"}, {victim: "worker"}, {victim: "temporal"}, {victim: "postgres"},
		{target: harness.TargetModel, fault: harness.FaultBusy}, {target: harness.TargetModel, fault: harness.FaultError},
		{target: harness.TargetCarrier, fault: harness.FaultResetAfter}, {target: harness.TargetCarrier, fault: harness.FaultBusy},
		{target: harness.TargetCallback, fault: harness.FaultReversed},
		{target: harness.TargetCarrier, fault: harness.FaultCodedBefore}, {target: harness.TargetCarrier, fault: harness.FaultCodedAfter},
		{target: harness.TargetConnect, fault: harness.FaultSlow}, {target: harness.TargetMarks, fault: harness.FaultRefused},
		{victim: "worker", freeze: true},
	}...)
}

// otherMoves are the rest of the moves.
func otherMoves() []mishap {
	return []mishap{
		{point: harness.AfterSignal}, {point: harness.BeforeUpdate}, {point: harness.BeforeAcceptance},
		{point: harness.BeforeTaskDone}, {point: harness.AfterTaskDone}, {point: harness.BeforeActivity}, {point: harness.AfterActivityDone},
		{point: harness.AfterAcceptance, victim: "postgres"}, {point: harness.AfterModelAnswer, victim: "postgres"},
		{point: harness.AfterContinue, victim: "temporal"}, {point: harness.BeforeSignal, victim: "temporal"},
		{point: harness.BeforeTaskDone, victim: "temporal"}, {point: harness.DuringModelCall, victim: "temporal"},
		{victim: "starter"}, {victim: "worker"}, {victim: "worker"}, {victim: "postgres"},
		{target: harness.TargetModel, fault: harness.FaultBusy}, {target: harness.TargetModel, fault: harness.FaultReset},
		{target: harness.TargetModel, fault: harness.FaultHang}, {target: harness.TargetModel, fault: harness.FaultMalformed},
		{target: harness.TargetCarrier, fault: harness.FaultGateway}, {target: harness.TargetCarrier, fault: harness.FaultReset},
		{target: harness.TargetCarrier, fault: harness.FaultHang}, {target: harness.TargetCarrier, fault: harness.FaultTimeoutAfter},
		{target: harness.TargetCarrier, fault: harness.FaultGarbledAfter}, {target: harness.TargetCarrier, fault: harness.FaultResetAfter},
		{target: harness.TargetLookup, fault: harness.FaultReset}, {target: harness.TargetLookup, fault: harness.FaultError},
		{target: harness.TargetCallback, fault: harness.FaultLate}, {target: harness.TargetCallback, fault: harness.FaultTwice},
		{target: harness.TargetCarrier, fault: harness.FaultCodedBefore}, {target: harness.TargetCarrier, fault: harness.FaultCodedAfter},
		{target: harness.TargetConnect, fault: harness.FaultSlow}, {target: harness.TargetConnect, fault: harness.FaultSlow},
		{target: harness.TargetMarks, fault: harness.FaultRefused}, {target: harness.TargetMarks, fault: harness.FaultRefused},
		{victim: "worker", freeze: true}, {victim: "worker", freeze: true}, {victim: "starter", freeze: true},
	}
}

// shuffleMoves is a round of moves in the seed's order; the core comes first, so that
// a short run has it.
func shuffleMoves(random *rand.Rand) []mishap {
	first, rest := coreMoves(), otherMoves()
	random.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
	random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return slices.Concat(first, rest)
}

// runStorm lets the people live while things go wrong, until enough has or the
// time is up. What waits to happen then is called off.
func runStorm(ctx context.Context, s *system, people []*person) {
	stormy, over := context.WithTimeout(ctx, s.settings.Storm)
	defer over()
	var group sync.WaitGroup
	for _, p := range people {
		group.Go(func() {
			if err := p.textUntil(ctx, stormy); err != nil {
				s.trace.Note("a participant workflow ended early: %v", err)
			}
		})
	}
	s.makeMoves(stormy)
	s.board.Disarm()
	over()
	group.Wait()
}

// makeMoves makes one move after the other until there were enough of them. Then
// nothing new goes wrong until the named points were reached that are left: in
// the thick of it, few turns get as far as a continue-as-new.
func (s *system) makeMoves(ctx context.Context) {
	random := s.settings.randomSource(0)
	var round []mishap
	for s.board.Total() < s.settings.Faults {
		if len(round) == 0 {
			round = shuffleMoves(random)
		}
		gap := s.settings.Gap/2 + time.Duration(random.Int64N(int64(s.settings.Gap)))
		if !twilio.Pause(ctx, gap) {
			return
		}
		s.makeMove(round[0], random)
		round = round[1:]
	}
	s.board.Disarm()
	for _, point := range s.missingPoints() {
		s.makeMove(mishap{point: point}, random)
	}
	for len(s.missingPoints()) > 0 && twilio.Pause(ctx, lookEvery) {
		continue
	}
}

// missingPoints are the named points that no process was killed at.
func (s *system) missingPoints() []harness.Point {
	reached := s.board.Reached()
	return slices.DeleteFunc(requiredPoints(), func(point harness.Point) bool { return reached[point] })
}

// makeMove makes a move. A trap or a fault waits until its call comes.
func (s *system) makeMove(m mishap, random *rand.Rand) {
	rest := time.Duration(random.Int64N(int64(longestRest)))
	wait := time.Duration(random.Int64N(int64(30 * time.Millisecond)))
	pick := random.IntN(1 << 16)
	switch {
	case m.target == harness.TargetConnect:
		s.slowConnects()
	case m.target == harness.TargetMarks:
		s.refuseMarks()
	case m.freeze:
		s.board.Freeze(s.pickProcess(m.victim, pick), shortestFreeze+time.Duration(random.Int64N(int64(longestFreeze-shortestFreeze))))
	case m.target != "":
		s.board.Spoil(m.target, m.fault)
	case m.point != "":
		s.board.Arm(harness.Trap{Point: m.point, Victim: m.victim, Wait: wait, Rest: rest})
	default:
		s.board.Kill(s.pickProcess(m.victim, pick), "at random", rest)
	}
}

// pickProcess picks one of a kind.
func (s *system) pickProcess(kind string, pick int) string {
	switch kind {
	case "starter":
		return s.starters[pick%len(s.starters)]
	case "worker":
		return s.workers[pick%len(s.workers)]
	}
	return kind
}
