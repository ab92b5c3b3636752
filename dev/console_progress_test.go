package main

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/browsertest"
)

// TestConsoleProgress watches a study of sample people, and one with arms that has
// just begun.
func TestConsoleProgress(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	folder := t.TempDir()
	require.NoError(t, run(t.Context(), []string{"seed", "--data", folder, "--people", "400"}, nil, streams{out: &bytes.Buffer{}, err: &bytes.Buffer{}}))
	r := launchIn(t, []string{"COACH_QUIET_HOURS=", "COACH_DEBOUNCE=0"}, "--data", folder)
	p := browser.Open(t, r.table["Console"], browsertest.View{})
	p.Click("link", "Studies")
	p.Click("link", "default")
	p.Click("link", "Progress")
	p.ExpectText("Progress of Default")
	p.ExpectText("400 people are enrolled.")
	p.ExpectText("enrolled (n = 400)")
	for _, title := range []string{"Recruitment", "CONSORT diagram", "Retention", "Response by study day", "Prompts", "Delivery of texts", "Cost", "Alerts"} {
		require.True(t, p.Has("heading", title), title)
	}
	for _, details := range []string{"Recruitment by day", "Figures of the diagram", "Retention by week", "All people: response by day"} {
		p.Click("DisclosureTriangle", details)
	}
	p.ExpectAccessible()
	p.ExpectNoText("conv_sample_") // no person is named
	p.Look(browsertest.View{Width: 320, Dark: true})
	p.ExpectNoSideScroll()
	p.ExpectAccessible()
	p.Look(browsertest.View{})

	study := map[string]any{
		"id": "walk-1", "name": "Walk", "planned": 20, "starts_at": "2026-01-01T00:00:00Z", "ends_at": "2040-01-01T00:00:00Z",
		"settings": map[string]any{"arms": []any{map[string]any{"name": "calm", "weight": 1}, map[string]any{"name": "brisk", "weight": 1}}, "randomisation": map[string]any{"method": "simple"}},
	}
	status, body := send(t, http.MethodPost, r.table["API"]+"/studies", study)
	require.Equal(t, http.StatusCreated, status, body)
	status, body = send(t, http.MethodPut, r.table["API"]+"/studies/walk-1", map[string]any{"state": "recruiting"})
	require.Equal(t, http.StatusOK, status, body)
	status, body = send(t, http.MethodPost, r.table["API"]+"/conversation/participants", map[string]any{"phone_number": ada, "study": "walk-1"})
	require.Equal(t, http.StatusCreated, status, body)
	p.Click("link", "Studies")
	p.Click("link", "walk-1")
	p.Click("link", "Progress")
	p.ExpectText("1 of 20 planned people are enrolled. The dashed line is the plan.")
	p.ExpectText("No person has a week behind them yet.")
	require.True(t, p.Has("heading", "Balance of arms"))
	p.ExpectAccessible()
	p.ExpectNoSideScroll()
}
