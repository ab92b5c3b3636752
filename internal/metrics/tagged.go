package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"go.temporal.io/sdk/client"
)

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
