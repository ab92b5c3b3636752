// Package calls collects the calls of models that an attempt makes, so that a call
// is in the ledger of costs also where its answer was thrown away or never came,
// and so no row of the conversation tells of it.
package calls

import (
	"context"
	"slices"
	"sync"

	"coachline/models"
)

// Call is one call of a model that its server took.
type Call struct {
	// Stage says what was asked for: StageModel, StageEmbed or StageTranscribe.
	Stage models.StageName
	// Asked is the model of the request, Model the one that says it answered.
	Asked, Model string
	Usage        models.Usage
	// Lost: no answer came, so that only the server knows what it counted.
	Lost bool
}

// Log holds the calls of an attempt that no row tells of yet. It is safe for
// concurrent use.
type Log struct {
	mu   sync.Mutex
	open []Call
}

type logKey struct{}

// With returns a context whose calls a new log collects.
func With(ctx context.Context) (context.Context, *Log) {
	log := &Log{}
	return context.WithValue(ctx, logKey{}, log), log
}

// Record adds a call to the log of the context, where it has one.
func Record(ctx context.Context, call Call) {
	if log, ok := ctx.Value(logKey{}).(*Log); ok {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.open = append(log.open, call)
	}
}

// Settle takes one answered call out of the log of the context, because a row that
// was stored tells of it. Calls of one model with equal counts cost the same, so
// that any of them stands for the other.
func Settle(ctx context.Context, model string, usage models.Usage) {
	log, ok := ctx.Value(logKey{}).(*Log)
	if !ok {
		return
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	i := slices.IndexFunc(log.open, func(c Call) bool { return !c.Lost && c.Model == model && c.Usage == usage })
	if i >= 0 {
		log.open = slices.Delete(log.open, i, i+1)
	}
}

// Open returns the calls that no row tells of.
func (l *Log) Open() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.open)
}
