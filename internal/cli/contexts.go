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

	"github.com/spf13/cobra"

	"coachline/internal/config"
	"coachline/internal/wrap"
)

// contextCommand manages the named installations that operators' commands may
// go to.
func contextCommand(p *program) *cobra.Command {
	return groupCommand("context", "Name the installations that commands go to",
		contextAdd(p),
		onContext(p, "list", "Print the contexts", 0, func(c *Contexts, _ []string) error {
			return PrintContexts(p.out, c)
		}),
		onContext(p, "use NAME", "Send commands to this installation from now on", 1, func(c *Contexts, args []string) error {
			if _, _, err := c.Find(args[0]); err != nil {
				return err
			}
			c.Current = args[0]
			return c.Save()
		}),
		onContext(p, "remove NAME", "Forget an installation", 1, func(c *Contexts, args []string) error {
			if _, _, err := c.Find(args[0]); err != nil {
				return err
			}
			delete(c.Targets, args[0])
			if c.Current == args[0] {
				c.Current = ""
			}
			return c.Save()
		}),
	)
}

func onContext(p *program, use, short string, args int, do func(*Contexts, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: exactArgs(args), RunE: func(_ *cobra.Command, given []string) error {
		all, err := p.loadContexts()
		if err != nil {
			return err
		}
		return do(all, given)
	}}
}

func contextAdd(p *program) *cobra.Command {
	var target Target
	c := onContext(p, "add NAME --url URL", "Name an installation; the first one becomes the current one", 1, func(all *Contexts, args []string) error {
		if err := checkAddress(target.URL); err != nil {
			return usageError{fmt.Errorf("--url: %w", err)}
		}
		if target.TokenFile != "" {
			path, err := filepath.Abs(target.TokenFile)
			if err != nil {
				return fmt.Errorf("--token-file: %w", err)
			}
			target.TokenFile = path
		}
		all.Targets[args[0]] = target
		if all.Current == "" {
			all.Current = args[0]
		}
		return all.Save()
	})
	c.Flags().StringVar(&target.URL, "url", "", "base address of the API, such as https://coach.example.org")
	c.Flags().StringVar(&target.TokenFile, "token-file", "", "file that holds the API's token")
	return c
}

// loadContexts reads the user's contexts from the configuration folder.
func (p *program) loadContexts() (*Contexts, error) {
	folder := p.configFolder
	if folder == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("finding the user's configuration folder for contexts: %w", err)
		}
		folder = filepath.Join(base, "coachline")
	}
	return LoadContexts(filepath.Join(folder, "contexts.json"))
}

// findTarget returns where a command goes, with which token, and why it changes
// something: --url, COACH_URL, the context that
// was named or is current, and else the address of this configuration.
func (p *program) findTarget() (base, token, reason string, err error) {
	cfg, err := p.besideDev()
	if err != nil {
		return "", "", "", err
	}
	base, token = p.url, p.token
	if base == "" && p.context == "" {
		base = cfg.HTTP.ClientURL
	}
	if base == "" {
		if base, token, err = p.contextTarget(token); err != nil {
			return "", "", "", err
		}
	}
	if base == "" {
		base = "http://" + callAddress(cfg.HTTP.Addr)
	}
	if token == "" {
		token = cfg.HTTP.APIToken.Reveal()
	}
	return base, token, p.reason, nil
}

func (p *program) contextTarget(token string) (base, found string, err error) {
	all, err := p.loadContexts()
	if err != nil {
		if p.context == "" {
			return "", token, nil
		}
		return "", "", err
	}
	target, ok, err := all.Find(p.context)
	if err != nil || !ok {
		return "", token, err
	}
	if token == "" {
		token, err = target.Token()
	}
	return target.URL, token, err
}

// devNames are the settings that say where an installation is. With one of them
// given, the settings of a development system on this folder are left alone.
var devNames = []string{
	"DATABASE_URL", "TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TWILIO_ACCOUNT_SID", "COACH_PAYLOAD_KEYS", "COACH_PAYLOAD_KEYS_FILE",
	"COACH_HTTP_ADDR", "COACH_URL",
}

// devDefaults returns the settings that `make dev` left in its data folder, for a
// command beside it. None when the environment names an installation.
func (p *program) devDefaults() (config.Defaults, error) {
	if p.devEnviron == "" || p.url != "" || p.context != "" {
		return nil, nil
	}
	for _, line := range p.environ {
		name, value, _ := strings.Cut(line, "=")
		for _, dev := range devNames {
			if name == dev && value != "" {
				return nil, nil
			}
		}
	}
	raw, err := os.ReadFile(p.devEnviron)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the development system's settings: %w", err)
	}
	defaults := config.Defaults{}
	for line := range strings.Lines(string(raw)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			continue
		}
		value = strings.TrimSuffix(strings.TrimPrefix(value, "'"), "'")
		defaults[name] = strings.ReplaceAll(value, `'\''`, "'")
	}
	return defaults, nil
}

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
	return wrap.Error(os.Rename(next, c.path), "writing contexts")
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
