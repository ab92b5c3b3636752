package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"coachline/internal/api"
)

const (
	usersPath    = "/users"
	sessionsPath = "/sessions"
	tokensPath   = "/tokens"
)

// Whoami prints who the caller is and what they may do.
func (c *Commands) Whoami(ctx context.Context) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: "/self"}, func(w io.Writer, self api.Self) error {
		rows := [][]string{{"ACTOR", "NAME", "ROLE", "SIGNED IN AS"}, {self.Actor, self.Name, self.Role, self.Kind}}
		if err := writeTable(w, rows); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\nPermissions: %s\n", strings.Join(self.Permissions, ", "))
		return err
	})
}

// ListUsers prints the users, by login.
func (c *Commands) ListUsers(ctx context.Context) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: usersPath}, func(w io.Writer, list api.UserList) error {
		if len(list.Users) == 0 {
			_, err := fmt.Fprintln(w, "No users.")
			return err
		}
		return renderUsers(w, list.Users)
	})
}

// AddUser adds a person who can sign in.
func (c *Commands) AddUser(ctx context.Context, u api.NewUser) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: usersPath, body: u}, renderUser)
}

// UpdateUser changes a user, named by id or login.
func (c *Commands) UpdateUser(ctx context.Context, ref string, change api.UserChange) error {
	got, err := c.client.do(ctx, request{method: http.MethodGet, path: usersPath})
	if err != nil {
		return err
	}
	var list api.UserList
	if err := got.decodeInto(&list); err != nil {
		return err
	}
	for _, u := range list.Users {
		if u.ID == ref || strings.EqualFold(u.Login, ref) {
			return callAndShow(ctx, c, request{method: http.MethodPut, path: usersPath + "/" + url.PathEscape(u.ID), body: change}, renderUser)
		}
	}
	return fmt.Errorf("no user has the login or id %q; see coachline user list", ref)
}

func renderUser(w io.Writer, u api.User) error { return renderUsers(w, []api.User{u}) }

func renderUsers(w io.Writer, users []api.User) error {
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

// ListTokens prints the API tokens, newest first.
func (c *Commands) ListTokens(ctx context.Context) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: tokensPath}, func(w io.Writer, list api.TokenList) error {
		if len(list.Tokens) == 0 {
			_, err := fmt.Fprintln(w, "No tokens.")
			return err
		}
		return renderTokens(w, list.Tokens)
	})
}

// AddToken makes an API token and prints its secret, which is not shown again.
func (c *Commands) AddToken(ctx context.Context, t api.NewToken) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: tokensPath, body: t}, func(w io.Writer, made api.CreatedToken) error {
		if err := renderTokens(w, []api.Token{made.Token}); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\nSecret, which is not shown again: %s\n", made.Secret)
		return err
	})
}

// RevokeToken ends an API token, named by id or, where only one that is active
// has it, by name.
func (c *Commands) RevokeToken(ctx context.Context, ref string) error {
	got, err := c.client.do(ctx, request{method: http.MethodGet, path: tokensPath})
	if err != nil {
		return err
	}
	var list api.TokenList
	if err := got.decodeInto(&list); err != nil {
		return err
	}
	id, err := findToken(list.Tokens, ref)
	if err != nil {
		return err
	}
	return callAndShow(ctx, c, request{method: http.MethodDelete, path: tokensPath + "/" + url.PathEscape(id)}, func(w io.Writer, t api.Token) error {
		return renderTokens(w, []api.Token{t})
	})
}

// findToken returns the id of the token with an id, or of the only active one with
// a name.
func findToken(tokens []api.Token, ref string) (string, error) {
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

func renderTokens(w io.Writer, tokens []api.Token) error {
	rows := [][]string{{"TOKEN", "NAME", "STATE", "EXPIRES", "LAST USED", "MADE BY", "SCOPES"}}
	for _, t := range tokens {
		state := "expired"
		switch {
		case t.Active:
			state = "active"
		case t.RevokedAt != nil:
			state = "revoked " + formatInstant(*t.RevokedAt)
		}
		rows = append(rows, []string{t.ID, t.Name, state, formatInstant(t.ExpiresAt), formatLast(t.LastUsedAt), t.CreatedBy, strings.Join(t.Scopes, " ")})
	}
	return writeTable(w, rows)
}

// ListSessions prints the browsers that are signed in, last used first.
func (c *Commands) ListSessions(ctx context.Context) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: sessionsPath}, func(w io.Writer, list api.SessionList) error {
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
}

// RevokeSession signs a browser out.
func (c *Commands) RevokeSession(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodDelete, path: sessionsPath + "/" + url.PathEscape(id)}, func(w io.Writer, ended api.Removal) error {
		_, err := fmt.Fprintf(w, "%s is signed out.\n", ended.ID)
		return err
	})
}
