package consent

import (
	"coachline/internal/stems"
	"coachline/models"
)

// ScreenPlainly is Screen with every phrase run over every text.
func ScreenPlainly(body string) (models.Intent, models.ConsentMethod) { return screen(body, "", plain) }

var plain = stems.NewIndex(phrases, func(phrase) string { return "" })

// Patterns are those of all phrases.
func Patterns() []string {
	var all []string
	for _, p := range phrases {
		all = append(all, p.String())
	}
	return all
}
