package prompts_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/internal/helplines"
	"coachline/internal/segments"
	"coachline/prompts"
)

// fixedNames are the texts that go out word for word.
func fixedNames(t *testing.T) []prompts.Name {
	t.Helper()
	lib := load(t, "")
	var names []prompts.Name
	for _, name := range prompts.Names() {
		if _, err := lib.Fixed(name, "", prompts.FixedData{}); err == nil {
			names = append(names, name)
		}
	}
	require.Len(t, names, 38)
	return names
}

// americanLines are the numbers for people in the United States.
var americanLines = (*helplines.Table)(nil).Find("+12025550123", "en")

func fixed(t *testing.T, lib *prompts.Library, name prompts.Name, locale string) string {
	t.Helper()
	text, err := lib.Fixed(name, locale, prompts.FixedData{Programme: "Coachline", Name: "Ada", Lines: americanLines})
	require.NoError(t, err)
	return text
}

func TestFixedSpeaksThePersonsLanguage(t *testing.T) {
	lib := load(t, "")
	tests := []struct{ name, locale, want string }{
		{"language", "es", "Gracias por participar"},
		{"region of a language", "es-MX", "Gracias por participar"},
		{"other case and underscore", "pt_br", "Agradecemos"},
		{"script", "de-Latn-AT", "Danke"},
		{"French", "fr-CA", "Merci"},
		{"a language whose readers understand German", "lb", "Danke"},
		{"region alone, Spanish", "und-MX", "Gracias"},
		{"region alone, English", "und-US", "Thank you"},
		{"English", "en-GB", "Thank you"},
		{"a language without texts", "ja-JP", "Thank you"},
		{"none", "", "Thank you"},
		{"malformed", "!!", "Thank you"},
		{"a word", "Spanish please", "Thank you"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, fixed(t, lib, prompts.UnenrolledNotice, tt.locale), tt.want)
			require.Equal(t, tt.want != "Thank you", lib.Translated(prompts.UnenrolledNotice, tt.locale))
		})
	}
}

// Every language has every fixed text, at no greater cost than in English, and
// with the words that the carrier acts on.
func TestTranslationsCostNoMoreThanEnglish(t *testing.T) {
	keywords := []string{"STOP", "HELP", "START", "Coachline", "Ada", " 1 ", " 2 "}
	for n := range 10 {
		locale, lib := []string{"es", "fr", "de", "pt", "pt-PT"}[n/2], load(t, "").WithMaxPerDay(n%2*2)
		for _, name := range fixedNames(t) {
			if slices.Contains(safetyNames, name) {
				continue // TestSafetyTexts has their limit.
			}
			t.Run(locale+" "+string(name), func(t *testing.T) {
				english, text := fixed(t, lib, name, ""), fixed(t, lib, name, locale)
				require.NotEqual(t, english, text)
				want, got := segments.Count(english), segments.Count(text)
				require.True(t, got.Encoding == segments.GSM7 || got.Segments == 1, "a text that is not in GSM-7 is one of at most 70 characters")
				require.LessOrEqual(t, got.Segments, want.Segments)
				require.LessOrEqual(t, utf8.RuneCountInString(text), 300)
				for _, word := range keywords {
					require.Equal(t, strings.Contains(english, word), strings.Contains(text, word), word)
				}
			})
		}
		// One sentence, no marketing, and the way back (47 CFR 64.1200(a)(12)).
		require.Regexp(t, `^[^.!?]+\.$`, fixed(t, lib, prompts.OptOutConfirmation, locale))
	}
}

func place(t *testing.T, dir, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
}

func TestOperatorsTranslations(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "pt-PT/help.md", "{{.Programme}} em Portugal, STOP")
	place(t, dir, "nl/help.md", "{{.Programme}} in het Nederlands, STOP")
	place(t, dir, "..hidden/help.md", "x")
	lib := load(t, dir)
	require.NotEqual(t, load(t, "").Version(), lib.Version())
	require.Contains(t, fixed(t, lib, prompts.Help, "pt-PT"), "em Portugal")
	require.Contains(t, fixed(t, lib, prompts.Help, "pt-BR"), "coach de rotinas", "the language's own text")
	require.Contains(t, fixed(t, lib, prompts.Help, "nl-BE"), "in het Nederlands")
	require.Contains(t, fixed(t, lib, prompts.Reminder, "nl"), "A small nudge", "one text alone may be translated")
	require.Contains(t, fixed(t, lib, prompts.Help, "es"), "coach de pequeñas costumbres")

	place(t, dir, "help.md", "Call {{.Programme}} at the clinic, STOP")
	place(t, dir, "fr/help.md", "{{.Programme}} est là, STOP")
	lib = load(t, dir)
	require.Contains(t, fixed(t, lib, prompts.Help, "es"), "at the clinic", "an operator's text is not replaced by ours")
	require.Contains(t, fixed(t, lib, prompts.Help, "fr"), "est là")
	require.Contains(t, fixed(t, lib, prompts.Reminder, "es"), "empujoncito")
}

func TestLinkedFolderOfALocale(t *testing.T) {
	dir, real := t.TempDir(), t.TempDir()
	place(t, real, "help.md", "{{.Programme}} auf Platt, STOP")
	require.NoError(t, os.Symlink(real, filepath.Join(dir, "nds")))
	require.Contains(t, fixed(t, load(t, dir), prompts.Help, "nds-DE"), "auf Platt")
}

func TestLoadRefusesBadTranslations(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"a field is missing", "es/help.md", "hola", "prompt es/help.md: it uses the fields [] and help.md uses [.Programme]"},
		{"a field too many", "es/reminder.md", "hola {{.Name}}", "prompt es/reminder.md: it uses the fields [.Name]"},
		{"a field in a condition", "es/reminder.md", "{{if .Name}}a{{else}}b{{end}}", "prompt es/reminder.md"},
		{"syntax", "es/reminder.md", "{{if}}", "prompt es/reminder.md"},
		{"empty", "es/reminder.md", " ", "prompt es/reminder.md: text is empty"},
		{"a text for models", "es/persona.md", "Eres {{.Programme}}", "prompt es/persona.md: only texts that reach people"},
		{"unknown name", "es/nothing.md", "hola", "folder es: nothing.md is not a prompt file"},
		{"a folder in a folder", "es/mx/help.md", "hola", "mx is not a prompt file"},
		{"no locale", "spanish/help.md", "hola", "spanish is not a prompt file"},
		{"English stands outside", "en/help.md", "hi", "en is not a prompt file"},
	}
	for _, tt := range tests {
		t.Run("C13 "+tt.name, func(t *testing.T) {
			dir := t.TempDir()
			place(t, dir, tt.file, tt.text)
			_, err := prompts.Load(dir)
			require.ErrorContains(t, err, tt.want)
		})
	}
	dir := t.TempDir()
	place(t, dir, "es/reminder.md", "Usa save_user_profile")
	require.ErrorContains(t, load(t, dir).CheckTools(offers(t)), `es/reminder.md names "save_user_profile"`)
}

// safetyNames are the texts to a person who may be in danger.
var safetyNames = []prompts.Name{prompts.Crisis, prompts.CrisisAnother, prompts.CrisisViolence, prompts.CrisisMedical}

// safetyCountries have a phone of each country with numbers, and one without.
var safetyCountries = map[string]string{
	"US": "+12025550123", "CA": "+14165550123", "GB": "+447400123456", "IE": "+353851234567", "AU": "+61412345678", "NZ": "+64211234567",
	"DE": "+4915112345678", "AT": "+436641234567", "CH": "+41781234567", "FR": "+33612345678", "BE": "+32470123456", "LU": "+352628123456",
	"ES": "+34612345678", "MX": "+525512345678", "AR": "+5491123456789", "CO": "+573211234567", "CL": "+56961234567", "PE": "+51912345678",
	"PT": "+351912345678", "BR": "+5511961234567", "PL": "+48512345678",
}

// The safety texts say that a person is told only where that is so, and name the numbers
// of the country, in two segments of GSM-7, also with the longest name of a programme. A
// weak sign is answered with a question and promises nobody.
func TestSafetyTexts(t *testing.T) {
	lib := load(t, "")
	told := map[string]string{
		"en": "is being told", "de": "wird informiert", "es": "Avisamos a una persona", "fr": "est prévenue", "pt": "vai ser avisada",
	}
	alone := map[string]string{
		"en": "no person may read this soon", "de": "vielleicht liest das so bald kein Mensch", "es": "puede que nadie lea esto pronto",
		"fr": "se peut que personne ne lise ceci", "pt": "talvez ninguém leia isto logo",
	}
	local := map[string]string{"en": "your local emergency number", "de": "deinen örtlichen Notruf", "es": "de tu zona", "fr": "le numéro d'urgence local", "pt": "o socorro local"}
	var none *helplines.Table
	for language := range told {
		for country, phone := range safetyCountries {
			lines := none.Find(phone, language)
			require.Equal(t, country, lines.Country)
			for _, name := range safetyNames {
				emergency := cmp.Or(lines.Medical, local[language])
				if name == prompts.CrisisViolence {
					emergency = cmp.Or(lines.Emergency, local[language])
				}
				for _, isAlerted := range []bool{true, false} {
					text, err := lib.Fixed(name, language, prompts.FixedData{Programme: strings.Repeat("x", 32), TeamAlerted: isAlerted, Lines: lines})
					require.NoError(t, err)
					require.Equal(t, isAlerted, strings.Contains(text, told[language]), text)
					require.Equal(t, !isAlerted, strings.Contains(text, alone[language]), text)
					require.Contains(t, text, emergency, "%s %s", country, language)
					requireShort(t, text)
				}
				text, err := lib.Fixed(name, language, prompts.FixedData{Programme: "Steps", TeamAlerted: true, Weak: true, Lines: lines})
				require.NoError(t, err)
				require.Contains(t, text, "?")
				require.NotContains(t, text, told[language])
				if name != prompts.Crisis || lines.Call == "" {
					require.Contains(t, text, emergency, "%s %s", country, language)
				}
				if isTalk := name == prompts.Crisis || name == prompts.CrisisAnother; isTalk && lines.Call != "" {
					require.Contains(t, text, lines.Call)
				}
				requireShort(t, text)
			}
		}
	}
}

func requireShort(t *testing.T, text string) {
	t.Helper()
	size := segments.Count(segments.Smart(text))
	require.Equal(t, segments.GSM7, size.Encoding, text)
	require.LessOrEqual(t, size.Segments, 2, text)
	require.NotContains(t, text, "  ")
}

// TestViolenceIsNotNamed: another person may read the phone.
func TestViolenceIsNotNamed(t *testing.T) {
	lib := load(t, "")
	for _, language := range []string{"en", "de", "es", "fr", "pt"} {
		for _, isWeak := range []bool{true, false} {
			text, err := lib.Fixed(prompts.CrisisViolence, language, prompts.FixedData{Weak: isWeak})
			require.NoError(t, err)
			require.NotRegexp(t, "(?i)violen|gewalt|abus|hit|schl[aä]g|danger|gefahr|peligr|perig|police|polizei|polic|crisis|krise", text)
		}
	}
}

// TestSpanishInTheUnitedStates: the line has people who speak Spanish.
func TestSpanishInTheUnitedStates(t *testing.T) {
	var none *helplines.Table
	text, err := load(t, "").Fixed(prompts.Crisis, "es-US", prompts.FixedData{Lines: none.Find("+12025550123", "es-US")})
	require.NoError(t, err)
	require.Contains(t, text, "llama al 988 (marca 2), SMS AYUDA al 988")
}

// TestHelpIsTrue: help says where a person stands and where a person is to be reached, in
// two segments.
func TestHelpIsTrue(t *testing.T) {
	lib := load(t, "").With(prompts.Facts{MaxPerDay: 2, Support: "care@example.org"})
	for _, locale := range []string{"en", "de", "es", "fr", "pt"} {
		seen := map[string]bool{}
		for _, place := range []prompts.HelpPlace{prompts.HelpCoached, prompts.HelpPaused, prompts.HelpTakenOver, prompts.HelpCompleted, prompts.HelpOptedOut, prompts.HelpAsked, prompts.HelpUnknown} {
			text, err := lib.Fixed(prompts.Help, locale, prompts.FixedData{Programme: "Coachline", Place: place, Lines: helplines.Lines{Emergency: "112"}})
			require.NoError(t, err)
			require.False(t, seen[text], "%s %s", locale, place)
			seen[text] = true
			require.Contains(t, text, "care@example.org")
			require.Contains(t, text, "112")
			require.Equal(t, place != prompts.HelpOptedOut, strings.Contains(text, "STOP"), text)
			require.LessOrEqual(t, segments.Count(text).Segments, 2, text)
		}
	}
}
