package voice_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/sim/voice"
)

func TestAttach(t *testing.T) {
	form := url.Values{"Body": {voice.Marker}, "NumMedia": {"0"}, "AccountSid": {"AC1"}, "MessageSid": {"SM1"}}
	voice.Attach(form, "2010-04-01")
	require.Equal(t, []string{"", "1", "audio/wav"}, []string{form.Get("Body"), form.Get("NumMedia"), form.Get("MediaContentType0")}, "J105")
	require.Regexp(t, `^https://api\.twilio\.com/2010-04-01/Accounts/AC1/Messages/SM1/Media/ME0{32}$`, form.Get("MediaUrl0"))
	plain := url.Values{"Body": {"hello"}}
	voice.Attach(plain, "2010-04-01")
	require.Equal(t, url.Values{"Body": {"hello"}}, plain)
}

func TestServeAndRefuse(t *testing.T) {
	got := httptest.NewRecorder()
	voice.Serve(got, nil)
	require.Equal(t, "RIFF", got.Body.String()[:4])
	require.Equal(t, 844, got.Body.Len())
	got = httptest.NewRecorder()
	voice.Transcribe(got, httptest.NewRequest(http.MethodPost, "/v1/audio/transcriptions", nil))
	require.Equal(t, 400, got.Code)
}
