// Package webhooks tells receivers outside of what happens, as signed events by the
// rules of Standard Webhooks (standardwebhooks.com). The transaction that something
// happens in writes the event; this package delivers it: at least once, each time
// with the same id, and for each participant in order. A receiver that fails or
// hangs delays itself and nobody else.
package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"coachline/internal/web"
	"coachline/models"
)

const (
	// interval is how often is looked whether something is due.
	interval = time.Second
	// batch is how many deliveries of a webhook are taken at once, at most one of each
	// participant, and side how many of them are posted side by side.
	batch, side = 32, 8
	// callLimit bounds one post. lease is how long a delivery that was taken is kept
	// from other processes: the posts of a batch, one after the other.
	callLimit = 15 * time.Second
	lease     = batch/side*callLimit + 30*time.Second
	// firstWait is doubled with each failure, up to longestWait.
	firstWait, longestWait = 5 * time.Second, time.Hour
	// kept is how long deliveries stay, delivered or not; prunePage how many are
	// deleted at once.
	kept       = 30 * 24 * time.Hour
	pruneEvery = time.Hour
	prunePage  = 5000
	maxURL     = 2000
)

// Store keeps webhooks and their deliveries.
type Store interface {
	List(ctx context.Context) ([]models.Webhook, error)
	ClaimDeliveries(ctx context.Context, webhookID string, now, until time.Time, limit int) ([]models.WebhookDelivery, error)
	RecordDelivery(ctx context.Context, a models.WebhookAttempt) error
	PruneDeliveries(ctx context.Context, before time.Time, limit int) (int64, error)
}

// Counter counts tries by their outcome: delivered, failed or gone. Failing is how
// many webhooks fail.
type Counter interface {
	WebhookTried(outcome string)
	WebhooksFailing(n int)
}

// Config is what a Sender needs.
type Config struct {
	Store Store
	// Study reads a study.
	Study func(ctx context.Context, id string) (models.Study, error)
	// Allow lists addresses that may be reached although they are not public, also
	// without TLS.
	Allow   []netip.AddrPort
	Counter Counter
	Logger  *slog.Logger
	Now     func() time.Time
}

// Sender delivers events. It is safe for concurrent use.
type Sender struct {
	cfg    Config
	client *http.Client
	mu     sync.Mutex
	busy   map[string]bool // webhooks that are being delivered to
}

// New makes a Sender. It asks no proxy, because a proxy would dial where the guard
// cannot see, and follows no redirect.
func New(cfg Config) *Sender {
	dialer := &net.Dialer{Control: web.GuardDial(cfg.Allow)}
	return &Sender{cfg: cfg, busy: map[string]bool{}, client: &http.Client{
		Timeout:       callLimit,
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: side, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// CheckURL refuses an address that events cannot be sent to: it must be https, or one
// of the allowed addresses. The error is a *models.FieldError.
func CheckURL(text string, allow []netip.AddrPort) error {
	address, err := url.Parse(text)
	if err != nil || len(text) > maxURL || address.Hostname() == "" || address.User != nil || address.Fragment != "" {
		return models.BadField("url", "must be an address such as https://example.org/events, without a password")
	}
	at, err := netip.ParseAddrPort(address.Host)
	isAllowed := err == nil && slices.Contains(allow, at)
	if address.Scheme != "https" && (address.Scheme != "http" || !isAllowed) {
		return models.BadField("url", "must begin with https://; COACH_WEB_ALLOW names addresses that may be reached without TLS")
	}
	return nil
}

// Run delivers what is due until ctx ends, and returns when posts under way are over.
func (s *Sender) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var pruned time.Time
	for ctx.Err() == nil {
		if err := s.startDue(ctx, &work); err != nil && ctx.Err() == nil {
			s.cfg.Logger.Error("reading the webhooks failed, trying again", "error", err)
		}
		if now := s.cfg.Now(); now.Sub(pruned) >= pruneEvery {
			pruned = now
			s.prune(ctx, now)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// startDue starts a delivery to each active webhook that none is under way to.
func (s *Sender) startDue(ctx context.Context, work *sync.WaitGroup) error {
	hooks, err := s.cfg.Store.List(ctx)
	if err != nil {
		return err
	}
	failing := 0
	for _, hook := range hooks {
		if hook.State != models.WebhookActive {
			continue
		}
		if hook.FailingSince != nil {
			failing++
		}
		if !s.claim(hook.ID) {
			continue
		}
		work.Go(func() {
			defer s.release(hook.ID)
			if err := s.DeliverDue(ctx, hook); err != nil && ctx.Err() == nil {
				s.cfg.Logger.Error("delivering to a webhook failed, trying again", "webhook", hook.ID, "error", err)
			}
		})
	}
	s.cfg.Counter.WebhooksFailing(failing)
	return nil
}

func (s *Sender) claim(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] {
		return false
	}
	s.busy[id] = true
	return true
}

func (s *Sender) release(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, id)
}

// DeliverDue delivers to one webhook until nothing is due. What a process has taken
// and not recorded when it ends is taken again after the lease.
func (s *Sender) DeliverDue(ctx context.Context, hook models.Webhook) error {
	for ctx.Err() == nil {
		now := s.cfg.Now()
		rows, err := s.cfg.Store.ClaimDeliveries(ctx, hook.ID, now, now.Add(lease), batch)
		if err != nil || len(rows) == 0 {
			return err
		}
		var group errgroup.Group
		group.SetLimit(side)
		for _, row := range rows {
			group.Go(func() error { return s.deliver(ctx, hook, row) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// deliver posts one event and records what came of it. When the process is stopped in
// the middle nothing is recorded, and the lease brings it back.
func (s *Sender) deliver(ctx context.Context, hook models.Webhook, row models.WebhookDelivery) error {
	answer, err := s.post(ctx, hook, row)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	now := s.cfg.Now()
	attempt := models.WebhookAttempt{Delivery: row, Answer: answer, Now: now, Next: now.Add(waitAfter(row.Attempts)), Gone: answer == http.StatusGone}
	outcome := "delivered"
	switch {
	case attempt.Gone:
		outcome = "gone"
	case err != nil:
		outcome = "failed"
	}
	if err != nil {
		attempt.Error = err.Error()
		s.cfg.Logger.Warn("a webhook did not take an event", "webhook", hook.ID, "event", EventID(row), "attempts", row.Attempts, "error", err)
	}
	s.cfg.Counter.WebhookTried(outcome)
	return s.cfg.Store.RecordDelivery(ctx, attempt)
}

// waitAfter is how long to wait after so many tries: doubled each time, with a tenth
// by chance, so that receivers that come back are not overrun.
func waitAfter(attempts int) time.Duration {
	wait := longestWait
	if doublings := max(attempts-1, 0); doublings < 10 {
		wait = min(firstWait<<doublings, longestWait)
	}
	return wait + time.Duration(rand.Int64N(int64(wait/10)))
}

func (s *Sender) prune(ctx context.Context, now time.Time) {
	for ctx.Err() == nil {
		count, err := s.cfg.Store.PruneDeliveries(ctx, now.Add(-kept), prunePage)
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.Error("deleting old webhook deliveries failed, trying again in an hour", "error", err)
		}
		if err != nil || count < prunePage {
			return
		}
	}
}

// EventID is the id of an event, the same in each try.
func EventID(row models.WebhookDelivery) string { return fmt.Sprintf("msg_%d", row.ID) }
