package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/keylock"
	"coachline/internal/metrics"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/models"
)

// SignatureChecker checks that a callback was sent by the carrier. form holds every
// POST field.
type SignatureChecker interface {
	Check(r *http.Request, form url.Values) error
}

const (
	inboundPath = "/twilio/inbound"
	statusPath  = "/twilio/status"
	// maxCallbackBody holds a picture message of 20,000 characters, of which each
	// may take twelve bytes in a form, and all other fields.
	maxCallbackBody = 320 << 10
	formType        = "application/x-www-form-urlencoded"
	emptyTwiML      = `<?xml version="1.0" encoding="UTF-8"?><Response></Response>`
)

// carrierRoutes takes what the carrier sends.
type carrierRoutes struct {
	base
	inbound *store.Inbound
	outbox  *store.Outbox
	carrier CarrierConfig
	metrics *metrics.Metrics
	numbers *numbers
	// locks let each sender's texts into the database one at a time, so that a
	// flood of one waits behind itself.
	locks *keylock.Locks
}

func (h *carrierRoutes) register(mux *http.ServeMux, doc *huma.OpenAPI) {
	mux.HandleFunc("POST "+inboundPath, h.handleCallback(h.receiveInbound))
	mux.HandleFunc("POST "+statusPath, h.handleCallback(h.receiveStatus))
	for path, summary := range map[string]string{inboundPath: "Inbound texts from the carrier", statusPath: "Delivery reports from the carrier"} {
		op := plainRoute{http.MethodPost, path, summary, "text/xml"}.newOperation(http.StatusBadRequest, http.StatusForbidden, http.StatusRequestTimeout,
			http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusServiceUnavailable)
		op.Parameters = []*huma.Param{{Name: "X-Twilio-Signature", In: "header", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}}
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			formType: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
		}}
		doc.AddOperation(op)
	}
}

// handleCallback reads and authenticates a carrier's request, lets handle act on it,
// and answers with TwiML that asks for nothing.
func (h *carrierRoutes) handleCallback(handle func(r *http.Request, form url.Values) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h.handleSigned(w, r, handle)
		if err == nil {
			writeBody(w, "text/xml", []byte(emptyTwiML))
			return
		}
		var refused *failure
		if errors.As(err, &refused) {
			writeFailure(w, refused)
			return
		}
		h.log.Error("carrier callback failed", "path", r.URL.Path, "error", err)
		writeFailure(w, newFailure(http.StatusServiceUnavailable, "not stored, try again"))
	}
}

func (h *carrierRoutes) handleSigned(w http.ResponseWriter, r *http.Request, handle func(*http.Request, url.Values) error) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if err := h.carrier.Verifier.Check(r, form); err != nil {
		h.log.Warn("signature of a carrier callback refused", "path", r.URL.Path, "error", err)
		return newFailure(http.StatusForbidden, "X-Twilio-Signature: not valid for this request")
	}
	return handle(r, form)
}

func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != formType {
		return nil, newFailure(http.StatusUnsupportedMediaType, "Content-Type: must be %s", formType)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallbackBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, newFailure(http.StatusRequestEntityTooLarge, "body: larger than %d bytes", maxCallbackBody)
	}
	if err != nil {
		return nil, newBodyFailure(err)
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, newFailure(http.StatusBadRequest, "body: not a valid form")
	}
	return form, nil
}

// newBodyFailure answers a request of which the body did not come whole.
func newBodyFailure(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return newFailure(http.StatusRequestTimeout, "body: came too slowly")
	}
	return newFailure(http.StatusBadRequest, "body: could not be read")
}

// receiveInbound takes a text from the carrier. A repeated delivery of the same text
// changes nothing.
func (h *carrierRoutes) receiveInbound(r *http.Request, form url.Values) error {
	in, err := sms.ParseInbound(form, h.carrier.AccountSID)
	if err != nil {
		return newFailure(http.StatusBadRequest, "%s", err)
	}
	if !h.numbers.isOurs(in.To, form.Get("MessagingServiceSid")) {
		return newFailure(http.StatusBadRequest, "To: not a number of this programme")
	}
	if !h.carrier.Listens {
		in.Voice = ""
	}
	_, err = h.acceptInbound(r.Context(), in)
	return err
}

// acceptInbound takes a text of a person from any channel: the store screens it
// for opting out, coming back, help and danger, applies the inbound limits and
// keeps it, one at a time for each sender; then the participant's workflow, the
// safety text and the alert are started in the background. Every route that takes
// a text of a person calls it. It is safe to repeat: the provider's id is claimed
// once.
func (h *carrierRoutes) acceptInbound(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error) {
	unlock, err := h.locks.Lock(ctx, in.From)
	if err != nil {
		return models.AcceptedInbound{}, fmt.Errorf("waiting for the sender's earlier texts: %w", err)
	}
	defer unlock()
	in.ReceivedAt = h.now()
	accepted, err := h.inbound.AcceptInbound(ctx, in)
	if err != nil {
		return accepted, err
	}
	h.metrics.Text(accepted)
	h.startDelivery(accepted)
	return accepted, nil
}

// startDelivery has the relay deliver what a stored text leads to.
func (h *carrierRoutes) startDelivery(accepted models.AcceptedInbound) {
	row := accepted.Inbound
	if accepted.Loop != models.LoopNone {
		h.log.Warn("a sender behaves like a machine and is muted",
			"participant", row.ParticipantID, "inbound", row.ID, "reason", string(accepted.Loop))
	}
	if accepted.AlertID != "" {
		h.log.Error("a text may be a crisis", "participant", row.ParticipantID, "inbound", row.ID, "alert", accepted.AlertID)
		h.relay.LaterAlert(accepted.AlertID)
	}
	if accepted.NoticeID != 0 || accepted.Enrolled {
		h.relay.Later(row.ParticipantID)
	}
	if accepted.HintID != "" {
		h.relay.LaterHint(accepted.HintID)
	}
}

// receiveStatus stores a delivery report. Unknown status values and reports of unknown
// texts are accepted and dropped: sending them again would not help.
func (h *carrierRoutes) receiveStatus(r *http.Request, form url.Values) error {
	if form.Get("MessageSid") == "" {
		return newFailure(http.StatusBadRequest, "MessageSid: is required")
	}
	if form.Get("AccountSid") != h.carrier.AccountSID {
		return newFailure(http.StatusBadRequest, "AccountSid: not this account")
	}
	report := models.StatusCallback{
		OutboxID: r.URL.Query().Get("outbox"), ProviderSID: form.Get("MessageSid"),
		ErrorCode: form.Get("ErrorCode"), Class: sms.Class(form.Get("ErrorCode")), At: h.now(),
	}
	var known bool
	if report.Status, known = sms.ParseStatus(form.Get("MessageStatus")); !known {
		h.log.Warn("delivery report with an unknown status", "provider_sid", report.ProviderSID, "status", form.Get("MessageStatus"))
		return nil
	}
	found, err := h.outbox.AcceptStatus(r.Context(), report)
	if err != nil {
		return err
	}
	if found && report.Class.Spec().OptsOut {
		h.metrics.Consent(models.ConsentOptOut, models.MethodCarrierError)
	}
	if !found {
		h.log.Debug("delivery report of an unknown text", "provider_sid", report.ProviderSID)
	}
	return nil
}
