package starter

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

// TestWebhookIsTold adds a webhook by the API and enrols a person: the receiver gets
// the event, signed with the secret that was shown.
func TestWebhookIsTold(t *testing.T) {
	type post struct {
		header http.Header
		body   string
	}
	posts := make(chan post, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posts <- post{r.Header, string(body)}
	}))
	t.Cleanup(receiver.Close)
	at, err := netip.ParseAddrPort(strings.TrimPrefix(receiver.URL, "http://"))
	require.NoError(t, err)
	h, _ := startWithStore(t, func(c *Config) { c.WebAllow = []netip.AddrPort{at} })
	created := h.do(call{method: "POST", path: webhooksPath, body: `{"url":"` + receiver.URL + `","events":["participant.enrolled"]}`})
	require.Equal(t, http.StatusCreated, created.status, created.raw)
	hook := result[models.Webhook](t, created)
	require.Equal(t, webhooksPath+"/"+hook.ID, created.header.Get("Location"))
	ann := h.ann()
	got := <-posts
	require.Contains(t, got.body, `"participant_id":"`+ann.ID+`"`)
	require.NotContains(t, got.body, ann.Name)
	checker, err := standardwebhooks.NewWebhook(hook.NewSecret)
	require.NoError(t, err)
	require.NoError(t, checker.VerifyIgnoringTimestamp([]byte(got.body), got.header))

	require.Equal(t, http.StatusOK, h.do(call{method: "POST", path: webhooksPath + "/" + hook.ID + "/test"}).status)
	require.Contains(t, (<-posts).body, models.WebhookTest)
	replayed := h.do(call{method: "POST", path: webhooksPath + "/" + hook.ID + "/replay", body: `{"since":"2020-01-01T00:00:00Z"}`})
	require.EqualValues(t, 2, result[api.WebhookReplayed](t, replayed).Events)
	// Only the events of one participant have an order, and the test event has none.
	again := []string{(<-posts).header.Get("webhook-id"), (<-posts).header.Get("webhook-id")}
	require.Contains(t, again, got.header.Get("webhook-id"), "the same id as before")
}

func TestWebhookRoutes(t *testing.T) {
	h, _ := startWithStore(t, nil)
	for body, message := range map[string]string{
		`{}`:                              "url: is required",
		`{"url":"http://example.org"}`:    "url: must begin with https://",
		`{"url":"https://a:b@x.example"}`: "url: must be an address",
		`{"url":"https://x.example","events":["message.read"]}`: `"message.read" is no type of events`,
		`{"url":"https://x.example","study_id":"none"}`:         `study_id: no study "none"`,
	} {
		h.refused(call{method: "POST", path: webhooksPath, body: body}, http.StatusBadRequest, message)
	}
	first := result[models.Webhook](t, h.do(call{method: "POST", path: webhooksPath, body: `{"url":"https://x.example/a"}`}))
	path := webhooksPath + "/" + first.ID
	shown := h.do(call{method: "GET", path: path})
	require.Equal(t, `"1"`, shown.header.Get("ETag"))
	require.NotContains(t, shown.raw, "whsec")

	stale := map[string]string{"If-Match": `"7"`}
	h.refused(call{method: "PUT", path: path, body: `{"state":"disabled"}`, header: stale}, http.StatusPreconditionFailed, "")
	changed := result[models.Webhook](t, h.do(call{method: "PUT", path: path, body: `{"state":"disabled","rotate_secret":true}`}))
	require.Equal(t, models.WebhookDisabled, changed.State)
	require.NotEqual(t, first.NewSecret, changed.NewSecret)
	require.Len(t, result[api.WebhookList](t, h.do(call{method: "GET", path: webhooksPath})).Webhooks, 1)

	for range 3 {
		h.do(call{method: "POST", path: path + "/test"})
	}
	page := result[api.WebhookDeliveryPage](t, h.do(call{method: "GET", path: path + "/deliveries?open=true&limit=2"}))
	require.Len(t, page.Deliveries, 2)
	require.NotNil(t, page.NextCursor)
	page = result[api.WebhookDeliveryPage](t, h.do(call{method: "GET", path: path + "/deliveries?limit=2&cursor=" + *page.NextCursor}))
	require.Len(t, page.Deliveries, 1)
	require.Nil(t, page.NextCursor)
	h.refused(call{method: "POST", path: path + "/replay", body: `{"since":"2999-01-01T00:00:00Z"}`}, http.StatusBadRequest, "since: must not be in the future")

	require.Equal(t, http.StatusOK, h.do(call{method: "DELETE", path: path}).status)
	for _, gone := range []call{{method: "GET", path: path}, {method: "DELETE", path: path}, {method: "POST", path: path + "/test"}, {method: "GET", path: path + "/deliveries"}} {
		h.refused(gone, http.StatusNotFound, "webhook not found")
	}
}
