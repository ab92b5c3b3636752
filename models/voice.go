package models

import (
	"encoding/json"
	"errors"
	"time"
)

// VoiceNote is recorded speech that came with a text. Text is personal data.
type VoiceNote struct {
	Index int    `json:"index"` // among the media of the text, from 0
	Type  string `json:"type"`  // media type, such as "audio/amr"
	URL   string `json:"url"`   // at the carrier
	// Heard: the voice note was transcribed, with Text or a Problem as the result.
	Heard   bool   `json:"heard,omitempty"`
	Text    string `json:"text,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Calls are those of models that it took.
	Calls []VoiceCall `json:"calls,omitempty"`
}

// VoiceCall is a call of a model that writes speech down.
type VoiceCall struct {
	Model string `json:"model"`
	Usage Usage  `json:"usage"`
	// Lost: no answer came.
	Lost bool `json:"lost,omitempty"`
}

// VoiceNotes reads Voice; nil for what cannot be read.
func (in Inbound) VoiceNotes() []VoiceNote {
	var notes []VoiceNote
	if in.Voice == "" || json.Unmarshal([]byte(in.Voice), &notes) != nil {
		return nil
	}
	return notes
}

// Transcription is what was heard of a voice note that came with a text.
type Transcription struct {
	InboundID int64
	Note      VoiceNote
	At        time.Time
}

// Recording is speech to be written down.
type Recording struct {
	Type string // media type, such as "audio/wav"
	Data []byte
}

// ErrNotOpened says why a recording was not opened: its text is for the model.
var ErrNotOpened = errors.New("the recording cannot be opened")
