package agent_test

import (
	"testing"

	"coachline/internal/agent"
)

// BenchmarkWords measures Words on a plain answer.
func BenchmarkWords(b *testing.B) {
	text := "Nice, two minutes is a fine start.\n\nAfter your morning coffee, what would be the easiest way to begin tomorrow?"
	b.ReportAllocs()
	for b.Loop() {
		if agent.Words(text) != text {
			b.Fatal("changed")
		}
	}
}
