package main

import (
	"github.com/abadojack/whatlanggo"
)

// languages that an expectation may name.
var languages = map[string]whatlanggo.Lang{
	"en": whatlanggo.Eng, "es": whatlanggo.Spa, "de": whatlanggo.Deu,
	"fr": whatlanggo.Fra, "pt": whatlanggo.Por, "it": whatlanggo.Ita,
}

// fewWords is the length of a text that no language can be told of.
const fewWords = 4

// otherLanguage says which language a text is in when that is not the one that
// is wanted. The detector goes by triples of letters and errs on short texts in
// many languages, so it chooses between the wanted one and English only: a
// model that loses a language falls into English. A text of fewer than four
// words passes, and one whose language is not sure.
func otherLanguage(text, wanted string) string {
	want, known := languages[wanted]
	if !known {
		return "language " + wanted + " is not one that can be told"
	}
	if len(words(text)) < fewWords {
		return ""
	}
	rival := whatlanggo.Eng
	if want == rival {
		rival = whatlanggo.Spa
	}
	got := whatlanggo.DetectWithOptions(text, whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{want: true, rival: true}})
	if got.Lang == want || !got.IsReliable() {
		return ""
	}
	return "it is " + got.Lang.String() + ": " + text
}
