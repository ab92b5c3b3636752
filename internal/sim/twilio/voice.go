package twilio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const (
	// voiceMarker begins a text that a phone sends as a voice note instead.
	voiceMarker    = "[voice note]"
	voiceMediaType = "audio/wav"
)

// attachVoice makes a text that begins with voiceMarker a picture message
// without a body and with the note, in the form of the carrier's webhook.
func attachVoice(form url.Values) {
	if !strings.HasPrefix(form.Get("Body"), voiceMarker) {
		return
	}
	form.Set("Body", "")
	form.Set("NumMedia", "1")
	form.Set("MediaContentType0", voiceMediaType)
	form.Set("MediaUrl0", fmt.Sprintf("https://api.twilio.com/%s/Accounts/%s/Messages/%s/Media/%s",
		apiVersion, form.Get("AccountSid"), form.Get("MessageSid"), voiceSID))
}

// serveVoice answers with the one note that every phone can send: a tenth of a
// second of silence.
func serveVoice(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", voiceMediaType)
	_, _ = w.Write(silence())
}

// silence is a WAV file of 8,000 samples a second of eight bits, on one channel.
func silence() []byte {
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
