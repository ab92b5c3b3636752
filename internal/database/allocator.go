package database

import (
	"sync"

	"modernc.org/libc"
)

const (
	// journalSlot is what SQLite's allocator takes for a part of a statement's
	// journal, which is 1 KiB and a pointer; allocatorPage is what it maps for
	// slots of one size.
	journalSlot   = 2 << 10
	allocatorPage = 64 << 10
	// journalPages hold the journal of a statement that changes 28 pages of a
	// database.
	journalPages = 4
)

// keepJournalPages keeps some of the allocator's pages for the journals of
// statements, for the life of the process, by a slot that stays in use in each. The
// allocator gives a page back to the system with its last slot, and so each
// statement that fires a trigger or returns a row would have some mapped and
// unmapped.
var keepJournalPages = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	slots := make([]uintptr, journalPages*allocatorPage/journalSlot)
	for i := range slots {
		slots[i] = libc.Xmalloc(tls, journalSlot)
	}
	// A part of each page is the allocator's own, so every half of one has a slot.
	for i, slot := range slots {
		if i%(allocatorPage/journalSlot/2) != 0 {
			libc.Xfree(tls, slot)
		}
	}
})
