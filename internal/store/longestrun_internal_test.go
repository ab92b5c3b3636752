package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// instants are given in seconds from the beginning.
func instants(seconds ...int) []time.Time {
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	out := make([]time.Time, 0, len(seconds))
	for _, s := range seconds {
		out = append(out, begin.Add(time.Duration(s)*time.Second))
	}
	return out
}

func TestRun(t *testing.T) {
	tests := []struct {
		name           string
		texts, replies []time.Time
		want           int
	}{
		{"nothing", nil, nil, 0},
		{"texts alone", instants(1, 2, 3), nil, 0},
		{"the first text answers nothing", instants(0), instants(3), 0},
		{"two machines", instants(0, 4, 8, 12), instants(3, 7, 11), 3},
		{"a gap of five seconds is a machine's", instants(0, 8), instants(3), 1},
		{"a longer one is a person's", instants(0, 9), instants(3), 0},
		{"a person in between begins anew", instants(0, 4, 8, 30, 34), instants(3, 7, 11, 33), 1},
		{"our own slowness is not the sender's", instants(0, 31, 62), instants(30, 60), 2},
		{"a burst neither counts nor breaks", instants(0, 4, 5, 6, 12), instants(3, 10), 2},
		{"a reply in two parts", instants(0, 6), instants(3, 5), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, longestRun(tt.texts, tt.replies)) })
	}
}

func TestRepeatsOf(t *testing.T) {
	for _, short := range []string{"ok", "Yes!", "done", "Not yet", "\U0001F44D", "7", "  OK \u200b"} {
		require.Equal(t, shortRepeats, repeatsOf(short), short)
	}
	for _, long := range []string{"I am out of office", "Thanks for your message"} {
		require.Equal(t, repeats, repeatsOf(long), long)
	}
}
