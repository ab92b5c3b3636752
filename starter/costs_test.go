package starter

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
)

func TestCostRoutes(t *testing.T) {
	list := priceList(t)
	h, rows := startWithStore(t, func(cfg *Config) { cfg.Prices = list })
	ann := h.ann()
	_, err := rows.Inbound.AcceptInbound(t.Context(), models.Inbound{ProviderSID: "SM1", From: ann.Phone, To: ourNumber, Body: "hello", ReceivedAt: testNow})
	require.NoError(t, err)
	require.NoError(t, rows.Costs.RecordCosts(t.Context(), list))

	row := models.CostRow{Key: ann.ID, Name: ann.Name, Calls: 1, SegmentsIn: 1, Micros: 20_000}
	costs := result[api.Costs](t, h.do(call{method: "GET", path: costsPath + "?by=person"}))
	require.Equal(t, api.Costs{
		From: "2026-11-01", Until: "2026-11-24", By: "person", Currency: "USD", Rows: []models.CostRow{row},
		Total: models.CostRow{Calls: 1, SegmentsIn: 1, Micros: 20_000},
	}, costs)
	costs = result[api.Costs](t, h.do(call{method: "GET", path: costsPath + "?from=2026-11-25&until=2026-11-26"}))
	require.Empty(t, costs.Rows)
	h.refused(call{method: "GET", path: costsPath + "?from=2026-11-25"}, http.StatusBadRequest, "until: must not be before from")
	h.refused(call{method: "GET", path: costsPath + "?by=phone"}, http.StatusBadRequest, "by")

	set := h.do(call{method: "PUT", path: budgetsPath, body: `{"period":"month","micros":25000000}`})
	require.Equal(t, http.StatusOK, set.status, set.raw)
	budget := result[models.Budget](t, set)
	require.Equal(t, int64(80), budget.WarnPercent)
	require.Equal(t, int64(20_000), budget.Spent)
	require.Equal(t, models.BudgetOpen, budget.State)
	h.do(call{method: "PUT", path: budgetsPath, body: `{"scope":"participant","participant_id":"` + ann.ID + `","period":"day","micros":1}`})
	budgets := result[api.BudgetList](t, h.do(call{method: "GET", path: budgetsPath}))
	require.Len(t, budgets.Budgets, 2)
	require.Equal(t, budget.ID, budgets.Budgets[0].ID)
	for body, message := range map[string]string{
		`{"period":"year","micros":1}`:                      "period",
		`{"period":"day","micros":0}`:                       "micros",
		`{"period":"day","micros":1,"scope":"participant"}`: "participant_id: is required",
		`{"period":"day","micros":1,"participant_id":"p1"}`: "participant_id: must be empty",
		`{"period":"day","micros":1,"warn_percent":101}`:    "warn_percent",
	} {
		h.refused(call{method: "PUT", path: budgetsPath, body: body}, http.StatusBadRequest, message)
	}
	h.refused(call{method: "PUT", path: budgetsPath, body: `{"scope":"participant","participant_id":"px","period":"day","micros":1}`}, http.StatusNotFound, "participant not found")
	require.Equal(t, http.StatusOK, h.do(call{method: "DELETE", path: budgetsPath + "/1"}).status)
	h.refused(call{method: "DELETE", path: budgetsPath + "/1"}, http.StatusNotFound, "budget not found")
}

func TestNoBudgetWithoutPrices(t *testing.T) {
	h, _ := startWithStore(t, nil)
	h.refused(call{method: "PUT", path: budgetsPath, body: `{"period":"day","micros":1}`}, http.StatusBadRequest, "micros: no prices are configured")
}
