package starter

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// A crisis is found by a rule before the model: a fixed text, a page, and a
// person who has to end it.
func TestCrisisIsEscalated(t *testing.T) {
	var log strings.Builder
	h, rows := withStore(t, store.InboundLimits{}, &log)
	ann := h.ann()
	require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(1, herNumber, "i wanna kil my self tonight")).status)
	require.Eventually(t, func() bool { return len(h.engine.seen()) >= 3 }, 5*time.Second, 10*time.Millisecond)
	view := result[api.Participant](t, h.do(call{method: "GET", path: participantsPath + "/" + ann.ID}))
	require.Equal(t, wire.AttentionCrisis, view.Attention)
	open := result[api.AttentionPage](t, h.do(call{method: "GET", path: "/attention?kind=crisis"}))
	require.Equal(t, []api.Attention{{ParticipantID: ann.ID, Name: ann.Name, Kind: wire.AttentionCrisis, Since: *view.AttentionAt, Ref: "1", Code: "self_harm"}}, open.Attention)
	require.Empty(t, result[api.AttentionPage](t, h.do(call{method: "GET", path: "/attention?kind=send"})).Attention)
	h.refused(call{method: "GET", path: "/attention?kind=mood"}, http.StatusBadRequest, "kind: must be one of")
	page := result[api.ParticipantPage](t, h.do(call{method: "GET", path: participantsPath + "?attention=crisis"}))
	require.Len(t, page.Participants, 1)
	h.refused(call{method: "GET", path: participantsPath + "?attention=mood"}, http.StatusBadRequest, "attention: must be one of: crisis")

	path := participantsPath + "/" + ann.ID + "/attention"
	h.refused(call{method: "POST", path: path, body: `{"clear":false}`}, http.StatusBadRequest, "clear: must be one of: true")
	h.refused(call{method: "POST", path: participantsPath + "/nobody/attention", body: `{"clear":true}`}, http.StatusNotFound, "participant not found")
	cleared := result[api.AttentionCleared](t, h.do(call{method: "POST", path: path, body: `{"clear":true,"note":"called her sister"}`}))
	require.Equal(t, api.AttentionCleared{ID: ann.ID, Version: view.Version + 1}, cleared)
	require.Empty(t, result[api.ParticipantPage](t, h.do(call{method: "GET", path: participantsPath + "?attention=crisis"})).Participants)

	h.stop()
	require.Equal(t, []string{"activity:SendSafetyText", "activity:SendPage"}, h.engine.seen()[1:], "the workflow was started by the enrolment and hears of no text")
	require.Empty(t, h.signalled(ann.ID))
	kept, err := rows.Alerts.Alert(t.Context(), "alarm-1")
	require.NoError(t, err)
	require.NotNil(t, kept.ToldAt)
	require.Equal(t, "called her sister", kept.Note)
	require.Contains(t, log.String(), "a text may be a crisis")
	for _, secret := range []string{"kil my", herNumber, "sister"} {
		require.NotContains(t, log.String(), secret)
	}
}

// What operators should look at comes page by page, and one call ends all of a
// participant's.
func TestAttentionIsListed(t *testing.T) {
	h, rows := withStore(t, store.InboundLimits{}, io.Discard)
	ann := h.ann()
	for n, kind := range wire.Attentions() {
		_, err := rows.Attention.RaiseAttention(t.Context(), models.AttentionEntry{ParticipantID: ann.ID, Kind: kind, Code: "c", RaisedAt: testNow.Add(time.Duration(n) * time.Minute)})
		require.NoError(t, err)
	}
	var seen []wire.Attention
	path := "/attention?limit=2"
	for {
		page := result[api.AttentionPage](t, h.do(call{method: "GET", path: path}))
		for _, entry := range page.Attention {
			seen = append(seen, entry.Kind)
		}
		if page.NextCursor == nil {
			break
		}
		path = "/attention?limit=2&cursor=" + *page.NextCursor
	}
	require.Equal(t, wire.Attentions(), seen)
	h.do(call{method: "POST", path: participantsPath + "/" + ann.ID + "/attention", body: `{"clear":true}`})
	page := result[api.AttentionPage](t, h.do(call{method: "GET", path: "/attention"}))
	require.Empty(t, page.Attention)
	require.Nil(t, page.NextCursor)
}
