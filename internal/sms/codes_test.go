package sms

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
	"coachline/models/wire"
)

// TestEveryDocumentedCode repeats the classes of the carrier's codes by hand, so
// that neither a lost nor a moved code goes unnoticed.
func TestEveryDocumentedCode(t *testing.T) {
	table := map[models.CarrierClass][]int{
		models.CarrierRetry:        {20429},
		models.CarrierSlowDown:     {14107, 21611, 30001, 30017, 30022, 63017, 63018, 30410, 30047},
		models.CarrierWindow:       {30023, 30027, 63038},
		models.CarrierRetryOnce:    {30003, 30008},
		models.CarrierConsent:      {21610},
		models.CarrierBadNumber:    {21211, 21614, 21635, 30005, 30006, 21612, 30011},
		models.CarrierBlocked:      {30004, 30007},
		models.CarrierRegistration: {30032, 30034, 30024, 30018},
		models.CarrierContent:      {21617, 21620, 21623, 30019, 30010},
		models.CarrierAccount:      {20003, 21212, 21408, 21603, 21606, 21608, 21703, 21704, 21705, 30002},
		models.CarrierStale:        {30036, 30610},
	}
	ours := map[int]bool{20404: true, 21222: true, 21224: true} // answers about the account, not in the table
	documented := 0
	for class, list := range table {
		for _, code := range list {
			documented++
			for _, status := range []int{0, 400, 429, 500} {
				got := byCode(code, status)
				require.Equal(t, class, got.Class, "%d with status %d", code, status)
				require.Equal(t, strconv.Itoa(code), got.Code)
				require.NotEmpty(t, got.Message)
			}
		}
	}
	require.Len(t, codes, documented+len(ours))
	for code := range ours {
		require.Equal(t, models.CarrierAccount, byCode(code, 400).Class)
	}
}

// TestNextStep: people are told what to do about every class.
func TestNextStep(t *testing.T) {
	told := map[string]bool{}
	for code, known := range codes {
		next := NextStep(strconv.Itoa(code))
		require.NotEmpty(t, next, "%d, %s", code, known.class)
		told[next] = true
	}
	require.Len(t, told, 11, "each class has a step of its own")
	require.Contains(t, NextStep("99999"), "Look the code up")
	require.Empty(t, NextStep("opted_out"), "not of the carrier")
}

func TestParseStatus(t *testing.T) {
	for _, test := range []struct {
		in   string
		want wire.OutboxStatus
		ok   bool
	}{
		{"accepted", wire.OutboxAccepted, true},
		{"scheduled", wire.OutboxAccepted, true},
		{"queued", wire.OutboxQueued, true},
		{"sending", wire.OutboxQueued, true},
		{"sent", wire.OutboxSent, true},
		{"partially_delivered", wire.OutboxSent, true},
		{"delivered", wire.OutboxDelivered, true},
		{"undelivered", wire.OutboxUndelivered, true},
		{"failed", wire.OutboxFailed, true},
		{"read", wire.OutboxRead, true},
		{"canceled", wire.OutboxCanceled, true},
		{"receiving", "", false},
		{"received", "", false},
		{"Delivered", "", false},
		{"ready", "", false},
		{"", "", false},
	} {
		got, ok := ParseStatus(test.in)
		require.Equal(t, test.want, got, test.in)
		require.Equal(t, test.ok, ok, test.in)
	}
}
