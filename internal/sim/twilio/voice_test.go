package twilio

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAttachVoice(t *testing.T) {
	form := url.Values{"Body": {voiceMarker}, "NumMedia": {"0"}, "AccountSid": {"AC1"}, "MessageSid": {"SM1"}}
	attachVoice(form)
	require.Equal(t, []string{"", "1", "audio/wav"}, []string{form.Get("Body"), form.Get("NumMedia"), form.Get("MediaContentType0")}, "J105")
	require.Regexp(t, `^https://api\.twilio\.com/2010-04-01/Accounts/AC1/Messages/SM1/Media/ME0{32}$`, form.Get("MediaUrl0"))
	plain := url.Values{"Body": {"hello"}}
	attachVoice(plain)
	require.Equal(t, url.Values{"Body": {"hello"}}, plain)
}

func TestServeVoice(t *testing.T) {
	got := httptest.NewRecorder()
	serveVoice(got, nil)
	require.Equal(t, "RIFF", got.Body.String()[:4])
	require.Equal(t, 844, got.Body.Len())
}
