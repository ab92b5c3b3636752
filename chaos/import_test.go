package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"coachline/dev/temporal"
	"coachline/internal/sim/twilio"
	"coachline/models"
)

const (
	imported = 400
	// killAfter is how long an import has run when the roles are killed.
	killAfter = 500 * time.Millisecond
	texters   = 4
	// longestAnswer is how long one may wait whose starter and worker are killed.
	longestAnswer = 15 * time.Second
	// importShare is how many times as long as without an import the middle answer may
	// take, and importSlack what a busy machine adds.
	importShare = 3
	importSlack = 200 * time.Millisecond
)

// importPeople imports people and calls back when the import has begun; it returns when
// all are enrolled.
func (l *installation) importPeople(first int, began func()) error {
	file := "phone_number,name,timezone\n"
	for i := range imported {
		file += fmt.Sprintf("+1212555%04d,Ann,UTC\n", first+i)
	}
	var job struct {
		Result struct {
			ID    string             `json:"id"`
			State models.CohortState `json:"state"`
		} `json:"result"`
	}
	call := func(method, path, table string) error {
		return l.repeat(func(ctx context.Context) (*http.Request, error) {
			req, err := http.NewRequestWithContext(ctx, method, publicURL+path, strings.NewReader(table))
			if err == nil && table != "" {
				req.Header.Set("Content-Type", "text/csv")
			}
			return req, err
		}, func(answer []byte) error { return json.Unmarshal(answer, &job) })
	}
	if err := call(http.MethodPost, "/cohorts?per_minute=15", file); err != nil {
		return err
	}
	path := "/cohorts/" + job.Result.ID
	if err := call(http.MethodPost, path+"/confirm", ""); err != nil {
		return err
	}
	began()
	for !job.Result.State.IsOver() {
		twilio.Pause(l.ctx, lookEvery)
		if err := call(http.MethodGet, path, ""); err != nil {
			return err
		}
	}
	if job.Result.State != models.CohortDone {
		return fmt.Errorf("the import is %s", job.Result.State)
	}
	return nil
}

// textUntil has people text one after the other until over ends, once at least, and
// returns how long each answer took.
func textUntil(over context.Context, people []*turn) (took []time.Duration, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, p := range people {
		group.Go(func() {
			for first := true; first || over.Err() == nil; first = false {
				began := time.Now()
				failed := p.say("hello")
				if failed == nil && !p.waitFor("reply", p.texts) {
					failed = fmt.Errorf("%s: text %d had no answer", p.number, p.texts)
				}
				mu.Lock()
				took, err = append(took, time.Since(began)), cmp.Or(err, failed)
				mu.Unlock()
				if failed != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return took, err
}

// TestImportBesideTexts: people who text wait little longer while many are imported, and
// no one waits long when starter and worker are killed in the midst of an import, which
// comes to its end all the same.
func TestImportBesideTexts(t *testing.T) {
	keepLog(t)
	around, err := newSurroundings(t.Context(), temporal.Config{}, 1000)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, around.close()) })
	l, err := newInstallation(t.Context(), around, &scenario{thinking: 100 * time.Millisecond, listLag: time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.close()) })
	people := make([]*turn, texters)
	var group errgroup.Group
	for i := range people {
		group.Go(func() (err error) {
			people[i], err = l.enrol()
			return err
		})
	}
	require.NoError(t, group.Wait())
	beside := func(work func() error) []time.Duration {
		over, done := context.WithCancel(t.Context())
		var failed error
		go func() { defer done(); failed = work() }()
		took, err := textUntil(over, people)
		require.NoError(t, err)
		<-over.Done()
		require.NoError(t, failed)
		slices.Sort(took)
		return took
	}
	alone := beside(func() error { twilio.Pause(l.ctx, 3*time.Second); return nil })
	during := beside(func() error { return l.importPeople(0, func() {}) })
	atKill := 0
	killed := beside(func() error {
		return l.importPeople(imported, func() {
			twilio.Pause(l.ctx, killAfter)
			_ = l.db.QueryRow("SELECT count(*) FROM participants").Scan(&atKill) // judged below
			l.current("starter").kill()
			l.current("worker").kill()
		})
	})
	middle := func(took []time.Duration) time.Duration { return took[len(took)/2] }
	t.Logf("alone %d answers, middle %v; during %d, middle %v, slowest %v; killed %d, slowest %v",
		len(alone), middle(alone), len(during), middle(during), slices.Max(during), len(killed), slices.Max(killed))
	require.LessOrEqual(t, middle(during), importShare*middle(alone)+importSlack)
	require.Positive(t, atKill)
	require.Less(t, atKill, texters+2*imported, "the import was over before the kill")
	require.LessOrEqual(t, slices.Max(killed), longestAnswer)
}
