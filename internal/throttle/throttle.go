// Package throttle limits how often something may happen for each of many keys,
// such as wrong passwords of an address.
package throttle

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxKeys bounds the keys that are remembered.
const maxKeys = 10_000

// Throttle limits each key by itself. It is safe for concurrent use.
type Throttle struct {
	burst int
	every time.Duration

	mu       sync.Mutex
	limiters map[string]*rate.Limiter
}

// New lets each key have burst events at once, and one more after every pause.
func New(burst int, every time.Duration) *Throttle {
	return &Throttle{burst: burst, every: every, limiters: map[string]*rate.Limiter{}}
}

// Burst is how many events a key may have at once.
func (t *Throttle) Burst() int { return t.burst }

// Take counts an event of a key at an instant. It returns how many more are
// allowed at once; where this one is not, how long the key has to wait for it.
// Keys that have been quiet are forgotten when there are too many.
func (t *Throttle) Take(key string, now time.Time) (left int, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limiter := t.limiters[key]
	if limiter == nil {
		t.forgetQuiet(now)
		limiter = rate.NewLimiter(rate.Every(t.every), t.burst)
		t.limiters[key] = limiter
	}
	if limiter.AllowN(now, 1) {
		return int(limiter.TokensAt(now)), 0
	}
	return 0, t.missing(limiter, now)
}

// Wait returns how long a key has to wait for its next event; 0 where it need
// not. It counts nothing.
func (t *Throttle) Wait(key string, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	limiter := t.limiters[key]
	if limiter == nil {
		return 0
	}
	return max(0, t.missing(limiter, now))
}

func (t *Throttle) missing(limiter *rate.Limiter, now time.Time) time.Duration {
	return time.Duration((1 - limiter.TokensAt(now)) * float64(t.every))
}

// forgetQuiet drops the keys that have their whole limit again, where there are
// too many, and all of them where none has.
func (t *Throttle) forgetQuiet(now time.Time) {
	if len(t.limiters) < maxKeys {
		return
	}
	for key, limiter := range t.limiters {
		if limiter.TokensAt(now) >= float64(t.burst) {
			delete(t.limiters, key)
		}
	}
	if len(t.limiters) >= maxKeys {
		clear(t.limiters)
	}
}
