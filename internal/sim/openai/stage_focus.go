package openai

import (
	"strings"
)

// focus names the focus whose line shares most words with the text, the first
// one of those that share equally many.
func (a stageAsk) focus() string {
	best, most := "", -1
	for _, item := range a.items("Focuses") {
		name, _, _ := strings.Cut(item, ": ")
		if n := sharedWords(item, a.User); n > most {
			best, most = name, n
		}
	}
	return best
}
