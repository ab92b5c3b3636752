package starter

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

// TestTagOutlivesWhatChangesByItself: a sign-in, money that is spent, and a prompt
// that goes out change what is read, and refuse no change that was begun before.
func TestTagOutlivesWhatChangesByItself(t *testing.T) {
	list := priceList(t)
	h, rows := startWithStore(t, func(cfg *Config) { cfg.Prices = list })
	ann := h.ann()
	user := result[models.User](t, h.do(call{method: "POST", path: usersPath, body: `{"login":"ida","name":"Ida","role":"coach","password":"correct horse battery"}`}))
	budget := result[models.Budget](t, h.do(call{method: "PUT", path: budgetsPath, body: `{"period":"month","micros":25000000}`}))
	for _, tt := range []struct {
		path, change string
		occur        func() error
	}{
		{usersPath + "/" + user.ID, `{"name":"Ida B"}`, func() error { return rows.Users.NoteLogin(t.Context(), user.ID, testNow) }},
		{fmt.Sprint(budgetsPath, "/", budget.ID), `{"micros":30000000}`, func() error {
			if _, err := rows.Inbound.AcceptInbound(t.Context(), models.Inbound{ProviderSID: "SM1", From: ann.Phone, To: ourNumber, Body: "hello", ReceivedAt: testNow}); err != nil {
				return err
			}
			if err := rows.Costs.RecordCosts(t.Context(), list); err != nil {
				return err
			}
			_, err := rows.Budgets.CheckBudgets(t.Context(), testNow)
			return err
		}},
	} {
		tag := h.do(call{method: "GET", path: tt.path}).header.Get("ETag")
		require.Equal(t, http.StatusNotModified, h.do(call{method: "GET", path: tt.path, header: map[string]string{"If-None-Match": tag}}).status)
		require.NoError(t, tt.occur())
		require.Equal(t, http.StatusOK, h.do(call{method: "GET", path: tt.path, header: map[string]string{"If-None-Match": tag}}).status, "%s: what is read is new", tt.path)

		change := call{method: "PATCH", path: tt.path, body: tt.change, header: map[string]string{"If-Match": tag}}
		got := h.do(change)
		require.Equal(t, http.StatusOK, got.status, got.raw)
		h.refused(change, http.StatusPreconditionFailed, "If-Match: ")
	}

	next := testNow.Add(time.Hour)
	before := api.Schedule{ID: "sch_1", Type: wire.ScheduleFixed, At: "18:00", NextAt: &testNow, TargetAt: &testNow}
	after := before
	after.NextAt, after.TargetAt, after.Held = &next, &next, true
	tag, err := newTag(before)
	require.NoError(t, err)
	require.NoError(t, checkTag(tag, after))
	after.At = "19:00"
	require.ErrorContains(t, checkTag(tag, after), "If-Match")
}
