package toolcall

import (
	"encoding/json"
	"strings"
	"unicode"

	"coachline/internal/text"
	"coachline/models"
)

// CheckInReason is why a check-in is sent or not; a short code without personal
// data.
type CheckInReason string

const (
	// CheckInSend: CheckIn.Text goes out.
	CheckInSend CheckInReason = "send"
	// CheckInDeclined: the model decided to say nothing.
	CheckInDeclined CheckInReason = "declined"
	// CheckInToken: the model said nothing by the token of older systems.
	CheckInToken CheckInReason = "token"
	// CheckInEmpty: there is no decision, or one to write without a text.
	CheckInEmpty CheckInReason = "empty"
	// CheckInUnreadable: the answer is not the decision that was asked for, or
	// its text is not fit for a person. Narration counts as such.
	CheckInUnreadable CheckInReason = "unreadable"
)

// CheckIn is the decision whether to write. Text is set for CheckInSend only,
// and is fit for a person as Verdict.Text is.
type CheckIn struct {
	Text   string
	Reason CheckInReason
}

// silenceToken is HEARTBEAT_OK, read by its letters alone.
const silenceToken = "heartbeatok"

// ReadCheckIn reads {"send": bool, "text": string}, in a fence or between words
// too. HEARTBEAT_OK in any case, with dots, spaces, quotes or marks around it,
// means the same as send false, and never reaches a person, wherever it stands.
// Every other answer that cannot be read as the decision is
// silence.
func ReadCheckIn(answer string) CheckIn {
	said := text.WithoutThinking(strings.ToValidUTF8(answer, ""))
	switch {
	case strings.TrimSpace(said) == "":
		return CheckIn{Reason: CheckInEmpty}
	case lettersOf(said) == silenceToken:
		return CheckIn{Reason: CheckInToken}
	}
	raw, ok := onlyObject(answer)
	var fields map[string]json.RawMessage
	if !ok || json.Unmarshal([]byte(raw), &fields) != nil {
		return CheckIn{Reason: CheckInUnreadable}
	}
	var send *bool
	if json.Unmarshal(fields["send"], &send) != nil || send == nil {
		return CheckIn{Reason: CheckInUnreadable}
	}
	if !*send {
		return CheckIn{Reason: CheckInDeclined}
	}
	return wordedCheckIn(fields["text"])
}

// wordedCheckIn returns the decision to send a text, where it is fit to be
// sent.
func wordedCheckIn(raw json.RawMessage) CheckIn {
	var text string
	if len(raw) > 0 && json.Unmarshal(raw, &text) != nil {
		return CheckIn{Reason: CheckInUnreadable}
	}
	if strings.Contains(lettersOf(text), silenceToken) {
		return CheckIn{Reason: CheckInToken}
	}
	verdict := Judge(models.ChatResponse{Text: text}, nil)
	switch {
	case verdict.Judgment == Empty:
		return CheckIn{Reason: CheckInEmpty}
	case verdict.Judgment != Words, strings.Contains(lettersOf(verdict.Text), silenceToken):
		return CheckIn{Reason: CheckInUnreadable}
	}
	return CheckIn{Text: verdict.Text, Reason: CheckInSend}
}

// lettersOf returns the letters of a text in lower case.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
