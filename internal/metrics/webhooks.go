package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

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
