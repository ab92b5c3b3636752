package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsGivenBackAtRest(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for _, c := range []struct {
		name string
		// looks in order, and at which of them memory is given back; the floor
		// after a trim is what is held then, less 40 MB.
		looks []heapUsage
		want  []bool
	}{
		{"at rest after work", []heapUsage{{taken: 10 * mb, held: 100 * mb}}, []bool{true}},
		{"at work", []heapUsage{{taken: 500 * mb, held: 300 * mb}, {taken: 1000 * mb, held: 300 * mb}}, []bool{false, false}},
		{"work ends", []heapUsage{{taken: 500 * mb, held: 300 * mb}, {taken: 510 * mb, held: 300 * mb}}, []bool{false, true}},
		{"nothing to give back", []heapUsage{{taken: 10 * mb, held: 20 * mb}}, []bool{false}},
		{"not again for a little", []heapUsage{{taken: 10 * mb, held: 100 * mb}, {taken: 20 * mb, held: 80 * mb}}, []bool{true, false}},
		{"again for more", []heapUsage{{taken: 10 * mb, held: 100 * mb}, {taken: 20 * mb, held: 95 * mb}}, []bool{true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var tr trimmer
			for i, now := range c.looks {
				due := tr.isDue(now)
				require.Equal(t, c.want[i], due, "look %d", i)
				if due {
					tr.floor = now.held - 40*mb
				}
			}
		})
	}
}

func TestHeapIsRead(t *testing.T) {
	t.Parallel()
	now := readHeap()
	require.Positive(t, now.taken)
	require.Positive(t, now.held)
}
