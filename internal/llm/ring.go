package llm

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"coachline/models"
)

// How long a key rests when the server does not say, by how often in a row it
// was refused; the last step repeats. Reply engine 2.10.
var (
	limitedSteps = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, time.Hour}
	// lastSteps are those of a key beside which no other is left: until it is tried
	// again, everybody waits.
	lastSteps   = []time.Duration{2 * time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute}
	unpaidSteps = []time.Duration{5 * time.Hour, 10 * time.Hour, 20 * time.Hour, 24 * time.Hour}
)

const (
	// forgetAfter is the age at which refusals are not counted any more.
	forgetAfter = 24 * time.Hour
	// shownLength is the length above which the last characters of a key may
	// be told, which is enough to know two keys apart.
	shownLength = 12
	shownTail   = 4
)

// verdict is what an answer says about the key that was used.
type verdict string

const (
	// keyGood means that the key was not what went wrong, if anything did.
	keyGood verdict = "good"
	// keyLimited means too many calls or tokens in a time; the key rests.
	keyLimited verdict = "limited"
	// keyUnpaid means that the account has no credit left; the key rests for long.
	keyUnpaid verdict = "unpaid"
	// keyBarred means that the server does not know the key or gives it no right.
	keyBarred verdict = "barred"
)

// ring returns the keys of one provider in turn, one for each request, and
// leaves out those that rest or are barred. It is safe for concurrent use.
type ring struct {
	now    func() time.Time
	logger *slog.Logger

	mu   sync.Mutex
	keys []*ringKey
	next int
}

type ringKey struct {
	secret string
	place  int // from 1, in the order of the configuration
	quota  *quota
	barred bool
}

// quota is what the provider counts together: one key, or all keys of one
// organisation. When it is used up, every key of it rests.
type quota struct {
	until time.Time
	// rests counts the rests. A refusal of a request that went out before the
	// present rest began says nothing new.
	rests           int
	limited, unpaid int
}

// lease is a key for one request.
type lease struct {
	key   *ringKey
	rests int
}

// newRing takes the keys in order; groups names the quota group of those that
// share one.
func newRing(cfg Config) *ring {
	r := &ring{now: cfg.Now, logger: cfg.Logger}
	shared := map[string]*quota{}
	for i, secret := range cfg.Keys {
		key := &ringKey{secret: secret, place: i + 1, quota: &quota{}}
		if group := cfg.Groups[secret]; group != "" {
			if shared[group] == nil {
				shared[group] = key.quota
			}
			key.quota = shared[group]
		}
		r.keys = append(r.keys, key)
	}
	return r
}

// takeKey returns the next key that is free. Without one it is ModelBusy with
// the time until the first rest ends, or ModelAuth when every key is barred.
func (r *ring) takeKey() (lease, *models.ModelError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, err := r.findFree(r.now())
	if err != nil {
		return lease{}, err
	}
	r.next = key.place % len(r.keys)
	return lease{key: key, rests: key.quota.rests}, nil
}

func (r *ring) findFree(now time.Time) (*ringKey, *models.ModelError) {
	var earliest time.Duration
	for i := range r.keys {
		key := r.keys[(r.next+i)%len(r.keys)]
		if key.barred {
			continue
		}
		wait := key.quota.until.Sub(now)
		if wait <= 0 {
			return key, nil
		}
		if earliest == 0 || wait < earliest {
			earliest = wait
		}
	}
	if earliest == 0 {
		return nil, &models.ModelError{Class: models.ModelAuth, Message: "every key is barred"}
	}
	return nil, &models.ModelError{Class: models.ModelBusy, RetryAfter: earliest, Message: "every key is resting"}
}

// settleLease takes note of what went wrong with a request, and returns the error
// that takeKey would give in the same instant; nil when a key is free.
func (r *ring) settleLease(l lease, f *fault) *models.ModelError {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	switch f.key {
	case keyGood:
	case keyBarred:
		if !l.key.barred {
			l.key.barred = true
			r.logger.Error("a model key is refused and stays out of use until the next start", "place", l.key.place, "key", l.key.keyTail())
		}
	case keyLimited:
		steps := limitedSteps
		if !r.hasOther(l, now) {
			steps = lastSteps
		}
		l.restQuota(now, f.wait, steps)
	case keyUnpaid:
		if l.restLong(now) {
			r.logger.Error("a model key has no quota left and rests for hours", "place", l.key.place, "key", l.key.keyTail())
		}
	}
	_, none := r.findFree(now)
	return none
}

// hasOther reports whether a key of another quota is free.
func (r *ring) hasOther(l lease, now time.Time) bool {
	return slices.ContainsFunc(r.keys, func(key *ringKey) bool {
		return !key.barred && key.quota != l.key.quota && !key.quota.until.After(now)
	})
}

// recordSuccess forgets the refusals before.
func (r *ring) recordSuccess(l lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.rests == l.key.quota.rests {
		l.key.quota.limited, l.key.quota.unpaid = 0, 0
	}
}

// restQuota lets a quota rest for as long as the server says, or the next step when
// it does not (0). A refusal from before the present rest can prolong it only.
func (l lease) restQuota(now time.Time, after time.Duration, steps []time.Duration) {
	q := l.key.quota
	fresh := l.rests == q.rests
	switch {
	case after > 0:
		q.beginRest(now, after)
	case fresh:
		q.beginRest(now, q.nextRest(steps, &q.limited, now))
	}
	if fresh {
		q.rests++
	}
}

// restLong lets a quota without credit rest and reports whether that is news.
func (l lease) restLong(now time.Time) bool {
	q := l.key.quota
	if l.rests != q.rests && q.unpaid > 0 {
		return false
	}
	q.beginRest(now, q.nextRest(unpaidSteps, &q.unpaid, now))
	q.rests++
	return true
}

// beginRest starts a rest and never shortens one.
func (q *quota) beginRest(now time.Time, length time.Duration) {
	if until := now.Add(length); until.After(q.until) {
		q.until = until
	}
}

// nextRest counts a refusal and returns the rest that follows from it.
func (q *quota) nextRest(steps []time.Duration, count *int, now time.Time) time.Duration {
	if !q.until.IsZero() && now.Sub(q.until) >= forgetAfter {
		q.limited, q.unpaid = 0, 0
	}
	*count++
	return steps[min(*count, len(steps))-1]
}

// countBarred counts the keys that are out of use.
func (r *ring) countBarred() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, key := range r.keys {
		if key.barred {
			n++
		}
	}
	return n
}

// keyTail returns what an operator may see of a key, besides its place: the
// last characters of a long one.
func (k *ringKey) keyTail() string {
	if len(k.secret) <= shownLength {
		return ""
	}
	return "..." + k.secret[len(k.secret)-shownTail:]
}
