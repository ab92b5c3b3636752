package recall

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"coachline/internal/text"
)

// Fault is why an answer of the memory step may not be carried out.
type Fault string

const (
	FaultNone Fault = ""
	// FaultUnreadable, FaultAction and FaultKind: the answer has not the form
	// that was asked for.
	FaultUnreadable Fault = "unreadable"
	FaultAction     Fault = "action"
	FaultKind       Fault = "kind"
	FaultEmpty      Fault = "empty"
	FaultLong       Fault = "long"
	// FaultUnknownID: an update of a fact that the person does not have.
	FaultUnknownID Fault = "unknown_id"
	// FaultForbidden: mode or channel does not allow the action.
	FaultForbidden Fault = "forbidden"
	// FaultInstruction, FaultQuestion, FaultSecret and FaultCoach: the text is
	// nothing to remember of a person.
	FaultInstruction Fault = "instruction"
	FaultQuestion    Fault = "question"
	FaultSecret      Fault = "secret"
	FaultCoach       Fault = "coach"
	// FaultDuplicate: a fact says so already.
	FaultDuplicate Fault = "duplicate"
)

const (
	// maxFact is the most characters of a fact.
	maxFact = 300
	// stepAttempts is the most answers that one memory costs.
	stepAttempts = 3
	// coachWords is the least length of a sentence that counts as the coach's own,
	// in words; shorter ones are common to all people.
	coachWords = 4
)

// Decision returns the code that the record of stages keeps: "memory refused
// long".
func (f Fault) Decision() string { return "memory refused " + string(f) }

// Retry reports whether to ask again after these faults, in order: at most
// three answers, and after an unknown id only once, with all facts shown. What
// is nothing to remember stays so, and is not asked for again.
func Retry(faults []Fault) bool {
	if len(faults) == 0 || len(faults) >= stepAttempts {
		return false
	}
	switch newest := faults[len(faults)-1]; newest {
	case FaultUnknownID:
		return !slices.Contains(faults[:len(faults)-1], newest)
	case FaultUnreadable, FaultAction, FaultKind, FaultEmpty, FaultLong, FaultForbidden:
		return true
	case FaultNone, FaultInstruction, FaultQuestion, FaultSecret, FaultCoach, FaultDuplicate:
	}
	return false
}

// retryNote returns the sentence that tells the model what was wrong; it is
// empty where there is no second try.
func (f Fault) retryNote() string {
	switch f {
	case FaultUnreadable:
		return "it was not one JSON object."
	case FaultAction:
		return "the action must be save, update or none."
	case FaultKind:
		return "the kind must be identity, preference, goal, constraint or event."
	case FaultEmpty:
		return "the text was empty."
	case FaultLong:
		return "the text was too long."
	case FaultUnknownID:
		return "there is no fact with that id. The known facts are listed above; save what is new, or answer none."
	case FaultForbidden:
		return "that action is not allowed here."
	case FaultNone, FaultInstruction, FaultQuestion, FaultSecret, FaultCoach, FaultDuplicate:
	}
	return ""
}

// replyReason returns the sentence that tells the replying model why nothing
// was remembered.
func (f Fault) replyReason() string {
	switch f {
	case FaultUnknownID:
		return "there was no fact with that id."
	case FaultInstruction, FaultQuestion, FaultSecret, FaultCoach:
		return "it was not a plain statement about the person."
	case FaultForbidden:
		return "it is not allowed here."
	case FaultNone, FaultUnreadable, FaultAction, FaultKind, FaultEmpty, FaultLong, FaultDuplicate:
	}
	return "the attempt failed."
}

var (
	// instruction matches orders to a model, and the marks that requests are
	// made of, wherever they stand.
	instruction = regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|rule|prompt|guideline|policy|policies|previous|above)` +
		`|\b(?:system|developer)\s+(?:prompt|message)\b` +
		`|(?:^|\s)(?:system|assistant|developer|tool)\s*:` +
		`|\byou\s+(?:must|shall|should|are\s+now|will\s+now|have\s+to)\b` +
		`|^(?:always|never|from\s+now\s+on,?|do\s+not|don['’]t|please)\s+(?:answer|reply|respond|say|tell|mention|reveal|call|use|send|text|write|act|pretend|obey|follow|store)\b` +
		`|\b(?:the\s+)?(?:coach|assistant|bot|model|ai)\s+(?:must|shall|should|may|can|has\s+to|is\s+allowed\s+to)\b` +
		`|\b(?:ignora|ignore[rz]?|ignoriere|ignoriert|negeer|desconsidere)\b.{0,40}\b(?:instruc|anweisung|istruzion|instruç|regla|règle|regel|regra|regol)` +
		"|```|<\\|?/?(?:system|assistant|user|tool|im_start|im_end)\\|?>|\\btool_calls?\\b|\\{\\s*\"")
	// secret matches what must not be found in a memory. Redaction has put its
	// marks where it found some.
	secret = regexp.MustCompile(`(?i)\b(?:pass\s?word|passcode|pass\s?phrase|passwort|kennwort|contraseña|mot\s+de\s+passe|senha|wachtwoord|parola|şifre|api[ _-]?key|access\s+token|cvv|cvc|otp|2fa)\b` +
		`|\b(?:pin|code|token|login|ssn|iban)\b\s*(?:number\s*)?(?:is|:|=)\s*\S*\d` +
		`|\[REDACTED[A-Z0-9_]*\]` +
		`|(?:\d[ -]?){9,}|\b(?:sk|ghp|xox[bp])[-_][A-Za-z0-9_-]{8,}|\beyJ[A-Za-z0-9_-]{10,}`)
	// date is no secret, with any hour behind it.
	date = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
	// question matches texts that ask, or that report a question.
	question = regexp.MustCompile(`(?i)[?？؟]` +
		`|^(?:(?:the\s+)?(?:user|person|participant|client|he|she|they)\s+)?(?:asks|asked|is\s+asking|was\s+asking|wonders|wondered|wants\s+to\s+know|wanted\s+to\s+know)\b`)
	// ofCoach matches texts about the coach, or about the model itself.
	ofCoach = regexp.MustCompile(`(?i)^(?:the\s+)?(?:coach|assistant|bot|chatbot|ai|model)\b|^as\s+an?\s+(?:ai|assistant|language\s+model)\b|^i\s+am\s+(?:an?\s+)?(?:ai|assistant|coach|language\s+model)\b`)
)

// textFault returns why a text may not be remembered, FaultNone where it may.
// The patterns are a net beside the prompt and the framing, not the only guard.
func textFault(text string, coach []string) Fault {
	switch {
	case len(wordRuns(text)) == 0:
		return FaultEmpty
	case utf8.RuneCountInString(text) > maxFact:
		return FaultLong
	case instruction.MatchString(text):
		return FaultInstruction
	case secret.MatchString(date.ReplaceAllString(text, "date")):
		return FaultSecret
	case question.MatchString(text):
		return FaultQuestion
	case ofCoach.MatchString(text) || isFromCoach(coach, text):
		return FaultCoach
	}
	return FaultNone
}

// keepLines is a note or a summary as it may be remembered: lines that give orders, hold
// secrets or are about the coach are left out.
func keepLines(body string) string {
	var kept []string
	for line := range strings.Lines(text.Memorable(body)) {
		line = strings.TrimSpace(line)
		if line != "" && !instruction.MatchString(line) && !secret.MatchString(date.ReplaceAllString(line, "date")) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// isFromCoach reports whether one of the coach's texts holds a text word for
// word.
func isFromCoach(coach []string, text string) bool {
	words := normalText(text)
	if strings.Count(words, " ")+1 < coachWords {
		return false
	}
	return slices.ContainsFunc(coach, func(line string) bool { return hasPhrase(normalText(line), words) })
}
