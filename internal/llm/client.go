// Package llm calls an OpenAI-compatible model and classes what can go wrong.
// A call is sent again with another key when its key was refused, and without
// an optional part that the server refused; every other retry is the caller's.
package llm

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"coachline/internal/calls"
	"coachline/models"
)

// Time limits of the reply engine.
const (
	defaultTimeout      = 60 * time.Second
	defaultEmbedTimeout = 5 * time.Second
)

// Config is what a Client needs.
type Config struct {
	// BaseURL is an OpenAI-compatible server; empty is OpenAI's own.
	BaseURL string
	// Keys take turns, one request each. A server of one's own may need none.
	Keys []string
	// Groups names the quota group of keys that share one: when one of them is
	// over its limit, all of them rest.
	Groups map[string]string
	// EmbeddingModel is the model of Embed; EmbeddingURL and EmbeddingKey are its server
	// where that is another than BaseURL.
	EmbeddingModel, EmbeddingURL, EmbeddingKey string
	// SpeechModel is the model of Transcribe.
	SpeechModel string
	// Second is asked for chat where this server gives no answer; nil is none.
	Second *Second
	// Timeout bounds one Complete of one server with all its requests; 0 is 60 seconds.
	Timeout time.Duration
	// EmbedTimeout bounds one Embed likewise; 0 is 5 seconds.
	EmbedTimeout time.Duration
	// HTTPClient carries the calls; nil is a plain client.
	HTTPClient *http.Client
	// Now is the clock by which keys rest; nil is the machine's.
	Now func() time.Time
	// Logger takes the alerts about keys; nil is slog.Default().
	Logger *slog.Logger
}

// Client calls the model. It is safe for concurrent use.
type Client struct {
	chat    openai.ChatCompletionService
	vectors openai.EmbeddingService
	speech  openai.AudioTranscriptionService
	ring    *ring
	cfg     Config
	builder

	// elsewhere embeds where another server does; nil otherwise.
	elsewhere *Client
	// second answers chat where this server does not; nil is none. firstRests is until
	// when, in Unix seconds, it is asked before this one.
	second     *Client
	firstRests atomic.Int64
	// vectorsRest is until when, in Unix seconds, a server without embeddings is not
	// asked.
	vectorsRest atomic.Int64
	// refused remembers, by wish and model, when a server would not do it.
	refused sync.Map
	// facts holds what the server said of its models, a *fresh.Value[described] for each.
	facts sync.Map
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
	endpoint, err := endpointOption(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	cfg = withDefaults(cfg)
	var elsewhere *Client
	if cfg.EmbeddingURL != "" {
		other := cfg
		other.BaseURL, other.EmbeddingURL, other.Keys, other.Groups, other.Second = cfg.EmbeddingURL, "", nil, nil, nil
		if cfg.EmbeddingKey != "" {
			other.Keys = []string{cfg.EmbeddingKey}
		}
		if elsewhere, err = New(other); err != nil {
			return nil, err
		}
	}
	second, err := newSecond(cfg)
	if err != nil {
		return nil, err
	}
	opts := []option.RequestOption{endpoint, option.WithMaxRetries(0), option.WithHTTPClient(cfg.HTTPClient)}
	return &Client{
		chat: openai.NewChatCompletionService(opts...), vectors: openai.NewEmbeddingService(opts...),
		speech: openai.NewAudioTranscriptionService(opts...),
		ring:   newRing(cfg), cfg: cfg, builder: newBuilder(), elsewhere: elsewhere, second: second,
	}, nil
}

func withDefaults(cfg Config) Config {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{}
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.EmbedTimeout <= 0 {
		cfg.EmbedTimeout = defaultEmbedTimeout
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return cfg
}

func headerSafe(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

func endpointOption(baseURL string) (option.RequestOption, error) {
	if baseURL == "" {
		return option.WithEnvironmentProduction(), nil
	}
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("base URL: want http:// or https:// and a host")
	}
	return option.WithBaseURL(baseURL), nil
}

// DisabledKeys counts the keys that the server refused (401, 403) since the
// start. They stay out of use until the next one.
func (c *Client) DisabledKeys() int { return c.ring.countBarred() }

// completeHere asks this server.
func (c *Client) completeHere(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()

	dropped := map[optionalField]bool{}
	for _, w := range []optionalField{wishJSON, wishTemperature, wishEffort, wishCompletionTokens, wishMaxTokens, wishWhole, wishUsage, wishSystem} {
		dropped[w] = c.isRefused(w, req.Model)
	}
	for {
		body, err := c.encodeRequest(req, dropped)
		if err != nil {
			return models.ChatResponse{}, &models.ModelError{Class: models.ModelRefused, Message: err.Error()}
		}
		out, failed := c.completeChat(ctx, req.Model, body, dropped[wishWhole])
		if failed != nil && failed.unwished == wishCompletionTokens && dropped[wishCompletionTokens] {
			failed.unwished = wishMaxTokens
		}
		switch {
		case failed == nil:
			if dropped[wishSystem] {
				c.noteRefused(wishSystem, req.Model)
			}
			return out, nil
		case isWished(req, failed.unwished) && !dropped[failed.unwished]:
			dropped[failed.unwished] = true
			if failed.lasting {
				c.noteRefused(failed.unwished, req.Model)
			}
		default:
			return models.ChatResponse{}, failed.modelError(req)
		}
	}
}

// completeChat makes one request, as a stream where the server answers only with
// one. What comes is read by its form: one streamed answer says nothing of the next.
func (c *Client) completeChat(ctx context.Context, model string, body []byte, stream bool) (models.ChatResponse, *fault) {
	var out models.ChatResponse
	failed := c.callWithKeys(ctx, func(ctx context.Context, x *exchange) (f *fault) {
		var err error
		defer func() {
			x.record(ctx, calls.Call{Stage: models.StageModel, Asked: model, Model: out.Model, Usage: out.Usage}, f, err)
		}()
		if stream {
			out, f, err = c.askStreamed(ctx, body, x)
			return f
		}
		// The body is taken raw: compatible servers differ from OpenAI in
		// details that the SDK's types do not survive.
		opts := append(x.requestOptions(), option.WithRequestBody("application/json", body))
		if _, err = c.chat.New(ctx, openai.ChatCompletionNewParams{}, opts...); err != nil {
			return x.readFault(ctx)
		}
		if isEventStream(x.body) {
			out, f = readEventStream(x.body)
			return f
		}
		out, f = readAnswer(x.body)
		return f
	})
	return out, failed
}

// refusalHolds is how long a server is not asked again for what it would not do: behind
// one address another server may answer later.
const refusalHolds = time.Hour

func (c *Client) noteRefused(w optionalField, model string) {
	c.refused.Store(refusal{w, model}, c.cfg.Now())
}

// refusal is what Client.refused is keyed by: one server may carry several
// models.
type refusal struct {
	wish  optionalField
	model string
}

func (c *Client) isRefused(w optionalField, model string) bool {
	at, known := c.refused.Load(refusal{w, model})
	return known && c.cfg.Now().Sub(at.(time.Time)) < refusalHolds
}

// callWithKeys makes a request and makes it again with the next free key for as
// long as it is the key that is refused, once a key at most.
func (c *Client) callWithKeys(ctx context.Context, call func(context.Context, *exchange) *fault) *fault {
	if len(c.ring.keys) == 0 {
		return call(ctx, &exchange{now: c.cfg.Now})
	}
	var last *fault
	for range c.ring.keys {
		l, none := c.ring.takeKey()
		if none != nil {
			return last.orNoKey(none)
		}
		last = call(ctx, &exchange{now: c.cfg.Now, key: l.key.secret})
		if last == nil {
			c.ring.recordSuccess(l)
			return nil
		}
		none = c.ring.settleLease(l, last)
		switch {
		case last.key == keyGood:
			return last
		case none != nil:
			return last.orNoKey(none)
		}
	}
	// Rests are over by now, but each key had its turn.
	return &fault{err: *busyError(last.err.Status, last.err.Message)}
}

// exchange is one request and what came back.
type exchange struct {
	now  func() time.Time
	key  string
	body []byte
	res  *http.Response
}

func (x *exchange) requestOptions() []option.RequestOption {
	opts := []option.RequestOption{option.WithResponseBodyInto(&x.body), option.WithResponseInto(&x.res)}
	if x.key != "" {
		opts = append(opts, option.WithAPIKey(x.key))
	}
	return opts
}

func (x *exchange) readFault(ctx context.Context) *fault { return toFault(ctx, x.res, x.now()) }

func busyError(status int, message string) *models.ModelError {
	return &models.ModelError{Class: models.ModelBusy, Status: status, Message: message}
}
