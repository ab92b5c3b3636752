package llm

import (
	"context"
	"errors"
	"time"

	"coachline/models"
)

// Second is the server that answers while the first is down, over its limit or refuses its
// keys. It embeds and transcribes nothing.
type Second struct {
	BaseURL string
	Key     string
	// Model answers what the first server's models are asked, and Small what SmallName is.
	Model, Small string
	// SmallName is the first server's small model.
	SmallName string
}

const (
	// leastRest and mostRest bound how long the first server is asked after the second one
	// only: it may be down for longer than one request waits.
	leastRest, mostRest = time.Minute, 5 * time.Minute
)

// newSecond returns the client of the second server; nil where there is none.
func newSecond(cfg Config) (*Client, error) {
	if cfg.Second == nil {
		return nil, nil //nolint:nilnil // one server is usual
	}
	own := cfg
	own.BaseURL, own.Keys, own.Groups, own.EmbeddingURL, own.Second = cfg.Second.BaseURL, nil, nil, "", nil
	if cfg.Second.Key != "" {
		own.Keys = []string{cfg.Second.Key}
	}
	return New(own)
}

// Complete asks the model. Errors are *models.ModelError; ModelBusy alone is
// worth the same call again, after RetryAfter, which is the end of the first
// rest when every key rests. A repeated call is paid again and may be answered
// differently. Where there is a second server it is asked when the first one gives no
// answer, and for a minute or more before it.
func (c *Client) Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	if c.second == nil {
		return c.completeHere(ctx, req)
	}
	resting := c.cfg.Now().Unix() < c.firstRests.Load()
	if resting {
		if out, err := c.askSecond(ctx, req); err == nil || !isUnanswered(err) {
			return out, err
		}
	}
	out, err := c.completeHere(ctx, req)
	if err == nil || !isUnanswered(err) || ctx.Err() != nil {
		return out, err
	}
	c.letRest(err)
	if resting {
		return out, err
	}
	if other, failed := c.askSecond(ctx, req); failed == nil || !isUnanswered(failed) {
		return other, failed
	}
	return out, err
}

func (c *Client) askSecond(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	names := c.cfg.Second
	if names.SmallName != "" && names.Small != "" && req.Model == names.SmallName {
		req.Model = names.Small
	} else {
		req.Model = names.Model
	}
	out, err := c.second.completeHere(ctx, req)
	out.Second = true
	return out, err
}

// isUnanswered reports whether another server may answer what this one did not.
func isUnanswered(err error) bool {
	var failed *models.ModelError
	return errors.As(err, &failed) && (failed.Class == models.ModelBusy || failed.Class == models.ModelAuth)
}

func (c *Client) letRest(err error) {
	rest := leastRest
	if failed := (*models.ModelError)(nil); errors.As(err, &failed) {
		rest = min(max(rest, failed.RetryAfter), mostRest)
		if failed.TimedOut {
			rest = mostRest
		}
	}
	c.firstRests.Store(c.cfg.Now().Add(rest).Unix())
	c.cfg.Logger.Warn("the first model server gives no answer; the second one is asked", "for", rest.String(), "error", err)
}
