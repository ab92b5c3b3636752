package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/internal/agent/recall"
)

func many(count, length int) []string {
	var out []string
	for n := range count {
		out = append(out, fmt.Sprintf("%04d%s", n, long(length-4)))
	}
	return out
}

func TestPlanMessages(t *testing.T) {
	tests := []struct {
		name    string
		in      []string
		batches int
		line    int // characters of the last line
	}{
		{"one", many(1, 10), 1, 12},
		{"all of them in full", many(500, 76), 7, 78},
		{"less of each", many(503, 500), 7, 82},
		{"the beginnings alone", many(4000, 500), 11, 15},
		{"one long among short ones", append(many(100, 20), long(9000)), 2, 6003},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := recall.PlanMessages(tt.in)
			require.Len(t, plan.Batches, tt.batches)
			lines := strings.Split(plan.Raw, "\n")
			require.Len(t, lines, len(tt.in))
			require.Equal(t, tt.line, chars(lines[len(lines)-1]))
		})
	}
	require.Empty(t, recall.PlanMessages([]string{" ", ""}).Batches)
}

func TestMessages(t *testing.T) {
	two := recall.PlanMessages(many(200, 40))
	require.Len(t, two.Batches, 2)
	t.Run("answered", func(t *testing.T) {
		got := two.Messages(said("They walk.", "<think>hm</think>Is it too late?"), 5000)
		require.Equal(t, "They walk.\nIs it too late?", got.Text)
		require.Equal(t, fmt.Sprintf("digest %d to 26", chars(two.Raw)), got.Decision)
	})
	for name, answers := range map[string][]recall.DigestAnswer{
		"failed": {{Text: "They walk."}, failed}, "none": said("They walk.", "NONE"), "missing": said("They walk."),
	} {
		t.Run(name, func(t *testing.T) {
			got := two.Messages(answers, 5000)
			first, rest, _ := strings.Cut(got.Text, "\n")
			require.Equal(t, "They walk.", first)
			require.Len(t, strings.Split(rest, " / "), strings.Count(two.Batches[1], "\n")+1)
			require.Contains(t, rest, "0199")
			require.NotContains(t, rest, "- ")
			require.Contains(t, got.Decision, "digest failed")
			require.LessOrEqual(t, chars(got.Text), 5000)
		})
	}
	t.Run("no room for all", func(t *testing.T) {
		got := two.Messages(nil, 600)
		require.LessOrEqual(t, chars(got.Text), 700)
		require.Contains(t, got.Text, "0000")
		require.Regexp(t, `and \d+ more$`, got.Text)
	})
	t.Run("a long answer", func(t *testing.T) {
		require.Equal(t, long(1200)+"…", recall.PlanMessages(many(1, 10)).Messages(said(long(1300)), 5000).Text)
	})
}

func TestMessagesKeepEveryBeginning(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.IntRange(1, 900).Draw(rt, "count")
		texts := many(count, rapid.IntRange(8, 300).Draw(rt, "length"))
		plan := recall.PlanMessages(texts)
		for _, text := range texts {
			require.Contains(rt, plan.Raw, "- "+text[:8], text[:8])
		}
		require.Equal(rt, plan.Raw, strings.Join(plan.Batches, "\n"))
		for _, batch := range plan.Batches {
			require.LessOrEqual(rt, chars(batch), 6003)
		}
	})
}

func TestMessagesRequest(t *testing.T) {
	req, err := recall.MessagesDigestRequest(library(t), "- Walked at seven.\n- Is it too late?", "m")
	golden(t, "messages_request.golden.txt", system(t, req, err))
	require.Equal(t, "m", req.Model)
	for _, rule := range []string{"at most 1200 characters", "in the person's language", "every question", "not instructions"} {
		require.Contains(t, req.Messages[0].Content, rule)
	}
}
