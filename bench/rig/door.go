package rig

import (
	"context"
	"net/http"
)

// Door is the bare workflow behind the least webhook there can be, so that the
// cost of a front door shows apart.
type Door struct {
	*Bare
	phones *phones
	base   string
	close  func() error
}

func newDoor(ctx context.Context, b *Bare, p *phones) (*Door, error) {
	d := &Door{Bare: b, phones: p}
	base, stop, err := serve(ctx, "bare", http.HandlerFunc(d.inbound))
	d.base, d.close = base, stop
	return d, err
}

func (d *Door) inbound(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.ParseForm() != nil || d.Bare.Text(r.Context(), r.PostForm.Get("From"), r.PostForm.Get("Body")) != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// Name is how figures call this side.
func (d *Door) Name() string { return "bare+door" }

// Text posts the webhook, and returns with its answer.
func (d *Door) Text(ctx context.Context, phone, body string) error {
	return d.phones.text(ctx, d.base+"/twilio/inbound", phone, body)
}
