package webhooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"coachline/internal/export"
	"coachline/internal/wrap"
	"coachline/models"
)

// secretBytes is the length of a secret, secretPrefix what Standard Webhooks write
// before it.
const (
	secretBytes  = 32
	secretPrefix = "whsec_"
	maxAnswer    = 64 << 10
)

// NewSecret draws a secret.
func NewSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// Event is the body of a post.
type Event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      EventData `json:"data"`
}

// EventData says which row an event is about and what it came to. It holds nothing
// that a person or an operator wrote.
type EventData struct {
	StudyID       string `json:"study_id,omitempty"`
	ParticipantID string `json:"participant_id,omitempty"`
	// Pseudonym stands for the person in the exports of the study.
	Pseudonym string `json:"pseudonym,omitempty"`
	// ID is the row's: a message, a prompt, an alert.
	ID     string `json:"id,omitempty"`
	Status string `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
}

// post posts an event and returns the HTTP status, 0 where no answer came. The error
// says why it was not taken.
func (s *Sender) post(ctx context.Context, hook models.Webhook, row models.WebhookDelivery) (int, error) {
	body, err := s.write(ctx, row)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("building the request: %w", unwrapURL(err))
	}
	if err := sign(req.Header, hook, EventID(row), s.cfg.Now(), body); err != nil {
		return 0, err
	}
	res, err := s.client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("no answer: %w", unwrapURL(err))
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer) // so that the connection can be used again
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return res.StatusCode, fmt.Errorf("the receiver answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	return res.StatusCode, nil
}

// unwrapURL takes the address away from an error: it may hold a key.
func unwrapURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (s *Sender) write(ctx context.Context, row models.WebhookDelivery) ([]byte, error) {
	event := Event{Type: row.Type, Timestamp: row.At.UTC(), Data: EventData{
		StudyID: row.StudyID, ParticipantID: row.ParticipantID, ID: row.ObjectID, Status: row.Status, Code: row.Code,
	}}
	if row.ParticipantID != "" {
		study, err := s.cfg.Study(ctx, row.StudyID)
		if err != nil {
			return nil, err
		}
		event.Data.Pseudonym = export.PersonPseudonym(study, row.ParticipantID)
	}
	body, err := json.Marshal(event)
	return body, wrap.Error(err, "encoding the event")
}

// sign sets the headers of Standard Webhooks, with a signature for each secret.
func sign(header http.Header, hook models.Webhook, id string, now time.Time, body []byte) error {
	var signatures []string
	for _, secret := range hook.Secrets(now) {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return fmt.Errorf("reading the secret: %w", err)
		}
		signature, err := signer.Sign(id, now, body)
		if err != nil {
			return fmt.Errorf("signing the event: %w", err)
		}
		signatures = append(signatures, signature)
	}
	header.Set("Content-Type", "application/json")
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}
