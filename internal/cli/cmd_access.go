package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"coachline/internal/api"
	"coachline/internal/auth"
)

// tokenAge is for how long a token is valid unless its maker says otherwise.
const tokenAge = "2160h"

func (p *program) userCommand() *cobra.Command {
	return groupCommand("user", "Add, change and disable the people who operate the programme",
		p.userAdd(), p.plain("list", "List users", (*Commands).ListUsers), p.userUpdate(), p.userDisable())
}

func (p *program) tokenCommand() *cobra.Command {
	revoke := p.onArgument("revoke TOKEN", "End an API token, named by id or name", (*Commands).RevokeToken)
	return groupCommand("token", "Make and end API tokens of scripts",
		p.tokenAdd(), p.plain("list", "List API tokens, newest first", (*Commands).ListTokens), revoke)
}

func (p *program) sessionCommand() *cobra.Command {
	return groupCommand("session", "Show who is signed in to the console, and sign browsers out",
		p.plain("list", "List browsers that are signed in, last used first", (*Commands).ListSessions),
		p.onArgument("revoke SESSION", "Sign a browser out", (*Commands).RevokeSession))
}

func (p *program) whoamiCommand() *cobra.Command {
	return p.plain("whoami", "Print who this command is to the API, and what it may do", (*Commands).Whoami)
}

func (p *program) userAdd() *cobra.Command {
	var u api.NewUser
	var file string
	c := &cobra.Command{
		Use: "add LOGIN --name NAME --role ROLE", Short: "Add a user", Args: exactArgs(1),
		Long: "Adds a person who can sign in to the console. The password is asked for, or is the first line of\n" +
			"standard input or of a file; it is never an argument. The roles:\n\n" + describeRoles(),
	}
	flags := c.Flags()
	flags.StringVar(&u.Name, "name", "", "what other operators see")
	flags.StringVar(&u.Role, "role", "", "what the user may do")
	flags.StringVar(&u.Subject, "subject", "", "identity (sub) at the OpenID Connect provider; the user then needs no password")
	flags.StringVar(&file, "password-file", "", "file whose first line is the password")
	c.RunE = func(c *cobra.Command, args []string) error {
		u.Login = args[0]
		if u.Name == "" {
			return usageError{errors.New("--name is needed")}
		}
		if _, err := auth.ParseRole(u.Role); err != nil {
			return usageError{fmt.Errorf("--%w", err)}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		if u.Subject == "" || file != "" {
			if u.Password, err = p.readPassword(file); err != nil {
				return err
			}
		}
		return commands.AddUser(c.Context(), u)
	}
	return c
}

func describeRoles() string {
	var text strings.Builder
	for _, role := range auth.Roles() {
		fmt.Fprintf(&text, "  %-11s %s\n", role, role.Describe())
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func (p *program) userUpdate() *cobra.Command {
	var name, role, subject, file string
	var password, enable bool
	c := &cobra.Command{Use: "update USER", Short: "Change some fields of a user, named by login or id", Args: exactArgs(1)}
	flags := c.Flags()
	flags.StringVar(&name, "name", "", "what other operators see")
	flags.StringVar(&role, "role", "", "what the user may do")
	flags.StringVar(&subject, "subject", "", "identity (sub) at the OpenID Connect provider")
	flags.BoolVar(&password, "password", false, "ask for a new password, which ends the user's sessions")
	flags.StringVar(&file, "password-file", "", "file whose first line is the new password")
	flags.BoolVar(&enable, "enable", false, "let a disabled user sign in again")
	c.RunE = func(c *cobra.Command, args []string) error {
		var change api.UserChange
		for flag, field := range map[string]struct {
			from *string
			to   **string
		}{"name": {&name, &change.Name}, "role": {&role, &change.Role}, "subject": {&subject, &change.Subject}} {
			if flags.Changed(flag) {
				*field.to = field.from
			}
		}
		if enable {
			change.Disabled = new(false)
		}
		if change == (api.UserChange{}) && !password && file == "" {
			return usageError{errors.New("nothing to change; see --help for the fields")}
		}
		if password || file != "" {
			given, err := p.readPassword(file)
			if err != nil {
				return err
			}
			change.Password = &given
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.UpdateUser(c.Context(), args[0], change)
	}
	return c
}

func (p *program) userDisable() *cobra.Command {
	return &cobra.Command{
		Use: "disable USER", Short: "Sign a user out everywhere and refuse further logins", Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			commands, err := p.newCommands()
			if err != nil {
				return err
			}
			return commands.UpdateUser(c.Context(), args[0], api.UserChange{Disabled: new(true)})
		},
	}
}

func (p *program) tokenAdd() *cobra.Command {
	var scopes []string
	var expires string
	c := &cobra.Command{
		Use: "add NAME --scope PERMISSION", Short: "Make an API token; its secret is printed once", Args: exactArgs(1),
		Long: "Makes an API token and prints its secret once. Scopes are permissions, such as participant:read;\n" +
			"coachline whoami lists all of them to an administrator.",
	}
	c.Flags().StringSliceVar(&scopes, "scope", nil, "permission; repeat the flag or divide by commas")
	c.Flags().StringVar(&expires, "expires", tokenAge, "date, instant or duration from now, at most 366 days")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(scopes) == 0 {
			return usageError{errors.New("--scope is needed")}
		}
		until, err := parseInstant(expires, time.Now())
		if err != nil {
			return usageError{fmt.Errorf("--expires: %w", err)}
		}
		commands, err := p.newCommands()
		if err != nil {
			return err
		}
		return commands.AddToken(c.Context(), api.NewToken{Name: args[0], Scopes: scopes, ExpiresAt: until})
	}
	return c
}

// readPassword asks for a password, or reads the first line of a file or of
// standard input where that is no terminal.
func (p *program) readPassword(file string) (string, error) {
	if file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("--password-file: %w", err)
		}
		return firstLine(bytes.NewReader(raw))
	}
	terminal, ok := p.in.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) {
		return firstLine(p.in)
	}
	ask := func(prompt string) (string, error) {
		fmt.Fprint(p.err, prompt)
		defer fmt.Fprintln(p.err)
		raw, err := term.ReadPassword(int(terminal.Fd()))
		if err != nil {
			return "", fmt.Errorf("reading the password: %w", err)
		}
		return string(raw), nil
	}
	password, err := ask("Password: ")
	if err != nil {
		return "", err
	}
	again, err := ask("Password again: ")
	if err != nil {
		return "", err
	}
	if password != again {
		return "", errors.New("the two passwords differ")
	}
	return password, nil
}

func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the password: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("no password was given: type it, or name a file with --password-file")
	}
	return line, nil
}
