package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStormJudgesPages(t *testing.T) {
	s := &storm{pages: map[string]int{"a1 ann": 2, "a2 bob": 1}}
	for _, tc := range []struct {
		id          string
		want, wrong int
	}{
		{"ann", 1, 0}, // paged twice with one id
		{"ann", 0, 1}, {"cleo", 0, 0}, {"cleo", 1, 1},
	} {
		var v verdict
		s.judgePages(&v, tc.id, tc.want)
		require.Len(t, v, tc.wrong, "%s: %d", tc.id, tc.want)
	}
}
