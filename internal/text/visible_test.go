package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"coachline/internal/text"
)

const (
	family  = "\U0001F468\u200d\U0001F469\u200d\U0001F467" // man, woman, girl joined to one emoji
	persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
	hebrew  = "\u05e9\u05dc\u05d5\u05dd, \u05e2\u05e9\u05d9\u05ea\u05d9"
)

func TestVisible(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"ordinary", "Done, 10 pushups!", "Done, 10 pushups!"},
		{"zero width", "s\u200bt\u200co\u200dp\ufeff\u2060", "stop"},
		{"soft hyphen", "walk\u00ading", "walking"},
		{"direction overrides", "\u202epots\u202c \u2066ok\u2069 \u200e\u200f\u061c", "pots ok"},
		{"tags spell hidden words", "hi\U000E0069\U000E0067\U000E006E\U000E006F\U000E0072\U000E0065", "hi"},
		{"variation selectors carry bytes", "hi\U000E0101\ufe01", "hi"},
		{"fillers", "a\u3164b\u2800\u115f\u1160\uffa0", "ab"},
		{"controls", "a\x07b\x1b[2J\tc\r\nd", "ab[2J\tc\r\nd"},
		{"family emoji", family, family},
		{"heart in its emoji form", "\u2764\ufe0f\u200d\U0001F525", "\u2764\ufe0f\u200d\U0001F525"},
		{"Persian", persian, persian},
		{"Hebrew", hebrew, hebrew},
		{"Hebrew in marks", "\u200f" + hebrew + "\u200e", hebrew},
		{"joiner at the end", "\U0001F468\u200d", "\U0001F468"},
		{"only invisible", "\u200b \u2060\ufeff\u200d\u202e\u3164\n", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, text.Visible(tt.in)) })
	}
}

func TestFold(t *testing.T) {
	same := []string{"I am away", " i  AM away\n", "I\u200b am a\u00adway", "\uff29 am away", "\u202eI am away\u202c"}
	for _, body := range same {
		require.Equal(t, "i am away", text.Fold(body), body)
	}
	require.NotEqual(t, text.Fold("I am away"), text.Fold("I am away!"))
	require.Empty(t, text.Fold("\u200b \u200f"))
}

func TestReading(t *testing.T) {
	long := strings.Repeat("\u044f", 20_000)
	tests := []struct {
		name  string
		body  string
		media int
		want  string
	}{
		{"text", "hello", 0, "hello"},
		{"one picture", "", 1, "[the person sent 1 picture or file; you cannot see it]"},
		{"pictures and nothing to see", "\u200b", 3, "[the person sent 3 pictures or files; you cannot see them]"},
		{"text with a picture", "my lunch", 1, "my lunch\n[the person sent 1 picture or file; you cannot see it]"},
		{"nothing", "\u200b", 0, ""},
		{"20,000 characters", long, 0, long[:2*text.ReadLimit] + "\n[the text was longer; its last 16000 characters are left out here]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, text.Reading(tt.body, tt.media)) })
	}
}

func TestCutNeverEndsInAJoiner(t *testing.T) {
	short, leftOut := text.Cut(family, 2)
	require.Equal(t, "\U0001F468", short)
	require.Equal(t, 4, leftOut)
}

func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"", "ok", family, persian, hebrew, "s\u200bt\u200co\u200dp", "\u202eabc", "a\xffb", "\U0001F468\u200d\u200d\u200d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		once := text.Visible(body)
		require.True(t, utf8.ValidString(once))
		require.Equal(t, once, text.Visible(once), "a second look changes nothing")
		require.Equal(t, text.Fold(once), text.Fold(body))
		for _, r := range once {
			kept := r == '\u200c' || r == '\u200d'
			require.True(t, kept || !unicode.Is(unicode.Cf, r), "%U", r)
		}
		short, leftOut := text.Cut(once, 5)
		require.LessOrEqual(t, utf8.RuneCountInString(short), 5)
		require.Equal(t, utf8.RuneCountInString(once), utf8.RuneCountInString(short)+leftOut)
	})
}
