package models

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every kind has one registration, whose fields agree with each other.
func TestKinds(t *testing.T) {
	seen := map[Kind]bool{}
	for _, spec := range kinds {
		require.False(t, seen[spec.Name], spec.Name)
		seen[spec.Name] = true
		require.Equal(t, spec, spec.Name.Spec())
		require.Equal(t, spec.Fixed != "", spec.Source == SourceFixed, "%s: a fixed text has a name", spec.Name)
		require.Equal(t, spec.Urgent, spec.UsefulFor == AnswerValidity, "%s: an answer is of use for hours", spec.Name)
		require.False(t, spec.CanBeHeld && !spec.Initiated, spec.Name)
		require.False(t, spec.Initiated && !spec.Coaching, spec.Name)
		require.False(t, spec.LaterRetry && !spec.Repost, spec.Name)
		if spec.Source != "" {
			require.NotZero(t, spec.UsefulFor, "%s: it is sent", spec.Name)
		}
	}
	require.Equal(t, KindSpec{Name: "novel"}, Kind("novel").Spec())
	require.Equal(t, []Kind{KindDebug, KindToolCall, KindToolResult}, KindsWith(func(k KindSpec) bool { return k.Hidden }))
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
