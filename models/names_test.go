package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestParseTurnID(t *testing.T) {
	for _, tc := range []struct {
		name, in, participant string
		number                int
		ok                    bool
	}{
		{"a turn", "conv_0a1b-t42", "conv_0a1b", 42, true},
		{"a participant with the mark in it", "a-t1-t2", "a-t1", 2, true},
		{"no number", "conv_1-t", "", 0, false},
		{"no turn", "conv_1", "", 0, false},
		{"nobody's", "-t42", "", 0, false},
		{"a part of a text", "conv_1-t42-p1", "", 0, false},
		{"another spelling", "conv_1-t042", "", 0, false},
		{"a sign", "conv_1-t+4", "", 0, false},
		{"below zero", "conv_1-t-4", "", 0, false},
		{"nothing", "", "", 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			participant, number, ok := models.ParseTurnID(tc.in)
			require.Equal(t, tc.ok, ok)
			require.Equal(t, tc.participant, participant)
			require.Equal(t, tc.number, number)
		})
	}
}

func FuzzParseTurnID(f *testing.F) {
	for _, seed := range []string{"conv_0a1b-t42", "-t1", "a-t1-t2", "a-t99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if participant, number, ok := models.ParseTurnID(in); ok {
			require.Equal(t, in, models.TurnID(participant, number))
		}
	})
}

func TestNames(t *testing.T) {
	id, ok := models.ParticipantIDOf(models.WorkflowID("conv_1"))
	require.True(t, ok)
	require.Equal(t, "conv_1", id)
	_, ok = models.ParticipantIDOf("temporal-sys-scheduler")
	require.False(t, ok)
	require.Equal(t, "conv_1-t42-p1", models.OutboxID(models.TurnID("conv_1", 42), 1))
}
