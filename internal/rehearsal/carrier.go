package rehearsal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"coachline/internal/segments"
	"coachline/internal/sms"
	"coachline/models"
	"coachline/models/wire"
)

// sent is a text that the carrier has taken.
type sent struct {
	at       time.Time
	kind     models.EntryKind
	outboxID string
	promptID string
	sid      string
	to       string
	body     string
	segments int
	part     int
	isLate   bool   // it is the later try of another one
	zone     string // that the person had then
}

// carrier takes the texts to one person, within the process. Faults come by rate.
type carrier struct {
	person *person
	mu     sync.Mutex
	taken  []sent
	// blockedAt is since when the network keeps the texts from the phone.
	blockedAt time.Time
}

// Codes that the network reports, as Twilio names them.
const (
	codeUnreachable = "30003"
	codeBlocked     = "30007"
)

// Send implements the carrier of the activities.
func (c *carrier) Send(ctx context.Context, text models.SMS) (models.Receipt, error) {
	if err := text.MayWrite(ctx); err != nil {
		return models.Receipt{}, err //nolint:wrapcheck // the caller looks for its own error
	}
	p := c.person
	fault := p.fault(p.r.cfg.CarrierFaults)
	if fault && p.draw.IntN(2) == 0 {
		p.r.count(func(t *tally) { t.CarrierRefusals++ })
		return models.Receipt{}, &models.CarrierError{Class: models.CarrierRetry, Status: 503, Message: "the rehearsal refuses this call"}
	}
	taken, err := c.take(ctx, text)
	if err != nil {
		return models.Receipt{}, err
	}
	p.afterSend(taken)
	if fault {
		p.r.count(func(t *tally) { t.CarrierLost++ })
		return models.Receipt{}, &models.CarrierError{Class: models.CarrierAmbiguous, Message: "the rehearsal loses this answer"}
	}
	return models.Receipt{ProviderSID: taken.sid, Status: wire.OutboxQueued}, nil
}

// take notes a text. Hints to strangers have no outbox row and are kept without a
// kind.
func (c *carrier) take(ctx context.Context, text models.SMS) (sent, error) {
	p := c.person
	var row models.Outbox
	err := p.r.store.Database().Reader(ctx).Select("kind", "prompt_id", "part", "late_of").Where("id = ?", text.OutboxID).Limit(1).Find(&row).Error
	if err != nil {
		return sent{}, fmt.Errorf("reading what is sent: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	one := sent{
		at: p.now(), kind: row.Kind, outboxID: text.OutboxID, promptID: row.PromptID, to: text.To, body: text.Body,
		sid: fmt.Sprintf("SM%08x%024x", p.number, len(c.taken)+1), segments: segments.Count(text.Body).Segments, part: row.Part, isLate: row.LateOf != "", zone: p.habits.zone,
	}
	c.taken = append(c.taken, one)
	return one, nil
}

// Find implements the carrier of the activities.
func (c *carrier) Find(_ context.Context, text models.SMS, _ time.Duration) (models.Lookup, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := models.Lookup{At: c.person.now()}
	for _, one := range c.taken {
		if one.body == text.Body && one.to == text.To {
			found.Matches = append(found.Matches, models.Receipt{ProviderSID: one.sid, Status: wire.OutboxSent})
		}
	}
	return found, nil
}

// Fetch implements the carrier of the activities.
func (c *carrier) Fetch(_ context.Context, sid string) (models.StatusCallback, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.taken {
		if one.sid == sid {
			return models.StatusCallback{OutboxID: one.outboxID, ProviderSID: sid, Status: wire.OutboxDelivered, At: c.person.now()}, nil
		}
	}
	return models.StatusCallback{}, &models.CarrierError{Class: models.CarrierContent, Status: 404, Message: "the rehearsal knows no such text"}
}

// Delete implements the carrier of the activities.
func (*carrier) Delete(context.Context, string, bool) error { return nil }

// report tells the programme what became of a text, as the carrier's webhook does.
func (p *person) report(ctx context.Context, one sent) {
	status := models.StatusCallback{OutboxID: one.outboxID, ProviderSID: one.sid, Status: wire.OutboxDelivered, At: p.now()}
	p.carrier.mu.Lock()
	blocked := !p.carrier.blockedAt.IsZero()
	p.carrier.mu.Unlock()
	switch {
	case blocked:
		status.Status, status.ErrorCode = wire.OutboxUndelivered, codeBlocked
	case p.fault(p.r.cfg.Undelivered):
		status.Status, status.ErrorCode = wire.OutboxUndelivered, codeUnreachable
	}
	if status.ErrorCode != "" {
		p.r.count(func(t *tally) { t.Undelivered++ })
	}
	status.Class = sms.Class(status.ErrorCode)
	if _, err := p.r.store.Outbox.AcceptStatus(ctx, status); err != nil {
		p.r.broke("delivery report", p.id, err)
		return
	}
	if status.Status == wire.OutboxDelivered {
		p.hear(one)
		return
	}
	p.deliver(ctx)
}
