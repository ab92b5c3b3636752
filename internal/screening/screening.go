// Package screening recognises, before any model reads a message, what must not
// be left to one: a person who opts out, comes back or asks for help, and a
// person who may be in danger, of their own hand, of another person's or of a
// medical emergency. It is pure: the same message gives the same result. The
// rules for consent follow 47 CFR 64.1200(a)(10), the carrier's defaults and
// what people write instead. There are rules for the languages of Languages,
// and every message is read by all of them, because people do not keep to the
// language of their locale.
package screening

import (
	"regexp"
	"time"

	"coachline/models"
)

// Message is what is screened: the text of a message, typed or transcribed.
type Message struct {
	Body string
	// OptOutType is what the carrier found itself: STOP, START, HELP or empty.
	OptOutType string
	// At is when it was sent: a year of birth says who is a minor then.
	At time.Time
}

// Result is what was found in a message. The zero value is an ordinary message
// that the classifier gave a score of 0.
type Result struct {
	// Intent is what the message asks of the programme itself, Method how that
	// was recognised. Both are empty, or neither is.
	Intent models.Intent
	Method models.ConsentMethod
	// IsOtherLanguage: the text is in a language that has no rules, so that what was found
	// says little.
	IsOtherLanguage bool
	// IsLikeAnswer: the request is a keyword that is also an answer to a question about
	// a step.
	IsLikeAnswer bool
	// Danger is what the message may speak of, and Tier how grave that is. Rule
	// is the rule that found it, and Kind the kind of statement.
	Danger models.Danger
	Tier   models.DangerTier
	Rule   string
	Kind   string
	// Words are those of the message that were recognised, as they were written.
	Words string
	// Score is what the classifier gave the message, also where it found nothing.
	Score float64
}

// RuleScore stands for a rule where the classifier alone found a weak sign.
const RuleScore = "score"

// RuleLanguage stands for a rule where a text is in a language that has none, and a model
// reads it in their place.
const RuleLanguage = "language"

// Screen reads a message. It never fails. Rules act; a score makes a weak sign, which a
// model reads once more before anything is done, or has the person asked whether they
// want no more messages. It ends and pauses nothing.
//
// Who asks to end the messages in words that may be a crisis ("I want to end it all")
// is asked what they mean, beside the safety text, and a person looks after them.
// Other requests in such words are not acted on. What the carrier has ended is ended.
func Screen(m Message) Result {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	findings := s.scanBody(m.Body)
	var found Result
	found.Intent, found.Method = s.screenConsent(m.Body, findings, m.OptOutType)
	found.IsLikeAnswer = found.Intent == models.IntentStop && found.Method != models.MethodCarrier && isLikeAnswer(splitWords(m.Body))
	d := gravestDanger(findings)
	found.Danger, found.Tier, found.Rule, found.Kind = d.danger, dangerTiers[d.tier], d.rule, d.kind
	if found.Danger != models.DangerNone {
		found.Words = quoteTokens(m.Body, d.from, d.to)
	}
	if found.Tier == models.TierA && isPlay(m.Body) {
		found.Tier = models.TierB
	}
	if found.Method == models.MethodPhrase && found.Intent != models.IntentWrongNumber && AsksForLess(m.Body) {
		found.Intent, found.Method = models.IntentNone, ""
	}
	s.addScore(&found, m.Body)
	if found.Danger == models.DangerNone && found.Intent == models.IntentNone && harmsTheBody(m.Body) {
		found.Danger, found.Tier, found.Rule, found.Kind = models.DangerSelfHarm, models.TierB, RuleBody, RuleBody
	}
	found.IsOtherLanguage = s.isOtherLanguage(m.Body)
	found.settleIntent(m)
	return found
}

// settleIntent decides what becomes of a request beside a danger, and without one looks
// for a request about data, or who says that they are a minor.
func (found *Result) settleIntent(m Message) {
	switch {
	case found.Intent == models.IntentNone && SaysMinor(m.Body, m.At):
		// Beside a danger too: the safety text goes out, and the coaching pauses.
		found.Intent, found.Method = models.IntentMinor, models.MethodPhrase
	case found.Danger == models.DangerNone:
		if asked := dataIntent(m.Body, *found); asked != models.IntentNone {
			found.Intent, found.Method = asked, models.MethodPhrase
		}
	case found.Intent == models.IntentStop:
		found.Tier = models.TierA
		if found.Method != models.MethodCarrier {
			found.Intent, found.Method = models.IntentUnclear, models.MethodPhrase
		}
	case found.Intent == models.IntentUnclear, found.Intent == models.IntentWrongNumber:
		found.Intent, found.Method = models.IntentNone, ""
	}
}

// brief is how many words a text has at most on which a rule of tier A acts at any score:
// "I want to die" says all.
const brief = 8

// fewLeeways are how far below the threshold the score of a text may lie in which a match of
// so many words pages: "was für ein Chip", "ich lebe noch". Texts of less than minFew words
// say too little to be scored: there a leeway counts that none of death, means or an emergency
// needs.
var fewLeeways = [...]float32{1: 1, 2: 1, 3: 2.5}

const (
	minFew      = 4
	shortLeeway = 1.5
)

// isBorneOut reports whether a match of so many words of a rule pages in a text of few words,
// whose score lies above the threshold, or below it.
func (of *rule) isBorneOut(matched, words int, above float32) bool {
	switch {
	case matched >= len(fewLeeways):
		return true
	case words >= minFew:
		return above >= -fewLeeways[matched]
	}
	return matched > 2 || of.kind == "direct" || of.kind == "method" || of.kind == "emergency" || of.kind == "emoji" || above >= -shortLeeway
}

// agreement is the least score of a longer text near the words of such a rule at which it
// may act at once: below it, or more than leeway below the threshold of so many words,
// they read like ordinary ones, and are a weak sign. In a text of veryLong words the
// threshold itself must be reached.
const (
	agreement = -1.0
	leeway    = 2
	veryLong  = 25
)

// long is how many words a text has at least in which rules meet their words by chance:
// a match whose surroundings score below chance is none there, or more than its leeway
// below their threshold.
const long = 13

var chances = map[tier]struct{ least, leeway float32 }{tierA: {-2, 2.5}, tierB: {-1.5, 2}}

// nearMatch is how many words before and after a match its score may count.
const nearMatch = 6

// tierAt returns the tier of a rule that matches some tokens: in a text of more than brief
// words that is what the score near them bears out.
func (s *scanner) tierAt(of *rule, from, to int) tier {
	words := s.features.Len()
	if !of.tier.isDanger() || of.isAnyScore {
		return of.tier
	}
	thresholds := s.languageThresholds()
	if words <= brief {
		if !of.isBorneOut(to-from, words, model().Alert.BestWindow(&s.features).Score-thresholds.WeakAt(words)) {
			return tierB
		}
		return of.tier
	}
	near := Features{all: s.features.all, words: s.features.words[max(0, s.wordOf(from)-nearMatch):min(words, s.wordOf(to-1)+1+nearMatch)]}
	score := model().Alert.BestWindow(&near).Score
	switch chance := chances[of.tier]; {
	case words >= long && score < max(chance.least, thresholds.WeakAt(near.Len())-chance.leeway):
		return tierNone
	case score < max(agreement, thresholds.WeakAt(near.Len())-leeway), words >= veryLong && score < thresholds.WeakAt(near.Len()):
		return tierB
	}
	return of.tier
}

// tokenAt returns the first token of a word of the features; that of the word behind the
// last one is the number of tokens.
func (s *scanner) tokenAt(word int) int {
	at := 0
	for ; at < len(s.tokens.spans); at++ {
		if s.tokens.spans[at].isGlued && at > 0 {
			continue
		}
		if word == 0 {
			break
		}
		word--
	}
	return at
}

func (s *scanner) wordOf(token int) int {
	word := -1
	for i := range token + 1 {
		if !s.tokens.spans[i].isGlued || i == 0 {
			word++
		}
	}
	return word
}

// minDanger is the least number of words of a text whose score may be a weak sign: two
// may name an emergency.
const minDanger = 2

// besideRequest is how far above the threshold of a weak sign a score lies that turns
// what rules take for a request into a danger.
const besideRequest = 0.1

// excused is how far above the threshold the score of a text must lie in which an exception
// kept a rule from finding a danger: what is denied, quoted or sport has the words of one.
const excused = 1

// addScore adds what the classifiers find where no rule did.
func (s *scanner) addScore(found *Result, body string) {
	m := model()
	best := m.Alert.BestWindow(&s.features)
	found.Score = float64(best.Score)
	thresholds, words := s.languageThresholds(), s.features.Len()
	if s.isExcused {
		best.Score -= excused
	}
	if found.Danger != models.DangerNone || words-countCodes(body) < minDanger {
		return
	}
	// What only rules take for a request, and the scores for a danger alone, is a danger:
	// "unsubscribe me from existence".
	isByRules := found.Intent == models.IntentStop && found.Method == models.MethodPhrase && s.asked < 0
	switch {
	case found.Intent != models.IntentNone && !(isByRules && best.Score >= thresholds.WeakAt(words)+besideRequest):
	case best.Score >= thresholds.WeakAt(words):
		found.Intent, found.Method = models.IntentNone, ""
		found.Danger, found.Tier, found.Rule, found.Kind = m.Danger(&s.features, best), models.TierB, RuleScore, RuleScore
		found.Words = quoteTokens(body, s.tokenAt(best.From), s.tokenAt(best.To))
	case found.Intent == models.IntentNone && s.asksToEnd() && !AsksForLess(body):
		found.Intent, found.Method = models.IntentUnclear, models.MethodPhrase
	}
}

// code is a word with two digits in a row: a code, a time or an amount. A digit alone may
// stand for a letter.
var code = regexp.MustCompile(`\S*\d[\d:.,]*\d\S*`)

// countCodes counts the words of a text whose letters say nothing.
func countCodes(body string) int { return len(code.FindAllStringIndex(body, -1)) }

// languageThresholds returns the thresholds of the language that knows most words of
// the text, of several such the highest.
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
