package screening

import (
	"sync"

	"coachline/models"
)

var scanners = sync.Pool{New: func() any { return &scanner{} }}

// dangerFound is the gravest of what rules found. The zero value is no danger.
type dangerFound struct {
	danger     models.Danger
	tier       tier
	rule, kind string
	from, to   int
}

// gravestDanger takes the gravest finding: by tier, then the first of
// self-harm, harm by others and emergency.
func gravestDanger(findings []finding) dangerFound {
	var best dangerFound
	for _, f := range findings {
		d := dangerFound{danger: kinds[f.rule.kind], tier: f.tier, rule: f.rule.id, kind: f.rule.kind, from: f.from, to: f.to}
		if f.tier.isDanger() && d.isBefore(best) {
			best = d
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
