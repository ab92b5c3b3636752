package agent

import (
	"strings"

	"coachline/internal/advice"
	"coachline/internal/agent/outgoing"
	"coachline/internal/agent/toolcall"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

// isAskedWhatWeAre reports whether a text of the turn does.
func (r *runningStep) isAskedWhatWeAre() bool {
	c := r.turn.context
	for _, entry := range c.Window {
		if entry.Role == models.RoleUser && entry.TurnID == c.Turn.ID && advice.AsksWhatItIs(entry.Text) {
			return true
		}
	}
	return false
}

// truthForRefused stands in for words that were refused: where the person asks what
// answers them the fixed text that says it, elsewhere no words.
func (r *runningStep) truthForRefused() toolcall.Verdict {
	if r.input.Kind == wire.TurnReply && r.isAskedWhatWeAre() {
		words, err := r.agent.Prompts.Fixed(prompts.WhatAreYou, r.turn.context.Participant.Locale, prompts.FixedData{Programme: r.agent.Settings.Programme})
		if err == nil {
			return toolcall.Verdict{Judgment: toolcall.Words, Text: words}
		}
	}
	return toolcall.Verdict{Judgment: toolcall.Malformed}
}

// tellWithoutWords does the same for an answer that is no words; calls stay as they are.
func (r *runningStep) tellWithoutWords(verdict toolcall.Verdict) toolcall.Verdict {
	if verdict.Judgment != toolcall.Empty && verdict.Judgment != toolcall.Malformed {
		return verdict
	}
	if told := r.truthForRefused(); told.Judgment == toolcall.Words {
		return told
	}
	return verdict
}

// addTruth begins a reply to a person who asks what answers them with the fixed sentence
// that says so. Words that say it themselves, and those that stand for a claim to be a
// person, stay or become the fixed text.
func (r *runningStep) addTruth(verdict toolcall.Verdict) toolcall.Verdict {
	if verdict.Judgment != toolcall.Words || r.input.Kind != wire.TurnReply || !r.isAskedWhatWeAre() || outgoing.SaysProgram(verdict.Text) {
		return verdict
	}
	words, err := r.agent.Prompts.Fixed(prompts.Truth, r.turn.context.Participant.Locale, prompts.FixedData{Programme: r.agent.Settings.Programme})
	if err != nil {
		r.trace.noteError(models.StageGuard, err)
		return verdict
	}
	r.trace.note(models.StageGuard, "guard says what it is")
	verdict.Text = strings.TrimSpace(words) + " " + verdict.Text
	return verdict
}
