package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const hiddenKey = "sk-hidden-hidden"

func TestKeysFile(t *testing.T) {
	for _, test := range []struct {
		name, in string
		keys     []string
		groups   map[string]string
	}{
		{"a list of texts", `{"openai": ["sk-a", " sk-b\n"]}`, []string{"sk-env", "sk-a", "sk-b"}, map[string]string{}},
		{"groups", `{"openai": ["sk-a", {"key": "sk-b", "group": "org1"}, {"key": "sk-env", "group": "org1"}, {"key": "sk-d"}]}`,
			[]string{"sk-env", "sk-a", "sk-b", "sk-d"}, map[string]string{"sk-b": "org1", "sk-env": "org1"}},
		{"openai among several", `{"gemini": ["sk-g"], "openai": ["sk-a"]}`, []string{"sk-env", "sk-a"}, map[string]string{}},
		{"the only one", `{"gemini": ["sk-g"]}`, []string{"sk-env", "sk-g"}, map[string]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := Load([]string{"OPENAI_API_KEY=sk-env", "COACH_KEYS_FILE=" + writeKeys(t, test.in)}, nil)
			require.NoError(t, err)
			require.Equal(t, test.keys, cfg.Model.Keys())
			require.Equal(t, test.groups, cfg.Model.KeyGroups())
		})
	}
}

func TestKeysFileAloneIsEnoughForTheWorker(t *testing.T) {
	cfg, err := Load([]string{"COACH_PAYLOAD_KEYS=" + goodKeys, "TWILIO_ACCOUNT_SID=AC1", "TWILIO_AUTH_TOKEN=t", "TWILIO_FROM=+15017122661",
		"COACH_KEYS_FILE=" + writeKeys(t, `{"openai": ["sk-a"]}`)}, nil)
	require.NoError(t, err)
	require.NoError(t, cfg.Validate(RoleWorker))
}

func TestABadKeysFileStopsTheStart(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"not JSON", hiddenKey, "it is not a JSON object of lists"},
		{"empty", "", "it is not a JSON object of lists"},
		{"a list", `["` + hiddenKey + `"]`, "it is not a JSON object of lists"},
		{"a text for a list", `{"openai": "` + hiddenKey + `"}`, "it is not a JSON object of lists"},
		{"no provider", `{}`, "it names 0 providers, none of them openai"},
		{"several without openai", `{"a": ["` + hiddenKey + `"], "b": []}`, "it names 2 providers, none of them openai"},
		{"no key", `{"openai": []}`, "its list of keys is empty"},
		{"null", `{"openai": null}`, "its list of keys is empty"},
		{"empty key", `{"openai": ["a", ""]}`, "key 2: it is empty"},
		{"key is null", `{"openai": [null]}`, "key 1: it is empty"},
		{"object without key", `{"openai": [{"group": "g"}]}`, "key 1: it is empty"},
		{"a number", `{"openai": [12345]}`, "key 1: it is neither a text nor an object"},
		{"a misspelt name", `{"openai": [{"` + hiddenKey + `": "x", "key": "k"}]}`, "key 1: it is neither a text nor an object"},
		{"no header may hold it", `{"openai": ["` + hiddenKey + ` x"]}`, "key 1: it holds characters"},
		{"twice", `{"openai": ["` + hiddenKey + `", "` + hiddenKey + `"]}`, "key 2: it stands there twice"},
		{"too long", strings.Repeat(" ", maxKeysFile+1), "it is longer than a mebibyte"},
	} {
		t.Run(test.name, func(t *testing.T) {
			requireRefused(t, writeKeys(t, test.in), test.want)
		})
	}
	t.Run("absent", func(t *testing.T) {
		requireRefused(t, filepath.Join(t.TempDir(), hiddenKey), "opening it: no such file")
	})
	t.Run("a folder", func(t *testing.T) { requireRefused(t, t.TempDir(), "reading it: is a directory") })
	t.Run("the keys themselves", func(t *testing.T) { requireRefused(t, `{"openai": ["`+hiddenKey+`"]}`, "opening it:") })
}

func requireRefused(t *testing.T, path, want string) {
	t.Helper()
	_, err := Load([]string{"COACH_KEYS_FILE=" + path}, nil)
	require.ErrorContains(t, err, "COACH_KEYS_FILE: "+want)
	require.Len(t, strings.Split(err.Error(), "\n"), 1, "one problem, one line: %v", err)
	require.NotContains(t, err.Error(), hiddenKey)
	require.NotContains(t, err.Error(), "12345")
}

func TestNoPrinterShowsAKeyOfTheFile(t *testing.T) {
	cfg, err := Load([]string{"COACH_KEYS_FILE=" + writeKeys(t, `{"openai": [{"key": "`+hiddenKey+`", "group": "g"}]}`)}, nil)
	require.NoError(t, err)
	encoded, err := json.Marshal(cfg.Model)
	require.NoError(t, err)
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg), string(encoded), fmt.Sprint(cfg.Table())} {
		require.NotContains(t, shown, hiddenKey)
	}
}

func FuzzParseKeys(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"openai":["a",{"key":"b","group":"g"}]}`, `{"x":[1]}`, `{"openai":[{"key":1}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		keys, err := parseKeys(content)
		require.Equal(t, err == nil, len(keys) > 0)
		for _, key := range keys {
			require.NotEmpty(t, key.secret)
			require.NotContains(t, key.secret, "\n")
		}
	})
}

func writeKeys(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
