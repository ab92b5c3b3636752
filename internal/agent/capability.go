package agent

import (
	"context"
	"sync"
	"time"

	"coachline/internal/agent/toolcall"
	"coachline/models"
)

// relearn is how long a worker believes what it knows of the chat model before
// it reads the record again: another worker may have learnt more.
const relearn = time.Minute

// capabilities remembers the capability of the chat model. The zero value is
// ready.
type capabilities struct {
	mu    sync.Mutex
	value models.Capability
	at    time.Time
}

// getOrRead returns the stored capability and reads it again once it is older
// than relearn.
func (c *capabilities) getOrRead(now time.Time, read func() models.Capability) models.Capability {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() || now.Sub(c.at) > relearn {
		c.value, c.at = read(), now
	}
	return c.value
}

// setValue replaces the stored capability.
func (c *capabilities) setValue(now time.Time, value models.Capability) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value, c.at = value, now
}

// learnNoTools records that the endpoint does not take tools. It returns false
// when that was known and nothing changed.
func (a *Agent) learnNoTools(ctx context.Context, tr *trace, c models.Capability) (models.Capability, bool) {
	learnt, ok := toolcall.Refused(c)
	if !ok {
		return c, false
	}
	now := a.Now().UTC()
	learnt.Model, learnt.Endpoint, learnt.LearntAt = a.Settings.ChatModel, a.Settings.Endpoint, now
	a.known.setValue(now, learnt)
	if err := a.Journal.SaveCapability(ctx, learnt); err != nil {
		tr.note(models.StageModel, "model capability not kept")
	}
	return learnt, true
}
