package sms

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestVoiceNotesOfAWebhook(t *testing.T) {
	form := url.Values{
		"NumMedia": {"3"}, "MediaContentType0": {"image/jpeg"}, "MediaUrl0": {"https://a/0"},
		"MediaContentType1": {"audio/amr; rate=8000"}, "MediaUrl1": {"https://a/1"}, "MediaContentType2": {"audio/ogg"},
	}
	in := models.Inbound{Voice: voiceOf(form, 3)}
	require.Equal(t, []models.VoiceNote{{Index: 1, Type: "audio/amr", URL: "https://a/1"}}, in.VoiceNotes())
	require.Empty(t, voiceOf(form, 1))
}

// pages answers like the carrier and its media hosts.
type pages func(*http.Request) page

type page struct {
	status               int
	kind, body, location string
}

func (w pages) RoundTrip(r *http.Request) (*http.Response, error) {
	p := w(r)
	head := http.Header{"Content-Type": {p.kind}, "Location": {p.location}}
	return &http.Response{StatusCode: p.status, Header: head, Body: io.NopCloser(strings.NewReader(p.body))}, nil
}

func sound(status int, kind, body string) *page { return &page{status: status, kind: kind, body: body} }

func moved(to string) *page { return &page{status: http.StatusTemporaryRedirect, location: to} }

const noteAddress = "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages/MM1/Media/ME1"

func TestRecording(t *testing.T) {
	tests := []struct {
		name, address string
		first         *page
		want          string // empty: the sound comes
	}{
		{"from the carrier", noteAddress, sound(200, "audio/amr", "sound"), ""},
		{"redirected to its media", noteAddress, moved("https://mms.twiliocdn.com/x"), ""},
		{"redirected without https", noteAddress, moved("http://mms.twiliocdn.com/x"), "it lies elsewhere"},
		{"redirected elsewhere", noteAddress, moved("https://169.254.169.254/x"), "it lies elsewhere"},
		{"redirected to a name like it", noteAddress, moved("https://mms.twiliocdn.com.example.org/x"), "it lies elsewhere"},
		{"a picture", noteAddress, sound(200, "image/png", "x"), "it is no sound"},
		{"too long", noteAddress, sound(200, "audio/amr", strings.Repeat("x", maxAudio+1)), "it is too long"},
		{"gone", noteAddress, sound(404, "audio/amr", ""), "the carrier answered 404"},
		{"another host", "https://example.org/2010-04-01/Accounts/AC1/Messages/MM1/Media/ME1", nil, "not the carrier's"},
		{"another account", strings.ReplaceAll(noteAddress, "AC1", "AC2"), nil, "not the carrier's"},
		{"another path", "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json", nil, "not the carrier's"},
		{"a user in it", strings.Replace(noteAddress, "//", "//me@", 1), nil, "not the carrier's"},
		{"without https", strings.Replace(noteAddress, "https", "http", 1), nil, "not the carrier's"},
		{"no address", "::", nil, "not the carrier's"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := New(Config{AccountSID: "AC1", AuthToken: "secret1", From: "+15017122661"})
			require.NoError(t, err)
			c.next = pages(func(r *http.Request) page {
				_, _, known := r.BasicAuth()
				if r.URL.Host != carrierHost {
					require.False(t, known, "the password stays with the carrier")
					return *sound(200, "audio/amr", "sound")
				}
				require.True(t, known)
				require.NotNil(t, tt.first, "nothing is asked for")
				return *tt.first
			})
			got, err := c.Recording(t.Context(), tt.address)
			if tt.want != "" {
				require.ErrorIs(t, err, models.ErrNotOpened)
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, models.Recording{Type: "audio/amr", Data: []byte("sound")}, got)
		})
	}
}

func TestRecordingFromAConfiguredServer(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write([]byte("sound"))
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{AccountSID: "AC1", AuthToken: "secret1", From: "+15017122661", BaseURL: server.URL})
	require.NoError(t, err)
	_, err = c.Recording(t.Context(), noteAddress)
	require.NoError(t, err)
	require.Equal(t, []string{"/2010-04-01/Accounts/AC1/Messages/MM1/Media/ME1"}, asked)
	server.Close()
	_, err = c.Recording(t.Context(), noteAddress)
	require.Error(t, err)
	require.NotErrorIs(t, err, models.ErrNotOpened)
}
