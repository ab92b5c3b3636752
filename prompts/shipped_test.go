package prompts_test

import (
	"strings"
	"testing"

	"github.com/abadojack/whatlanggo"
	"github.com/stretchr/testify/require"

	"coachline/prompts"
)

// shipped are the locales whose fixed texts are embedded, with the language
// that each of them is written in.
var shipped = map[string]whatlanggo.Lang{
	"en": whatlanggo.Eng, "en-GB": whatlanggo.Eng, "es": whatlanggo.Spa, "es-MX": whatlanggo.Spa, "de": whatlanggo.Deu, "de-CH": whatlanggo.Deu,
	"fr": whatlanggo.Fra, "fr-CA": whatlanggo.Fra, "pt": whatlanggo.Por, "pt-BR": whatlanggo.Por, "pt-PT": whatlanggo.Por,
}

func TestShippedLocales(t *testing.T) {
	lib := load(t, "")
	for locale, want := range shipped {
		var all []string
		for _, name := range fixedNames(t) {
			text := fixed(t, lib, name, locale)
			all = append(all, text)
			base, _, _ := strings.Cut(locale, "-")
			require.Equal(t, base != "en", lib.Translated(name, locale), "%s in %s", name, locale)
			if base != "en" {
				require.NotEqual(t, fixed(t, lib, name, "en"), text, "%s in %s", name, locale)
			}
		}
		options := whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{
			whatlanggo.Eng: true, whatlanggo.Spa: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Por: true,
		}}
		require.Equal(t, want, whatlanggo.DetectLangWithOptions(strings.Join(all, " "), options), locale)
		require.Equal(t, want.String(), lib.LanguageName(prompts.GreetingFooter, locale), locale)
	}
}

func TestLanguageNameIsThatOfTheText(t *testing.T) {
	lib := load(t, "")
	for locale, want := range map[string]string{"": "English", "it": "English", "!!": "English", "lb": "German", "und-MX": "Spanish"} {
		require.Equal(t, want, lib.LanguageName(prompts.GreetingFooter, locale), locale)
	}
	dir := folder(t, "greeting_footer.md", "{{.Programme}}: STOP, HELP")
	place(t, dir, "fr/greeting_footer.md", "{{.Programme}} : STOP, HELP")
	own := load(t, dir)
	for locale, want := range map[string]string{"": "English", "it": "Italian", "de-AT": "German", "fr": "French", "!!": "English"} {
		require.Equal(t, want, own.LanguageName(prompts.GreetingFooter, locale), "a footer of the operator's own, "+locale)
	}
}
