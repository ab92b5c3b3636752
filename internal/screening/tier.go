package screening

import (
	"fmt"

	"coachline/models"
)

// tier is what a rule is for: the tier of a danger, or how clear a request is.
// Of those of a kind, the later one counts.
type tier uint8

const (
	tierNone tier = iota
	tierB
	tierA

	tierUnclear
	tierWrongNumber
	tierStop
	// tierAmbiguous is asked about though another rule finds a request in it: the
	// words are all of the text and do not say what shall end.
	tierAmbiguous
	// tierOrdinary is no request. Its words are all of a text that only a score
	// would take for one ("list my reminders please").
	tierOrdinary
)

func (t tier) isDanger() bool { return t == tierA || t == tierB }

func parseTier(name string) (tier, error) {
	t, ok := map[string]tier{"A": tierA, "B": tierB, "stop": tierStop, "unclear": tierUnclear, "wrong-number": tierWrongNumber, "ambiguous": tierAmbiguous, "ordinary": tierOrdinary}[name]
	if !ok {
		return tierNone, fmt.Errorf("unknown tier %q", name)
	}
	return t, nil
}

var dangerTiers = map[tier]models.DangerTier{tierA: models.TierA, tierB: models.TierB}

// kinds are the kinds of statements that rules name and the danger that each
// speaks of.
var kinds = map[string]models.Danger{
	"direct": models.DangerSelfHarm, "selfharm": models.DangerSelfHarm, "method": models.DangerSelfHarm,
	"passive": models.DangerSelfHarm, "past": models.DangerSelfHarm, "farewell": models.DangerSelfHarm,
	"voices": models.DangerSelfHarm, "thirdperson": models.DangerSelfHarm, "emoji": models.DangerSelfHarm,
	"violence": models.DangerHarm, "child": models.DangerHarm, "harmothers": models.DangerHarm,
	"emergency": models.DangerEmergency,
}
