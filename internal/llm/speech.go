package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3"

	"coachline/models"
)

// soundNames are the endings by which servers tell formats apart, where a media
// type has another one than its second half.
var soundNames = map[string]string{
	"audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/x-m4a": "m4a", "audio/x-wav": "wav", "audio/wave": "wav",
	"audio/vnd.wave": "wav", "audio/3gpp": "3gp", "audio/x-caf": "caf",
}

// Transcribe writes down what is said in a recording, in the language that is
// spoken, with the model of Config.SpeechModel. Silence may give an empty text.
// Errors are those of Complete, and a retry is safe and paid again.
func (c *Client) Transcribe(ctx context.Context, sound models.Recording) (string, error) {
	if c.cfg.SpeechModel == "" {
		return "", &models.ModelError{Class: models.ModelRefused, Message: "no model for speech is set"}
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	ending, ok := soundNames[sound.Type]
	if !ok {
		ending = strings.TrimPrefix(sound.Type, "audio/")
	}
	var out string
	failed := c.callWithKeys(ctx, func(ctx context.Context, x *exchange) (f *fault) {
		var err error
		defer func() { x.record(ctx, x.readCall(models.StageTranscribe, c.cfg.SpeechModel), f, err) }()
		params := openai.AudioTranscriptionNewParams{
			Model: c.cfg.SpeechModel, File: openai.File(bytes.NewReader(sound.Data), "note."+ending, sound.Type),
		}
		if _, err = c.speech.New(ctx, params, x.requestOptions()...); err != nil && len(x.body) == 0 {
			return x.readFault(ctx)
		}
		err = nil // A body that the SDK does not know is read here.
		if x.res == nil || x.res.StatusCode >= 300 {
			return x.readFault(ctx)
		}
		out, f = readSpeech(x.body)
		return f
	})
	if failed != nil {
		return "", failed.modelError(models.ChatRequest{})
	}
	return out, nil
}

// readSpeech takes the text of a JSON answer, or an answer that is the text
// itself, as some servers give it.
func readSpeech(body []byte) (string, *fault) {
	var in struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(body, &in) == nil && in.Text != nil {
		return strings.TrimSpace(*in.Text), nil
	}
	text := strings.TrimSpace(string(body))
	if text == "" || strings.ContainsAny(text[:1], "{[<\"") {
		return "", readNothing(body)
	}
	return text, nil
}
