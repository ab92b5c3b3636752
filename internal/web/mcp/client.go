package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"coachline/internal/text"
	"coachline/internal/web"
	"coachline/internal/wrap"
)

// Bounds of what a server may send.
const (
	maxBody        = 2 << 20
	maxHeader      = 64 << 10
	maxDescription = 300
	maxSchema      = 8 << 10
)

// Client asks one server. Each call has a connection of its own, so that a server that was
// down is asked anew. It is safe for concurrent use.
type Client struct {
	Server Server
	http   *http.Client
}

// New returns a client that reaches public addresses, and those in allow.
func New(server Server, allow []netip.AddrPort) *Client {
	dialer := &net.Dialer{Control: web.GuardDial(allow)}
	return &Client{Server: server, http: &http.Client{
		Transport: &bounded{key: server.Key, base: &http.Transport{DialContext: dialer.DialContext, MaxResponseHeaderBytes: maxHeader}},
		// The key goes to no other server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// bounded sends the key and reads at most maxBody of an answer.
type bounded struct {
	key  string
	base http.RoundTripper
}

func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.key != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+b.key)
	}
	res, err := b.base.RoundTrip(req)
	if err != nil {
		return nil, err //nolint:wrapcheck // a transport's error is the client's to wrap
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, maxBody), res.Body}
	return res, nil
}

// Listed is a tool that the server has and the operator allows.
type Listed struct {
	Allowed
	// Description is on one line, at most 300 characters, and written by strangers.
	Description string
	Schema      json.RawMessage
}

// List returns the allowed tools that the server has, in the operator's order, and the
// names of those that it does not have. Asking again is harmless.
func (c *Client) List(ctx context.Context) (listed []Listed, missing []string, err error) {
	offered := map[string]*sdk.Tool{}
	err = c.ask(ctx, func(ctx context.Context, session *sdk.ClientSession) error {
		for tool, err := range session.Tools(ctx, nil) {
			if err != nil {
				return err //nolint:wrapcheck // ask wraps it
			}
			offered[tool.Name] = tool
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, allowed := range c.Server.Tools {
		tool, ok := offered[allowed.Name]
		if !ok {
			missing = append(missing, allowed.Name)
			continue
		}
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil || len(schema) > maxSchema {
			return nil, nil, fmt.Errorf("the schema of %s is longer than %d bytes or no JSON", tool.Name, maxSchema)
		}
		about := text.Truncate(text.OneLine(text.Visible(strings.ToValidUTF8(tool.Description, ""))), maxDescription)
		listed = append(listed, Listed{Allowed: allowed, Description: about, Schema: schema})
	}
	return listed, missing, nil
}

// Answer is what a tool answered, in the words of strangers.
type Answer struct {
	Text string
	// Failed says that the tool itself reports a failure.
	Failed bool
}

// Call calls an allowed tool once. A call whose answer was lost may have had its effect.
func (c *Client) Call(ctx context.Context, tool string, arguments json.RawMessage) (Answer, error) {
	if !slices.ContainsFunc(c.Server.Tools, func(a Allowed) bool { return a.Name == tool }) {
		return Answer{}, fmt.Errorf("tool %s of %s is not allowed", tool, c.Server.Name)
	}
	var answer Answer
	err := c.ask(ctx, func(ctx context.Context, session *sdk.ClientSession) error {
		result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return err //nolint:wrapcheck // ask wraps it
		}
		answer = read(result)
		return nil
	})
	return answer, err
}

// read returns the texts of a result; what is no text is named only.
func read(result *sdk.CallToolResult) Answer {
	var parts []string
	for _, content := range result.Content {
		if words, isText := content.(*sdk.TextContent); isText {
			parts = append(parts, words.Text)
		} else {
			parts = append(parts, "[something that is no text]")
		}
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		if raw, err := json.Marshal(result.StructuredContent); err == nil {
			parts = append(parts, string(raw))
		}
	}
	return Answer{Text: strings.Join(parts, "\n"), Failed: result.IsError}
}

// ask opens a session for one question. The server is told of nothing that we could do for
// it: it may ask for no text of a model and for nothing of the person.
func (c *Client) ask(ctx context.Context, question func(context.Context, *sdk.ClientSession) error) error {
	limited, cancel := context.WithTimeout(ctx, c.Server.Timeout)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "coachline", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	session, err := client.Connect(limited, &sdk.StreamableClientTransport{
		Endpoint: c.Server.URL, HTTPClient: c.http, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxBody,
	}, nil)
	if err == nil {
		err = question(limited, session)
		_ = session.Close() // the answer is there, or is not
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("asking %s: %w", c.Server.Name, ctx.Err())
	case limited.Err() != nil:
		return fmt.Errorf("%s: no answer within %s", c.Server.Name, c.Server.Timeout)
	case web.IsGuarded(err):
		return fmt.Errorf("%s: its address is not public, or its port neither 80 nor 443; COACH_WEB_ALLOW names those that may be reached all the same", c.Server.Name)
	}
	return wrap.Error(withoutAddress(err), c.Server.Name)
}

// withoutAddress drops the address, which may hold a key.
func withoutAddress(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
