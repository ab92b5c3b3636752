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
	best := m.Alert.BestWindow(&s.features)
	found.score = best.Score
	thresholds := s.languageThresholds()
	graver := tierNone
	if len(s.tokens.spans) > 0 {
		graver = thresholds.tierOf(best.Score)
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

// languageThresholds returns the thresholds of the language that knows most words of
// the text, of several such the highest: with more words around it, a text may turn
// out to be in a language of lower ones and never in one of higher ones.
func (s *scanner) languageThresholds() Thresholds {
	last := len(s.tokens.spans)
	var most int32
	for i := range s.versions {
		most = max(most, s.versions[i].known[last])
	}
	var highest Thresholds
	isFirst := true
	for i := range s.versions {
		if s.versions[i].known[last] < most {
			continue
		}
		of := model().Thresholds[languages[i]]
		if isFirst {
			highest, isFirst = of, false
			continue
		}
		highest.raiseTo(of)
	}
	return highest
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
