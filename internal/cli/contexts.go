package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Target is an installation that operators' commands may go to.
type Target struct {
	// URL is the base address of the API.
	URL string `json:"url"`
	// TokenFile is the path of a file that holds the API's token; empty for an
	// API without one.
	TokenFile string `json:"token_file,omitempty"`
}

// Contexts are the named targets of one user, as the file keeps them.
type Contexts struct {
	// Current is the target that is used when no other is named; empty for none.
	Current string            `json:"current,omitempty"`
	Targets map[string]Target `json:"contexts"`

	path string
}

// LoadContexts reads the contexts at a path. A file that does not exist holds
// none. The error names the file.
func LoadContexts(path string) (*Contexts, error) {
	c := &Contexts{Targets: map[string]Target{}, path: path}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading contexts: %w", err)
	}
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, fmt.Errorf("reading contexts from %s: not the JSON that `coachline context add` writes: %w", path, err)
	}
	if c.Targets == nil {
		c.Targets = map[string]Target{}
	}
	return c, nil
}

// Save writes the contexts back, in a file that only its owner may read. The
// old file stays whole until the new one is.
func (c *Contexts) Save() error {
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding contexts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("writing contexts: %w", err)
	}
	next := c.path + ".new"
	if err := os.WriteFile(next, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing contexts: %w", err)
	}
	if err := os.Rename(next, c.path); err != nil {
		return fmt.Errorf("writing contexts: %w", err)
	}
	return nil
}

// Find returns the target of a name, or the current one when the name is empty;
// ok is false when there is neither a name nor a current one.
func (c *Contexts) Find(name string) (target Target, ok bool, err error) {
	if name == "" {
		name = c.Current
	}
	if name == "" {
		return Target{}, false, nil
	}
	target, ok = c.Targets[name]
	if !ok {
		return Target{}, false, fmt.Errorf("no context %q; `coachline context list` shows them", name)
	}
	return target, true, nil
}

// Names lists the names in order.
func (c *Contexts) Names() []string { return slices.Sorted(maps.Keys(c.Targets)) }

// Token reads the token of a target; empty when it has none.
func (t Target) Token() (string, error) {
	if t.TokenFile == "" {
		return "", nil
	}
	raw, err := os.ReadFile(t.TokenFile)
	if err != nil {
		return "", fmt.Errorf("reading the token of the context: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// PrintContexts writes the contexts, the current one marked.
func PrintContexts(w io.Writer, c *Contexts) error {
	if len(c.Targets) == 0 {
		_, err := fmt.Fprintln(w, "No contexts. Add one: coachline context add NAME --url https://coach.example.org --token-file FILE")
		return err
	}
	rows := [][]string{{"CURRENT", "NAME", "URL", "TOKEN FILE"}}
	for _, name := range c.Names() {
		mark := " "
		if name == c.Current {
			mark = "*"
		}
		rows = append(rows, []string{mark, name, c.Targets[name].URL, c.Targets[name].TokenFile})
	}
	return writeTable(w, rows)
}
