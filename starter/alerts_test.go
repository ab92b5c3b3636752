package starter

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

// Every alert says what raised it. What operators say of one exports as lines of
// a sheet, without numbers and addresses.
func TestAlertsAreMarkedAndExported(t *testing.T) {
	h, rows := withStore(t, store.InboundLimits{}, io.Discard)
	ann := h.ann()
	for n, body := range []string{"i wanna kil my self tonight, call me on +1 555 867 5310", "i feel worthless", "hello"} {
		require.Equal(t, http.StatusOK, h.webhook(inboundPath, inboundForm(n+1, herNumber, body)).status)
	}
	list := func(query string) api.AlertPage {
		return result[api.AlertPage](t, h.do(call{method: "GET", path: "/alerts" + query}))
	}
	first := list("?limit=1")
	require.Len(t, first.Alerts, 1)
	require.NotNil(t, first.NextCursor)
	require.Equal(t, "alarm-2", first.Alerts[0].ID)
	require.True(t, first.Alerts[0].Escalated, "the second sign of a day")
	second := list("?limit=1&cursor=" + *first.NextCursor).Alerts
	require.Equal(t, "alarm-1", second[0].ID)
	require.Equal(t, []any{ann.ID, models.DangerSelfHarm, "A", "direct", true}, []any{second[0].ParticipantID, second[0].Danger, second[0].Tier, second[0].Kind, second[0].Answer})
	require.NotEmpty(t, second[0].Rule)

	mark := func(id, value string) call {
		return call{method: "POST", path: "/alerts/" + id + "/mark", body: `{"mark":"` + value + `"}`}
	}
	h.refused(mark("alarm-1", "maybe"), http.StatusBadRequest, "mark: must be one of")
	h.refused(mark("alarm-9", "right"), http.StatusNotFound, "alert not found")
	require.Equal(t, models.MarkRight, result[models.Alert](t, h.do(mark("alarm-1", "right"))).Mark)
	view := result[models.Alert](t, h.do(mark("alarm-2", "right")))
	require.Equal(t, auth.Operator, view.MarkedBy)
	require.Equal(t, view, result[models.Alert](t, h.do(mark("alarm-2", "right"))), "repeated")
	require.Empty(t, list("?unmarked=true").Alerts)
	h.do(mark("alarm-2", "wrong"))

	sheet := result[api.Sheet](t, h.do(call{method: "GET", path: "/alerts/sheet"}))
	require.Len(t, sheet.Lines, 2)
	require.Equal(t, []string{"en", "crisis", "direct"}, []string{sheet.Lines[0].Language, sheet.Lines[0].Sheet, sheet.Lines[0].Kind})
	require.Contains(t, sheet.Lines[0].Text, "i wanna kil my self tonight")
	require.NotContains(t, sheet.Lines[0].Text, "867")
	require.Equal(t, api.SheetLine{Language: "en", Sheet: "negative", Kind: "passive", Text: "i feel worthless"}, sheet.Lines[1])

	row, err := rows.Alerts.Alert(t.Context(), "alarm-2")
	require.NoError(t, err)
	require.Equal(t, models.MarkWrong, row.Mark, "the newest mark counts")
}
