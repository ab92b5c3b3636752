package llm

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/tools"
	"coachline/models"
	"coachline/models/wire"
)

// roundTrip answers a request without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// BenchmarkComplete is one call with the tools of a plain turn, from our
// request to our answer; the server costs nothing.
func BenchmarkComplete(b *testing.B) {
	body := []byte(`{"model":"m1","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Nice, two minutes is a fine start."}}],
		"usage":{"prompt_tokens":4000,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":3500}}}`)
	c, err := New(Config{
		BaseURL: "http://model.example/v1", Keys: []string{key},
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			_, err := io.Copy(io.Discard, r.Body)
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(bytes.NewReader(body)), Request: r,
			}, err
		})},
	})
	require.NoError(b, err)
	req := plainRequest(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Complete(context.Background(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuild is what of that is ours: our request as JSON.
func BenchmarkBuild(b *testing.B) {
	req, builder := plainRequest(b), newBuilder()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builder.encodeRequest(req, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func plainRequest(b *testing.B) models.ChatRequest {
	registry, err := tools.New()
	require.NoError(b, err)
	specs := registry.For(wire.ModeIntake)
	req := models.ChatRequest{Model: "m1", Tools: append(specs, registry.Controls(len(specs))...)}
	req.Messages = append(req.Messages, models.ChatMessage{Role: "system", Content: strings.Repeat("# Persona\nYou are a coach, and \"kind\".\n", 200)})
	for range 15 {
		req.Messages = append(req.Messages,
			models.ChatMessage{Role: "user", Content: "I walked for two minutes before lunch and it was fine"},
			models.ChatMessage{Role: "assistant", Content: "That makes three walks since you began. What made it easy today?"})
	}
	return req
}
