// Package screening recognises, before any model reads a message, what must not
// be left to one: a person who opts out, comes back or asks for help, and a
// person who may be in danger, of their own hand, of another person's or of a
// medical emergency. It is pure: the same message gives the same result. The
// rules for consent follow 47 CFR 64.1200(a)(10), the carrier's defaults and
// what people write instead. There are rules for the languages of Languages,
// and every message is read by all of them, because people do not keep to the
// language of their locale.
package screening

import "coachline/models"

// Message is what is screened: the text of a message, typed or transcribed.
type Message struct {
	Body string
	// OptOutType is what the carrier found itself: STOP, START, HELP or empty.
	OptOutType string
}

// Result is what was found in a message. The zero value is an ordinary message
// that the classifier gave a score of 0.
type Result struct {
	// Intent is what the message asks of the programme itself, Method how that
	// was recognised. Both are empty, or neither is.
	Intent models.Intent
	Method models.ConsentMethod
	// Danger is what the message may speak of, and Tier how grave that is. Rule
	// is the rule that found it, and Kind the kind of statement.
	Danger models.Danger
	Tier   models.DangerTier
	Rule   string
	Kind   string
	// Score is what the classifier gave the message, for reading alone.
	Score float64
}

// Screen reads a message. It never fails. Rules alone find something: a score
// raises, ends and pauses nothing.
//
// Who asks to end the messages in words that may be a crisis ("I want to end it all")
// is asked what they mean, beside the safety text, and a person looks after them.
// Other requests in such words are not acted on. What the carrier has ended is ended.
func Screen(m Message) Result {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	findings := s.scanBody(m.Body)
	var found Result
	found.Intent, found.Method = s.screenConsent(splitWords(m.Body), findings, m.OptOutType)
	d := gravestDanger(findings)
	found.Danger, found.Tier, found.Rule, found.Kind = d.danger, dangerTiers[d.tier], d.rule, d.kind
	found.Score = float64(model().Alert.BestWindow(&s.features).Score)
	switch {
	case found.Danger == models.DangerNone:
	case found.Intent == models.IntentStop:
		found.Tier = models.TierA
		if found.Method != models.MethodCarrier {
			found.Intent, found.Method = models.IntentUnclear, models.MethodPhrase
		}
	case found.Intent == models.IntentUnclear, found.Intent == models.IntentWrongNumber:
		found.Intent, found.Method = models.IntentNone, ""
	}
	return found
}
