package sms

import (
	"context"
	"net/http"

	api "github.com/twilio/twilio-go/rest/api/v2010"
)

// mediaPage is more media than a message may have.
const mediaPage = 50

// Delete has the carrier delete a message, its text and number with it, and first
// its pictures and voice notes. One that the carrier does not have counts as
// deleted, so it is safe to retry. The carrier refuses while a message is on its
// way. Errors are *models.CarrierError and never CarrierAmbiguous.
func (c *Client) Delete(ctx context.Context, providerSID string, hasMedia bool) error {
	if hasMedia {
		if err := c.deleteMedia(ctx, providerSID); err != nil {
			return err
		}
	}
	call, cancel := c.beginCall(ctx, nil)
	defer cancel()
	return deletionError(call.service.DeleteMessage(providerSID, &api.DeleteMessageParams{}), call.seen)
}

func (c *Client) deleteMedia(ctx context.Context, providerSID string) error {
	list, cancel := c.beginCall(ctx, nil)
	defer cancel()
	params := &api.ListMediaParams{}
	page, err := list.service.PageMedia(providerSID, params.SetPageSize(mediaPage), "", "")
	if err != nil {
		return deletionError(err, list.seen)
	}
	for i := range page.MediaList {
		if err := c.deleteOneMedia(ctx, providerSID, stringValue(page.MediaList[i].Sid)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) deleteOneMedia(ctx context.Context, providerSID, mediaSID string) error {
	call, cancel := c.beginCall(ctx, nil)
	defer cancel()
	return deletionError(call.service.DeleteMedia(providerSID, mediaSID, &api.DeleteMediaParams{}), call.seen)
}

// codeGone is what the carrier itself says of what it does not have; another
// server's 404 has no such code.
const codeGone = "20404"

func deletionError(err error, seen *callRecord) error {
	if err == nil {
		return nil
	}
	classed := toRepeatable(toCarrierError(err, seen))
	if classed.Status == http.StatusNotFound && classed.Code == codeGone {
		return nil
	}
	return classed
}
