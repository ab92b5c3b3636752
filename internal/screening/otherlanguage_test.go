package screening_test

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
)

// Texts of 20 characters and more in 34 languages that have no rules are mostly told from
// those that have, and hardly any text of ours is taken for one.
func TestOtherLanguagesAreTold(t *testing.T) {
	var found, mistaken share
	var missed, wrong []string
	for _, row := range readRows(t, "testdata/languages.tsv") {
		is := screening.Screen(screening.Message{Body: row[1]}).IsOtherLanguage
		found.add(is)
		if !is {
			missed = append(missed, row[1])
		}
	}
	for _, language := range screening.Languages() {
		texts, err := sheets.Read(os.DirFS("testdata/sheets"), language)
		require.NoError(t, err)
		_, ours := readOrdinary(t, language)
		if language == "en" {
			ours = nil // its corpus has many messages in Hindi and Malay
		}
		for _, text := range texts {
			ours = append(ours, text.Body)
		}
		for _, body := range ours {
			if utf8.RuneCountInString(body) < 20 {
				continue
			}
			is := screening.Screen(screening.Message{Body: body}).IsOtherLanguage
			mistaken.add(is)
			if is {
				wrong = append(wrong, body)
			}
		}
	}
	t.Logf("found %v, mistaken %v", found, mistaken)
	require.GreaterOrEqual(t, float64(found.hits), 0.85*float64(found.n), strings.Join(missed, "\n"))
	require.LessOrEqual(t, float64(mistaken.hits), 0.003*float64(mistaken.n), strings.Join(wrong, "\n"))
}

// Short texts, codes, links and signs are in no other language.
func TestNoOtherLanguage(t *testing.T) {
	for _, body := range []string{
		"", "ok", "Grüße aus Wien", "https://example.com/abc/def/ghi?x=12345&y=abcdefg", "😂😂😂😂😂😂😂😂😂😂😂😂😂😂😂😂😂😂😂😂😂", "+49 170 1234567 oder 030 123456",
		"hahahahahahahahahahahahaha", "Mama (мама) hat angerufen, alles gut", "пока",
	} {
		assert.False(t, screening.Screen(screening.Message{Body: body}).IsOtherLanguage, body)
	}
}
