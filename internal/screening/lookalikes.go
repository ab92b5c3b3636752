package screening

import (
	"sync"
	"unicode"

	"github.com/mtibben/confusables"
)

// lookAlikes are the Latin letters that letters of other scripts are taken for, by
// Unicode's table of confusable characters: the Cyrillic "ѕтор" is read as "stop".
var lookAlikes = sync.OnceValue(func() map[rune]rune {
	known := map[rune]rune{}
	add := func(from, as rune) {
		if latin := []rune(confusables.Skeleton(string(as))); len(latin) == 1 && latin[0] < unicode.MaxASCII && unicode.IsLetter(latin[0]) {
			known[from] = latin[0]
		}
	}
	for _, script := range []*unicode.RangeTable{unicode.Greek, unicode.Cyrillic, unicode.Armenian} {
		for _, letters := range script.R16 {
			for r := rune(letters.Lo); r <= rune(letters.Hi); r += rune(letters.Stride) {
				add(r, unicode.ToUpper(r)) // some look like one as a capital alone
				add(r, r)
			}
		}
	}
	return known
})

// firstOther is the first letter of the scripts whose letters look like Latin ones.
const firstOther = 0x370

// asLatin returns the Latin letter that a letter looks like, or the letter.
func asLatin(r rune) rune {
	if r < firstOther {
		return r
	}
	if latin, ok := lookAlikes()[r]; ok {
		return latin
	}
	return r
}
