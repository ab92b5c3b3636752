package models

import "iter"

// HabitTexts are what the coach has learnt of a person's habit, each a field that the
// model may save.
type HabitTexts struct {
	HabitDomain          string `json:"habit_domain,omitempty" gorm:"serializer:sealed"`
	MotivationalFrame    string `json:"motivational_frame,omitempty" gorm:"serializer:sealed"`
	PreferredTime        string `json:"preferred_time,omitempty" gorm:"serializer:sealed"`
	PromptAnchor         string `json:"prompt_anchor,omitempty" gorm:"serializer:sealed"`
	AdditionalInfo       string `json:"additional_info,omitempty" gorm:"serializer:sealed"`
	LastSuccessfulPrompt string `json:"last_successful_prompt,omitempty" gorm:"serializer:sealed"`
	LastBarrier          string `json:"last_barrier,omitempty" gorm:"serializer:sealed"`
	LastMotivator        string `json:"last_motivator,omitempty" gorm:"serializer:sealed"`
	LastTweak            string `json:"last_tweak,omitempty" gorm:"serializer:sealed"`
}

// HabitShown has the same texts, for an answer that holds them also where they are
// empty. One converts to the other, so that neither lacks a field.
type HabitShown struct {
	HabitDomain          string `json:"habit_domain"`
	MotivationalFrame    string `json:"motivational_frame"`
	PreferredTime        string `json:"preferred_time"`
	PromptAnchor         string `json:"prompt_anchor"`
	AdditionalInfo       string `json:"additional_info"`
	LastSuccessfulPrompt string `json:"last_successful_prompt"`
	LastBarrier          string `json:"last_barrier"`
	LastMotivator        string `json:"last_motivator"`
	LastTweak            string `json:"last_tweak"`
}

// list returns the texts in the order of habitFields.
func (t *HabitTexts) list() []*string {
	return []*string{
		&t.HabitDomain, &t.MotivationalFrame, &t.PreferredTime, &t.PromptAnchor, &t.AdditionalInfo,
		&t.LastSuccessfulPrompt, &t.LastBarrier, &t.LastMotivator, &t.LastTweak,
	}
}

// HabitField says what one text about a habit is. All that handles such texts goes over
// HabitFields.
type HabitField struct {
	// Name is the field's name in the API, in the tool that saves it and of its column.
	Name string
	// Label is what people read before its value, Meaning what a model is told of it.
	Label, Meaning string
	// Longest is how many characters it may have: what it holds, and no more that could be
	// smuggled into each later request.
	Longest int
}

var habitFields = []HabitField{
	{"habit_domain", "Habit", "The habit, as a small action.", 120},
	{"motivational_frame", "Reason for it", "Why it matters, in their words.", 200},
	{"preferred_time", "Preferred time", "When in the day.", 80},
	{"prompt_anchor", "After", "The daily thing just before it.", 120},
	{"additional_info", "More", "Anything else, all in one text.", 500},
	{"last_successful_prompt", "Last success", "The text of a prompt that worked.", 320},
	{"last_barrier", "Last barrier", "What got in the way, or 'only in part'.", 200},
	{"last_motivator", "Last motivator", "What helped.", 200},
	{"last_tweak", "Last tweak", "The change they agreed to try.", 200},
}

// HabitFields lists the texts about a habit, in the order in which changes are reported.
func HabitFields() []HabitField { return habitFields }

// HabitColumns lists their columns, which are sealed.
func HabitColumns() []string {
	var columns []string
	for _, field := range habitFields {
		columns = append(columns, field.Name)
	}
	return columns
}

// All goes over the texts, each with what it is.
func (t *HabitTexts) All() iter.Seq2[HabitField, *string] {
	return func(yield func(HabitField, *string) bool) {
		for i, text := range t.list() {
			if !yield(habitFields[i], text) {
				return
			}
		}
	}
}

// LongestHabitText returns how many characters the text of a name may have; 0 for
// another name.
func LongestHabitText(name string) int {
	for _, field := range habitFields {
		if field.Name == name {
			return field.Longest
		}
	}
	return 0
}

// Text returns the text of a name, nil for another name.
func (t *HabitTexts) Text(name string) *string {
	for field, text := range t.All() {
		if field.Name == name {
			return text
		}
	}
	return nil
}
