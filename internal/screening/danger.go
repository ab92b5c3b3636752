package screening

import (
	"sync"

	"coachline/models"
)

var scanners = sync.Pool{New: func() any { return &scanner{} }}

// Danger is what the rules and the classifier found.
type dangerFound struct {
	Danger models.Danger
	Tier   Tier
	Rule   string
	Score  float32
}

func (s *scanner) danger(findings []finding) dangerFound {
	var best dangerFound
	for _, f := range findings {
		if !f.rule.tier.isDanger() {
			continue
		}
		d := dangerFound{Danger: kinds[f.rule.kind], Tier: f.rule.tier, Rule: f.rule.id}
		if d.isBefore(best) {
			best = d
		}
	}
	return s.classify(best)
}

// classify adds what the classifier finds to what the rules found.
func (s *scanner) classify(found dangerFound) dangerFound {
	m := model()
	s.features.read(&s.tokens)
	best := m.Best(&s.features)
	found.Score = best.Score
	threshold := m.Thresholds[languages[s.likeliest()]]
	tier := TierNone
	switch {
	case len(s.tokens.spans) == 0:
	case best.Score >= threshold[1]:
		tier = TierA
	case best.Score >= threshold[0]:
		tier = TierB
	}
	if tier <= found.Tier {
		return found
	}
	if found.Danger == models.DangerNone {
		found.Danger = m.Danger(&s.features, best)
	}
	found.Tier = tier
	if found.Rule == "" {
		found.Rule = RuleScore
	}
	return found
}

// RuleScore stands for a rule where the classifier alone found something.
const RuleScore = "score"

// likeliest is the language that knows most words of the text.
func (s *scanner) likeliest() int {
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
	if d.Tier != other.Tier {
		return d.Tier > other.Tier
	}
	if d.Danger != other.Danger {
		return rank[d.Danger] < rank[other.Danger]
	}
	return d.Rule < other.Rule
}

var rank = map[models.Danger]int{models.DangerSelfHarm: 0, models.DangerHarm: 1, models.DangerEmergency: 2, models.DangerNone: 3}
