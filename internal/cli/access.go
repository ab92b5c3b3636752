package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// tokenAge is for how long a token is valid unless its maker says otherwise.
const tokenAge = "2160h"

func userCommand(p *program) *cobra.Command {
	return groupCommand("user", "Add, change and disable the people who operate the programme",
		userAdd(p), userList(p), userUpdate(p), userDisable(p))
}

func userList(p *program) *cobra.Command {
	return verb("list", "List users", func(c *cobra.Command, _ []string) error {
		return callAndShow(c.Context(), p, request{path: usersPath}, func(w io.Writer, list api.UserList) error {
			if len(list.Users) == 0 {
				_, err := fmt.Fprintln(w, "No users.")
				return err
			}
			return renderUsers(w, list.Users)
		})
	})
}

func tokenCommand(p *program) *cobra.Command {
	revoke := verb("revoke TOKEN", "End an API token, named by id or name", func(c *cobra.Command, args []string) error {
		list, err := fetch[api.TokenList](c.Context(), p, tokensPath)
		if err != nil {
			return err
		}
		id, err := findToken(list.Tokens, args[0])
		if err != nil {
			return err
		}
		return callAndShow(c.Context(), p, request{method: http.MethodDelete, path: tokensPath + "/" + url.PathEscape(id)}, func(w io.Writer, t models.Token) error {
			return renderTokens(w, []models.Token{t})
		})
	})
	return groupCommand("token", "Make and end API tokens of scripts",
		tokenAdd(p), tokenList(p), revoke)
}

func tokenList(p *program) *cobra.Command {
	return verb("list", "List API tokens, newest first", func(c *cobra.Command, _ []string) error {
		return callAndShow(c.Context(), p, request{path: tokensPath}, func(w io.Writer, list api.TokenList) error {
			if len(list.Tokens) == 0 {
				_, err := fmt.Fprintln(w, "No tokens.")
				return err
			}
			return renderTokens(w, list.Tokens)
		})
	})
}

func sessionCommand(p *program) *cobra.Command {
	return groupCommand("session", "Show who is signed in to the console, and sign browsers out",
		sessionList(p),
		callCommand(p, "revoke SESSION", "Sign a browser out", func(args []string) request {
			return request{method: http.MethodDelete, path: sessionsPath + "/" + url.PathEscape(args[0])}
		}, func(w io.Writer, ended api.Removal) error {
			_, err := fmt.Fprintf(w, "%s is signed out.\n", ended.ID)
			return err
		}),
	)
}

func sessionList(p *program) *cobra.Command {
	return verb("list", "List browsers that are signed in, last used first", func(c *cobra.Command, _ []string) error {
		return callAndShow(c.Context(), p, request{path: sessionsPath}, func(w io.Writer, list api.SessionList) error {
			if len(list.Sessions) == 0 {
				_, err := fmt.Fprintln(w, "No browser is signed in.")
				return err
			}
			rows := [][]string{{"SESSION", "LOGIN", "ADDRESS", "SINCE", "LAST SEEN", "ENDS", "BROWSER"}}
			for _, s := range list.Sessions {
				rows = append(rows, []string{s.ID, s.Login, s.Address, formatInstant(s.CreatedAt), formatInstant(s.LastSeenAt), formatInstant(s.ExpiresAt), s.Agent})
			}
			return writeTable(w, rows)
		})
	})
}

func whoamiCommand(p *program) *cobra.Command {
	return verb("whoami", "Print who this command is to the API, and what it may do", func(c *cobra.Command, _ []string) error {
		return callAndShow(c.Context(), p, request{path: "/self"}, func(w io.Writer, self api.Self) error {
			rows := [][]string{{"ACTOR", "NAME", "ROLE", "SIGNED IN AS"}, {self.Actor, self.Name, self.Role, self.Kind}}
			if err := writeTable(w, rows); err != nil {
				return err
			}
			_, err := fmt.Fprintf(w, "\nPermissions: %s\n", strings.Join(self.Permissions, ", "))
			return err
		})
	})
}

func userAdd(p *program) *cobra.Command {
	var u api.NewUser
	var file string
	var passwordless bool
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
	flags.BoolVar(&passwordless, "no-password", false, "the user signs in at the OpenID Connect provider, where LOGIN is the confirmed e-mail address")
	c.MarkFlagsMutuallyExclusive("password-file", "no-password")
	c.RunE = func(c *cobra.Command, args []string) error {
		u.Login = args[0]
		if u.Name == "" {
			return usageError{errors.New("--name is needed")}
		}
		if _, err := auth.ParseRole(u.Role); err != nil {
			return usageError{fmt.Errorf("--%w", err)}
		}
		if u.Subject == "" && !passwordless || file != "" {
			var err error
			if u.Password, err = readPassword(p, file); err != nil {
				return err
			}
		}
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: usersPath, body: u}, renderUser)
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

func userUpdate(p *program) *cobra.Command {
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
		var change models.UserChange
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
		if change == (models.UserChange{}) && !password && file == "" {
			return usageError{errors.New("nothing to change; see --help for the fields")}
		}
		if password || file != "" {
			given, err := readPassword(p, file)
			if err != nil {
				return err
			}
			change.Password = &given
		}
		return changeUser(c.Context(), p, args[0], change)
	}
	return c
}

func userDisable(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "disable USER", Short: "Sign a user out everywhere and refuse further logins", Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return changeUser(c.Context(), p, args[0], models.UserChange{Disabled: new(true)})
		},
	}
}

func tokenAdd(p *program) *cobra.Command {
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
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: tokensPath, body: api.NewToken{Name: args[0], Scopes: scopes, ExpiresAt: until}}, func(w io.Writer, made api.CreatedToken) error {
			if err := renderTokens(w, []models.Token{made.Token}); err != nil {
				return err
			}
			_, err := fmt.Fprintf(w, "\nSecret, which is not shown again: %s\n", made.Secret)
			return err
		})
	}
	return c
}

// readPassword asks for a password, or reads the first line of a file or of
// standard input where that is no terminal.
func readPassword(p *program, file string) (string, error) {
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

const (
	usersPath    = "/users"
	sessionsPath = "/sessions"
	tokensPath   = "/tokens"
)

// changeUser changes a user, named by id or login.
func changeUser(ctx context.Context, p *program, ref string, change models.UserChange) error {
	list, err := fetch[api.UserList](ctx, p, usersPath)
	if err != nil {
		return err
	}
	for _, u := range list.Users {
		if u.ID == ref || strings.EqualFold(u.Login, ref) {
			return callAndShow(ctx, p, request{method: http.MethodPut, path: usersPath + "/" + url.PathEscape(u.ID), body: change}, renderUser)
		}
	}
	return fmt.Errorf("no user has the login or id %q; see coachline user list", ref)
}

func renderUser(w io.Writer, u models.User) error { return renderUsers(w, []models.User{u}) }

func renderUsers(w io.Writer, users []models.User) error {
	rows := [][]string{{"USER", "LOGIN", "NAME", "ROLE", "STATE", "SIGNS IN WITH", "LAST LOGIN"}}
	for _, u := range users {
		state := "enabled"
		if u.Disabled {
			state = "disabled"
		}
		var ways []string
		if u.HasPassword {
			ways = append(ways, "password")
		}
		if u.Subject != "" {
			ways = append(ways, "provider")
		}
		rows = append(rows, []string{u.ID, u.Login, u.Name, u.Role, state, strings.Join(ways, ", "), formatLast(u.LastLoginAt)})
	}
	return writeTable(w, rows)
}

// formatLast prints when something happened last; never where it has not.
func formatLast(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return formatInstant(*at)
}

// findToken returns the id of the token with an id, or of the only active one with
// a name.
func findToken(tokens []models.Token, ref string) (string, error) {
	var named []string
	for _, t := range tokens {
		if t.ID == ref {
			return t.ID, nil
		}
		if t.Name == ref && t.Active {
			named = append(named, t.ID)
		}
	}
	if len(named) != 1 {
		return "", fmt.Errorf("%d active tokens have the name or id %q; see coachline token list", len(named), ref)
	}
	return named[0], nil
}

func renderTokens(w io.Writer, tokens []models.Token) error {
	rows := [][]string{{"TOKEN", "NAME", "STATE", "EXPIRES", "LAST USED", "MADE BY", "SCOPES"}}
	for _, t := range tokens {
		state := "expired"
		switch {
		case t.Active:
			state = "active"
		case t.RevokedAt != nil:
			state = "revoked " + formatInstant(*t.RevokedAt)
		}
		rows = append(rows, []string{t.ID, t.Name, state, formatInstant(t.ExpiresAt), formatLast(t.LastUsedAt), t.CreatedBy, strings.Join(t.Permissions, " ")})
	}
	return writeTable(w, rows)
}
