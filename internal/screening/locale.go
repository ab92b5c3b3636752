package screening

import (
	"slices"

	"golang.org/x/text/language"
)

var languageList = [...]string{"de", "en", "es", "fr", "pt"}

var languages = languageList[:]

// Languages lists the ISO 639-1 codes of the languages that have rules.
func Languages() []string { return slices.Clone(languages) }

// HasRules reports whether messages in the language of a locale, such as
// "pt-BR", are screened. It is false for what is no BCP 47 tag, and for a tag
// that names no language.
func HasRules(locale string) bool {
	tag, err := language.Parse(locale)
	if err != nil || tag.IsRoot() {
		return false
	}
	base, confidence := tag.Base()
	return confidence != language.No && slices.Contains(languages, base.String())
}

// Load reads the rules of all languages and the classifier's weights, which takes
// tens of milliseconds once in a process. Screen does it where it was not done.
func Load() {
	lexicon()
	lookAlikes()
	model()
}
