package rehearsal

import "sync"

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
