package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecondServerFile(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	load := func(content string) (Config, error) {
		return Load([]string{"COACH_SECOND_MODEL_FILE=" + write("second.json", content)}, nil)
	}
	key := write("key", "sk-hunter22\n")
	cfg, err := load(`{"url": "https://other.example/v1", "key_file": "` + key + `", "model": "big-2", "small_model": "small-2"}`)
	require.NoError(t, err)
	require.Equal(t, "sk-hunter22", cfg.Model.Second.Key.Reveal())
	cfg.Model.Second.Key = Secret{}
	require.Equal(t, &SecondModel{URL: "https://other.example/v1", KeyFile: key, Name: "big-2", Small: "small-2"}, cfg.Model.Second)
	bad := write("bad", "sk hunter22")
	for content, want := range map[string]string{
		`[]`:                                  "not the JSON that is wanted",
		`{"url": "https://other.example/v1"}`: "it has no model",
		`{"url": "other", "model": "big-2"}`:  "it has no model",
		`{"url": "https://other.example", "model": "b", "key": "hunter22"}`:             "unknown field",
		`{"url": "https://other.example", "model": "b", "key_file": "` + bad + `"}`:     "no header may hold",
		`{"url": "https://other.example", "model": "b", "key_file": "` + bad + `.not"}`: "key_file: opening it",
	} {
		_, err := load(content)
		require.ErrorContains(t, err, "COACH_SECOND_MODEL_FILE", content)
		require.ErrorContains(t, err, want, content)
		require.NotContains(t, err.Error(), "hunter22")
	}
}
