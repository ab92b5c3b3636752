package agent

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/nyaruka/phonenumbers"

	"coachline/internal/redact"
)

// Reasons of a Screened that are no kind of package redact.
const (
	// ScreenedPrompt means that the text repeated the instructions of the coach.
	ScreenedPrompt = "instructions"
	// ScreenedMark means that the text held a mark such as [REDACTED_PHONE].
	ScreenedMark = "mark"
)

// Outbound is a text that a model wrote for a participant, as it would be read
// on a phone.
type Outbound struct {
	Text string
	// Phone is the participant's number in E.164, Known are texts whose numbers
	// and addresses may be repeated: what the participant wrote, and what the
	// operator's prompt texts hold.
	Phone string
	Known []string
	// Instructions are those of the coach, nil for none.
	Instructions *Instructions
}

// Screened is what may be sent of an outbound text.
type Screened struct {
	// Text is what is left, empty when nothing is.
	Text string
	// Dropped says why sentences were left out, each reason once: a kind of
	// package redact, ScreenedMark or ScreenedPrompt. Nil for none.
	Dropped []string
}

// Screen checks a text that is about to be sent as inbound texts are checked
// before a model sees them. A sentence is left out when it holds an address, a
// card, a code, a key or a number of another person, or a mark of redaction;
// the participant's own number and what they wrote themselves stay, and so do
// numbers of services, which are free of charge. A text that repeats the
// coach's instructions is left out whole.
func Screen(out Outbound) Screened {
	if out.Instructions.isRepeatedIn(out.Text) {
		return Screened{Dropped: []string{ScreenedPrompt}}
	}
	// Most texts hold nothing private, so the participant's own is read when one does.
	s := screener{own: sync.OnceValue(func() participantData { return newOwn(out.Phone, out.Known) })}
	text := s.withoutMarks(out.Text)
	for range screenSteps {
		next := s.withoutPrivate(text)
		if next == text {
			return Screened{Text: text, Dropped: s.dropped}
		}
		text = next
	}
	return Screened{Dropped: s.dropped}
}

// screenSteps bounds how often sentences are dropped: what is left may show
// something beside it more clearly.
const screenSteps = 4

// redactionMark is a mark of redaction as models copy it.
var redactionMark = regexp.MustCompile(`(?i)[\[(<{]?REDACTED(?:_[A-Z]+)?[\])>}]|\bREDACTED_[A-Z]+`)

type screener struct {
	own     func() participantData
	dropped []string
}

func (s *screener) noteReason(reason string) {
	if !slices.Contains(s.dropped, reason) {
		s.dropped = append(s.dropped, reason)
	}
}

// withoutMarks leaves out the sentences that hold a mark of redaction.
func (s *screener) withoutMarks(text string) string {
	if !strings.Contains(strings.ToUpper(text), "REDACTED") {
		return text
	}
	found := redactionMark.FindAllStringIndex(text, -1)
	if len(found) > 0 {
		s.noteReason(ScreenedMark)
	}
	return withoutSentences(text, found)
}

// withoutPrivate leaves out the sentences that hold private data of others.
func (s *screener) withoutPrivate(text string) string {
	var found [][]int
	for _, part := range redact.Find(text) {
		if !s.own().isOwn(text[part.Start:part.End], part.Kind) {
			found = append(found, []int{part.Start, part.End})
			s.noteReason(string(part.Kind))
		}
	}
	return withoutSentences(text, found)
}

// sentenceEnd is where a sentence ends, with the blanks after it.
var sentenceEnd = regexp.MustCompile(`[.!?…。！？]+["'”’)\]]*(?:\s+|$)|\n+`)

// abbreviation finds a word that ends in a point which ends no sentence.
var abbreviation = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:dr|mr|mrs|ms|st|sr|sra|hr|fr|nr|no|tel|ca|vs|e\.g|i\.e|z\.b|p\.ej)\.\s*$`)

// withoutSentences leaves out the sentences that hold any of some parts.
func withoutSentences(text string, parts [][]int) string {
	if len(parts) == 0 {
		return text
	}
	var kept strings.Builder
	start := 0
	for start < len(text) {
		end := endOfSentence(text, start, parts)
		if !slices.ContainsFunc(parts, func(at []int) bool { return at[0] < end && start < at[1] }) {
			kept.WriteString(text[start:end])
		}
		start = end
	}
	left := strings.TrimSpace(kept.String())
	if !strings.ContainsFunc(left, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return left
}

// endOfSentence returns where the sentence that begins at start ends; no part
// lies across its end.
func endOfSentence(text string, start int, parts [][]int) int {
	for from := start; ; {
		at := sentenceEnd.FindStringIndex(text[from:])
		if at == nil {
			return len(text)
		}
		end := from + at[1]
		across := slices.ContainsFunc(parts, func(part []int) bool { return part[0] < from+at[0] && end <= part[1] })
		if !across && (text[end-1] == '\n' || !abbreviation.MatchString(text[start:end])) {
			return end
		}
		from = end
	}
}

// participantData is what belongs to a participant, in plain form.
type participantData struct {
	phone, region string
	written       string
}

// newOwn reads a participant's number and texts into plain form.
func newOwn(phone string, texts []string) participantData {
	out := participantData{phone: plainForm(phone)}
	if number, err := phonenumbers.Parse(phone, ""); err == nil {
		out.region = phonenumbers.GetRegionCodeForNumber(number)
	}
	parts := make([]string, len(texts))
	for i, text := range texts {
		parts[i] = plainForm(text)
	}
	out.written = strings.Join(parts, " ")
	return out
}

// leastOwn is how much of a number identifies its owner, in digits.
const leastOwn = 7

// isOwn reports whether a part of a text is the participant's own or belongs to
// a service.
func (o participantData) isOwn(part string, kind redact.Kind) bool {
	plain := plainForm(part)
	if plain != "" && strings.Contains(o.written, plain) {
		return true
	}
	if kind != redact.KindPhone {
		return false
	}
	national := strings.TrimLeft(plain, "0")
	return len(national) >= leastOwn && strings.HasSuffix(o.phone, national) || o.isService(part)
}

// freePrefix begins numbers that are free of charge in most of the world.
const freePrefix = "0800"

// freeRegion is whose numbers with 800 are known everywhere.
const freeRegion = "US"

// isService reports whether a number is free of charge or belongs to a service,
// such as a crisis line.
func (o participantData) isService(part string) bool {
	if strings.HasPrefix(plainForm(part), freePrefix) {
		return true
	}
	for _, region := range []string{o.region, freeRegion} {
		number, err := phonenumbers.Parse(part, region)
		if err != nil {
			continue
		}
		kind := phonenumbers.GetNumberType(number)
		if kind == phonenumbers.TOLL_FREE || kind == phonenumbers.SHARED_COST || kind == phonenumbers.UAN {
			return true
		}
	}
	return false
}

// plainForm returns a text in lower case, without anything but letters and
// digits.
func plainForm(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
