package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"coachline/internal/segments"
	"coachline/models"
	"coachline/models/wire"
)

// post is what is counted of the texts that go out.
type post struct {
	calls      *prometheus.HistogramVec
	sends      *prometheus.CounterVec
	segments   prometheus.Counter
	reconciled *prometheus.CounterVec
	runs       *prometheus.CounterVec
}

func newPost(factory promauto.Factory) post {
	return post{
		calls: histogram(factory, "carrier_call_duration_seconds", histogramSpec{
			"Duration of calls of the carrier by call and outcome: ok, missing, canceled, or the class of the failure.",
			[]float64{.05, .1, .25, .5, 1, 2, 5, 10, 15, 30},
		}, "call", "outcome"),
		sends: counter(factory, "sends_total",
			"Attempts to send a text, by its kind, where the text stood afterwards and what stood in the way.", "kind", "status", "class"),
		segments: factory.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "segments_total", Help: "Segments of the texts that the carrier took.",
		}),
		reconciled: counter(factory, "reconciled_texts_total",
			"Texts without a final status that the carrier was asked about, by whether it settled them.", "result"),
		runs: counter(factory, "reconcile_runs_total", "Finished reconciliations by outcome.", "outcome"),
	}
}

// poster sends texts and counts the results; its errors are
// *models.CarrierError, or that of BeforeWrite.
type poster interface {
	Send(ctx context.Context, sms models.SMS) (models.Receipt, error)
	Find(ctx context.Context, sms models.SMS, age time.Duration) (models.Lookup, error)
	Fetch(ctx context.Context, providerSID string) (models.StatusCallback, error)
}

// Carrier wraps a carrier and measures every call of it.
type Carrier struct {
	next    poster
	metrics *Metrics
}

// Carrier wraps next.
func (m *Metrics) Carrier(next poster) Carrier { return Carrier{next: next, metrics: m} }

// Send sends a text and passes answer and error on as they are. The class of a
// failure is noted in the exchange that ctx belongs to.
func (c Carrier) Send(ctx context.Context, sms models.SMS) (models.Receipt, error) {
	began := time.Now()
	receipt, err := c.next.Send(ctx, sms)
	outcome := carrierOutcome(ctx, err)
	c.observe("send", outcome, began)
	if err != nil {
		Of(ctx).class = outcome
		return receipt, err
	}
	c.metrics.post.segments.Add(float64(segments.Count(sms.Body).Segments))
	return receipt, nil
}

// Find looks a text up; outcome missing is an answer, not a failure.
func (c Carrier) Find(ctx context.Context, sms models.SMS, age time.Duration) (models.Lookup, error) {
	began := time.Now()
	list, err := c.next.Find(ctx, sms, age)
	outcome := carrierOutcome(ctx, err)
	if err == nil && len(list.Matches) == 0 {
		outcome = "missing"
	}
	c.observe("find", outcome, began)
	return list, err
}

// Fetch asks how a text stands.
func (c Carrier) Fetch(ctx context.Context, providerSID string) (models.StatusCallback, error) {
	began := time.Now()
	report, err := c.next.Fetch(ctx, providerSID)
	c.observe("fetch", carrierOutcome(ctx, err), began)
	return report, err
}

func (c Carrier) observe(call, outcome string, began time.Time) {
	c.metrics.post.calls.WithLabelValues(call, outcome).Observe(time.Since(began).Seconds())
}

func carrierOutcome(ctx context.Context, err error) string {
	var failed *models.CarrierError
	switch {
	case err == nil:
		return outcomeOK
	case errors.As(err, &failed):
		return label(failed.Class)
	case errors.Is(ctx.Err(), context.Canceled):
		return outcomeCanceled
	}
	return outcomeError
}

// Reconciled counts a reconciliation; nothing of a failed one, which is tried
// again from its beginning.
func (m *Metrics) Reconciled(sum wire.ReconcileResult, err error) {
	if m == nil {
		return
	}
	if err != nil {
		m.post.runs.WithLabelValues(outcomeError).Inc()
		return
	}
	m.post.runs.WithLabelValues(outcomeOK).Inc()
	m.post.reconciled.WithLabelValues("settled").Add(float64(sum.Settled))
	m.post.reconciled.WithLabelValues("open").Add(float64(sum.Checked - sum.Settled))
}
