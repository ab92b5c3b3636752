package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/openai/openai-go/v3"

	"coachline/models"
)

// maxTexts is OpenAI's limit for one request of embeddings.
const maxTexts = 2048

// Embed turns each text into a vector, in the order of the texts, all of one
// length, which the model of Config.EmbeddingModel decides. It takes at most
// 2,048 texts, none of them empty; no text is no call. Errors are those of
// Complete, and a retry is safe and paid again.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if c.elsewhere != nil {
		return c.elsewhere.Embed(ctx, texts)
	}
	if why := c.cannotEmbed(texts); why != "" {
		return nil, &models.ModelError{Class: models.ModelRefused, Message: why}
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.EmbedTimeout)
	defer cancel()

	params := openai.EmbeddingNewParams{
		Model: c.cfg.EmbeddingModel, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
	}
	var out [][]float32
	failed := c.callWithKeys(ctx, func(ctx context.Context, x *exchange) (f *fault) {
		var err error
		defer func() { x.record(ctx, x.readCall(models.StageEmbed, c.cfg.EmbeddingModel), f, err) }()
		if _, err = c.vectors.New(ctx, params, x.requestOptions()...); err != nil {
			return x.readFault(ctx)
		}
		out, f = readVectors(x.body, len(texts))
		return f
	})
	if failed != nil {
		c.restVectors(failed.err)
		return nil, failed.modelError(models.ChatRequest{})
	}
	return out, nil
}

// restVectors leaves a server alone for a while that has no embeddings, or not this
// model's; this is said once each time.
func (c *Client) restVectors(err models.ModelError) {
	if !slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, err.Status) {
		return
	}
	now := c.cfg.Now()
	if before := c.vectorsRest.Swap(now.Add(describeAgain).Unix()); before <= now.Unix() {
		c.cfg.Logger.Warn("the model server makes no embeddings: facts are found by words alone; COACH_EMBEDDING_URL names another server", "model", c.cfg.EmbeddingModel, "status", err.Status)
	}
}

func (c *Client) cannotEmbed(texts []string) string {
	switch {
	case c.cfg.EmbeddingModel == "":
		return "no embedding model is set"
	case c.cfg.Now().Unix() < c.vectorsRest.Load():
		return "the server makes no embeddings; it is asked again later"
	case len(texts) > maxTexts:
		return fmt.Sprintf("%d texts to embed, %d at most", len(texts), maxTexts)
	}
	if i := slices.Index(texts, ""); i >= 0 {
		return fmt.Sprintf("text %d to embed is empty", i)
	}
	return ""
}

// readVectors wants one vector for each text. Servers that leave the index out
// answer in the order of the texts.
func readVectors(body []byte, count int) ([][]float32, *fault) {
	var in struct {
		Data []struct {
			Index  *int      `json:"index"`
			Vector []float32 `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &in) != nil {
		return nil, unreadableFault(body)
	}
	if len(in.Data) == 0 {
		return nil, readNothing(body)
	}
	if len(in.Data) != count {
		return nil, malformedFault("not one vector for each text")
	}
	out := make([][]float32, count)
	for i, one := range in.Data {
		if one.Index != nil {
			i = *one.Index
		}
		if i < 0 || i >= count || out[i] != nil || len(one.Vector) == 0 || len(one.Vector) != len(in.Data[0].Vector) {
			return nil, malformedFault("the vectors do not fit the texts")
		}
		out[i] = one.Vector
	}
	return out, nil
}
