package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const (
	keysFile        = "COACH_KEYS_FILE"
	openAI          = "openai"
	maxKeysFile     = 1 << 20
	keysFileExample = `{"openai": ["KEY", {"key": "KEY", "group": "NAME"}]}`
)

// fileKey is a key of the keys file. Keys of one group share a quota at the
// provider; an empty group is the key's own.
type fileKey struct {
	secret string
	group  string
}

// Keys lists every key once, OPENAI_API_KEY first, then OPENAI_API_KEYS, then
// the keys file; empty when none is set.
func (m Model) Keys() []string {
	var keys []string
	for _, key := range slices.Concat([]string{m.Key.Reveal()}, m.MoreKeys.Reveal(), m.FileKeys.Reveal()) {
		if key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// KeyGroups names the quota group of each key that the keys file puts in one.
func (m Model) KeyGroups() map[string]string {
	groups := map[string]string{}
	for i, key := range m.FileKeys.Reveal() {
		if m.FileGroups[i] != "" {
			groups[key] = m.FileGroups[i]
		}
	}
	return groups
}

// loadKeys reads the keys file where one is named. No error shows its content,
// nor the variable's value: an operator may have put the keys there.
func (m *Model) loadKeys() []error {
	if m.KeysFile == "" {
		return nil
	}
	keys, err := readKeysFile(m.KeysFile)
	if err != nil {
		return []error{fmt.Errorf("%s: %w; want the path of a file like %s", keysFile, err, keysFileExample)}
	}
	var secrets []string
	for _, key := range keys {
		secrets = append(secrets, key.secret)
		m.FileGroups = append(m.FileGroups, key.group)
	}
	m.FileKeys = NewSecrets(secrets...)
	return nil
}

// readKeysFile reads {"provider": [key, ...]}, a key being a text or an object
// with key and group. The entry "openai" counts, or the only one.
func readKeysFile(path string) ([]fileKey, error) {
	content, err := readLimited(path)
	if err != nil {
		return nil, err
	}
	return parseKeys(content)
}

func readLimited(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening it: %w", withoutPath(err))
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, maxKeysFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading it: %w", withoutPath(err))
	}
	if len(content) > maxKeysFile {
		return nil, errors.New("it is longer than a mebibyte")
	}
	return content, nil
}

func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func parseKeys(content []byte) ([]fileKey, error) {
	var providers map[string][]json.RawMessage
	if err := json.Unmarshal(content, &providers); err != nil {
		return nil, errors.New("it is not a JSON object of lists")
	}
	entries, found := providers[openAI]
	if !found {
		if len(providers) != 1 {
			return nil, fmt.Errorf("it names %d providers, none of them %s", len(providers), openAI)
		}
		for _, only := range providers {
			entries = only
		}
	}
	if len(entries) == 0 {
		return nil, errors.New("its list of keys is empty")
	}
	var keys []fileKey
	for i, entry := range entries {
		key, err := parseKey(entry)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		if slices.ContainsFunc(keys, func(k fileKey) bool { return k.secret == key.secret }) {
			return nil, fmt.Errorf("key %d: it stands there twice", i+1)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func parseKey(raw json.RawMessage) (fileKey, error) {
	var in struct {
		Key   string `json:"key"`
		Group string `json:"group"`
	}
	if json.Unmarshal(raw, &in.Key) != nil {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if decoder.Decode(&in) != nil {
			return fileKey{}, errors.New("it is neither a text nor an object with key and group")
		}
	}
	key := fileKey{secret: strings.TrimSpace(in.Key), group: strings.TrimSpace(in.Group)}
	if key.secret == "" {
		return fileKey{}, errors.New("it is empty")
	}
	if strings.ContainsFunc(key.secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fileKey{}, errors.New("it holds characters that no header may hold")
	}
	return key, nil
}
