package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestJSON(t *testing.T) {
	tests := []textCase{
		{"object", `{"note":"mail jo@x.com","n":3}`, `{"note":"mail [REDACTED_EMAIL]","n":3}`},
		{"list", `["jo@x.com", {"a": ["jo@x.com"]}]`, `["[REDACTED_EMAIL]", {"a": ["[REDACTED_EMAIL]"]}]`},
		{"JSON string", `"{\"note\":\"jo@x.com\"}"`, `"{\"note\":\"[REDACTED_EMAIL]\"}"`},
		{"JSON string in an object", `{"arguments":"{\"to\":[\"jo@x.com\"],\"n\":1.50}"}`, `{"arguments":"{\"to\":[\"[REDACTED_EMAIL]\"],\"n\":1.50}"}`},
		{"result as text", `found jo@x.com`, `found [REDACTED_EMAIL]`},
		{"cut off", `{"note":"jo@x.com","n`, `{"note":"[REDACTED_EMAIL]","n`},
		{"escapes", `{"a":"jo\u0040x.com","b":"<b>\u00e9"}`, `{"a":"[REDACTED_EMAIL]","b":"<b>\u00e9"}`},
		{"markup beside a hit", `{"a":"<b>jo@x.com</b> & co"}`, `{"a":"<b>[REDACTED_EMAIL]</b> & co"}`},
		{"blanks, order and numbers stay", "{ \"z\" : 1.0e3 ,\n \"a\" : [ -0.50 , true , null ] }", "{ \"z\" : 1.0e3 ,\n \"a\" : [ -0.50 , true , null ] }"},
		{"card number", `{"pay":4242424242424242}`, `{"pay":"[REDACTED_CARD]"}`},
		{"card in a list", `[4242424242424242,1]`, `["[REDACTED_CARD]",1]`},
		{"id number", `{"order_id":4242424242424242,"at":1700000000000}`, `{"order_id":4242424242424242,"at":1700000000000}`},
		{"id texts", `{"orderId":"4242424242424242","tracking_no":"07911123456"}`, `{"orderId":"4242424242424242","tracking_no":"07911123456"}`},
		{"secret key", `{"password":"correct horse","user":"jo"}`, `{"password":"[REDACTED_SECRET]","user":"jo"}`},
		{"secret number", `{"api_key":12345}`, `{"api_key":"[REDACTED_SECRET]"}`},
		{"tokens are counted", `{"max_tokens":500,"total_tokens":12}`, `{"max_tokens":500,"total_tokens":12}`},
		{"phone key", `{"phone":"5550199","mobile":442079460958}`, `{"phone":"[REDACTED_PHONE]","mobile":"[REDACTED_PHONE]"}`},
		{"code key", `{"otp":"482193","pin":4821}`, `{"otp":"[REDACTED_CODE]","pin":"[REDACTED_CODE]"}`},
		{"SSN key", `{"ssn":"078051120"}`, `{"ssn":"[REDACTED_SSN]"}`},
		{"schedule", `{"time":"08:00","days":["mon","fri"],"date":"2026-11-21","minutes":45}`, `{"time":"08:00","days":["mon","fri"],"date":"2026-11-21","minutes":45}`},
		{"key is personal", `{"jo@x.com":1}`, `{"[REDACTED_EMAIL]":1}`},
		{"key is over", `{"password":"a b","b":["c d"],"e":{}}`, `{"password":"[REDACTED_SECRET]","b":["c d"],"e":{}}`},
		{"empty secret", `{"password":""}`, `{"password":""}`},
		{"invalid bytes", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := JSON([]byte(tt.in))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

// nest puts a text into so many strings.
func nest(t require.TestingT, text string, times int) []byte {
	raw := []byte(text)
	for range times {
		var err error
		raw, err = json.Marshal(string(raw))
		require.NoError(t, err)
	}
	return raw
}

func TestJSON_Nested(t *testing.T) {
	got, err := JSON(nest(t, `["jo@x.com"]`, maxNested))
	require.NoError(t, err)
	require.NotContains(t, string(got), "jo@")
	got, err = JSON(nest(t, `["jo@x.com"]`, maxNested+1))
	require.ErrorIs(t, err, ErrNested)
	require.Empty(t, got, "the stage fails closed")
}

func jsonValues() *rapid.Generator[any] {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{borderline().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny()}
		if depth > 0 {
			inner := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
			keys := rapid.OneOf(rapid.SampledFrom([]string{"password", "phone", "otp", "id", "note"}), borderline())
			leaves = append(leaves, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.MapOfN(keys, inner, 0, 4).AsAny())
		}
		return rapid.OneOf(leaves...)
	}
	return value(3)
}

func requireSettledJSON(t require.TestingT, raw []byte) {
	once, err := JSON(raw)
	if errors.Is(err, ErrNested) {
		return
	}
	require.NoError(t, err)
	require.True(t, utf8.Valid(once))
	if json.Valid(raw) {
		require.True(t, json.Valid(once), "%s", once)
	}
	twice, err := JSON(once)
	require.NoError(t, err)
	require.Equal(t, string(once), string(twice))
}

func TestJSON_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(jsonValues().Draw(t, "value"))
		require.NoError(t, err)
		requireSettledJSON(t, nest(t, string(raw), rapid.IntRange(0, 2).Draw(t, "strings around")))
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":"jo@x.com","b":[1,"code 123456"]}`, `"{\"password\":\"x\"}"`, `[4242424242424242]`, `{"password":{"a":"b"}}`, `{`, "\xff", `{"a":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { requireSettledJSON(t, raw) })
}

type secretive struct{ Note, Mail string }

func TestAttr(t *testing.T) {
	write := func(handler func(*bytes.Buffer, *slog.HandlerOptions) slog.Handler) string {
		var b bytes.Buffer
		log := slog.New(handler(&b, &slog.HandlerOptions{ReplaceAttr: Attr, AddSource: true}))
		var missing *timeoutError
		log.With("who", "jo@x.com").WithGroup("g").Error("calling +15558675310 failed",
			"error", errors.New(`401: {"error":{"message":"Incorrect API key provided: sk-proj-abc123DEF456."}}`),
			"body", []byte("password: hunter2"), "raw", json.RawMessage(`{"card":4242424242424242}`), "row", secretive{Mail: "ann@y.org"},
			"nil", error(missing), "count", 3, "took", time.Second, "turn", "participant-conv_0123456789abcdef0123-t42", "func", func() {})
		return b.String()
	}
	for name, handler := range map[string]func(*bytes.Buffer, *slog.HandlerOptions) slog.Handler{
		"text": func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(b, o) },
		"json": func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(b, o) },
	} {
		t.Run("H15 "+name, func(t *testing.T) {
			line := write(handler)
			for _, secret := range []string{"sk-proj", "jo@x", "5558675310", "hunter2", "42424242", "ann@y"} {
				require.NotContains(t, line, secret)
			}
			for _, kept := range []string{"ERROR", "participant-conv_0123456789abcdef0123-t42", "json_test.go", "failed", "[REDACTED_PHONE]"} {
				require.Contains(t, line, kept)
			}
			require.Equal(t, 1, strings.Count(line, "\n"))
		})
	}
}

type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return e.after.String() }

func TestAttr_KeepsTypes(t *testing.T) {
	for name, a := range map[string]slog.Attr{
		"level": slog.Any("level", slog.LevelInfo), "number": slog.Int64("n", 4242424242424242), "time": slog.Time("t", time.Unix(0, 0)),
		"duration": slog.Duration("d", time.Hour), "any": slog.Any("list", []string{"a"}), "text": slog.String("s", "done"),
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, a, Attr(nil, a))
		})
	}
}
