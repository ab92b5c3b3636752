// Package mcp asks servers of the Model Context Protocol for their tools and calls them,
// by streamable HTTP. servers.go reads which servers and tools an operator allows,
// client.go asks. What comes back is written by strangers: the caller fences it.
package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"coachline/models"
	"coachline/models/wire"
)

// Server is a server whose tools the coach may call.
type Server struct {
	Name string
	URL  string
	// Key is sent to it as a bearer token; empty sends none.
	Key string
	// Timeout bounds one call, the connection included.
	Timeout time.Duration
	// Tools are the tools that may be called, and no others.
	Tools []Allowed
}

// Allowed is a tool that may be called, and where.
type Allowed struct {
	Name string `json:"name"`
	// Modes and Studies say where it is offered; an empty list is everywhere.
	Modes   []wire.Mode `json:"modes"`
	Studies []string    `json:"studies"`
	// Keywords are words that ask for it, beside those of its description.
	Keywords string `json:"keywords"`
}

// ToolName returns the name under which the model calls a tool of the server.
func (s Server) ToolName(tool string) string {
	return models.OutsideTool + s.Name + "_" + notInNames.ReplaceAllString(tool, "_")
}

const (
	usualTimeout, leastTimeout, mostTimeout = 20 * time.Second, time.Second, time.Minute
	// longestName is how long the name of a tool may be for a model's server.
	longestName = 64
)

var (
	serverName = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)
	notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)
)

// Parse reads {"servers": [{"name", "url", "key_file", "timeout", "tools"}]}. readKey reads
// a key file. An error says which server it is about and shows no key.
func Parse(content []byte, readKey func(path string) ([]byte, error)) ([]Server, error) {
	var file struct {
		Servers []struct {
			Name    string    `json:"name"`
			URL     string    `json:"url"`
			KeyFile string    `json:"key_file"`
			Timeout string    `json:"timeout"`
			Tools   []Allowed `json:"tools"`
		} `json:"servers"`
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("it is not the JSON that is wanted: %w", err)
	}
	var servers []Server
	for i, in := range file.Servers {
		out := Server{Name: in.Name, URL: in.URL, Timeout: usualTimeout, Tools: in.Tools}
		var err error
		if in.Timeout != "" {
			out.Timeout, err = time.ParseDuration(in.Timeout)
		}
		if err != nil || out.Timeout < leastTimeout || out.Timeout > mostTimeout {
			return nil, fmt.Errorf("server %d: timeout: want a duration of %s to %s", i+1, leastTimeout, mostTimeout)
		}
		if in.KeyFile != "" {
			key, err := readKey(in.KeyFile)
			if err != nil {
				return nil, fmt.Errorf("server %d: key_file: %w", i+1, err)
			}
			out.Key = strings.TrimSpace(string(key))
		}
		if err := out.check(); err != nil {
			return nil, fmt.Errorf("server %d: %w", i+1, err)
		}
		if slices.ContainsFunc(servers, func(other Server) bool { return other.Name == out.Name }) {
			return nil, fmt.Errorf("server %d: name: %s stands there twice", i+1, out.Name)
		}
		servers = append(servers, out)
	}
	if len(servers) == 0 {
		return nil, errors.New("it names no server")
	}
	return servers, nil
}

func (s Server) check() error {
	if !serverName.MatchString(s.Name) {
		return errors.New("name: want 1 to 16 small letters and digits, a letter first")
	}
	address, err := url.Parse(s.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" || address.User != nil {
		return errors.New("url: want an http:// or https:// address with a host and without a user")
	}
	if strings.ContainsFunc(s.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("key_file: the key holds characters that no header may hold")
	}
	return s.checkTools()
}

func (s Server) checkTools() error {
	if len(s.Tools) == 0 {
		return errors.New("tools: want the names of those that may be called")
	}
	var names []string
	for _, tool := range s.Tools {
		name := s.ToolName(tool.Name)
		if tool.Name == "" || len(name) > longestName || slices.Contains(names, name) {
			return fmt.Errorf("tools: %q: want another name, once, of at most %d characters", tool.Name, longestName-len(s.ToolName("")))
		}
		names = append(names, name)
		for _, mode := range tool.Modes {
			if !mode.Known() {
				return fmt.Errorf("tools: %s: modes: want %s or %s", tool.Name, wire.ModeIntake, wire.ModeFeedback)
			}
		}
	}
	return nil
}
