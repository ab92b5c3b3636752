package twilio

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// account calls a server with the account's key.
func account(t *testing.T, s *Server, method, path string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1/2010-04-01/Accounts/AC1/Messages"+path, nil)
	r.SetBasicAuth("AC1", "t")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestDeleteMessage: the carrier forgets a message and its note, the phone does
// not, also over a restart; one on its way is not deleted.
func TestDeleteMessage(t *testing.T) {
	dir := t.TempDir()
	open := func() *Server {
		s, err := New(Config{AccountSID: "AC1", AuthToken: "t", From: "+15017122661", Dir: dir})
		require.NoError(t, err)
		return s
	}
	s := open()
	note, err := s.network.add(text{Phone: "+15558675310", Direction: fromPhone, Body: voiceMarker + " hello", Status: statusReceived, Settled: true}, false)
	require.NoError(t, err)
	busy, err := s.network.add(text{Phone: "+15558675310", Direction: toPhone, Body: "on its way", Status: statusQueued, Settled: true}, false)
	require.NoError(t, err)

	code, body := account(t, s, http.MethodDelete, "/"+busy.SID+".json")
	require.Equal(t, http.StatusConflict, code)
	require.Contains(t, body, "20009")

	code, body = account(t, s, http.MethodGet, "/"+note.SID+"/Media.json")
	require.Equal(t, http.StatusOK, code)
	var list struct {
		Media []struct{ SID string } `json:"media_list"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	require.Len(t, list.Media, 1)
	media := "/" + note.SID + "/Media/" + list.Media[0].SID
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		code, _ = account(t, s, http.MethodDelete, media+".json")
		require.Equal(t, want, code)
	}
	code, _ = account(t, s, http.MethodGet, media)
	require.Equal(t, http.StatusNotFound, code)
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		code, _ = account(t, s, http.MethodDelete, "/"+note.SID+".json")
		require.Equal(t, want, code)
	}
	require.NoError(t, s.Close())
	s = open()
	code, _ = account(t, s, http.MethodGet, "/"+note.SID+".json")
	require.Equal(t, http.StatusNotFound, code)
	_, body = account(t, s, http.MethodGet, ".json")
	require.NotContains(t, body, note.SID)
	require.Contains(t, body, busy.SID)
	require.Len(t, s.network.shownOn("+15558675310"), 2)
	require.NoError(t, s.Close())
}
