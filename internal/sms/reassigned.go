package sms

import (
	"context"
	"time"

	twilio "github.com/twilio/twilio-go/client"
	lookups "github.com/twilio/twilio-go/rest/lookups/v2"
)

// IsReassigned asks the carrier whether a number has gone to another person since a day on
// which it was the person's. It knows numbers of the United States. Errors are
// *models.CarrierError; an answer without a verdict is no. Each call costs money.
func (c *Client) IsReassigned(ctx context.Context, phone string, since time.Time) (bool, error) {
	call, cancel := c.beginCall(ctx, nil)
	defer cancel()
	params := (&lookups.FetchPhoneNumberParams{}).SetFields("reassigned_number").SetLastVerifiedDate(since.UTC().Format("20060102"))
	found, err := lookups.NewApiService(&twilio.RequestHandler{Client: call.client}).FetchPhoneNumber(phone, params)
	if err != nil {
		return false, toRepeatable(toCarrierError(err, call.seen))
	}
	return found.ReassignedNumber.IsNumberReassigned == "yes", nil
}
