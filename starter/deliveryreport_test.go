package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

func TestDeliveryRoute(t *testing.T) {
	h := startWithAccess(t, nil)
	read := call{method: "GET", path: deliveryPath}
	report := result[api.DeliveryReport](t, h.do(read))
	require.Len(t, report.Days, 7)
	require.Equal(t, []string{"2026-11-18", "2026-11-24"}, []string{report.Days[0].Day, report.Days[6].Day})
	require.Equal(t, []any{0, 0, 0}, []any{len(report.Failures), report.Prompts.Prompts, report.Unknown.Texts})
	require.Len(t, result[api.DeliveryReport](t, h.do(call{method: "GET", path: deliveryPath + "?days=90"})).Days, 90)
	h.refused(call{method: "GET", path: deliveryPath + "?days=0"}, http.StatusBadRequest, "days")
	h.refused(call{method: "GET", path: deliveryPath + "?days=91"}, http.StatusBadRequest, "days")
	_, secret := h.token(auth.AgendaRead)
	h.refused(withToken(read, secret), http.StatusForbidden, "permission delivery:read is needed")
	_, secret = h.token(auth.DeliveryRead)
	require.Equal(t, http.StatusOK, h.do(withToken(read, secret)).status)
}

func TestDeliverySums(t *testing.T) {
	from := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	rows := models.DeliveryReport{
		Groups: []models.DeliveryGroup{
			{Day: "2026-11-23", Sender: "+12025550100", Status: wire.OutboxDelivered, Texts: 5, Segments: 7, Uncounted: 1},
			{Day: "2026-11-23", Sender: "+12025550100", Status: wire.OutboxFailed, Code: "30007", Texts: 1, Segments: 1, Newest: 100},
			{Day: "2026-11-24", Sender: "MG1", Status: wire.OutboxUndelivered, Code: "30007", Texts: 1, Segments: 1, Newest: 200},
			{Day: "2026-11-24", Sender: "MG1", Status: wire.OutboxUndelivered, Code: "12345", Texts: 3, Segments: 3, Newest: 50},
			{Day: "2026-11-24", Status: wire.OutboxUnknown, Texts: 2, Segments: 2, Newest: 90, Oldest: 30},
		},
		Inbound:  []models.InboundDay{{Day: "2026-11-24", Texts: 4}},
		Lateness: []time.Duration{10 * time.Minute, 0, time.Second, 5 * time.Minute},
	}
	require.Equal(t, []api.DeliveryDay{
		{Day: "2026-11-23", Out: 6, Segments: 8, Uncounted: 1, Delivered: 5, Failed: 1},
		{Day: "2026-11-24", In: 4, Out: 6, Segments: 6, Failed: 4},
	}, toDeliveryDays(rows, from, 2))
	require.Equal(t, []api.DeliverySender{
		{Sender: "", Out: 2, Segments: 2}, {Sender: "+12025550100", Out: 6, Segments: 8, Delivered: 5, Failed: 1}, {Sender: "MG1", Out: 4, Segments: 4, Failed: 4},
	}, toDeliverySenders(rows.Groups))
	failures := toDeliveryFailures(rows.Groups)
	require.Len(t, failures, 2)
	require.Equal(t, []any{"12345", "", 3}, []any{failures[0].Code, failures[0].Meaning, failures[0].Texts})
	require.Equal(t, []any{"30007", "filtered by the carrier", 2, time.Unix(200, 0).UTC()},
		[]any{failures[1].Code, failures[1].Meaning, failures[1].Texts, failures[1].NewestAt})
	require.NotEmpty(t, failures[1].NextStep)
	oldest := time.Unix(30, 0).UTC()
	require.Equal(t, api.UnknownSends{Texts: 2, OldestAt: &oldest}, toUnknownSends(rows.Groups))
	require.Equal(t, api.PromptLateness{Prompts: 4, MedianSeconds: 1, P95Seconds: 600, Late: 1}, toPromptLateness(rows))
}
