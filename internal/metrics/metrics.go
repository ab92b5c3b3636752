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
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

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

// studies counts the settings of studies that cannot be used.
type studies struct {
	faults prometheus.Gauge
	mu     *sync.Mutex
	known  map[string]int
}

func newStudies(factory promauto.Factory) studies {
	return studies{
		faults: factory.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "study_setting_faults",
			Help: "Settings of studies that cannot be used; the installation's are in force instead.",
		}),
		mu: &sync.Mutex{}, known: map[string]int{},
	}
}

// StudyFaults notes how many settings of a study cannot be used, in the place of
// what was noted of it before.
func (m *Metrics) StudyFaults(studyID string, faults int) {
	if m == nil {
		return
	}
	m.studies.mu.Lock()
	defer m.studies.mu.Unlock()
	m.studies.known[studyID] = faults
	sum := 0
	for _, count := range m.studies.known {
		sum += count
	}
	m.studies.faults.Set(float64(sum))
}

// webhooks is what is counted of the events that go to receivers outside.
type webhooks struct {
	tries   *prometheus.CounterVec
	failing prometheus.Gauge
}

func newWebhooks(factory promauto.Factory) webhooks {
	return webhooks{
		tries: counter(factory, "webhook_deliveries_total", "Tries to deliver an event to a webhook by outcome: delivered, failed or gone.", "outcome"),
		failing: factory.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "webhooks_failing", Help: "Active webhooks that take no events.",
		}),
	}
}

// WebhookTried counts a try to deliver an event.
func (m *Metrics) WebhookTried(outcome string) {
	if m != nil {
		m.webhooks.tries.WithLabelValues(outcome).Inc()
	}
}

// WebhooksFailing notes how many active webhooks take no events.
func (m *Metrics) WebhooksFailing(n int) {
	if m != nil {
		m.webhooks.failing.Set(float64(n))
	}
}

// cachedHandler keeps what it was asked for by labels and names: the SDK asks anew for
// each figure of each task, and OpenTelemetry sorts and hashes the labels every
// time. There are as many as the exporter has time series, which it keeps too.
type cachedHandler struct {
	below client.MetricsHandler
	known *sync.Map // of part to what below answered
}

// part is one thing that was asked for.
type part struct {
	kind byte
	name string
}

func newTagged(below client.MetricsHandler) client.MetricsHandler {
	return cachedHandler{below: below, known: &sync.Map{}}
}

// WithTags implements client.MetricsHandler, as do the others.
func (t cachedHandler) WithTags(tags map[string]string) client.MetricsHandler {
	var name strings.Builder
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		name.WriteString(key + "\x00" + tags[key] + "\x00")
	}
	return once(t, part{'l', name.String()}, func() client.MetricsHandler { return newTagged(t.below.WithTags(tags)) })
}

func (t cachedHandler) Counter(name string) client.MetricsCounter {
	return once(t, part{'c', name}, func() client.MetricsCounter { return t.below.Counter(name) })
}

func (t cachedHandler) Gauge(name string) client.MetricsGauge {
	return once(t, part{'g', name}, func() client.MetricsGauge { return t.below.Gauge(name) })
}

func (t cachedHandler) Timer(name string) client.MetricsTimer {
	return once(t, part{'t', name}, func() client.MetricsTimer { return t.below.Timer(name) })
}

func once[T any](t cachedHandler, p part, ask func() T) T {
	if kept, ok := t.known.Load(p); ok {
		return kept.(T)
	}
	kept, _ := t.known.LoadOrStore(p, ask())
	return kept.(T)
}
