package alert_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/alert"
	"coachline/models"
)

var page = models.AlertPage{
	ID: "alarm-7", ParticipantID: "conv_1", Kind: "crisis", At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
	Link: "/conversation/participants/conv_1",
}

func TestPage(t *testing.T) {
	var body, key, kind string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body, key, kind = string(raw), r.Header.Get(alert.KeyHeader), r.Header.Get("Content-Type")
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	sent, err := alert.New(alert.Config{URL: server.URL + "/hook", Timeout: time.Second}).Page(t.Context(), page)
	require.NoError(t, err)
	require.True(t, sent)
	require.JSONEq(t, `{"id":"alarm-7","participant_id":"conv_1","kind":"crisis","rule":"","at":"2026-03-02T09:00:00Z","link":"/conversation/participants/conv_1"}`, body)
	require.Equal(t, "alarm-7", key)
	require.Equal(t, "application/json", kind)
}

func TestPageOff(t *testing.T) {
	sent, err := alert.New(alert.Config{}).Page(t.Context(), page)
	require.NoError(t, err)
	require.False(t, sent)
}

// The address may hold a secret; what is not taken is an error.
func TestPageNotTaken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved-s3cret" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	defer server.Close()
	for _, address := range []string{server.URL + "/s3cret", server.URL + "/moved-s3cret", closed.URL + "/s3cret", "http://127.0.0.1:1\x7f/s3cret"} {
		sent, err := alert.New(alert.Config{URL: address, Timeout: time.Second}).Page(t.Context(), page)
		require.Error(t, err)
		require.False(t, sent)
		require.NotContains(t, err.Error(), "s3cret")
	}
}
