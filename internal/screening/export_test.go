package screening

import "maps"

// MoveThresholds has the classifier of alerts ask for scores that are higher by a step,
// until the function that it returns is called.
func MoveThresholds(step float32) (restore func()) {
	m := model()
	before := maps.Clone(m.Thresholds)
	for language, thresholds := range m.Thresholds {
		thresholds.TierB += step
		thresholds.TierA += step
		m.Thresholds[language] = thresholds
	}
	return func() { m.Thresholds = before }
}
