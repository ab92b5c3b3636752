package toolcall

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An argument in a model's own notation is JSON where all of it is, and words otherwise.
func TestKeyedValues(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, 2]}`: `{"a":[1,2]}`, ` ["x"] `: `["x"]`, `[1] or two`: `"[1] or two"`, `"five"`: `"five"`, `'five'`: `"five"`, `five past`: `"five past"`,
	} {
		require.JSONEq(t, want, string(keyedValue(text, "string")), text)
	}
}

// A value that ended too early is no call, however well it could be mended.
func TestWholeJSON(t *testing.T) {
	for text, want := range map[string]bool{
		`{"content":"Well done."}`: true, ` {"content":"Well done."} `: true, `{"content":"Well do`: false, `{"content":"Well done."} Bye`: false, `Well done.`: false,
	} {
		read, ok := wholeJSON(text, toolSchemas{})
		require.Equal(t, want, ok, text)
		require.Equal(t, want, read.words == "Well done.", text)
	}
}

// Escapes of JSON are read also where the rest has to be mended.
func TestMendedEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`{'a': 'caf\u00e9 \n\t"x"'}`: `{"a":"café \n\t\"x\""}`, `{'a': 'un\u00'}`: `{"a":"unu00"}`, `{'a': '\union'}`: `{"a":"union"}`,
	} {
		read, ok := readValue(text)
		require.True(t, ok, text)
		require.JSONEq(t, want, read.json, text)
	}
}

// A reply whose bracket is missing may miss more, and is not taken out of its object.
func TestUnwrapJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"reply":"Hi"}`: "Hi", `{"response":" ","text":"Hi"}`: "Hi", `"Hi"`: "Hi", `{"reply":"Hi"`: `{"reply":"Hi"`, `{"reply":"Hi"} Bye`: `{"reply":"Hi"} Bye`, `{"a":1}`: `{"a":1}`, "Hi": "Hi",
	} {
		require.Equal(t, want, unwrapJSON(text), text)
	}
}

// What is nested deeper than anybody writes is not mended.
func TestMendedDepth(t *testing.T) {
	for levels, want := range map[int]bool{deepest: true, deepest + 1: false} {
		_, ok := readValue(strings.Repeat("[", levels) + "'x'" + strings.Repeat("]", levels))
		require.Equal(t, want, ok, levels)
	}
}

// What has no words claims nothing.
func TestArgumentPairs(t *testing.T) {
	require.Equal(t, [][]string{{"time", "18", "00"}}, argumentPairs(`{"time":"18:00","note":"!?","none":null,"empty":""}`))
	require.Nil(t, argumentPairs("broken"))
}
