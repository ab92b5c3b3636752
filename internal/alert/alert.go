// Package alert pages the people on call by webhook when a participant may be in
// danger: one POST to the address that the programme set. It sends no text, name
// or number.
package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"coachline/models"
)

// Config says where pages go.
type Config struct {
	// URL is http or https; it may hold a secret. Empty: no page is sent.
	URL string
	// Timeout bounds one delivery.
	Timeout time.Duration
}

// Pager delivers pages. It is safe for concurrent use.
type Pager struct {
	url    string
	client *http.Client
}

// New builds a pager.
func New(cfg Config) *Pager {
	return &Pager{url: cfg.URL, client: &http.Client{
		Timeout: cfg.Timeout,
		// A page that is sent elsewhere was not taken.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// KeyHeader carries the page's id: the same page may be delivered twice.
const KeyHeader = "Idempotency-Key"

const mostAnswer = 64 << 10

// Page delivers a page; sent is false when paging is off. Any answer but 2xx is
// an error, which never names the address. Safe to retry: the id tells the
// receiver that it has the page already.
func (p *Pager) Page(ctx context.Context, page models.AlertPage) (sent bool, err error) {
	if p.url == "" {
		return false, nil
	}
	body, err := json.Marshal(page)
	if err != nil {
		return false, fmt.Errorf("encoding the page: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("COACH_ALERT_URL: not an address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(KeyHeader, page.ID)
	answer, err := p.client.Do(req)
	if err != nil {
		return false, fmt.Errorf("delivering the page: %w", withoutAddress(err))
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, mostAnswer)) // so that the connection can be used again
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return false, fmt.Errorf("delivering the page: answered with status %d", answer.StatusCode)
	}
	return true, nil
}

// withoutAddress takes the URL, which may be a secret, out of an error.
func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
