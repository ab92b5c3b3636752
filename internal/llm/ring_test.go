package llm

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"coachline/models"
)

const ok = `{"choices":[{"message":{"content":"ok"}}]}`

// bench is a client whose clock stands still, its server, and its log. Each key
// answers as answers says, 200 by default.
type bench struct {
	*Client
	now     time.Time
	log     bytes.Buffer
	answers map[string]http.HandlerFunc
	used    string // the keys in the order of the requests
}

func newBench(t *testing.T, groups map[string]string, keys ...string) *bench {
	b := &bench{now: time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC), answers: map[string]http.HandlerFunc{}}
	b.Client = client(t, func(w http.ResponseWriter, r *http.Request) {
		used := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		b.used += used[:1]
		if answer := b.answers[used[:1]]; answer != nil {
			answer(w, r)
			return
		}
		answers(200, ok)(w, r)
	}, func(c *Config) {
		c.Keys, c.Groups = keys, groups
		c.Now = func() time.Time { return b.now }
		c.Logger = slog.New(slog.NewJSONHandler(&b.log, nil))
	})
	return b
}

// ask makes a call and returns the keys that it used.
func (b *bench) ask(t *testing.T) string {
	t.Helper()
	used, err := b.try(t)
	require.NoError(t, err)
	return used
}

func (b *bench) try(t *testing.T) (string, error) {
	t.Helper()
	before := len(b.used)
	_, err := b.Complete(t.Context(), hello())
	return b.used[before:], err
}

func (b *bench) fails(t *testing.T, class models.ModelErrorClass, after time.Duration) string {
	t.Helper()
	used, err := b.try(t)
	got := modelError(t, err)
	require.Equal(t, class, got.Class, got.Message)
	require.Equal(t, after, got.RetryAfter)
	return used
}

func limited(headers ...string) http.HandlerFunc {
	return answers(429, `{"error":{"code":"rate_limit_exceeded","message":"private"}}`, headers...)
}

func TestTheRing(t *testing.T) {
	t.Run("a key for each request", func(t *testing.T) {
		b := newBench(t, nil, "A", "B", "C")
		require.Equal(t, "ABCA", b.ask(t)+b.ask(t)+b.ask(t)+b.ask(t))
	})
	t.Run("the next key at once, and the limited one rests for a minute", func(t *testing.T) {
		b := newBench(t, nil, "A", "B", "C")
		require.Equal(t, "ABCA", b.ask(t)+b.ask(t)+b.ask(t)+b.ask(t))
		b.answers["B"] = limited()
		require.Equal(t, "BC", b.ask(t))
		delete(b.answers, "B")
		b.now = b.now.Add(time.Minute - time.Nanosecond)
		require.Equal(t, "ACA", b.ask(t)+b.ask(t)+b.ask(t))
		b.now = b.now.Add(time.Nanosecond)
		require.Equal(t, "BCA", b.ask(t)+b.ask(t)+b.ask(t))
	})
	t.Run("all rest: the earliest end", func(t *testing.T) {
		b := newBench(t, nil, "A", "B")
		b.answers["A"], b.answers["B"] = limited("Retry-After", "90"), limited("Retry-After", "20")
		require.Equal(t, "AB", b.fails(t, models.ModelBusy, 20*time.Second))
		b.now = b.now.Add(5 * time.Second)
		require.Empty(t, b.fails(t, models.ModelBusy, 15*time.Second), "no request while all rest")
		b.now = b.now.Add(15 * time.Second)
		delete(b.answers, "B")
		require.Equal(t, "B", b.ask(t))
	})
	t.Run("bars a refused key and tells it once", func(t *testing.T) {
		b := newBench(t, nil, "A-secret-secret-7890", "B")
		b.answers["A"] = answers(401, `{"error":{"code":"invalid_api_key","message":"A-secret-secret-7890"}}`)
		require.Equal(t, "ABB", b.ask(t)+b.ask(t))
		require.Equal(t, 1, b.DisabledKeys())
		require.Equal(t, 1, strings.Count(b.log.String(), `"level":"ERROR"`))
		require.Contains(t, b.log.String(), `"place":1,"key":"...7890"`)
		require.NotContains(t, b.log.String(), "secret")
		b.answers["B"] = answers(403, "<html>")
		b.fails(t, models.ModelAuth, 0)
		b.now = b.now.AddDate(0, 1, 0)
		require.Empty(t, b.fails(t, models.ModelAuth, 0))
		require.Equal(t, 2, b.DisabledKeys())
	})
	t.Run("barred and resting: the rest counts", func(t *testing.T) {
		b := newBench(t, nil, "A", "B")
		b.answers["A"], b.answers["B"] = answers(401, ""), limited()
		require.Equal(t, "AB", b.fails(t, models.ModelBusy, 2*time.Second))
	})
	t.Run("5xx leaves the key", func(t *testing.T) {
		b := newBench(t, nil, "A")
		b.answers["A"] = answers(500, "")
		require.Equal(t, "AA", b.fails(t, models.ModelBusy, 0)+b.fails(t, models.ModelBusy, 0))
	})
	t.Run("a limit under a success status", func(t *testing.T) {
		b := newBench(t, nil, "A", "B")
		b.answers["A"] = answers(200, `{"error":{"code":429,"message":"private"}}`)
		require.Equal(t, "ABB", b.ask(t)+b.ask(t))
	})
	t.Run("a group rests together", func(t *testing.T) {
		b := newBench(t, map[string]string{"A": "org", "B": "org"}, "A", "B", "C")
		b.answers["A"] = limited()
		require.Equal(t, "ACC", b.ask(t)+b.ask(t))
		delete(b.answers, "A")
		b.now = b.now.Add(time.Minute)
		require.Equal(t, "ABC", b.ask(t)+b.ask(t)+b.ask(t))
	})
	t.Run("without a key nothing rests", func(t *testing.T) {
		b := &bench{}
		b.Client = client(t, limited(), func(c *Config) { c.Keys = nil })
		b.fails(t, models.ModelBusy, 0)
		b.fails(t, models.ModelBusy, 0)
	})
}

func TestRestsGrow(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   []time.Duration
	}{
		{"limited", limited(), []time.Duration{2 * time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, time.Minute}},
		{"unpaid", answers(429, `{"error":{"code":"insufficient_quota"}}`, "Retry-After", "1"),
			[]time.Duration{5 * time.Hour, 10 * time.Hour, 20 * time.Hour, 24 * time.Hour, 24 * time.Hour}},
		{"as the server says", limited("Retry-After", "7"), []time.Duration{7 * time.Second, 7 * time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, nil, "A")
			b.answers["A"] = test.answer
			for _, want := range test.want {
				b.fails(t, models.ModelBusy, want)
				b.now = b.now.Add(want)
			}
			delete(b.answers, "A")
			b.ask(t)
			b.answers["A"] = test.answer
			b.fails(t, models.ModelBusy, test.want[0])
			b.now = b.now.Add(test.want[0] + forgetAfter)
			b.fails(t, models.ModelBusy, test.want[0])
		})
	}
	t.Run("an unpaid key is told", func(t *testing.T) {
		b := newBench(t, nil, "A", "B")
		b.answers["A"] = answers(402, "")
		require.Equal(t, "AB", b.ask(t))
		require.Equal(t, 1, strings.Count(b.log.String(), "no quota left"))
		require.Zero(t, b.DisabledKeys())
	})
}

// Requests that were running when the rest began are one refusal together.
func TestABurstIsOneRefusal(t *testing.T) {
	now := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
	r := newRing(withDefaults(Config{Keys: []string{"A"}, Now: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler)}))
	var leases []lease
	for range 5 {
		l, err := r.takeKey()
		require.Nil(t, err)
		leases = append(leases, l)
	}
	limit := func(l lease, after time.Duration) time.Duration {
		return r.settleLease(l, &fault{key: keyLimited, wait: after}).RetryAfter
	}
	for _, l := range leases[:3] {
		require.Equal(t, 2*time.Second, limit(l, 0))
	}
	r.recordSuccess(leases[3])
	_, none := r.takeKey()
	require.Equal(t, 2*time.Second, none.RetryAfter, "a success from before does not end the rest")
	require.Equal(t, 2*time.Minute, limit(leases[4], 2*time.Minute), "the server knows better")
	now = now.Add(2 * time.Minute)
	l, err := r.takeKey()
	require.Nil(t, err)
	require.Equal(t, 5*time.Second, limit(l, 0))
	for range 2 {
		require.Equal(t, 5*time.Hour, r.settleLease(l, &fault{key: keyUnpaid}).RetryAfter)
	}
}

func TestTheRingIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)
		cfg := Config{Now: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler), Groups: map[string]string{}}
		for i := range rapid.IntRange(1, 5).Draw(t, "keys") {
			cfg.Keys = append(cfg.Keys, fmt.Sprint("k", i))
			if rapid.Bool().Draw(t, "grouped") {
				cfg.Groups[cfg.Keys[i]] = "g"
			}
		}
		r := newRing(withDefaults(cfg))
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			l, none := r.takeKey()
			if none != nil {
				require.False(t, anyFree(r, now), "a free key was left out")
				require.Equal(t, none.Class == models.ModelAuth, r.countBarred() == len(r.keys))
				now = now.Add(none.RetryAfter)
				continue
			}
			require.False(t, l.key.barred)
			require.False(t, l.key.quota.until.After(now))
			switch v := rapid.SampledFrom([]verdict{keyGood, keyGood, keyLimited, keyUnpaid, keyBarred}).Draw(t, "verdict"); v {
			case keyGood:
				r.recordSuccess(l)
			default:
				none := r.settleLease(l, &fault{key: v})
				require.Equal(t, anyFree(r, now), none == nil)
			}
		}
	})
}

func anyFree(r *ring, now time.Time) bool {
	return slices.ContainsFunc(r.keys, func(k *ringKey) bool { return !k.barred && !k.quota.until.After(now) })
}

func TestManyAtOnce(t *testing.T) {
	r := newRing(withDefaults(Config{Keys: []string{"A", "B", "C"}}))
	counts := [4]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			l, _ := r.takeKey()
			r.recordSuccess(l)
			mu.Lock()
			defer mu.Unlock()
			counts[l.key.place]++
		})
	}
	group.Wait()
	require.Equal(t, [4]int{0, 10, 10, 10}, counts)
}

// Neither an error nor a log line quotes the key, also when a server does.
func TestNoKeyIsTold(t *testing.T) {
	const secret = "A-secret-secret-secret-7890"
	quoting := `{"error":{"code":"` + secret + `","type":"` + secret + `","param":"` + secret + `","message":"` + secret + `"}}`
	for _, status := range []int{200, 302, 400, 401, 402, 403, 404, 413, 422, 429, 500, 503} {
		t.Run(fmt.Sprint("H15 ", status), func(t *testing.T) {
			b := newBench(t, nil, secret)
			b.answers["A"] = answers(status, quoting, "X-Request-Id", secret)
			_, chat := b.Complete(t.Context(), wishing("m1"))
			_, vectors := b.Embed(t.Context(), []string{"a"})
			require.Error(t, chat)
			require.Error(t, vectors)
			for _, shown := range []string{fmt.Sprintf("%v %+v %#v", chat, chat, chat), fmt.Sprintf("%+v", vectors), b.log.String()} {
				require.NotContains(t, shown, "secret")
			}
		})
	}
}
