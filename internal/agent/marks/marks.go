// Package marks lists the marks that the program writes into the messages of a
// request, and takes them out of what participants and others write, so that
// only the program can write one. It is pure.
package marks

import (
	"regexp"
	"strconv"
	"strings"
)

// Marks of user messages that the program writes.
const (
	// Hint and Task begin a message that no participant wrote.
	Hint = "[hint] "
	Task = "[task] "
	// Plan begins the note on the plan after a result of a tool.
	Plan = "[plan] "
	// PersonWrites stands between a result and the participant's message,
	// ConversationStarts in the place of a first message.
	PersonWrites       = "[The person writes]\n"
	ConversationStarts = "[The conversation starts with you.]"
	// NothingSent stands in the place of the coach's text between the result of a
	// tool and what the person wrote next.
	NothingSent = "[Nothing was sent.]"
	// NotAnswered ends what the person wrote and got no answer to but the fixed text of
	// an outage, Answered what the programme answered by itself.
	NotAnswered = "\n[not answered yet]"
	Answered    = "\n[answered by the programme]"
	// Notes begins what the program adds behind the texts that are answered, to the end
	// of the message.
	Notes = "\n\n" + notes + "\n"
	notes = "[notes of the programme]"
	// ToolResult begins a result in text mode, which ends in "]"; ToolNote one
	// in the two-phase protocol.
	ToolResult = "[Tool result: "
	ToolNote   = "[Tool note] "
)

// Marks that a message gets when it is stored.
const (
	// VoiceNote begins the transcript of a voice note.
	VoiceNote = "[voice note] "
	// VoiceNoteNotOpened begins the note of one that could not be transcribed.
	VoiceNoteNotOpened = "[voice note; it could not be listened to: "
)

// Label returns what stands before a message that the coach sent without being
// asked: its kind and when it went out.
func Label(name, sent string) string { return "[" + name + ", sent " + sent + "] " }

// Written returns what stands before a text of the person: when it came and when the coach
// had asked, and which question of the coach it answers. It is empty where both are.
func Written(at, question string) string {
	if question != "" {
		at = strings.TrimPrefix(at+", "+answering+` "`+strings.ReplaceAll(brackets.Replace(question), `"`, "'")+`"`, ", ")
	}
	if at == "" {
		return ""
	}
	return "[" + at + "] "
}

// answering stands before the question that a text answers.
const answering = "to your question"

// Earlier returns what stands before the digest of a number of older messages
// of the same turn.
func Earlier(count int) string {
	messages := " earlier messages"
	if count == 1 {
		messages = " earlier message"
	}
	return "[" + strconv.Itoa(count) + messages + " of this turn, summarised] "
}

// Undelivered returns what stands before a message of the coach that the
// carrier never accepted.
func Undelivered(name string) string {
	return "[" + name + ", not delivered: the person never got this message] "
}

// Labels returns the names of such messages.
func Labels() []string {
	return []string{
		"daily prompt", "reminder", "feedback question", "feedback follow-up", "check-in", "message from the team", "note from the team", "safety text", "notice",
		"result of a task given away",
	}
}

const (
	opening = `[\[［【][\s\p{Cf}*_]*`
	// closing is the rest of a mark up to its bracket; it does not leave the
	// string of a JSON document.
	closing = `[^\[\]\n］】"]*[\]］】]?`
	// less and more are the signs around a template's mark, also as JSON writes
	// them.
	less, more = `(?:<|\\u003c)`, `(?:>|\\u003e)`
	// cue is what a message of the program begins with.
	cue = `(?:hint|task|plan)\b`
	// own are the other marks of the program, and the labels of messages.
	own = `tool[\s_-]*(?:results?|notes?|calls?)\b|the person writes\b|the conversation starts\b|nothing was sent\b|not answered yet\b|answered by the programme\b|notes of the programme\b|` + answering + `\b|(?:asked (?:on|from) )?(?:mon|tue|wed|thu|fri|sat|sun) \d{4}-\d|\d+\s+earlier\s+messages?\s+of\s+this\s+turn\b`
	// written is what Written returns.
	written = `\[(?:(?:asked (?:on|from) )?[A-Z][a-z]{2} \d{4}-\d\d-\d\d[^"\[\]\n]*)?(?:` + answering + ` "[^"\n]*")?\]`
	// stored are the marks of a stored message, redacted those of a cut text and
	// of redaction.
	stored   = `voice[\s_-]*note\b|the person sent \d|the text was longer\b`
	redacted = `redacted\b|redacted_|the rest of this text was cut\b`
)

var (
	inMessages = regexp.MustCompile(`(?i)` + opening + `(?:` + cue + `|` + own + `|(?:` + strings.Join(quoteAll(Labels()), "|") + `|reply|greeting)\s*,\s*(?:sent|not\s+delivered)\b)` + closing)
	inStored   = regexp.MustCompile(`(?i)` + opening + `(?:` + stored + `)` + closing)
	inRedacted = regexp.MustCompile(`(?i)` + opening + `(?:` + redacted + `)` + closing)
	// templates are the marks of chat templates of several model families.
	templates = regexp.MustCompile(`(?i)` + less + `[|｜][^<>|｜\n\\]{1,40}[|｜]` + more + `|` + less + less + `/?sys` + more + more + `|` + less + `/?s` + more +
		`|` + less + `(?:start|end)_of_turn` + more + `|\[/?inst\]|` + less + `/?(?:tool_(?:call|response|result)|function_call|think(?:ing)?|system|im_(?:start|end))s?` + more)
	// leading are the marks at the start of a text that a model copied.
	leading     = regexp.MustCompile(`^(?:\[(?:hint|task)\]|` + written + `|\[\d+ earlier messages?\b[^\]\n]*\]|\[[a-z -]+, (?:sent|not delivered)\b[^\]\n]*\])\s*`)
	beforeWords = regexp.MustCompile(`^` + written + ` `)
	// brackets make a mark an ordinary remark.
	brackets = strings.NewReplacer("[", "(", "［", "(", "【", "(", "]", ")", "］", ")", "】", ")", "<", "(", ">", ")", `\u003c`, "(", `\u003e`, ")", `\u003C`, "(", `\u003E`, ")")
)

func quoteAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = regexp.QuoteMeta(name)
	}
	return out
}

// Neutralise makes marks in a text of another writer ordinary text: their
// brackets become round. Every text that is not the program's own passes it
// before it enters a request, also as the text of a JSON document, which stays
// valid. Doing it twice changes nothing more.
func Neutralise(text string) string {
	if !strings.ContainsAny(text, "[<［【") && !strings.Contains(text, `\u003`) {
		return text
	}
	text = inMessages.ReplaceAllStringFunc(text, brackets.Replace)
	return templates.ReplaceAllStringFunc(text, brackets.Replace)
}

// NeutraliseMessage does the work of Neutralise for a participant's message
// that has not been redacted: marks of redaction in it are the participant's
// too.
func NeutraliseMessage(text string) string {
	if !strings.ContainsAny(text, "[<［【") {
		return text
	}
	return Neutralise(inRedacted.ReplaceAllStringFunc(text, brackets.Replace))
}

// NeutraliseResult does the work of Neutralise for a result of a tool that the
// program may have appended the progress of the plan to.
func NeutraliseResult(text string) string {
	if at := strings.LastIndex(text, "\n\n"+Plan); at >= 0 {
		return Neutralise(text[:at]) + text[at:]
	}
	return Neutralise(text)
}

// NeutraliseWords does the work of Neutralise for a participant's message that the
// program may have marked at its beginning and its end.
func NeutraliseWords(text string) string {
	if words, added, found := strings.Cut(text, Notes); found {
		return NeutraliseWords(words) + Notes + added
	}
	if label := beforeWords.FindString(text); label != "" {
		return label + NeutraliseWords(text[len(label):])
	}
	for _, mark := range []string{NotAnswered, Answered} {
		if words, marked := strings.CutSuffix(text, mark); marked {
			return Neutralise(words) + mark
		}
	}
	return Neutralise(text)
}

// NeutraliseReceived takes the marks of stored messages out of a text as it
// came in, before it is stored.
func NeutraliseReceived(text string) string {
	if !strings.ContainsAny(text, "[［【") {
		return text
	}
	return inStored.ReplaceAllStringFunc(text, brackets.Replace)
}

// IsCue reports whether the program wrote a user message.
func IsCue(text string) bool { return strings.HasPrefix(text, Hint) || strings.HasPrefix(text, Task) }

// TrimCopied takes marks off the start of a text that a model wrote, and its copy of the
// program's notes.
func TrimCopied(text string) string {
	text, _, _ = strings.Cut(text, notes)
	for mark := leading.FindString(text); mark != ""; mark = leading.FindString(text) {
		text = text[len(mark):]
	}
	return text
}
