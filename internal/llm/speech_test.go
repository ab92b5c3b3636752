package llm

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestTranscribe(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		want       string
		class      models.ModelErrorClass
	}{
		{"OpenAI's shape", `{"text":" I walked. ","usage":{}}`, 200, "I walked.", ""},
		{"silence", `{"text":""}`, 200, "", ""},
		{"bare text", "I walked.\n", 200, "I walked.", ""},
		{"another shape", `{"words":[]}`, 200, "", models.ModelBusy},
		{"a page", `<html>`, 200, "", models.ModelBusy},
		{"unsupported", `{"error":{"message":"Invalid file format."}}`, 400, "", models.ModelRefused},
		{"down", `oops`, 503, "", models.ModelBusy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "/v1/audio/transcriptions", r.URL.Path)
				assert.Equal(t, "Bearer k", r.Header.Get("Authorization"))
				file, head, err := r.FormFile("file")
				if !assert.NoError(t, err) {
					return
				}
				sound, err := io.ReadAll(file)
				assert.NoError(t, err)
				assert.Equal(t, "sound", string(sound))
				assert.Equal(t, "note.mp3", head.Filename)
				assert.Equal(t, "whisper", r.FormValue("model"))
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			t.Cleanup(server.Close)
			c, err := New(Config{BaseURL: server.URL + "/v1", Keys: []string{"k"}, SpeechModel: "whisper"})
			require.NoError(t, err)
			got, err := c.Transcribe(t.Context(), models.Recording{Type: "audio/mpeg", Data: []byte("sound")})
			require.Equal(t, tt.want, got)
			if tt.class == "" {
				require.NoError(t, err)
				return
			}
			var failed *models.ModelError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, tt.class, failed.Class)
		})
	}
	c, err := New(Config{BaseURL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	_, err = c.Transcribe(t.Context(), models.Recording{})
	require.ErrorContains(t, err, "no model for speech")
}
