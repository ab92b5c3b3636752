package screening

import "coachline/models"

// MinRequest is the least number of words of a request that only its score finds:
// two words are one word and what stands beside it ("don't stop", "hello there").
const MinRequest = 3

// scoreRequest says which request the classifiers find in a text. It is asked where
// keywords and rules found none, and finds none where an exception of a rule spoke
// against it ("stop texting me at night") or all of the text is known for none.
func (s *scanner) scoreRequest() (models.Intent, models.ConsentMethod) {
	if s.features.Len() < MinRequest || s.isLimited {
		return models.IntentNone, ""
	}
	m, thresholds := model(), s.languageThresholds()
	stop := m.Stop.Best(&s.features).Score
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

// IsLimited reports whether a rule or an exception speaks against a request in a
// text, so that its score counts for nothing.
func IsLimited(body string) bool {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	s.scanBody(body)
	return s.isLimited
}
