package wire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/models/wire"
)

func TestInboxTakesEachNumberOnceInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 40).Draw(t, "count")
		numbers := make([]int64, count)
		for i := range numbers {
			numbers[i] = int64(i + 1)
		}
		deliveries := append(rapid.Permutation(numbers).Draw(t, "order"), rapid.SliceOf(rapid.SampledFrom(numbers)).Draw(t, "repeats")...)
		var inbox wire.Inbox
		for _, seq := range deliveries {
			inbox.Take(wire.InboxItem{MessageID: seq, Seq: seq})
		}
		require.Len(t, inbox.Items, count)
		for i, item := range inbox.Items {
			require.EqualValues(t, i+1, item.Seq)
		}
		require.Empty(t, inbox.Gaps)
		require.EqualValues(t, count, inbox.LastSeq)
	})
}

func TestInboxRemembersWhatIsMissing(t *testing.T) {
	inbox := wire.Inbox{LastSeq: 3}
	require.True(t, inbox.Take(wire.InboxItem{Seq: 6}))
	require.Equal(t, []int64{4, 5}, inbox.Gaps)
	require.False(t, inbox.Take(wire.InboxItem{Seq: 2}), "seen in an earlier run")
	require.True(t, inbox.Take(wire.InboxItem{Seq: 4}))
	require.False(t, inbox.Take(wire.InboxItem{Seq: 4}))
	require.Equal(t, []int64{5}, inbox.Gaps)
}

func TestCloneSharesNothing(t *testing.T) {
	state := wire.ParticipantState{
		Due: []wire.Due{{Kind: wire.DueReminder}}, Pending: &wire.PendingPrompt{PromptID: "a"},
		Inbox: wire.Inbox{Items: []wire.InboxItem{{Seq: 1}}, Gaps: []int64{2}},
	}
	clone := state.Clone()
	clone.Due[0].Kind, clone.Pending.PromptID, clone.Inbox.Items[0].Seq, clone.Inbox.Gaps[0] = wire.DueDebounce, "b", 9, 9
	require.Equal(t, wire.DueReminder, state.Due[0].Kind)
	require.Equal(t, "a", state.Pending.PromptID)
	require.EqualValues(t, 1, state.Inbox.Items[0].Seq)
	require.EqualValues(t, 2, state.Inbox.Gaps[0])
}

func TestNewestAt(t *testing.T) {
	at := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	inbox := wire.Inbox{Items: []wire.InboxItem{{Seq: 1, ReceivedAt: at.Add(time.Second)}, {Seq: 2, ReceivedAt: at}}}
	require.Equal(t, at.Add(time.Second), inbox.NewestAt())
	require.True(t, wire.Inbox{}.NewestAt().IsZero())
}
