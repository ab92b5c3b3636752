package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"coachline/models"
)

type modelMetrics struct {
	calls  *prometheus.HistogramVec
	tokens *prometheus.CounterVec
}

func newTalk(factory promauto.Factory) modelMetrics {
	return modelMetrics{
		calls: histogram(factory, "model_call_duration_seconds", histogramSpec{
			"Duration of model calls by outcome: ok, canceled, or the class of the failure.",
			[]float64{.1, .25, .5, 1, 2, 4, 8, 15, 30, 60, 90},
		}, "outcome"),
		tokens: counter(factory, "model_tokens_total",
			"Tokens that the model reported; cached is the part of prompt that the provider had.", "type"),
	}
}

const (
	outcomeOK       = "ok"
	outcomeCanceled = "canceled"
	outcomeError    = "error"
)

// completer is a chat model; its errors are *models.ModelError.
type completer interface {
	Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error)
}

// Model wraps a chat model and measures every call of it.
type Model struct {
	next    completer
	metrics *Metrics
}

// Model wraps next.
func (m *Metrics) Model(next completer) Model { return Model{next: next, metrics: m} }

// Complete calls the model and passes its answer and its error on as they are.
func (c Model) Complete(ctx context.Context, req models.ChatRequest) (models.ChatResponse, error) {
	began := time.Now()
	answer, err := c.next.Complete(ctx, req)
	c.metrics.talk.calls.WithLabelValues(modelOutcome(ctx, err)).Observe(time.Since(began).Seconds())
	tokens := c.metrics.talk.tokens
	tokens.WithLabelValues("prompt").Add(float64(max(answer.Usage.Prompt, 0)))
	tokens.WithLabelValues("cached").Add(float64(max(answer.Usage.Cached, 0)))
	tokens.WithLabelValues("completion").Add(float64(max(answer.Usage.Completion, 0)))
	return answer, err
}

// modelOutcome: a call that was given up because its person left is no failure
// of the model.
func modelOutcome(ctx context.Context, err error) string {
	var failed *models.ModelError
	switch {
	case err == nil:
		return outcomeOK
	case errors.Is(ctx.Err(), context.Canceled):
		return outcomeCanceled
	case errors.As(err, &failed):
		return label(failed.Class)
	}
	return outcomeError
}
