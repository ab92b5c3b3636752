package rig

import (
	"context"
	"net/http"
)

// BareWebhook is the bare workflow behind the least webhook there can be, so that
// the cost of a webhook shows apart.
type BareWebhook struct {
	*Bare
	phones *phones
	base   string
	close  func() error
}

func newBareWebhook(ctx context.Context, b *Bare, p *phones) (*BareWebhook, error) {
	d := &BareWebhook{Bare: b, phones: p}
	base, stop, err := serve(ctx, "bare", http.HandlerFunc(d.inbound))
	d.base, d.close = base, stop
	return d, err
}

func (d *BareWebhook) inbound(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.ParseForm() != nil || d.Bare.Text(r.Context(), r.PostForm.Get("From"), r.PostForm.Get("Body")) != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// Name is how figures call this side.
func (d *BareWebhook) Name() string { return "bare+webhook" }

// Text posts the webhook, and returns with its answer.
func (d *BareWebhook) Text(ctx context.Context, phone, body string) error {
	return d.phones.text(ctx, d.base+"/twilio/inbound", phone, body)
}
