package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"coachline/internal/config"
)

// contextCommand manages the named installations that operators' commands may
// go to.
func (p *program) contextCommand() *cobra.Command {
	return groupCommand("context", "Name the installations that commands go to",
		p.contextAdd(),
		p.onContext("list", "Print the contexts", 0, func(c *Contexts, _ []string) error {
			return PrintContexts(p.out, c)
		}),
		p.onContext("use NAME", "Send commands to this installation from now on", 1, func(c *Contexts, args []string) error {
			if _, _, err := c.Find(args[0]); err != nil {
				return err
			}
			c.Current = args[0]
			return c.Save()
		}),
		p.onContext("remove NAME", "Forget an installation", 1, func(c *Contexts, args []string) error {
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

func (p *program) onContext(use, short string, args int, do func(*Contexts, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: exactArgs(args), RunE: func(_ *cobra.Command, given []string) error {
		all, err := p.loadContexts()
		if err != nil {
			return err
		}
		return do(all, given)
	}}
}

func (p *program) contextAdd() *cobra.Command {
	var target Target
	c := p.onContext("add NAME --url URL", "Name an installation; the first one becomes the current one", 1, func(all *Contexts, args []string) error {
		if _, err := NewClient(target.URL, ""); err != nil {
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

// findTarget returns where a command goes: --url, COACH_URL, the context that
// was named or is current, and else the address of this configuration.
func (p *program) findTarget() (base, token string, err error) {
	cfg, err := p.besideDev()
	if err != nil {
		return "", "", err
	}
	base, token = p.url, p.token
	if base == "" && p.context == "" {
		base = cfg.HTTP.ClientURL
	}
	if base == "" {
		if base, token, err = p.contextTarget(token); err != nil {
			return "", "", err
		}
	}
	if base == "" {
		base = "http://" + callAddress(cfg.HTTP.Addr)
	}
	if token == "" {
		token = cfg.HTTP.APIToken.Reveal()
	}
	return base, token, nil
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
