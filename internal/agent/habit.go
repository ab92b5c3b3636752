package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"coachline/internal/agent/marks"
	"coachline/models"
	"coachline/prompts"
)

// HabitInput is what a habit prompt is written from. Notes are the coach
// model's wishes for this one and Memory is the block of what is remembered;
// both may be empty. A nil Zone is UTC. The person's locale decides the language where
// nothing in Profile or Memory shows it.
type HabitInput struct {
	Person    models.Participant
	Profile   models.Profile
	Notes     string
	Memory    string
	Zone      *time.Location
	Now       time.Time
	Model     string
	Programme string
	// Recent are the last prompts that were sent, the newest first.
	Recent []models.PastPrompt
}

// ComposeHabitPrompt builds the request for one habit prompt: no history and
// no tools, the answer is the prompt. It fails when a text cannot be rendered.
func ComposeHabitPrompt(lib *prompts.Library, in HabitInput) (models.ChatRequest, error) {
	if in.Zone == nil {
		in.Zone = time.UTC
	}
	w := sectionWriter{lib: lib, programme: in.Programme}
	w.addPrompt("Persona", prompts.Persona)
	w.addPrompt("Task: habit prompt", prompts.HabitPrompt)
	w.addLanguage(in.Person.Locale, false)
	w.addSection("Participant", participantLines(in.Person, in.Zone))
	w.addSection("Profile", append(ProfileLines(in.Profile), formatField("last prompt", in.Profile.LastHabitPrompt)...))
	if recent := recentLines(in.Recent, in.Zone); len(recent) > 0 {
		w.addSection("Recent prompts", recent)
	}
	w.addTone(in.Profile.Tone, in.Person, in.Now)
	w.addBlock("Memory", in.Memory)
	w.addSection("Now", []string{clockLine(in.Now, in.Zone)})
	request := w.renderText(prompts.HabitPromptRequest, prompts.RequestData{Notes: toOneLine(in.Notes)})
	if w.err != nil {
		return models.ChatRequest{}, fmt.Errorf("writing habit prompt request: %w", w.err)
	}
	return models.ChatRequest{Model: in.Model, Messages: []models.ChatMessage{
		{Role: roleSystem, Content: joinSections(w.sections)},
		{Role: roleUser, Content: marks.Task + request},
	}}, nil
}

// Bounds of the parts of a fallback prompt; together with its fixed parts
// they keep it under 30 words.
const (
	anchorWords  = 7
	habitWords   = 6
	benefitWords = 6
	partLength   = 60 // characters
)

// HabitFallback writes a habit prompt without a model: one sentence of anchor,
// action and benefit, under 30 words, from what the profile holds. It is never
// empty, and in English, so that it is not for people of other languages.
func HabitFallback(p models.Profile) string {
	anchor := cutFragment(p.PromptAnchor, anchorWords)
	switch {
	case anchor == "":
		anchor = "today"
	case !startsAsMoment(anchor):
		anchor = "after " + anchor
	}
	// The habit stands in brackets and the reason after a colon, since either
	// may be a noun or a verb.
	habit := "your habit"
	if what := cutFragment(p.HabitDomain, habitWords); what != "" {
		habit += " (" + what + ")"
	}
	benefit := "every small step counts."
	if why := cutFragment(p.MotivationalFrame, benefitWords); why != "" {
		benefit = "your why: " + why + "."
	}
	sentence := anchor + ", take two minutes for " + habit + "; " + benefit
	first := []rune(sentence)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

// cutFragment makes a part of a sentence out of what a person said: its first
// clause, a few words long, turned from "I" to "you".
func cutFragment(said string, words int) string {
	said = strings.TrimFunc(said, isEdge)
	if cut := strings.IndexAny(said, ".!?;\n"); cut >= 0 {
		said = said[:cut]
	}
	fields := strings.Fields(said)
	if len(fields) > words {
		fields = fields[:words]
		for len(fields) > 1 && slices.Contains(openWords(), strings.ToLower(fields[len(fields)-1])) {
			fields = fields[:len(fields)-1]
		}
	}
	for i, word := range fields {
		if other, ok := secondPerson()[strings.ToLower(word)]; ok {
			fields[i] = other
		}
	}
	text := strings.Join(fields, " ")
	if runes := []rune(text); len(runes) > partLength {
		text = string(runes[:partLength])
	}
	return strings.TrimFunc(text, isEdge)
}

// isEdge reports whether a character does not belong at the edge of a fragment.
func isEdge(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) }

// openWords returns the words that cannot end a fragment that was cut.
func openWords() []string {
	return []string{"a", "all", "an", "and", "at", "but", "for", "from", "in", "my", "of", "on", "or", "so", "that", "the", "to", "when", "with"}
}

// secondPerson maps words of the first person to the second.
func secondPerson() map[string]string {
	return map[string]string{
		"i": "you", "i'm": "you're", "i'll": "you'll", "i've": "you've", "me": "you",
		"my": "your", "mine": "yours", "myself": "yourself", "am": "are",
	}
}

// startsAsMoment reports whether an anchor already says when.
func startsAsMoment(anchor string) bool {
	first, _, _ := strings.Cut(strings.ToLower(anchor), " ")
	return slices.Contains([]string{
		"after", "as", "at", "before", "during", "every", "in", "on", "once", "right", "when", "whenever", "while",
	}, first)
}
