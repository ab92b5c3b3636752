package screening

import (
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

const (
	// shortText is how many characters a text has at most whose language is not asked
	// for, and shortForeign those of one in another script, where a word is a character.
	shortText, shortForeign = 19, 9
	// knownShare is the share of words that a language of ours knows at most of a text in
	// another one, clearShare where the detector is sure.
	knownShare, clearShare = 0.45, 0.40
	// fewestWords is how many words a text must have for its unknown words to say much.
	fewestWords = 6
)

// ours are the languages that have rules.
var ours = map[whatlanggo.Lang]bool{
	whatlanggo.Deu: true, whatlanggo.Eng: true, whatlanggo.Spa: true, whatlanggo.Fra: true, whatlanggo.Por: true,
}

// isOtherLanguage reports whether a text is in no language that has rules: in another
// script, or most words unknown and a detector of letter triples finds another language.
// The detector alone errs on every fifth short message.
func (s *scanner) isOtherLanguage(body string) bool {
	length, foreign, letters := utf8.RuneCountInString(body), 0, 0
	for _, r := range body {
		if unicode.IsLetter(r) {
			letters++
			if !unicode.Is(unicode.Latin, r) {
				foreign++
			}
		}
	}
	if foreign > letters/2 {
		return foreign > shortForeign
	}
	words := len(s.tokens.spans)
	if length <= shortText || words == 0 {
		return false
	}
	var most int32
	for i := range s.versions {
		most = max(most, s.versions[i].known[words])
	}
	share := float64(most) / float64(words)
	if share > knownShare {
		return false
	}
	guess := whatlanggo.Detect(body)
	if ours[guess.Lang] {
		return false
	}
	return words >= fewestWords || share <= clearShare && guess.IsReliable()
}
