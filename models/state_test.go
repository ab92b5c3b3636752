package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/models"
)

func TestInboxTakesEachNumberOnceInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 40).Draw(t, "count")
		numbers := make([]int64, count)
		for i := range numbers {
			numbers[i] = int64(i + 1)
		}
		deliveries := append(rapid.Permutation(numbers).Draw(t, "order"), rapid.SliceOf(rapid.SampledFrom(numbers)).Draw(t, "repeats")...)
		var inbox models.Inbox
		for _, seq := range deliveries {
			inbox.Take(models.InboxItem{MessageID: seq, Seq: seq})
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
	inbox := models.Inbox{LastSeq: 3}
	require.True(t, inbox.Take(models.InboxItem{Seq: 6}))
	require.Equal(t, []int64{4, 5}, inbox.Gaps)
	require.False(t, inbox.Take(models.InboxItem{Seq: 2}), "seen in an earlier run")
	require.True(t, inbox.Take(models.InboxItem{Seq: 4}))
	require.False(t, inbox.Take(models.InboxItem{Seq: 4}))
	require.Equal(t, []int64{5}, inbox.Gaps)
}

func TestCloneSharesNothing(t *testing.T) {
	state := models.ParticipantState{
		Due: []models.Due{{Kind: models.DueReminder}}, Pending: &models.PendingPrompt{PromptID: "a"},
		Inbox: models.Inbox{Items: []models.InboxItem{{Seq: 1}}, Gaps: []int64{2}},
	}
	clone := state.Clone()
	clone.Due[0].Kind, clone.Pending.PromptID, clone.Inbox.Items[0].Seq, clone.Inbox.Gaps[0] = models.DueDebounce, "b", 9, 9
	require.Equal(t, models.DueReminder, state.Due[0].Kind)
	require.Equal(t, "a", state.Pending.PromptID)
	require.EqualValues(t, 1, state.Inbox.Items[0].Seq)
	require.EqualValues(t, 2, state.Inbox.Gaps[0])
}

func TestNewestAt(t *testing.T) {
	at := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	inbox := models.Inbox{Items: []models.InboxItem{{Seq: 1, ReceivedAt: at.Add(time.Second)}, {Seq: 2, ReceivedAt: at}}}
	require.Equal(t, at.Add(time.Second), inbox.NewestAt())
	require.True(t, models.Inbox{}.NewestAt().IsZero())
}

func TestNames(t *testing.T) {
	id, ok := models.ParticipantIDOf(models.WorkflowID("conv_1"))
	require.True(t, ok)
	require.Equal(t, "conv_1", id)
	_, ok = models.ParticipantIDOf("temporal-sys-scheduler")
	require.False(t, ok)
	require.Equal(t, "conv_1-t42-p1", models.OutboxID(models.TurnID("conv_1", 42), 1))
}
