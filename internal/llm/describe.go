package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"coachline/internal/fresh"
	"coachline/models"
)

const (
	// describeLimit bounds all questions about one model.
	describeLimit = 3 * time.Second
	// describeAgain is how long an answer about a model is believed.
	describeAgain = 10 * time.Minute
	// ollamaContext is what Ollama serves where nothing else is set; it leaves out
	// what is longer without a word.
	ollamaContext = 4096
)

// described is what a server said of a model.
type described struct {
	facts models.ModelFacts
	err   error
}

// Describe asks the server how long a request to a model may be and how large the
// model is: the list of models (vLLM, OpenRouter and others), the properties of
// llama.cpp's server, Ollama's own interface and LM Studio's. OpenAI's server says
// neither and is not asked. Answers are kept for ten minutes, failures too.
func (c *Client) Describe(ctx context.Context, model string) (models.ModelFacts, error) {
	if c.cfg.BaseURL == "" {
		return models.ModelFacts{}, nil
	}
	held, _ := c.facts.LoadOrStore(model, &fresh.Value[described]{})
	got := held.(*fresh.Value[described]).Read(c.cfg.Now(), describeAgain, func() described {
		ctx, cancel := context.WithTimeout(ctx, describeLimit)
		defer cancel()
		out, err := c.askFacts(ctx, model)
		return described{out, err}
	})
	return got.facts, got.err
}

// modelEntry is what lists of models and Ollama say of one, under the names of
// several servers.
type modelEntry struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Owner   string     `json:"owned_by"`
	Longest looseCount `json:"max_model_len"`
	Context looseCount `json:"context_length"`
	Loaded  looseCount `json:"loaded_context_length"`
	Max     looseCount `json:"max_context_length"`
	Meta    struct {
		Context    looseCount `json:"n_ctx"`
		Trained    looseCount `json:"n_ctx_train"`
		Parameters float64    `json:"n_params"`
	} `json:"meta"`
}

// contextTokens returns what an entry says first of the context in use, then of the
// longest that there is.
func (e modelEntry) contextTokens() int {
	for _, n := range []looseCount{e.Meta.Context, e.Loaded, e.Longest, e.Context, e.Max, e.Meta.Trained} {
		if n > 0 {
			return int(n)
		}
	}
	return 0
}

const billion = 1e9

func (c *Client) askFacts(ctx context.Context, model string) (models.ModelFacts, error) {
	base := strings.TrimRight(c.cfg.BaseURL, "/")
	root := strings.TrimSuffix(base, "/v1")
	entry, err := c.findModel(ctx, base+"/models", model)
	if err != nil {
		return models.ModelFacts{}, err
	}
	out := models.ModelFacts{ContextTokens: entry.contextTokens(), Billions: entry.Meta.Parameters / billion}
	switch {
	case entry.Meta.Trained > 0 && entry.Meta.Context == 0, entry.Owner == "llamacpp":
		// What the model was trained for is not what the server was started with.
		var props struct {
			Settings struct {
				Context looseCount `json:"n_ctx"`
			} `json:"default_generation_settings"`
		}
		if c.askJSON(ctx, root+"/props", nil, &props) == nil && props.Settings.Context > 0 {
			out.ContextTokens = int(props.Settings.Context)
		}
	case out.ContextTokens == 0:
		if more, ok := c.askOllama(ctx, root, model); ok {
			return more, nil
		}
		if studio, err := c.findModel(ctx, root+"/api/v0/models", model); err == nil {
			out.ContextTokens = studio.contextTokens()
		}
	}
	return out, nil
}

// findModel finds a model in a server's list. A server with one model may call it
// something else than we do.
func (c *Client) findModel(ctx context.Context, address, model string) (modelEntry, error) {
	var list struct {
		Data []modelEntry `json:"data"`
	}
	if err := c.askJSON(ctx, address, nil, &list); err != nil {
		return modelEntry{}, err
	}
	for _, entry := range list.Data {
		if entry.ID == model {
			return entry, nil
		}
	}
	if len(list.Data) == 1 {
		return list.Data[0], nil
	}
	return modelEntry{}, nil
}

// openAI is asked where no address is set.
const openAI = "https://api.openai.com/v1"

// CheckName fails where the server lists several models and none of that name, so that a
// wrong name is found before a person waits for an answer. A server without a list, or
// with one model, is not judged. Safe to repeat.
func (c *Client) CheckName(ctx context.Context, model string) error {
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	base := strings.TrimRight(cmp.Or(c.cfg.BaseURL, openAI), "/")
	var list struct {
		Data []modelEntry `json:"data"`
	}
	if c.askJSON(ctx, base+"/models", nil, &list) != nil || len(list.Data) < 2 {
		return nil
	}
	isNamed := func(e modelEntry) bool {
		return e.ID == model || e.ID == model+":latest" || strings.HasSuffix(e.ID, "/"+model)
	}
	if slices.ContainsFunc(list.Data, isNamed) {
		return nil
	}
	return fmt.Errorf("%s lists %d models and none is called %q; set COACH_MODEL to one of them", base, len(list.Data), model)
}

// askOllama asks Ollama's own interface; ok is false for other servers. What a model
// could take is not what it is served with.
func (c *Client) askOllama(ctx context.Context, root, model string) (out models.ModelFacts, ok bool) {
	var shown struct {
		Parameters string `json:"parameters"`
		Details    struct {
			Size string `json:"parameter_size"`
		} `json:"details"`
	}
	if c.askJSON(ctx, root+"/api/show", map[string]string{"model": model}, &shown) != nil {
		return out, false
	}
	out.ContextTokens = ollamaContext
	var running struct {
		Models []modelEntry `json:"models"`
	}
	if c.askJSON(ctx, root+"/api/ps", nil, &running) == nil {
		for _, one := range running.Models {
			if one.Name == model && one.Context > 0 {
				out.ContextTokens = int(one.Context)
			}
		}
	}
	for line := range strings.Lines(shown.Parameters) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "num_ctx" {
			if n, err := strconv.Atoi(words[1]); err == nil && n > 0 {
				out.ContextTokens = n
			}
		}
	}
	out.Billions = parseBillions(shown.Details.Size)
	return out, true
}

// parseBillions reads "7.6B" and "270M"; 0 for anything else.
func parseBillions(size string) float64 {
	for unit, factor := range map[string]float64{"B": 1, "M": 1e-3} {
		if number, ok := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(size)), unit); ok {
			if n, err := strconv.ParseFloat(number, 64); err == nil {
				return n * factor
			}
		}
	}
	return 0
}

// askJSON makes one small request; with a body it is a POST. Errors hold no key.
func (c *Client) askJSON(ctx context.Context, address string, body, into any) error {
	method, reader := http.MethodGet, io.Reader(http.NoBody)
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encoding the question: %w", err)
		}
		method, reader = http.MethodPost, bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return fmt.Errorf("asking about the model: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if len(c.cfg.Keys) > 0 {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Keys[0])
	}
	res, err := c.cfg.HTTPClient.Do(req)
	if err != nil {
		return &models.ModelError{Class: models.ModelBusy, Message: "no answer about the model"}
	}
	defer func() { _ = res.Body.Close() }() // What was read counts.
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody*16))
	if err != nil || res.StatusCode >= http.StatusMultipleChoices || json.Unmarshal(raw, into) != nil {
		return &models.ModelError{Class: models.ModelRefused, Status: res.StatusCode, Message: "no description of the model"}
	}
	return nil
}
