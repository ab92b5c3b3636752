package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

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
