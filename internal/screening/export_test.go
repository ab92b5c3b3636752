package screening

import "maps"

// MoveThresholds has the classifier ask for scores that are higher by a step,
// until the function that it returns is called.
func MoveThresholds(step float32) (restore func()) {
	m := model()
	before := maps.Clone(m.Thresholds)
	for language, thresholds := range m.Thresholds {
		m.Thresholds[language] = [2]float32{thresholds[0] + step, thresholds[1] + step}
	}
	return func() { m.Thresholds = before }
}
