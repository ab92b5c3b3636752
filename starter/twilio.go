package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/sms"
	"coachline/models"
)

// SignatureChecker tells whether a webhook was sent by the carrier. form holds
// every POST field.
type SignatureChecker interface {
	Check(r *http.Request, form url.Values) error
}

// mailbox stores what the carrier delivers.
type mailbox interface {
	AcceptInbound(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error)
	AcceptStatus(ctx context.Context, s models.StatusCallback) (bool, error)
}

const (
	inboundPath = "/twilio/inbound"
	statusPath  = "/twilio/status"
	// maxWebhookBody holds a picture message of 20,000 characters, of which each
	// may take twelve bytes in a form, and all other fields.
	maxWebhookBody = 320 << 10
	formType       = "application/x-www-form-urlencoded"
	emptyTwiML     = `<?xml version="1.0" encoding="UTF-8"?><Response></Response>`
)

func (f *front) twilioRoutes(mux *http.ServeMux, doc *huma.OpenAPI) {
	mux.HandleFunc("POST "+inboundPath, f.webhook(f.inbound))
	mux.HandleFunc("POST "+statusPath, f.webhook(f.status))
	for path, summary := range map[string]string{inboundPath: "Inbound texts from the carrier", statusPath: "Delivery reports from the carrier"} {
		op := plain{http.MethodPost, path, summary, "text/xml"}.operation(http.StatusBadRequest, http.StatusForbidden,
			http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusServiceUnavailable)
		op.Parameters = []*huma.Param{{Name: "X-Twilio-Signature", In: "header", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}}
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			formType: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
		}}
		doc.AddOperation(op)
	}
}

// webhook reads and authenticates a carrier's request, lets handle act on it,
// and answers with TwiML that asks for nothing.
func (f *front) webhook(handle func(r *http.Request, form url.Values) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := f.answerCarrier(w, r, handle)
		if err == nil {
			writeBody(w, "text/xml", []byte(emptyTwiML))
			return
		}
		var refused *Failure
		if errors.As(err, &refused) {
			writeFailure(w, refused)
			return
		}
		f.log.Error("webhook failed", "path", r.URL.Path, "error", err)
		writeFailure(w, failure(http.StatusServiceUnavailable, "not stored, try again"))
	}
}

func (f *front) answerCarrier(w http.ResponseWriter, r *http.Request, handle func(*http.Request, url.Values) error) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if err := f.cfg.Carrier.Verifier.Check(r, form); err != nil {
		f.log.Warn("webhook signature refused", "path", r.URL.Path, "error", err)
		return failure(http.StatusForbidden, "X-Twilio-Signature: not valid for this request")
	}
	return handle(r, form)
}

func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != formType {
		return nil, failure(http.StatusUnsupportedMediaType, "Content-Type: must be %s", formType)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhookBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, failure(http.StatusRequestEntityTooLarge, "body: larger than %d bytes", maxWebhookBody)
	}
	if err != nil {
		return nil, failure(http.StatusBadRequest, "body: could not be read")
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, failure(http.StatusBadRequest, "body: not a valid form")
	}
	return form, nil
}

// inbound takes a text from the carrier. A repeated delivery of the same text
// changes nothing.
func (f *front) inbound(r *http.Request, form url.Values) error {
	in, err := sms.ParseInbound(form, f.cfg.Carrier.AccountSID)
	if err != nil {
		return badForm(err)
	}
	if !f.cfg.Carrier.ours(in.To, form.Get("MessagingServiceSid")) {
		return failure(http.StatusBadRequest, "To: not a number of this programme")
	}
	if !f.cfg.Carrier.Listens {
		in.Voice = ""
	}
	_, err = f.accept(r.Context(), in)
	return err
}

// accept is the one way in for what a person says: the store screens it for
// opting out, coming back, help and danger, applies the inbound limits and keeps
// it, one at a time for each sender; then the participant's workflow, the safety
// text and the page are started in the background. Every route that takes a
// person's words calls it. Safe to repeat: the provider's id is claimed once.
func (f *front) accept(ctx context.Context, in models.Inbound) (models.AcceptedInbound, error) {
	unlock, err := f.locks.Lock(ctx, in.From)
	if err != nil {
		return models.AcceptedInbound{}, fmt.Errorf("waiting for the sender's earlier texts: %w", err)
	}
	defer unlock()
	in.ReceivedAt = f.now()
	accepted, err := f.store.AcceptInbound(ctx, in)
	if err != nil {
		return accepted, err
	}
	f.cfg.Metrics.Text(accepted)
	f.announce(accepted)
	return accepted, nil
}

// announce has the rest of the system told of a stored text.
func (f *front) announce(accepted models.AcceptedInbound) {
	row := accepted.Inbound
	if accepted.Loop != models.LoopNone {
		f.log.Warn("a sender behaves like a machine and is muted",
			"participant", row.ParticipantID, "inbound", row.ID, "reason", string(accepted.Loop))
	}
	if accepted.AlarmID != "" {
		f.log.Error("a text may be a crisis", "participant", row.ParticipantID, "inbound", row.ID, "alarm", accepted.AlarmID)
		f.relay.LaterAlarm(accepted.AlarmID)
	}
	if accepted.NoticeID != 0 {
		f.relay.Later(row.ParticipantID)
	}
	if accepted.HintID != "" {
		f.relay.LaterHint(accepted.HintID)
	}
}

// status stores a delivery report. Unknown status values and reports of unknown
// texts are accepted and dropped: sending them again would not help.
func (f *front) status(r *http.Request, form url.Values) error {
	if form.Get("MessageSid") == "" {
		return failure(http.StatusBadRequest, "MessageSid: is required")
	}
	if form.Get("AccountSid") != f.cfg.Carrier.AccountSID {
		return failure(http.StatusBadRequest, "AccountSid: not this account")
	}
	report := models.StatusCallback{
		OutboxID: r.URL.Query().Get("outbox"), ProviderSID: form.Get("MessageSid"),
		ErrorCode: form.Get("ErrorCode"), Class: sms.Class(form.Get("ErrorCode")), At: f.now(),
	}
	var known bool
	if report.Status, known = sms.ParseStatus(form.Get("MessageStatus")); !known {
		f.log.Warn("delivery report with an unknown status", "provider_sid", report.ProviderSID, "status", form.Get("MessageStatus"))
		return nil
	}
	found, err := f.store.AcceptStatus(r.Context(), report)
	if err != nil {
		return err
	}
	if found && report.Class == models.CarrierConsent {
		f.cfg.Metrics.Consent(models.ConsentOptOut, models.MethodCarrierError)
	}
	if !found {
		f.log.Debug("delivery report of an unknown text", "provider_sid", report.ProviderSID)
	}
	return nil
}

func badForm(err error) error {
	return failure(http.StatusBadRequest, "%s", err.Error())
}

// ours reports whether a text was sent to this programme. With neither numbers
// nor a service configured, the signature and the account have to do.
func (c CarrierConfig) ours(to, serviceSID string) bool {
	if len(c.OurNumbers) == 0 && c.MessagingServiceSID == "" {
		return true
	}
	return slices.Contains(c.OurNumbers, to) || c.MessagingServiceSID != "" && serviceSID == c.MessagingServiceSID
}
