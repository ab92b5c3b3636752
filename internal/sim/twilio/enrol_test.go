package twilio

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const apiToken = "a-token-that-no-page-may-see-0123456789"

// participantsAPI stands in for the participants API: it refuses one number and
// enrols every other.
type participantsAPI struct {
	*httptest.Server
	asked         []map[string]any
	authorization []string
}

func newParticipantsAPI(t *testing.T) *participantsAPI {
	t.Helper()
	a := &participantsAPI{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		a.asked, a.authorization = append(a.asked, body), append(a.authorization, r.Header.Get("Authorization"))
		number, _ := body["phone_number"].(string)
		switch {
		case number == "12":
			writeJSON(w, http.StatusBadRequest, map[string]string{"status": "error", "message": "phone_number: not a possible number"})
		case body["timezone"] == "Nowhere":
			writeJSON(w, http.StatusBadRequest, map[string]string{"status": "error", "message": "timezone: unknown zone"})
		default:
			canonical := "+1" + strings.Trim(strings.TrimPrefix(number, "+1"), "() ")
			writeJSON(w, http.StatusCreated, map[string]any{"status": "ok", "message": "The greeting is on its way.",
				"result": map[string]string{"phone_number": canonical}})
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func enrolConfig(api *participantsAPI) Config {
	cfg := config(nil)
	cfg.ParticipantsURL, cfg.APIToken = api.URL+"/conversation/participants", apiToken
	return cfg
}

func TestEnrolAsksTheParticipantsAPI(t *testing.T) {
	api := newParticipantsAPI(t)
	b := start(t, enrolConfig(api))
	code, answer := b.do(t, http.MethodPost, "/sim/participants", map[string]string{"number": "(2025550123", "name": "Ada", "timezone": "Europe/Berlin"})
	require.Equal(t, http.StatusCreated, code)
	require.Equal(t, map[string]any{"number": "+12025550123", "message": "The greeting is on its way."}, answer, "and nothing else, no token")
	want := map[string]any{"phone_number": "(2025550123", "name": "Ada", "timezone": "Europe/Berlin", "signup": true}
	require.Equal(t, want, api.asked[0])
	require.Equal(t, "Bearer "+apiToken, api.authorization[0])
	require.Empty(t, b.screen(t, "+12025550123"))
	_, overview := b.do(t, http.MethodGet, "/sim/phones", nil)
	require.Len(t, overview["phones"], 1, "the person has the phone")
	require.Equal(t, true, overview["enrolment"])

	code, answer = b.do(t, http.MethodPost, "/sim/participants", map[string]string{"number": "12"})
	require.Equal(t, http.StatusBadRequest, code)
	require.Equal(t, map[string]any{"error": "phone_number: not a possible number"}, answer)
	_, overview = b.do(t, http.MethodGet, "/sim/phones", nil)
	require.Len(t, overview["phones"], 1)

	code, answer = b.do(t, http.MethodPost, "/sim/participants", map[string]string{"phone": "12"})
	require.Equal(t, http.StatusBadRequest, code)
	require.Equal(t, "phone", answer["field"])
	require.Len(t, api.asked, 2)

	api.Close()
	code, answer = b.do(t, http.MethodPost, "/sim/participants", map[string]string{"number": ada})
	require.Equal(t, http.StatusBadGateway, code)
	require.Contains(t, answer["error"], "does not answer")
}

func TestEnrolWithoutAnAPI(t *testing.T) {
	b := start(t, config(nil))
	code, answer := b.do(t, http.MethodPost, "/sim/participants", map[string]string{"number": ada})
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, answer["error"], "no address")
	_, overview := b.do(t, http.MethodGet, "/sim/phones", nil)
	require.Equal(t, false, overview["enrolment"])
}

// TestEnrolKnowsTheSite: a page of another site enrols no one.
func TestEnrolKnowsTheSite(t *testing.T) {
	api := newParticipantsAPI(t)
	b := start(t, enrolConfig(api))
	req, err := http.NewRequest(http.MethodPost, b.URL+"/sim/participants", strings.NewReader(`{"number":"+12025550123"}`))
	require.NoError(t, err)
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	require.Empty(t, api.asked)
}
