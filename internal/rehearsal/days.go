package rehearsal

import (
	"slices"
	"sync"
	"time"
)

// days keeps people together: a few are played at a time, and no person begins a
// day before every other one has ended the day before.
type days struct {
	mu     sync.Mutex
	wake   *sync.Cond
	people int // who are still played
	slots  int // free
	day    int // the newest that may begin
	ready  int // people who wait for the next one
	// ended is called once a day, while no person is played.
	ended func(day int)
}

func newDays(people, slots int) *days {
	d := &days{people: people, slots: slots}
	d.wake = sync.NewCond(&d.mu)
	return d
}

func (d *days) enter() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.slots == 0 {
		d.wake.Wait()
	}
	d.slots--
}

// leave gives the slot back for good.
func (d *days) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots++
	d.people--
	d.begin()
	d.wake.Broadcast()
}

// wait gives the slot back until a day may begin.
func (d *days) wait(day int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots++
	d.ready++
	d.begin()
	d.wake.Broadcast()
	for d.day < day || d.slots == 0 {
		d.wake.Wait()
	}
	d.slots--
}

// begin lets the next day begin once every person waits for it.
func (d *days) begin() {
	if d.people > 0 && d.ready == d.people {
		d.ready = 0
		d.day++
		d.ended(d.day)
	}
}

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
