package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/store"
	"coachline/models"
)

// TestReferralsAreCounted: safety texts of a year by month, country, state and kind; small
// groups are told together, and no id or number is in the report.
func TestReferralsAreCounted(t *testing.T) {
	inboundOnBoth(t, store.InboundLimits{}, func(w *inboundWorld) {
		for i := range 7 {
			id, phone := fmt.Sprintf("p%d", i), fmt.Sprintf("+1212735010%d", i)
			if i == 6 {
				phone = "+4915112345678"
			}
			_, err := w.People.Enroll(w.ctx, models.Participant{ID: id, Phone: phone, Timezone: "UTC", EnrolledAt: inboundAt(0)}, "kim")
			require.NoError(w.t, err)
			_, err = w.Inbound.AcceptInbound(w.ctx, models.Inbound{ProviderSID: "SM" + id, From: phone, Body: "I want to kill myself", ReceivedAt: inboundAt(i)})
			require.NoError(w.t, err)
		}
		year, month := inboundAt(0).Year(), inboundAt(0).UTC().Format("2006-01")
		report, err := w.Reports.Referrals(w.ctx, year)
		require.NoError(w.t, err)
		require.Equal(w.t, models.ReferralReport{
			Year: year, Total: 7, InSmallGroups: 1,
			Groups: []models.ReferralGroup{{Referral: models.Referral{Month: month, Country: "US", State: "NY", Kind: models.SafetyOneself}, Count: 6}},
		}, report)
		before, err := w.Reports.Referrals(w.ctx, year-1)
		require.NoError(w.t, err)
		require.Zero(w.t, before.Total)
	})
}
