package sms

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

// deleting is a client of a server that answers by method and path.
func deleting(t *testing.T, answers map[string]func(w http.ResponseWriter)) (*Client, *[]string) {
	t.Helper()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := r.Method + " " + r.URL.Path
		seen = append(seen, call)
		answer := answers[call]
		if answer == nil {
			t.Errorf("unexpected call %s", call)
			return
		}
		answer(w)
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{AccountSID: "AC1", AuthToken: "t", From: "+15017122661", BaseURL: server.URL})
	require.NoError(t, err)
	return c, &seen
}

func gone(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) }

func refusing(status, code int) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"code":%d,"message":"no","status":%d}`, code, status)
	}
}

func TestDelete(t *testing.T) {
	const message, media = "/2010-04-01/Accounts/AC1/Messages/SM1", "/2010-04-01/Accounts/AC1/Messages/SM1/Media"
	list := func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, `{"media_list":[{"sid":"ME1"},{"sid":"ME2"}]}`)
	}
	c, seen := deleting(t, map[string]func(w http.ResponseWriter){
		"GET " + media + ".json": list, "DELETE " + media + "/ME1.json": gone, "DELETE " + media + "/ME2.json": refusing(404, 20404),
		"DELETE " + message + ".json": gone,
	})
	require.NoError(t, c.Delete(t.Context(), "SM1", true))
	require.Len(t, *seen, 4)
	require.NoError(t, c.Delete(t.Context(), "SM1", false))
	require.Len(t, *seen, 5)

	for _, answer := range []struct {
		status, code int
		class        models.CarrierClass // empty: counts as deleted
	}{
		{404, 20404, ""},
		{404, 0, models.CarrierAccount}, // not the carrier's own answer
		{409, 20009, models.CarrierContent},
		{401, 20003, models.CarrierAccount},
		{429, 20429, models.CarrierRetry},
		{503, 0, models.CarrierRetry},
	} {
		c, _ := deleting(t, map[string]func(w http.ResponseWriter){"DELETE " + message + ".json": refusing(answer.status, answer.code)})
		err := c.Delete(t.Context(), "SM1", false)
		if answer.class == "" {
			require.NoError(t, err)
			continue
		}
		var refused *models.CarrierError
		require.ErrorAs(t, err, &refused, answer)
		require.Equal(t, answer.class, refused.Class, answer)
	}
}
