package models

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

// Every kind has one registration, whose fields agree with each other.
func TestKinds(t *testing.T) {
	turns, entries := map[wire.TurnKind]bool{}, map[EntryKind]bool{}
	for _, spec := range kinds {
		require.False(t, turns[spec.Turn] || entries[spec.Entry], "%s %s", spec.Turn, spec.Entry)
		turns[spec.Turn], entries[spec.Entry] = spec.Turn != "", spec.Entry != ""
		name := string(cmp.Or(spec.Entry, EntryKind(spec.Turn)))
		if spec.Turn != "" {
			require.Equal(t, name, string(spec.Turn), "both are spelled alike")
			require.Equal(t, spec, TurnSpecOf(spec.Turn))
			require.Equal(t, spec.Entry, EntryOf(spec.Turn))
		}
		if spec.Entry != "" {
			require.Equal(t, spec, spec.Entry.Spec())
		}
		require.Equal(t, spec.Fixed != "", spec.Source == wire.SourceFixed, "%s: a fixed text has a name", name)
		require.Equal(t, spec.Urgent, spec.UsefulFor == AnswerValidity, "%s: an answer is of use for hours", name)
		require.False(t, spec.CanBeHeld && !spec.Initiated, name)
		require.False(t, spec.Initiated && !spec.Coaching, name)
		require.False(t, spec.LaterRetry && !spec.Repost, name)
		if spec.Source != "" {
			require.NotZero(t, spec.UsefulFor, "%s: it is sent", name)
		}
	}
	require.Equal(t, KindSpec{Entry: "novel"}, EntryKind("novel").Spec())
	require.Equal(t, KindSpec{Turn: "novel"}, TurnSpecOf("novel"))
	require.Equal(t, KindSpec{}, TurnSpecOf(""))
	require.Equal(t, []EntryKind{KindDebug, KindToolCall, KindToolResult}, EntriesWith(func(k KindSpec) bool { return k.Hidden }))
}

// Every class of failures has one registration. A class that holds the sender
// says until when, and no other one does.
func TestCarrierClasses(t *testing.T) {
	seen := map[CarrierClass]bool{}
	for _, spec := range classes {
		require.False(t, seen[spec.Name], spec.Name)
		seen[spec.Name] = true
		require.Equal(t, spec, spec.Name.Spec())
		holds := spec.Reaction == ReactionHold || spec.Reaction == ReactionHoldAndEnd
		require.Equal(t, holds, spec.HoldEnd != HoldEndNone, spec.Name)
		require.False(t, spec.OptsOut && spec.Unreachable, spec.Name)
	}
	require.Equal(t, ReactionEnd, CarrierClass("").Spec().Reaction)
	require.Equal(t, []CarrierClass{CarrierWindow, CarrierRegistration, CarrierAccount}, HoldingClasses())
}
