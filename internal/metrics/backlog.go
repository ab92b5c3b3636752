package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"coachline/models"
)

// Backlog reads what waits; package store does.
type Backlog struct {
	// Notices lists what has been committed and not yet told to Temporal, oldest first.
	Notices func(ctx context.Context, createdBefore time.Time, limit int) ([]models.Notice, error)
	// SenderHolds lists what holds the senders.
	SenderHolds func(ctx context.Context) ([]models.SenderHold, error)
	// Attention counts what operators should look at, of each kind.
	Attention func(ctx context.Context) ([]models.AttentionCount, error)
	// Workers returns why no worker takes tasks; nil where one does.
	Workers func(ctx context.Context) error
}

const (
	// backlogLimit keeps a scrape cheap in a long outage; the gauge stops there.
	backlogLimit = 10_000
	scrapeLimit  = 2 * time.Second
)

// Handler answers scrapes with everything that the process counts.
func (m *Metrics) Handler() http.Handler { return m.handler(m.registry) }

// HandlerWith answers scrapes as Handler does, and with how many notices wait
// and for how long, and whether the sender is stopped. They are read at each
// scrape; when the database does not answer within 2 s these are left out and
// the rest is shown.
func (m *Metrics) HandlerWith(waiting Backlog) http.Handler {
	own := prometheus.NewRegistry()
	own.MustRegister(backlog{waiting: waiting})
	return m.handler(prometheus.Gatherers{m.registry, own})
}

func (m *Metrics) handler(from prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(from, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(m.logger.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	})
}

// backlog reads the notices when it is asked.
type backlog struct{ waiting Backlog }

var (
	noticesWaiting = prometheus.NewDesc(namespace+"_notices_waiting",
		"Notices that were committed and not yet told to a workflow, counted up to 10000.", nil, nil)
	noticesOldest = prometheus.NewDesc(namespace+"_notices_oldest_seconds",
		"Age of the oldest notice that waits; 0 when none does.", nil, nil)
	workersReady = prometheus.NewDesc(namespace+"_workers_ready",
		"1 while a worker of the build that gets the tasks runs, as the starter sees it.", nil, nil)
	attentionOpen = prometheus.NewDesc(namespace+"_attention_open",
		"Participants whom an operator should look at, by why, until the operator clears it.", []string{"kind"}, nil)
	attentionRaised = prometheus.NewDesc(namespace+"_attention_raised_total",
		"How often attention was raised, by why, in the whole installation.", []string{"kind"}, nil)
	senderHolds = prometheus.NewDesc(namespace+"_sender_brakes",
		"1 while the carrier stops the sender, by the class of its refusal.", []string{"class"}, nil)
)

// Describe names the gauges.
func (b backlog) Describe(to chan<- *prometheus.Desc) {
	to <- noticesWaiting
	to <- noticesOldest
	to <- workersReady
	to <- senderHolds
	to <- attentionOpen
	to <- attentionRaised
}

// Collect reads the database once for each kind of gauge.
func (b backlog) Collect(to chan<- prometheus.Metric) {
	// The library does not pass on the context of the scrape.
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	b.holds(ctx, to)
	b.attention(ctx, to)
	b.notices(ctx, to)
	// Last: where Temporal is away it takes what is left of the time.
	ready := 1.0
	if b.waiting.Workers(ctx) != nil {
		ready = 0
	}
	to <- prometheus.MustNewConstMetric(workersReady, prometheus.GaugeValue, ready)
}

func (b backlog) notices(ctx context.Context, to chan<- prometheus.Metric) {
	now := time.Now()
	rows, err := b.waiting.Notices(ctx, now, backlogLimit)
	if err != nil {
		to <- prometheus.NewInvalidMetric(noticesWaiting, err)
		return
	}
	var age time.Duration
	for _, row := range rows {
		age = max(age, now.Sub(row.CreatedAt))
	}
	to <- prometheus.MustNewConstMetric(noticesWaiting, prometheus.GaugeValue, float64(len(rows)))
	to <- prometheus.MustNewConstMetric(noticesOldest, prometheus.GaugeValue, age.Seconds())
}

func (b backlog) attention(ctx context.Context, to chan<- prometheus.Metric) {
	counts, err := b.waiting.Attention(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(attentionOpen, err)
		return
	}
	for _, count := range counts {
		to <- prometheus.MustNewConstMetric(attentionOpen, prometheus.GaugeValue, float64(count.Open), string(count.Kind))
		to <- prometheus.MustNewConstMetric(attentionRaised, prometheus.CounterValue, float64(count.Raised), string(count.Kind))
	}
}

func (b backlog) holds(ctx context.Context, to chan<- prometheus.Metric) {
	held, err := b.waiting.SenderHolds(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(senderHolds, err)
		return
	}
	for _, class := range models.HoldingClasses() {
		var value float64
		for _, one := range held {
			if one.Class == class {
				value++
			}
		}
		to <- prometheus.MustNewConstMetric(senderHolds, prometheus.GaugeValue, value, string(class))
	}
}
