package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Pace of giving memory back. A reply takes some 2 MB of the heap, most of
// which is garbage at once; a system at rest takes less than restRate.
const (
	trimEvery = 15 * time.Second
	restRate  = 8 << 20 // bytes a second
	trimWorth = 32 << 20
)

// heapUsage is what the trimmer looks at, in bytes since the process began (taken)
// or as it is.
type heapUsage struct {
	taken uint64
	// held is what the process has of the system, in use or not.
	held uint64
}

// trimmer decides when memory goes back to the system: the collector alone
// keeps twice of what is in use for the next burst.
type trimmer struct {
	last heapUsage
	// floor is what was held after the newest trim; 0 before the first.
	floor uint64
}

// isDue: little was taken since the look before, and enough is held beyond what
// the last trim could not give back.
func (t *trimmer) isDue(now heapUsage) bool {
	resting := now.taken-t.last.taken < restRate*uint64(trimEvery/time.Second)
	t.last = now
	return resting && now.held > t.floor+trimWorth
}

// giveBack trims until ctx ends.
func giveBack(ctx context.Context) {
	t := trimmer{last: readHeap()}
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if t.isDue(readHeap()) {
			debug.FreeOSMemory()
			t.last = readHeap()
			t.floor = t.last.held
		}
	}
}

func readHeap() heapUsage {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return heapUsage{taken: samples[0].Value.Uint64(), held: samples[1].Value.Uint64() - samples[2].Value.Uint64()}
}
