package metrics

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/stretchr/testify/require"

	"coachline/internal/goldens"
	"coachline/models"
)

// recorder keeps the collectors that are registered.
type recorder struct {
	prometheus.Registerer
	collectors []prometheus.Collector
}

// MustRegister is what promauto calls.
func (r *recorder) MustRegister(collectors ...prometheus.Collector) {
	r.collectors = append(r.collectors, collectors...)
}

// kindOf tells counters, gauges and histograms apart.
func kindOf(c prometheus.Collector) string {
	switch c.(type) {
	case *prometheus.CounterVec:
		return "counter"
	case *prometheus.HistogramVec:
		return "histogram"
	case *prometheus.GaugeVec:
		return "gauge"
	}
	of := reflect.TypeOf(c)
	for _, method := range []struct{ name, kind string }{{"Observe", "histogram"}, {"Set", "gauge"}, {"Inc", "counter"}} {
		if _, has := of.MethodByName(method.name); has {
			return method.kind
		}
	}
	return ""
}

// described is the text of a prometheus.Desc, which has no getters.
var described = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// TestMetricNames holds the name, kind and labels of every metric of ours.
func TestMetricNames(t *testing.T) {
	recorded := &recorder{}
	_ = newOwn(promauto.With(recorded))
	var lines []string
	add := func(c prometheus.Collector, kind string) {
		found := make(chan *prometheus.Desc, 100)
		c.Describe(found)
		close(found)
		for desc := range found {
			match := described.FindStringSubmatch(desc.String())
			require.NotNil(t, match, desc)
			of := kind
			if of == "" { // of a collector that reads its values
				of = "gauge"
				if strings.HasSuffix(match[1], "_total") {
					of = "counter"
				}
			}
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", match[1], of, match[2])))
		}
	}
	for _, c := range recorded.collectors {
		kind := kindOf(c)
		require.NotEmpty(t, kind, "%T", c)
		add(c, kind)
	}
	add(backlog{}, "")
	for _, name := range []string{models.MetricDrained, models.MetricUnhandled} { // workflows count them through the SDK
		lines = append(lines, name+"_total counter")
	}
	slices.Sort(lines)
	require.Greater(t, len(lines), 25)
	text := strings.Join(lines, "\n") + "\n"
	const file = "testdata/names.golden"
	if goldens.ShouldRecord() {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}
