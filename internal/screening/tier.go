package screening

import (
	"fmt"

	"coachline/models"
)

// Tier is how sure and how grave a finding is.
type Tier uint8

const (
	// TierNone is no finding.
	TierNone Tier = iota
	// TierB is a weak sign: one sends the safety text, two within a day count
	// as TierA.
	TierB
	// TierA is an explicit statement, a method or means, a medical emergency,
	// violence or a child at risk.
	TierA

	tierWrongNumber
	tierUnclear
	tierStop
)

func (t Tier) isDanger() bool { return t == TierA || t == TierB }

func parseTier(name string) (Tier, error) {
	tier, ok := map[string]Tier{"A": TierA, "B": TierB, "stop": tierStop, "unclear": tierUnclear, "wrong-number": tierWrongNumber}[name]
	if !ok {
		return TierNone, fmt.Errorf("unknown tier %q", name)
	}
	return tier, nil
}

// kinds are the kinds of statements that rules name and the danger that each
// speaks of.
var kinds = map[string]models.Danger{
	"direct": models.DangerSelfHarm, "selfharm": models.DangerSelfHarm, "method": models.DangerSelfHarm,
	"passive": models.DangerSelfHarm, "past": models.DangerSelfHarm, "farewell": models.DangerSelfHarm,
	"voices": models.DangerSelfHarm, "thirdperson": models.DangerSelfHarm, "emoji": models.DangerSelfHarm,
	"violence": models.DangerHarm, "child": models.DangerHarm, "harmothers": models.DangerHarm,
	"emergency": models.DangerEmergency,
}
