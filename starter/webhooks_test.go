package starter

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"coachline/models"
	"coachline/models/wire"
)

func TestInbound(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	got := h.text(sid(1), "Hello")
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.Equal(t, "text/xml", got.header.Get("Content-Type"))
	require.Equal(t, `<?xml version="1.0" encoding="UTF-8"?><Response></Response>`, got.raw)
	require.Equal(t, got.raw, h.text(sid(1), "Hello").raw)
	h.stop() // waits for the deliveries
	require.Equal(t, []string{"start", "signal"}, h.engine.seen())
	require.Equal(t, wire.InboxItem{MessageID: 1, Seq: 1, ReceivedAt: testNow, Notice: 2, Shape: wire.ShapeOpen}, h.engine.signals[0])
	require.Equal(t, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, h.engine.starts[1].WorkflowIDReusePolicy)
	require.Equal(t, ann.ID, h.engine.states[1].ParticipantID)
	require.True(t, h.engine.states[1].Greeted)
	require.Zero(t, h.undelivered())
}

func TestInboundIsScreened(t *testing.T) {
	for _, tc := range []struct {
		name, body, carrier string
		intent              models.Intent
		method              models.ConsentMethod
		told                string
	}{
		{"keyword", "Stop!", "", models.IntentStop, models.MethodKeyword, "update:UpdateParticipant"},
		{"wording", "please stop texting me", "", models.IntentStop, models.MethodPhrase, "update:UpdateParticipant"},
		{"the carrier's word", "arret", "STOP", models.IntentStop, models.MethodCarrier, "update:UpdateParticipant"},
		{"help", "HELP", "", models.IntentHelp, models.MethodKeyword, "update:UpdateParticipant"},
		{"start", "START", "START", models.IntentStart, models.MethodCarrier, "signal"},
		{"yes", "yes", "", models.IntentYes, models.MethodKeyword, "signal"},
		{"ordinary", "I want to stop smoking", "", models.IntentNone, "", "signal"},
		{"unknown finding", "hello", "MAYBE", models.IntentNone, "", "signal"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := start(t, nil)
			h.ann()
			form := url.Values{"MessageSid": {sid(1)}, "AccountSid": {testAccount}, "From": {herNumber}, "To": {ourNumber}, "Body": {tc.body}, "NumMedia": {"0"}}
			if tc.carrier != "" {
				form.Set("OptOutType", tc.carrier)
			}
			got := h.webhook(inboundPath, form)
			require.Equal(t, http.StatusOK, got.status, got.raw)
			require.Equal(t, emptyTwiML, got.raw, "the confirmation is not in the answer")
			h.stop()
			row := listRows[models.Inbound](h, "id")[0]
			require.Equal(t, tc.intent, row.Intent)
			require.Equal(t, tc.method, row.IntentMethod)
			require.Equal(t, []string{"start", tc.told}, h.engine.seen())
		})
	}
}

func TestInboundFromStranger(t *testing.T) {
	h := start(t, nil)
	require.Equal(t, http.StatusOK, h.text(sid(1), "Who is this?").status)
	h.stop()
	require.Len(t, listRows[models.Inbound](h, "id"), 1)
	require.Empty(t, h.engine.seen())
}

// The carrier is answered although Temporal hangs; stopping gives up on it.
func TestInboundWhileDeliveryHangs(t *testing.T) {
	h := start(t, nil)
	h.ann()
	hanging := make(chan struct{})
	release := make(chan struct{})
	h.engine.fail(func(context.Context, string) error {
		close(hanging)
		<-release
		return errDown
	})
	require.Equal(t, http.StatusOK, h.text(sid(1), "Hello").status)
	<-hanging
	require.Equal(t, http.StatusOK, h.text(sid(1), "Hello").status)
	h.engine.fail(nil)
	require.Equal(t, http.StatusOK, h.text(sid(2), "Are you there?").status)
	close(release)
	h.stop()
	require.Zero(t, h.undelivered(), "the second job found what the first one left")
	require.Equal(t, []int64{1, 1, 2}, []int64{h.engine.signals[0].Seq, h.engine.signals[0].Seq, h.engine.signals[2].Seq})
}

func TestWebhookRefuses(t *testing.T) {
	h := start(t, nil)
	good := url.Values{"MessageSid": {sid(1)}, "AccountSid": {testAccount}, "From": {herNumber}, "To": {ourNumber}, "Body": {"Hi"}, "NumMedia": {"0"}}
	change := func(name, value string) string {
		form := url.Values{}
		for k, v := range good {
			form[k] = v
		}
		form.Set(name, value)
		return form.Encode()
	}
	header := func(kind, signature string) map[string]string {
		return map[string]string{"Content-Type": kind, "X-Twilio-Signature": signature, "Authorization": ""}
	}
	for _, tc := range []struct {
		name, body, kind, signature string
		status                      int
		want                        string
	}{
		{"no signature", good.Encode(), formType, "", http.StatusForbidden, "X-Twilio-Signature"},
		{"bad signature", good.Encode(), formType, "bad", http.StatusForbidden, "X-Twilio-Signature"},
		{"JSON", `{}`, "application/json", "good", http.StatusUnsupportedMediaType, "Content-Type"},
		{"no type", good.Encode(), "", "good", http.StatusUnsupportedMediaType, "Content-Type"},
		{"too large", change("Body", strings.Repeat("x", maxCallbackBody)), formType, "good", http.StatusRequestEntityTooLarge, "body: larger"},
		{"not a form", "a=%zz", formType, "good", http.StatusBadRequest, "body: not a valid form"},
		{"other account", change("AccountSid", "AC9"), formType, "good", http.StatusBadRequest, "AccountSid"},
		{"other number", change("To", "+15550000000"), formType, "good", http.StatusBadRequest, "To: not a number"},
		{"bad id", change("MessageSid", "x"), formType, "good", http.StatusBadRequest, "MessageSid"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h.t = t
			got := h.call(call{method: "POST", path: inboundPath, body: tc.body, header: header(tc.kind, tc.signature)})
			h.requireRefused(got, tc.status, tc.want)
		})
	}
	h.t = t
	require.Empty(t, listRows[models.Inbound](h, "id"))
	for _, path := range []string{inboundPath, statusPath} {
		got := h.refused(call{method: "GET", path: path}, http.StatusMethodNotAllowed, "method")
		require.Equal(t, "POST", got.header.Get("Allow"))
	}
	h.faults.fail(errDown)
	h.refused(call{method: "POST", path: inboundPath, body: good.Encode(), header: header(formType, "good")}, http.StatusServiceUnavailable, "not stored")
}

func TestMessagingServiceIsOurs(t *testing.T) {
	h := start(t, func(c *Config) { c.Carrier.OurNumbers, c.Carrier.MessagingServiceSID = nil, "MG1" })
	form := url.Values{"MessageSid": {sid(1)}, "AccountSid": {testAccount}, "From": {herNumber}, "To": {ourNumber}, "Body": {""}, "NumMedia": {"0"}, "MessagingServiceSid": {"MG2"}}
	require.Equal(t, http.StatusBadRequest, h.webhook(inboundPath, form).status)
	form.Set("MessagingServiceSid", "MG1")
	require.Equal(t, http.StatusOK, h.webhook(inboundPath, form).status)
}

func TestStatus(t *testing.T) {
	h := start(t, nil)
	ann := h.ann()
	for n := byte(1); n <= 2; n++ {
		h.addRows(&models.Outbox{ID: fmt.Sprint("conv_1-t1-p", n), ParticipantID: ann.ID, Body: "Hi", Status: wire.OutboxSent, ProviderSID: sid(n), CreatedAt: testNow, AcceptedAt: &testNow})
	}
	form := url.Values{"MessageSid": {sid(1)}, "AccountSid": {testAccount}, "MessageStatus": {"undelivered"}, "ErrorCode": {"30003"}}
	got := h.webhook(statusPath+"?outbox=conv_1-t1-p1", form)
	require.Equal(t, http.StatusOK, got.status, got.raw)
	require.Equal(t, emptyTwiML, got.raw)
	row, err := h.rows.Outbox.Row(t.Context(), "conv_1-t1-p1")
	require.NoError(t, err)
	require.Equal(t, []any{wire.OutboxUndelivered, "30003"}, []any{row.Status, row.ErrorCode})
	form.Set("MessageSid", sid(9))
	require.Equal(t, http.StatusOK, h.webhook(statusPath, form).status, "unknown texts are taken")
	blocked := url.Values{"MessageSid": {sid(2)}, "AccountSid": {testAccount}, "MessageStatus": {"failed"}, "ErrorCode": {"21610"}}
	require.Equal(t, http.StatusOK, h.webhook(statusPath, blocked).status)
	out, err := h.rows.People.Participant(t.Context(), ann.ID)
	require.NoError(t, err)
	require.Equal(t, wire.StatusOptedOut, out.Status)
	form.Set("MessageSid", sid(1))
	form.Set("MessageStatus", "teleported")
	require.Equal(t, http.StatusOK, h.webhook(statusPath, form).status, "unknown words are taken")
	same, err := h.rows.Outbox.Row(t.Context(), "conv_1-t1-p1")
	require.NoError(t, err)
	require.Equal(t, row, same)
	form.Set("AccountSid", "AC9")
	require.Equal(t, http.StatusBadRequest, h.webhook(statusPath, form).status)
	form.Set("AccountSid", testAccount)
	form.Set("MessageStatus", "delivered")
	h.faults.fail(errDown)
	require.Equal(t, http.StatusServiceUnavailable, h.webhook(statusPath, form).status)
}
