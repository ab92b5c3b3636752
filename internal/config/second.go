package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	secondFile        = "COACH_SECOND_MODEL_FILE"
	secondFileExample = `{"url": "https://HOST/v1", "key_file": "PATH", "model": "NAME", "small_model": "NAME"}`
)

// SecondModel is the server that is asked when the first one gives no answer.
type SecondModel struct {
	URL     string `json:"url"`
	KeyFile string `json:"key_file"`
	Name    string `json:"model"`
	Small   string `json:"small_model"`
	Key     Secret `json:"-"`
}

// loadSecond reads the file of the second server where one is named.
func (m *Model) loadSecond() []error {
	if m.SecondFile == "" {
		return nil
	}
	second, err := readSecond(m.SecondFile)
	if err != nil {
		return []error{fmt.Errorf("%s: %w; want the path of a file like %s", secondFile, err, secondFileExample)}
	}
	m.Second = &second
	return nil
}

func readSecond(path string) (SecondModel, error) {
	var out SecondModel
	content, err := readLimited(path)
	if err != nil {
		return out, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&out); err != nil {
		return out, fmt.Errorf("it is not the JSON that is wanted: %w", err)
	}
	if out.Name == "" || !plainURL(out.URL) {
		return out, errors.New("it has no model, or no http:// or https:// address")
	}
	if out.KeyFile == "" {
		return out, nil
	}
	key, err := readLimited(out.KeyFile)
	if err != nil {
		return out, fmt.Errorf("key_file: %w", err)
	}
	parsed, err := parseKey(fmt.Appendf(nil, "%q", bytes.TrimSpace(key)))
	if err != nil {
		return out, fmt.Errorf("key_file: %w", err)
	}
	out.Key = NewSecret(parsed.secret)
	return out, nil
}
