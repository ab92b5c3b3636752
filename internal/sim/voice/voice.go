// Package voice is the sound of the simulator: the one voice note that every
// phone can send, and what the scripted model hears in any recording.
package voice

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const (
	// Marker begins a text that a phone sends as a voice note instead.
	Marker = "[voice note]"
	// Transcript is what is heard in every recording.
	Transcript = "I walked for ten minutes after lunch and it felt good."

	mediaType = "audio/wav"
	maxUpload = 10 << 20
)

// Attach makes a text that begins with Marker a picture message without words
// and with the note, as the carrier tells of one.
func Attach(form url.Values, apiVersion string) {
	if !strings.HasPrefix(form.Get("Body"), Marker) {
		return
	}
	form.Set("Body", "")
	form.Set("NumMedia", "1")
	form.Set("MediaContentType0", mediaType)
	form.Set("MediaUrl0", fmt.Sprintf("https://api.twilio.com/%s/Accounts/%s/Messages/%s/Media/ME%s",
		apiVersion, form.Get("AccountSid"), form.Get("MessageSid"), strings.Repeat("0", 32)))
}

// Serve answers with the note: a tenth of a second of silence.
func Serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(wav())
}

// wav is 8,000 samples a second of eight bits, on one channel.
func wav() []byte {
	const rate, length = 8000, 800
	var out bytes.Buffer
	out.WriteString("RIFF")
	header := []any{uint32(36 + length), []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8),
		[]byte("data"), uint32(length)}
	for _, part := range header {
		_ = binary.Write(&out, binary.LittleEndian, part) // a buffer takes everything
	}
	out.Write(bytes.Repeat([]byte{128}, length))
	return out.Bytes()
}

// Transcribe answers a request for a transcription with Transcript, and refuses
// one without a file or a model.
func Transcribe(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	file, _, err := r.FormFile("file")
	w.Header().Set("Content-Type", "application/json")
	if err != nil || r.FormValue("model") == "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"file and model are required","type":"invalid_request_error"}}`))
		return
	}
	_ = file.Close()
	_, _ = fmt.Fprintf(w, `{"text":%q}`, Transcript)
}
