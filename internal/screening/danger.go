package screening

import (
	"sync"

	"coachline/models"
)

var scanners = sync.Pool{New: func() any { return &scanner{} }}

// dangerFound is the gravest of what rules and classifier found. The zero value is
// no danger.
type dangerFound struct {
	danger     models.Danger
	tier       tier
	rule, kind string
	score      float32
}

// gravestDanger takes the gravest finding: by tier, then the first of
// self-harm, harm by others and emergency.
func (s *scanner) gravestDanger(findings []finding) dangerFound {
	var best dangerFound
	for _, f := range findings {
		d := dangerFound{danger: kinds[f.rule.kind], tier: f.rule.tier, rule: f.rule.id, kind: f.rule.kind}
		if f.rule.tier.isDanger() && d.isBefore(best) {
			best = d
		}
	}
	return s.addClassified(best)
}

// RuleScore stands for a rule where the classifier alone found something.
const RuleScore = "score"

// addClassified adds what the classifier finds to what the rules found.
func (s *scanner) addClassified(found dangerFound) dangerFound {
	m := model()
	best, window := m.Alert.Best(&s.features), m.Alert.BestWindow(&s.features)
	found.score = best.Score
	thresholds := s.languageThresholds()
	graver := tierNone
	if len(s.tokens.spans) > 0 {
		graver = thresholds.tierOf(best.Score, window.Score)
	}
	if best.Score < thresholds.TierB {
		best = window
	}
	if graver <= found.tier {
		return found
	}
	found.tier = graver
	if found.danger == models.DangerNone {
		found.danger, found.rule, found.kind = m.Danger(&s.features, best), RuleScore, RuleScore
	}
	return found
}

// languageThresholds returns the thresholds of the likeliest language.
func (s *scanner) languageThresholds() Thresholds {
	return model().Thresholds[languages[s.likeliestLanguage()]]
}

// likeliestLanguage finds the language that knows most words of the text.
func (s *scanner) likeliestLanguage() int {
	best := 0
	last := len(s.tokens.spans)
	for i := range s.versions {
		if s.versions[i].known[last] > s.versions[best].known[last] {
			best = i
		}
	}
	return best
}

func (d dangerFound) isBefore(other dangerFound) bool {
	if d.tier != other.tier {
		return d.tier > other.tier
	}
	if d.danger != other.danger {
		return rank[d.danger] < rank[other.danger]
	}
	return d.rule < other.rule
}

var rank = map[models.Danger]int{models.DangerSelfHarm: 0, models.DangerHarm: 1, models.DangerEmergency: 2, models.DangerNone: 3}
