package rehearsal

import (
	"slices"
	"sync"
	"time"
)

// item is something that happens at an instant of the skipped time.
type item struct {
	at   time.Time
	seq  int
	done bool
	do   func()
}

// agenda holds what is still to happen to a person. It outlives the runs of the
// workflow.
type agenda struct {
	mu    sync.Mutex
	items []*item
	seq   int
}

func (a *agenda) add(at time.Time, do func()) *item {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seq++
	it := &item{at: at, seq: a.seq, do: do}
	a.items = append(a.items, it)
	return it
}

// take marks an item as done and reports whether it was still to be done.
func (a *agenda) take(it *item) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if it.done {
		return false
	}
	it.done = true
	a.items = slices.DeleteFunc(a.items, func(other *item) bool { return other == it })
	return true
}

// open lists what is still to be done, in the order in which it is to happen.
func (a *agenda) open() []*item {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.Clone(a.items)
	slices.SortFunc(list, func(x, y *item) int {
		if !x.at.Equal(y.at) {
			return x.at.Compare(y.at)
		}
		return x.seq - y.seq
	})
	return list
}

// next returns what happens first; nil when nothing is left.
func (a *agenda) next() *item {
	if list := a.open(); len(list) > 0 {
		return list[0]
	}
	return nil
}
