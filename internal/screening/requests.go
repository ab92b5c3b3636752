package screening

import (
	"math"

	"coachline/models"
)

// MinRequest is the least number of words of a request to end that only its score
// finds: two words are one word and what stands beside it ("don't stop").
const MinRequest = 3

// scoreRequest says which request the classifiers find in a text of more than one
// word. It is asked where keywords and rules found none, and finds none where an
// exception of a rule spoke against it ("stop texting me at night").
func (s *scanner) scoreRequest() (models.Intent, models.ConsentMethod) {
	if s.features.Len() < 2 || s.isLimited {
		return models.IntentNone, ""
	}
	m, thresholds := model(), s.thresholds()
	stop := m.Stop.Best(&s.features).Score
	if s.features.Len() < MinRequest {
		stop = float32(math.Inf(-1))
	}
	switch {
	case stop >= thresholds.Stop:
		return models.IntentStop, models.MethodPhrase
	case m.WrongNumber.Best(&s.features).Score >= thresholds.WrongNumber:
		return models.IntentWrongNumber, models.MethodPhrase
	case stop >= thresholds.Unclear:
		return models.IntentUnclear, models.MethodPhrase
	}
	return models.IntentNone, ""
}

// IsLimited reports whether an exception of a rule speaks against a request in a
// text, so that its score counts for nothing.
func IsLimited(body string) bool {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	s.scan(body)
	return s.isLimited
}
