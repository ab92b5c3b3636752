package segments_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/internal/segments"
)

// Values measured with the carrier's own counter.
func TestCountMeasured(t *testing.T) {
	curly := "“It’s fine” – he said… ok "
	family := "👨\u200d👩\u200d👧\u200d👦"
	for _, tt := range []struct {
		name, in string
		want     segments.Size
	}{
		{"161 a", strings.Repeat("a", 161), segments.Size{Encoding: segments.GSM7, Units: 161, Segments: 2}},
		{"307 a", strings.Repeat("a", 307), segments.Size{Encoding: segments.GSM7, Units: 307, Segments: 3}},
		{"1600 a", strings.Repeat("a", 1600), segments.Size{Encoding: segments.GSM7, Units: 1600, Segments: 11}},
		{"80 euro signs", strings.Repeat("€", 80), segments.Size{Encoding: segments.GSM7, Units: 160, Segments: 1}},
		{"80 euro signs and a", strings.Repeat("€", 80) + "a", segments.Size{Encoding: segments.GSM7, Units: 161, Segments: 2}},
		{"36 thumbs up", strings.Repeat("👍", 36), segments.Size{Encoding: segments.UCS2, Units: 72, Segments: 2}},
		{"135 Cyrillic", strings.Repeat("ж", 135), segments.Size{Encoding: segments.UCS2, Units: 135, Segments: 3}},
		{"curly quotes, dash, ellipsis", curly, segments.Size{Encoding: segments.UCS2, Units: 26, Segments: 1}},
		{"the same, smart", segments.Smart(curly), segments.Size{Encoding: segments.GSM7, Units: 28, Segments: 1}},
		{"seven families", strings.Repeat(family, 7), segments.Size{Encoding: segments.UCS2, Units: 77, Segments: 2}},
		{"nothing", "", segments.Size{Encoding: segments.GSM7}},
		{"160 a", strings.Repeat("a", 160), segments.Size{Encoding: segments.GSM7, Units: 160, Segments: 1}},
		{"306 a", strings.Repeat("a", 306), segments.Size{Encoding: segments.GSM7, Units: 306, Segments: 2}},
		{"a pair at a segment's end", strings.Repeat("a", 152) + "€" + strings.Repeat("a", 152), segments.Size{Encoding: segments.GSM7, Units: 306, Segments: 3}},
		{"134 Cyrillic", strings.Repeat("ж", 134), segments.Size{Encoding: segments.UCS2, Units: 134, Segments: 2}},
		{"one emoji", strings.Repeat("a", 69) + "👍", segments.Size{Encoding: segments.UCS2, Units: 71, Segments: 2}},
		{"backtick", "`", segments.Size{Encoding: segments.UCS2, Units: 1, Segments: 1}},
		{"small and capital cedilla", "Ç", segments.Size{Encoding: segments.GSM7, Units: 1, Segments: 1}},
		{"small cedilla", "ç", segments.Size{Encoding: segments.UCS2, Units: 1, Segments: 1}},
		{"marks without end", "e" + strings.Repeat("\u0301", 99), segments.Size{Encoding: segments.UCS2, Units: 100, Segments: 2}},
		{"broken bytes", "a\xff", segments.Size{Encoding: segments.UCS2, Units: 2, Segments: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, segments.Count(tt.in))
		})
	}
}

// measured is a text and what the carrier's own counter answers for it;
// testdata/README.md says where the answers come from.
type measured struct {
	Text            string
	Encoding        segments.Encoding
	Units, Segments int
}

func readMeasured(t *testing.T, path string) []measured {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	var all []measured
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one measured
		require.NoError(t, json.Unmarshal(lines.Bytes(), &one))
		all = append(all, one)
	}
	require.NoError(t, lines.Err())
	return all
}

func TestCountAgreesWithTheCarriersCounter(t *testing.T) {
	for path, number := range map[string]int{"testdata/calculator.jsonl": 319, "testdata/emoji.jsonl": 1000} {
		all := readMeasured(t, path)
		require.Len(t, all, number)
		for _, want := range all {
			assert.Equal(t, segments.Size{Encoding: want.Encoding, Units: want.Units, Segments: want.Segments},
				segments.Count(want.Text), "%q", want.Text)
		}
	}
}

// TestSplitKeepsWhatIsSeen: where the calculator divides an emoji, a part's end
// does not; and no part takes more than it may.
func TestSplitKeepsWhatIsSeen(t *testing.T) {
	divided := 0
	for _, m := range readMeasured(t, "testdata/emoji.jsonl") {
		if !strings.Contains(m.Text, "\n") && uniseg.GraphemeClusterCount(m.Text) < utf8.RuneCountInString(m.Text) {
			divided++
		}
		ends := map[int]bool{0: true, len(m.Text): true}
		for at, rest, state := 0, m.Text, -1; rest != ""; {
			var cluster string
			cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
			if len(utf16.Encode([]rune(cluster))) > 67 { // Longer than a segment: it has to be divided.
				for i := range cluster {
					ends[at+i] = true
				}
			}
			at += len(cluster)
			ends[at] = true
		}
		at := 0
		for _, part := range segments.Split(m.Text, segments.Options{MaxParts: 100, Segments: 1}).Texts {
			require.LessOrEqual(t, segments.Count(part).Segments, 1, "%q of %q", part, m.Text)
			begins := at + strings.Index(m.Text[at:], part)
			require.True(t, ends[begins], "%q begins within a character of %q", part, m.Text)
			at = begins + len(part)
			require.True(t, ends[at], "%q ends within a character of %q", part, m.Text)
		}
	}
	require.Greater(t, divided, 500)
}

// gsmTable is GSM 03.38's default alphabet by code, 0x00 to 0x7F; 0x1B is the
// escape to the extension table.
const gsmTable = "@£$¥èéùìòÇ\nØø\rÅå" + "Δ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ" + " !\"#¤%&'()*+,-./" + "0123456789:;<=>?" +
	"¡ABCDEFGHIJKLMNO" + "PQRSTUVWXYZÄÖÑÜ§" + "¿abcdefghijklmno" + "pqrstuvwxyzäöñüà"

var gsmExtensionCodes = map[rune]byte{
	'\f': 0x0a, '^': 0x14, '{': 0x28, '}': 0x29, '\\': 0x2f, '[': 0x3c, '~': 0x3d, ']': 0x3e, '|': 0x40, '€': 0x65,
}

// reference writes the text out unit by unit, as a phone would, and cuts the
// stream into segments afterwards.
func reference(characters []string) segments.Size {
	codes := map[rune]byte{}
	for code, r := range []rune(gsmTable) {
		if r != 0x1b {
			codes[r] = byte(code)
		}
	}
	encoding := segments.GSM7
	for _, r := range strings.Join(characters, "") {
		_, basic := codes[r]
		_, extended := gsmExtensionCodes[r]
		if !basic && !extended {
			encoding = segments.UCS2
		}
	}
	var stream []uint16
	var starts []bool // a segment may begin here
	for _, c := range characters {
		if encoding == segments.UCS2 {
			for i, u := range utf16.Encode([]rune(c)) {
				stream, starts = append(stream, u), append(starts, i == 0)
			}
			continue
		}
		for _, r := range c {
			if code, ok := codes[r]; ok {
				stream, starts = append(stream, uint16(code)), append(starts, true)
				continue
			}
			stream, starts = append(stream, 0x1b, uint16(gsmExtensionCodes[r])), append(starts, true, false)
		}
	}
	single, joined := 160, 153
	if encoding == segments.UCS2 {
		single, joined = 70, 67
	}
	size := segments.Size{Encoding: encoding, Units: len(stream)}
	if len(stream) <= single {
		size.Segments = min(len(stream), 1)
		return size
	}
	for at := 0; at < len(stream); size.Segments++ {
		at += joined
		for at < len(stream) && !starts[at] {
			at--
		}
	}
	return size
}

func TestCountAgreesWithAStraightforwardReference(t *testing.T) {
	alphabets := [][]string{
		strings.Split("abc xyz,.!?'0123456789ABC", ""), strings.Split(gsmTable[:len(gsmTable)/2], ""),
		strings.Split("^{}\\[~]|€\f", ""), strings.Split("çáőžÁ`’“”—…ж今日", ""),
		{"👍", "❤\ufe0f", "👨\u200d👩\u200d👧\u200d👦", "👍🏽", "e\u0301"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		rich := 1 + random.IntN(len(alphabets))
		var characters []string
		for range random.IntN(400) {
			alphabet := alphabets[random.IntN(rich)]
			if c := alphabet[random.IntN(len(alphabet))]; c != "\x1b" {
				characters = append(characters, c)
			}
		}
		if random.IntN(3) == 0 {
			characters = append(characters, "€")
		}
		text := strings.Join(characters, "")
		require.Equal(t, reference(characters), segments.Count(text), "%q", text)
	}
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat("Walk a little after lunch, and tell me how it went! 🎉 ", 30)
	for b.Loop() {
		segments.Split(text, segments.Options{})
	}
}
