// Package metrics counts what the roles do and shows it, with the Temporal
// SDK's own figures, in the Prometheus text format. It wraps what the roles call
// (model, carrier) and offers them what to tell where only they know it.
//
// No label holds personal data or an id: a label is one
// of a few words that the program itself chose.
package metrics

import (
	"fmt"
	"log/slog"
	"regexp"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.temporal.io/sdk/client"
)

const namespace = "coachline"

// Config is what Metrics are made of.
type Config struct {
	// Logger hears of scrapes that could not be answered in full;
	// slog.Default() when nil.
	Logger *slog.Logger
}

// Metrics is one registry and everything in it. A process has one, regardless
// of the number of roles it has: two of them would each show a part. It is safe
// for concurrent use. What activities count into a nil one is not counted.
type Metrics struct {
	registry *prometheus.Registry
	logger   *slog.Logger
	temporal client.MetricsHandler
	front    starterMetrics
	turn     turn
	talk     modelMetrics
	post     post
	studies  studies
	webhooks webhooks
}

// New builds the registry with Coachline's metrics, the Temporal SDK's and those
// of the Go runtime and the process. It fails only when the exporter of the
// SDK's metrics cannot be built.
func New(cfg Config) (*Metrics, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	handler, err := newTemporal(registry, cfg.Logger)
	if err != nil {
		return nil, fmt.Errorf("building the exporter of Temporal's metrics: %w", err)
	}
	m := newOwn(promauto.With(registry))
	m.registry, m.logger, m.temporal = registry, cfg.Logger, handler
	return m, nil
}

// newOwn registers the metrics that this package counts.
func newOwn(factory promauto.Factory) *Metrics {
	return &Metrics{
		front: newFront(factory), turn: newTurn(factory), talk: newTalk(factory), post: newPost(factory), studies: newStudies(factory), webhooks: newWebhooks(factory),
	}
}

// Temporal is what a Temporal client or worker reports its own metrics to, and
// what workflow code reaches through workflow.GetMetricsHandler. All of it shows
// up in the same registry.
func (m *Metrics) Temporal() client.MetricsHandler { return m.temporal }

// word is what a label may look like.
var word = regexp.MustCompile(`^[a-z][a-z_]{0,30}$`)

// label is the last guard before a value that another part chose becomes a
// label: what is not one short word is "other". Empty stays empty.
func label[T ~string](value T) string {
	if value == "" || word.MatchString(string(value)) {
		return string(value)
	}
	return "other"
}

func counter(factory promauto.Factory, name, help string, labels ...string) *prometheus.CounterVec {
	return factory.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

// histogramSpec is the help of a histogram and its upper bounds.
type histogramSpec struct {
	help    string
	buckets []float64
}

func histogram(factory promauto.Factory, name string, s histogramSpec, labels ...string) *prometheus.HistogramVec {
	return factory.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: s.help, Buckets: s.buckets}, labels)
}
