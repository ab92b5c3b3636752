package redact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type textCase struct{ name, in, want string }

// publicHits are what the public rules mask.
var publicHits = []textCase{
	{"e-mail", "write to ana@example.com please", "write to [REDACTED_EMAIL] please"},
	{"card in one", "my card 4242424242424242 ok", "my card [REDACTED_CARD] ok"},
	{"card with spaces", "my card is 4242 4242 4242 4242.", "my card is [REDACTED_CARD]."},
	{"card with dashes", "4111-1111-1111-1111", "[REDACTED_CARD]"},
	{"card of 13 digits", "4222222222222", "[REDACTED_CARD]"},
	{"card of 15 digits", "3782 822463 10005", "[REDACTED_CARD]"},
	{"card of 19 digits", "6304 0000 0000 0000 000", "[REDACTED_CARD]"},
	{"vendor key", "AIzaSyD-abcdefghijklmnopqrstuvwxyz12345", "[REDACTED_SECRET]"},
	{"Bearer", "Authorization: Bearer abc.def-ghi123", "Authorization: Bearer [REDACTED_TOKEN]"},
	{"Basic", "Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [REDACTED_TOKEN]"},
	{"JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_123", "[REDACTED_TOKEN]"},
	{"password: x", "password: x", "password: [REDACTED_SECRET]"},
	{"token=x", "https://h.example/cb?token=x&page=2", "https://h.example/cb?token=[REDACTED_SECRET]&page=2"},
	{"32 hex", "5f4dcc3b5aa765d61d8327deb882cf99", "[REDACTED_SECRET]"},
	{"64 hex", strings.Repeat("0123456789abcdef", 4), "[REDACTED_SECRET]"},
	{"6 digits, later otp", "use 123456 when it asks for the otp", "use [REDACTED_CODE] when it asks for the otp"},
	{"6 digits, later 2fa", "enter 123456 for 2fa", "enter [REDACTED_CODE] for 2fa"},
	{"6 digits, later code", "123456 is the code", "[REDACTED_CODE] is the code"},
}

// publicMisses are what the public rules miss, and we do not.
var publicMisses = []textCase{
	{"phone with plus", "call +44 7911 123456 later", "call [REDACTED_PHONE] later"},
	{"phone with trunk prefix", "his number is 07911123456", "his number is [REDACTED_PHONE]"},
	{"spoken password", "my password is hunter2", "my password is [REDACTED_SECRET]"},
	{"password of signs", "password: !!!", "password: [REDACTED_SECRET]"},
	{"code before", "my code is 123456", "my code is [REDACTED_CODE]"},
	{"SSN", "my ssn 078-05-1120 ok", "my ssn [REDACTED_SSN] ok"},
	{"sk-proj", "sk-proj-Zm9vLWJhcg_xyz", "[REDACTED_SECRET]"},
}

// falseHits are what the public rules mask and should not.
var falseHits = []string{
	"session: 45 minutes",
	"Session = 45 min",
	"id 1700000000000",
	"order 4242424242424242",
	"my order number is 4111111111111111, where is it?",
	"pedido nº 4242424242424242",
	"1700000000004",
}

func TestText_Rules214(t *testing.T) {
	for _, group := range []struct {
		name  string
		cases []textCase
	}{{"masked", publicHits}, {"missed by the public rules", publicMisses}} {
		for _, c := range group.cases {
			t.Run("2.14 "+group.name+"/"+c.name, func(t *testing.T) {
				require.Equal(t, c.want, Text(c.in, 0).Text)
				require.Equal(t, c.want, Scrub(c.in))
			})
		}
	}
	for _, in := range falseHits {
		t.Run("2.14 false hits/"+in, func(t *testing.T) {
			require.Equal(t, Result{Text: in}, Text(in, 0))
		})
	}
}

func TestText_Acceptance(t *testing.T) {
	tests := []textCase{
		{"e-mail address", "mail me at jo.smith+gym@example.co.uk", "mail me at [REDACTED_EMAIL]"},
		{"JWT", "token eyJhbGciOi.eyJzdWIi.sig", "token [REDACTED_TOKEN]"},
		{"Bearer", "bearer a1b2c3d4e5f6", "bearer [REDACTED_TOKEN]"},
		{"AKIA", "AKIAIOSFODNN7EXAMPLE", "[REDACTED_SECRET]"},
		{"sk-proj", "it is sk-proj-abcDEF_ghi-JKL.", "it is [REDACTED_SECRET]."},
		{"ghp", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[REDACTED_SECRET]"},
		{"after", "123456 is your code", "[REDACTED_CODE] is your code"},
		{"before", "code is 123456", "code is [REDACTED_CODE]"},
		{"redaction before everything else", "I am Ana, ana@example.com, +34 612 345 678", "I am Ana, [REDACTED_EMAIL], [REDACTED_PHONE]"},
		{"phones", "my sister is at (212) 555-0199, or 212.555.0123", "my sister is at [REDACTED_PHONE], or [REDACTED_PHONE]"},
		{"spoken", "wifi password for the gym is Sweat4Life", "wifi password for the gym is [REDACTED_SECRET]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Text(tt.in, 0).Text)
		})
	}
}

func TestText_Kinds(t *testing.T) {
	got := Text("a@b.com, 4242424242424242, c@d.org, password: x, eyJabcdefgh.x, code 123456, +15558675310, 078-05-1120", 0)
	require.Equal(t, []Kind{KindEmail, KindCard, KindSecret, KindToken, KindCode, KindPhone, KindSSN}, got.Kinds)
	require.NotContains(t, strings.ToLower(got.Text), "@")
	require.Nil(t, Text(got.Text, 0).Kinds, "what was masked before is not found again")
}

func TestText_Tidies(t *testing.T) {
	tests := []textCase{
		{"blanks", "  I \t walked   today ", "I walked today"},
		{"lines stay", "1) walk\n2) rest\r\n3) sleep", "1) walk\n2) rest\n3) sleep"},
		{"one empty line", "a\n\n\n\nb", "a\n\nb"},
		{"no-break", "10\u00a0\u00a0steps", "10 steps"},
		{"invalid bytes", "a\xffb", "a\uFFFDb"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Text(tt.in, 0).Text)
		})
	}
	require.Equal(t, "  a \t\n\n\n b ", Scrub("  a \t\n\n\n b "), "Scrub leaves blanks")
}

func TestText_Cut(t *testing.T) {
	t.Run("20,000 characters", func(t *testing.T) {
		long := strings.Repeat("I walked a bit today. ", 1000)[:20000]
		got := Text(long, 8000).Text
		require.LessOrEqual(t, utf8.RuneCountInString(got), 8000)
		require.Greater(t, utf8.RuneCountInString(got), 7990)
		require.True(t, strings.HasSuffix(got, cutNote), got[len(got)-80:])
		require.Equal(t, got, Text(got, 8000).Text)
	})
	t.Run("characters, not bytes", func(t *testing.T) {
		require.Equal(t, strings.Repeat("é", 100), Text(strings.Repeat("é", 100), 100).Text)
	})
	t.Run("not inside a token", func(t *testing.T) {
		for limit := 60; limit < 90; limit++ {
			got := Text(strings.Repeat("x@y.com and ", 20), limit).Text
			require.LessOrEqual(t, utf8.RuneCountInString(got), limit)
			require.NotContains(t, tokens.ReplaceAllString(got, ""), "REDACTED")
		}
	})
	t.Run("what the cut lays bare", func(t *testing.T) {
		got := Text(strings.Repeat("é", 10)+" 2125550123999999", 21).Text
		require.NotContains(t, got, "2125550123")
	})
	t.Run("a limit below the note", func(t *testing.T) {
		require.Equal(t, "abcde", Text("abcdefghij", 5).Text)
	})
}

// TestScrub_Linear tries inputs that make careless rules slow: patterns read at
// most a little more than eight times as much of a text eight times as long.
// Go's patterns themselves take time in proportion to what they read.
func TestScrub_Linear(t *testing.T) {
	bytes := 0
	onRead = func(n int) { bytes += n }
	defer func() { onRead = nil }()
	for _, unit := range []string{"password is ", "code ", "1 ", "12 34 ", "a@", "4242 ", "[REDACTED_CODE] ", "code is a ", "eyJ", "-----BEGIN PRIVATE KEY-----", "pass phrase: [REDACTED_CARD]", "x.", "0123456789", "password: “x ", "password: 'x' ",
		"1234567,", "123456 is A b ", "a:b://c:d", "passphrase is ", "call ", "0101010\n", "session_", "pw ", "2fa ", "code 123456 ", "call 2125550123, ", "token=a "} {
		t.Run(unit, func(t *testing.T) {
			cost := func(n int) int {
				bytes = 0
				in := strings.Repeat(unit, n/len(unit))
				require.LessOrEqual(t, len(Scrub(in)), 8*len(in)+32)
				return bytes
			}
			// Short texts settle in fewer rounds, hence some more than eight times.
			small := max(cost(2000), 2000)
			require.LessOrEqual(t, cost(16000), 10*small)
		})
	}
}

// pieces build texts that lie on the borders of the rules.
var pieces = []string{
	"password", " is ", ": ", "=", "hunter2", "code", "123456", " ", "  ", "\n", "4242 4242 4242 4242", "4242424242424242", "1", "0", "-", ".", "(", ")", "+",
	"jo@x.com", "@", "x.y", "[REDACTED_CODE]", "[REDACTED_", "EMAIL]", "]", "[", "\"", "'", "eyJabcd", "sk-abcdefgh", "token", "secret", "otp", "your", "555",
	"0002", "2125550123", "07911123456", "+44 7911 123456", "078-05-1120", "id ", "Bearer ", "passphrase: ", "https://u:p@h.com", "é", "٤", "\xff", "\u200b", ",", "call ", "s 2fa", "steps",
}

func borderline() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, "pieces"), "")
	})
}

func requireSettled(t require.TestingT, s string, limit int) {
	once := Text(s, limit)
	require.True(t, utf8.ValidString(once.Text))
	require.Equal(t, once.Text, Text(once.Text, limit).Text)
	if limit > 0 {
		require.LessOrEqual(t, utf8.RuneCountInString(once.Text), limit)
	}
	scrubbed := Scrub(s)
	require.True(t, utf8.ValidString(scrubbed))
	require.Equal(t, scrubbed, Scrub(scrubbed))
	require.LessOrEqual(t, len(scrubbed), 8*len(s)+32)
}

func TestText_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(borderline(), rapid.String()).Draw(t, "text")
		requireSettled(t, text, rapid.IntRange(-1, 200).Draw(t, "limit"))
	})
}

func FuzzText(f *testing.F) {
	for _, list := range [][]textCase{publicHits, publicMisses} {
		for _, c := range list {
			f.Add(c.in, 0)
			f.Add(c.want, 40)
		}
	}
	f.Add("password is [REDACTED_SECRET] code 123456 [REDACTED_", 70)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		requireSettled(t, s, limit%10000)
	})
}
