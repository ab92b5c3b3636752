package store

import (
	"sync"
	"time"
)

// nameLife is how long opened names are kept at most.
const nameLife = 10 * time.Minute

// openedNames are names that searches have opened, in this process's memory only and
// for some minutes. A name belongs to the sealed text that it was opened from, so
// that one which was changed or sealed anew is opened anew.
type openedNames struct {
	mu    sync.Mutex
	byID  map[string]openedName
	timer *time.Timer
	// opened counts the names that were opened.
	opened int
}

type openedName struct{ sealed, name string }

// open returns the name of a person as it was opened before from the same sealed
// text, or opens it.
func (o *openedNames) open(id, sealed string, opener func() string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if sealed == "" {
		delete(o.byID, id)
		return ""
	}
	if kept, found := o.byID[id]; found && kept.sealed == sealed {
		return kept.name
	}
	if o.byID == nil || len(o.byID) >= maxNames {
		o.byID = map[string]openedName{}
	}
	if o.timer == nil {
		o.timer = time.AfterFunc(nameLife, o.forget)
	}
	o.opened++
	name := opener()
	o.byID[id] = openedName{sealed, name}
	return name
}

// drop forgets the name of a person.
func (o *openedNames) drop(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byID, id)
}

func (o *openedNames) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID = nil
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}
