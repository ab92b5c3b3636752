package coach

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"coachline/internal/coach/tone"
	"coachline/models"
)

// ProfileField names a profile text that the model may change, one of
// models.HabitFields. Counters, sent instants and generated prompts belong to the
// system and have no name here.
type ProfileField string

// The profile fields that rules ask for.
const (
	FieldHabitDomain          ProfileField = "habit_domain"
	FieldMotivationalFrame    ProfileField = "motivational_frame"
	FieldPreferredTime        ProfileField = "preferred_time"
	FieldPromptAnchor         ProfileField = "prompt_anchor"
	FieldLastSuccessfulPrompt ProfileField = "last_successful_prompt"
)

// ProfileFields lists every field in the order in which changes are reported.
func ProfileFields() []ProfileField {
	var fields []ProfileField
	for _, field := range models.HabitFields() {
		fields = append(fields, ProfileField(field.Name))
	}
	return fields
}

// FieldValue is what a field was asked to become. Null clears it; an empty or
// blank Text without Null leaves it as it is.
type FieldValue struct {
	Text string
	Null bool
}

// ProfileAsk is a parsed call of save_user_profile. A field that is not in
// Fields was not given.
type ProfileAsk struct {
	Fields   map[ProfileField]FieldValue
	ToneTags []string
	// ToneSource says how the tags became known; empty counts as implicit,
	// the weaker claim.
	ToneSource tone.Source
}

// Check reports the first thing of an ask that cannot be taken, as a
// *models.FieldError whose text says what is allowed. It covers unknown
// fields, texts longer than their field takes, unknown tone tags and sources.
func (a ProfileAsk) Check() error {
	known := ProfileFields()
	for field := range a.Fields {
		if !slices.Contains(known, field) {
			return models.BadField(string(field), "is not a profile field; allowed: %s", joinNames(known))
		}
	}
	for _, field := range known {
		if n, most := utf8.RuneCountInString(a.Fields[field].Text), models.LongestHabitText(string(field)); n > most {
			return models.BadField(string(field), "has %d characters, at most %d are allowed", n, most)
		}
	}
	return checkTone(a.ToneTags, a.ToneSource)
}

func checkTone(tags []string, source tone.Source) error {
	for _, tag := range tags {
		if !slices.Contains(tone.Tags(), tag) {
			return models.BadField("tone_tags", "%s is not a tone; allowed: %s", quoteValue(tag), joinNames(tone.Tags()))
		}
	}
	switch source {
	case "", tone.Explicit, tone.Implicit:
		return nil
	}
	return models.BadField("tone_update_source", "%s is not allowed; use explicit or implicit", quoteValue(string(source)))
}

// ReportsSuccess says whether the ask records that a prompt worked, which is
// what raises the success count (once a prompt; the store counts).
func (a ProfileAsk) ReportsSuccess() bool {
	value := a.Fields[FieldLastSuccessfulPrompt]
	return !value.Null && strings.TrimSpace(value.Text) != ""
}

// MergeProfile applies an ask: a field changes only if it is given and
// different, blank texts are ignored, Null clears. It returns the new profile
// and the names of what changed in the order of ProfileFields, then
// tone.ChangedTags or tone.ChangedScores; no names means that the profile is as
// it was. Run Check first: what Check refuses is left out here without a word.
// The profile passed in is not modified; Version stays for the store to raise.
func MergeProfile(p models.Profile, ask ProfileAsk, now time.Time) (models.Profile, []string) {
	var changed []string
	for _, field := range ProfileFields() {
		value, given := ask.Fields[field]
		if given && mergeField(p.Text(string(field)), value, models.LongestHabitText(string(field))) {
			changed = append(changed, string(field))
		}
	}
	next, name := tone.Merge(p.Tone, ask.ToneTags, ask.ToneSource, now)
	if name != "" {
		p.Tone = next
		changed = append(changed, name)
	}
	if len(changed) > 0 {
		p.UpdatedAt = now
	}
	return p, changed
}

func mergeField(target *string, value FieldValue, most int) bool {
	text := strings.TrimSpace(value.Text)
	if value.Null {
		text = ""
	} else if text == "" || utf8.RuneCountInString(text) > most {
		return false
	}
	if *target == text {
		return false
	}
	*target = text
	return true
}

// MissingFields names what a complete profile still lacks, of habit_domain,
// motivational_frame, preferred_time and prompt_anchor, in this order.
func MissingFields(p models.Profile) []string {
	return listBlank(p, FieldHabitDomain, FieldMotivationalFrame, FieldPreferredTime, FieldPromptAnchor)
}

// PromptNeeds names what generating a habit prompt still lacks, of
// prompt_anchor and preferred_time, in this order.
func PromptNeeds(p models.Profile) []string {
	return listBlank(p, FieldPromptAnchor, FieldPreferredTime)
}

// listBlank returns the names of the fields that are empty.
func listBlank(p models.Profile, fields ...ProfileField) []string {
	var missing []string
	for _, field := range fields {
		if strings.TrimSpace(*p.Text(string(field))) == "" {
			missing = append(missing, string(field))
		}
	}
	return missing
}

// joinNames lists names of any string type for a message.
func joinNames[T ~string](names []T) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return strings.Join(words, ", ")
}
