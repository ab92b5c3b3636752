// Package llm calls an OpenAI-compatible chat model and classes what can go
// wrong. Retrying is the caller's: one Complete is at most one HTTP request.
package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"coachline/models"
)

const defaultTimeout = 60 * time.Second

// Config is what a Client needs.
type Config struct {
	// BaseURL is an OpenAI-compatible server; empty is OpenAI's own.
	BaseURL string
	// Keys take turns, one call each. A server of one's own may need none.
	Keys []string
	// Timeout bounds one call; 0 is 60 seconds.
	Timeout time.Duration
	// HTTPClient carries the calls; nil is a plain client.
	HTTPClient *http.Client
}

// Client calls the model. It is safe for concurrent use.
type Client struct {
	service openai.ChatCompletionService
	keys    []string
	timeout time.Duration
	calls   atomic.Uint64
}

// New checks cfg; errors never show a key. Nothing is read from the
// environment: the SDK's own constructor, which does so, is not used.
func New(cfg Config) (*Client, error) {
	if len(cfg.Keys) == 0 && cfg.BaseURL == "" {
		return nil, errors.New("OpenAI's own server needs a key")
	}
	for _, key := range cfg.Keys {
		if !headerSafe(key) {
			return nil, errors.New("a key is empty or holds characters that no header may hold")
		}
	}
	endpoint, err := endpoint(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{}
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	return &Client{
		service: openai.NewChatCompletionService(endpoint, option.WithMaxRetries(0), option.WithHTTPClient(cfg.HTTPClient)),
		keys:    cfg.Keys, timeout: cfg.Timeout,
	}, nil
}

func headerSafe(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

func endpoint(baseURL string) (option.RequestOption, error) {
	if baseURL == "" {
		return option.WithEnvironmentProduction(), nil
	}
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("base URL: want http:// or https:// and a host")
	}
	return option.WithBaseURL(baseURL), nil
}

// Complete asks the model once. Errors are *models.ModelError; ModelBusy alone
// is worth the same call again, after RetryAfter. A repeated call is paid
// again and may be answered differently.
func (c *Client) Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	params, err := build(req)
	if err != nil {
		return models.ChatResponse{}, &models.ModelError{Class: models.ModelRefused, Message: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	// The body is taken raw: compatible servers differ from OpenAI in ways
	// that the SDK's types do not survive.
	var body []byte
	var res *http.Response
	opts := []option.RequestOption{option.WithResponseBodyInto(&body), option.WithResponseInto(&res)}
	if key := c.nextKey(); key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	if _, err := c.service.New(ctx, params, opts...); err != nil {
		return models.ChatResponse{}, classify(ctx, res)
	}
	return read(body)
}

// nextKey spreads calls over the keys; empty when there are none.
func (c *Client) nextKey() string {
	if len(c.keys) == 0 {
		return ""
	}
	turn := c.calls.Add(1) - 1
	return c.keys[turn%uint64(len(c.keys))]
}

func busy(status int, format string, args ...any) *models.ModelError {
	return &models.ModelError{Class: models.ModelBusy, Status: status, Message: fmt.Sprintf(format, args...)}
}
