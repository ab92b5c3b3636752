package models

import (
	"slices"
	"strings"
	"time"
)

// AdviceKind is what a coach must not advise on, or must not say.
type AdviceKind string

const (
	AdviceSymptoms   AdviceKind = "symptoms"
	AdviceMedicine   AdviceKind = "medicine"
	AdviceWeight     AdviceKind = "weight"
	AdviceInjury     AdviceKind = "injury"
	AdvicePregnancy  AdviceKind = "pregnancy"
	AdviceMood       AdviceKind = "mood"
	AdviceSelfWorth  AdviceKind = "self_worth"
	AdviceSubstances AdviceKind = "substances"
	AdviceLaw        AdviceKind = "law_money"
	AdviceSexual     AdviceKind = "sexual"
	AdviceDependence AdviceKind = "dependence"
	AdviceMinors     AdviceKind = "minors"
	AdviceOther      AdviceKind = "other"
)

// AdviceKinds lists every kind.
func AdviceKinds() []AdviceKind {
	return []AdviceKind{
		AdviceSymptoms, AdviceMedicine, AdviceWeight, AdviceInjury, AdvicePregnancy, AdviceMood, AdviceSelfWorth,
		AdviceSubstances, AdviceLaw, AdviceSexual, AdviceDependence, AdviceMinors, AdviceOther,
	}
}

// AdviceCheck says which drafts of the model get a look before they are sent.
type AdviceCheck string

const (
	// AdviceAuto: those that rules and a score choose.
	AdviceAuto AdviceCheck = "auto"
	// AdviceAll: every draft. AdviceNone: none.
	AdviceAll  AdviceCheck = "on"
	AdviceNone AdviceCheck = "off"
)

// AdviceVerdict is what the look at a draft found.
type AdviceVerdict string

const (
	AdviceFine    AdviceVerdict = "fine"
	AdviceRewrite AdviceVerdict = "rewrite"
	AdviceRefuse  AdviceVerdict = "refuse"
	// AdviceFailed: there was no answer in time, or one that cannot be read or sent.
	AdviceFailed AdviceVerdict = "failed"
)

// judged begins the decision of a stage that holds a verdict on a draft.
const judged = "judged"

// DescribeAdvice is the decision of a stage with a verdict, such as "judged rewrite
// symptoms".
func DescribeAdvice(verdict AdviceVerdict, kind AdviceKind) string {
	return strings.TrimSpace(judged + " " + string(verdict) + " " + string(kind))
}

// Advice reads the verdict on a draft out of a stage; ok is false for any other stage.
func (s Stage) Advice() (verdict AdviceVerdict, kind AdviceKind, ok bool) {
	words := strings.Fields(s.Decision)
	if s.Name != StageAdvice || len(words) < 2 || words[0] != judged {
		return "", "", false
	}
	verdict = AdviceVerdict(words[1])
	if len(words) > 2 {
		kind = AdviceKind(words[2])
	}
	return verdict, kind, slices.Contains([]AdviceVerdict{AdviceFine, AdviceRewrite, AdviceRefuse, AdviceFailed}, verdict)
}

const (
	// AdviceSpan is the time that counts, AdviceLeast how many replies there must be, and
	// AdviceMost the share of changed ones in per cent above which people are told.
	AdviceSpan  = 7 * 24 * time.Hour
	AdviceLeast = 40
	AdviceMost  = 5
)
