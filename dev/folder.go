package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"coachline/internal/seal"
)

const (
	lockFile     = "lock"
	databaseFile = "coachline.db"
	keyFile      = "payload.key"
	tokenFile    = "simulator.token"
	environFile  = "dev.env"
	serverLog    = "temporal.log"
)

// folder is the data folder, held by this process alone.
type folder struct {
	path      string
	ephemeral bool
	lock      *os.File
}

// openFolder makes and locks the data folder, or a temporary one that close
// removes.
func openFolder(o options) (*folder, error) {
	if o.ephemeral {
		path, err := os.MkdirTemp("", "coachline-dev-")
		if err != nil {
			return nil, fmt.Errorf("making a temporary folder: %w", err)
		}
		return &folder{path: path, ephemeral: true}, nil
	}
	path, err := filepath.Abs(o.data)
	if err != nil {
		return nil, fmt.Errorf("finding the data folder: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	lock, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	return &folder{path: path, lock: lock}, nil
}

// lockFolder holds the folder until the file is closed; the kernel lets go of
// it when this process dies, however that happens.
func lockFolder(path string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("the data folder %s is in use by another dev: stop that one, or choose another folder with --data", path)
	} else if err != nil {
		err = fmt.Errorf("locking the data folder: %w", err)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

func (f *folder) close() error {
	if f.ephemeral {
		return os.RemoveAll(f.path)
	}
	return f.lock.Close()
}

// payloadKey reads or makes the key that stored texts are sealed with. It
// refuses to make a new one beside a database that an old one sealed.
func (f *folder) payloadKey() (string, error) {
	return f.secret(keyFile, func() (string, error) {
		if _, err := os.Stat(f.file(databaseFile)); err == nil {
			return "", fmt.Errorf("%s holds a database but not its key: set COACH_PAYLOAD_KEYS to what it was, bring back %s, or choose another folder with --data",
				f.path, keyFile)
		}
		return seal.Generate()
	})
}

// simulatorToken reads or makes the token that the simulated carrier signs
// with; it stays the same, so that a role of another process outlives a
// restart of this one.
func (f *folder) simulatorToken() (string, error) {
	return f.secret(tokenFile, func() (string, error) { return rand.Text(), nil })
}

func (f *folder) secret(name string, generate func() (string, error)) (string, error) {
	text, err := os.ReadFile(f.file(name))
	if err == nil && len(strings.TrimSpace(string(text))) > 0 {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	fresh, err := generate()
	if err != nil {
		return "", err
	}
	// An unfinished file would be a lost key; the rename makes it whole.
	draft := f.file(name + ".new")
	if err := os.WriteFile(draft, []byte(fresh+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("writing %s: %w", name, err)
	}
	if err := os.Rename(draft, f.file(name)); err != nil {
		return "", fmt.Errorf("writing %s: %w", name, err)
	}
	return fresh, nil
}
