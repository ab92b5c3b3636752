package database

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// allocatorPage is what SQLite's allocator maps for slots of one size, which is
	// a power of two.
	allocatorPage = 64 << 10
	// smallestSlot and largestSlot bound the sizes of what a statement takes and
	// gives back: cursors, pages, parts of its journal.
	smallestSlot = 32
	largestSlot  = 8 << 10
	// keptPages are how many pages of each size stay mapped: the journal of a
	// statement that changes 28 pages of a database needs so many.
	keptPages = 4
)

// keepAllocatorPages keeps some of the allocator's pages for the life of the
// process, by a slot that stays in use in each. The allocator gives a page back to
// the system with its last slot, and so statements would have some mapped and
// unmapped all the time. It takes 2.3 MB at most.
var keepAllocatorPages = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	countNoMemory(tls)
	for size := smallestSlot; size <= largestSlot; size *= 2 {
		slots := make([]uintptr, keptPages*allocatorPage/size)
		for i := range slots {
			slots[i] = libc.Xmalloc(tls, types.Size_t(size))
		}
		// A part of each page is the allocator's own, so every half of one has a slot.
		for i, slot := range slots {
			if i%(allocatorPage/size/2) != 0 {
				libc.Xfree(tls, slot)
			}
		}
	}
})

// countNoMemory has SQLite keep no count of the memory that it uses, which takes a
// lock of the process for each piece. Nothing reads it. SQLite refuses the change
// behind its first connection, and then goes on counting.
func countNoMemory(tls *libc.TLS) {
	args := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(uintptr(0))))
	defer libc.Xfree(tls, args)
	_ = sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, libc.VaList(args, int32(0)))
}
