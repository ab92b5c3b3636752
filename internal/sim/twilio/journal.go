package twilio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const journalFile = "phones.jsonl"

// entry is one line of the journal; exactly one field is set.
type entry struct {
	Phone  string  `json:"phone,omitempty"`
	Text   *text   `json:"text,omitempty"`
	Change *change `json:"change,omitempty"`
	// Scripted: the script has answered; the page says so from then on.
	Scripted bool `json:"scripted,omitempty"`
}

// journal is an append-only file of JSON lines. A journal without a file keeps
// nothing.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

// openJournal reads the lines of an earlier run. A last line that was cut off
// when the process was killed is dropped: its request was not answered.
func openJournal(dir string) (*journal, []entry, error) {
	if dir == "" {
		return &journal{}, nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("creating the phones' folder: %w", err)
	}
	path := filepath.Join(dir, journalFile)
	held, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	whole := held[:bytes.LastIndexByte(held, '\n')+1]
	entries, err := decodeEntries(whole)
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening %s: %w", path, err)
	}
	if len(whole) < len(held) {
		if err := file.Truncate(int64(len(whole))); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("mending %s: %w", path, err), file.Close())
		}
	}
	return &journal{file: file}, entries, nil
}

func decodeEntries(lines []byte) ([]entry, error) {
	var entries []entry
	number := 0
	for line := range bytes.Lines(lines) {
		number++
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// append writes one line; what it returns nil for survives the process.
func (j *journal) append(e entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding a journal line: %w", err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	if err != nil {
		return fmt.Errorf("closing the journal: %w", err)
	}
	return nil
}
