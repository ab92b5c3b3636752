package twilio

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/llm"
	"coachline/internal/sms"
	"coachline/models"
)

func TestTheProductsCarrierClient(t *testing.T) {
	a := newApp(t, nil)
	b := start(t, config(a))
	client, err := sms.New(sms.Config{
		AccountSID: testSID, AuthToken: testToken, From: coachPhone, BaseURL: b.URL,
		StatusCallbackURL: a.URL + "/twilio/status", Timeout: 200 * time.Millisecond,
	})
	require.NoError(t, err)
	text := models.SMS{OutboxID: "conv_1-t1-p1", To: ada, Body: "hello", ValidFor: time.Hour}

	receipt, err := client.Send(context.Background(), text)
	require.NoError(t, err)
	list, err := client.Find(context.Background(), text, time.Minute)
	require.NoError(t, err)
	require.Len(t, list.Matches, 1)
	require.Equal(t, receipt.ProviderSID, list.Matches[0].ProviderSID)
	require.True(t, a.wait(t, 3)[0].signed)

	var refused *models.CarrierError
	b.arm(t, map[string]any{"target": "carrier", "kind": "timeout_after_accept"})
	text.Body = "taken, and never answered"
	_, err = client.Send(context.Background(), text)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, models.CarrierAmbiguous, refused.Class)
	list, err = client.Find(context.Background(), text, time.Minute)
	require.NoError(t, err)
	require.Len(t, list.Matches, 1, "it was taken")

	b.arm(t, map[string]any{"target": "carrier", "kind": "http", "status": 429, "code": 20429, "retry_after": 7})
	_, err = client.Send(context.Background(), text)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, models.CarrierRetry, refused.Class)

	text.To = "+15005550004"
	_, err = client.Send(context.Background(), text)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, models.CarrierConsent, refused.Class)

	b.text(t, ada, "hi there")
	inbound := func() url.Values {
		for _, h := range a.wait(t, 7) {
			if h.path == "/twilio/inbound" {
				return h.form
			}
		}
		return nil
	}()
	parsed, err := sms.ParseInbound(inbound, testSID)
	require.NoError(t, err)
	require.Equal(t, "hi there", parsed.Body)
	require.Equal(t, ada, parsed.From)
}

func TestTheProductsModelClient(t *testing.T) {
	b := start(t, config(nil))
	client, err := llm.New(llm.Config{BaseURL: b.URL + "/v1", Keys: []string{"key"}, Timeout: 5 * time.Second})
	require.NoError(t, err)
	ask := models.ChatRequest{
		Model:    "any",
		Messages: []models.ChatMessage{{Role: "system", Content: system}, {Role: "user", Content: "text and tool"}},
		Tools:    []models.ToolSpec{{Name: "scheduler", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
	answer, err := client.Complete(context.Background(), ask)
	require.NoError(t, err)
	require.Equal(t, "Done, I deleted that schedule.", answer.Text)
	require.Len(t, answer.Calls, 1)
	require.Equal(t, "script", answer.Model)

	var refused *models.ModelError
	b.arm(t, map[string]any{"target": "model", "kind": "http", "status": 429, "retry_after": 3})
	_, err = client.Complete(context.Background(), ask)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, models.ModelBusy, refused.Class)
	require.InDelta(t, 3*time.Second, refused.RetryAfter, float64(time.Second), "less what passed since")

	b.arm(t, map[string]any{"target": "model", "kind": "malformed"})
	_, err = client.Complete(context.Background(), ask)
	require.ErrorAs(t, err, &refused)
}
