package agent

import (
	"fmt"
	"slices"
	"time"

	"coachline/internal/agent/marks"
	"coachline/models"
	"coachline/prompts"
)

// ComposeCheckIn builds the request for the decision whether to write without
// having been asked: no tools, the conversation before it, and an answer in
// JSON. It fails when a text cannot be rendered.
func ComposeCheckIn(lib *prompts.Library, in Input) (models.ChatRequest, error) {
	if in.Zone == nil {
		in.Zone = time.UTC
	}
	ctx := in.Context
	w := sectionWriter{lib: lib, programme: in.Programme}
	w.addPersona(prompts.Persona)
	w.addPrompt("Task: check-in", prompts.CheckIn)
	if heartbeat := lib.Heartbeat(); heartbeat != "" {
		w.addSection("Heartbeat", []string{heartbeat})
	}
	w.addLanguage(ctx.Participant.Locale, false)
	w.addSection("Participant", participantLines(ctx.Participant, in.Zone))
	w.addSection("Profile", ProfileLines(ctx.Profile))
	w.addSection("Schedules", scheduleLines(ctx, in.Zone))
	w.addTone(ctx.Profile.Tone, ctx.Participant, in.Now)
	system := joinSections(w.sections)
	w.sections = nil
	if ctx.Outstanding != nil {
		w.addSection("Newest prompt", outstandingLines(ctx, in.Zone))
	}
	w.addBlock("Memory", in.Memory)
	w.addSection("Last contact", contactLines(in))
	w.addSection("Now", []string{clockLine(in.Now, in.Zone)})
	request := w.renderText(prompts.CheckInRequest, prompts.PersonaData{Programme: in.Programme})
	if w.err != nil {
		return models.ChatRequest{}, fmt.Errorf("writing check-in request: %w", w.err)
	}
	first := models.ChatMessage{Role: roleSystem, Content: system}
	return models.ChatRequest{Model: in.Model, Messages: interleaveSteps(first, in, nil, ending{marks.Task + request, joinSections(w.sections)}), JSON: true}, nil
}

// contactLines returns when either side wrote last, as far back as the window
// goes.
func contactLines(in Input) []string {
	return slices.Concat(
		formatField("The person wrote", lastAt(in, models.RoleUser)),
		formatField("You wrote", lastAt(in, models.RoleAssistant)),
		formatField("Check-ins since the person wrote", countUnanswered(in.Context.Window)))
}

func lastAt(in Input, role models.Role) string {
	for _, entry := range slices.Backward(in.Context.Window) {
		if entry.Role == role && entry.Kind != models.KindToolCall {
			return shortTime(entry.At, in.Zone)
		}
	}
	return "not yet"
}

// countUnanswered counts the check-ins at the end of a conversation.
func countUnanswered(entries []models.Message) string {
	n := 0
	for _, entry := range slices.Backward(entries) {
		if entry.Role == models.RoleUser {
			break
		}
		if entry.Kind == models.KindCheckIn {
			n++
		}
	}
	return fmt.Sprint(n)
}
