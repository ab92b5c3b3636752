package safety

import "coachline/models"

// ScreenPlainly is Screen with every sign run over every text.
func ScreenPlainly(body string) models.Danger { return screen(body, plain) }

var plain = indexesOf(signs, func(sign) string { return "" })

// Patterns are those of all signs.
func Patterns() []string {
	var all []string
	for _, list := range signs {
		for _, s := range list {
			all = append(all, s.String())
		}
	}
	return all
}
