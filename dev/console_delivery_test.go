package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/browsertest"
)

// useDelivery shows a text that the carrier refused, with what its code
// means and what to do, and the people whom that concerns.
func useDelivery(t *testing.T, browser *browsertest.Browser, r *running) {
	p := browser.Open(t, r.table["Console"], browsertest.View{})
	p.Click("link", "Delivery")
	p.ExpectText("No texts failed in these days.")
	p.ExpectText("No prompts were sent in these days.")
	p.ExpectAccessible()

	bob := &person{t: t, number: "+15005550009", r: r} // the simulator's landline
	require.Equal(t, http.StatusCreated, bob.enroll("Bob", "UTC"))
	var report api.Envelope[api.DeliveryReport]
	failed := func() bool {
		getJSON(t, r.table["API"]+"/delivery?days=1", &report)
		return len(report.Result.Failures) == 1
	}
	require.True(t, waits(soon, failed))
	require.Equal(t, "21614", report.Result.Failures[0].Code)
	p.Click("button", "Show")
	p.ExpectText("the number is not a mobile number")
	p.ExpectText("What to do")
	require.NotEmpty(t, report.Result.Failures[0].NextStep)
	p.ExpectText(report.Result.Failures[0].NextStep)
	p.ExpectAccessible()
	sender := report.Result.Senders[0].Sender
	require.NotEmpty(t, sender)
	p.ExpectText("By sender")
	p.Click("link", sender)
	p.ExpectValue("combobox", "Sender", sender)
	p.ExpectText("the number is not a mobile number")
	p.ExpectNoText("\tIn\t")
	p.ExpectAccessible()
	p.Look(browsertest.View{Width: 320, Dark: true})
	p.ExpectNoSideScroll()
	p.ExpectAccessible()
	p.Click("link", "who cannot be reached")
	p.ExpectText("Bob")
}
