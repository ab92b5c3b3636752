package metrics

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
)

// asked is a handler that notes what it is asked for.
type asked struct {
	client.MetricsHandler
	labels string
	log    *[]string
}

func (a asked) note(what string) { *a.log = append(*a.log, a.labels+what) }

func (a asked) WithTags(tags map[string]string) client.MetricsHandler {
	a.note("labels")
	a.labels += fmt.Sprint(tags)
	return a
}

func (a asked) Counter(name string) client.MetricsCounter {
	a.note("counter " + name)
	return client.MetricsNopHandler.Counter(name)
}

func (a asked) Gauge(name string) client.MetricsGauge {
	a.note("gauge " + name)
	return client.MetricsNopHandler.Gauge(name)
}

func (a asked) Timer(name string) client.MetricsTimer {
	a.note("timer " + name)
	return client.MetricsNopHandler.Timer(name)
}

func TestWhatWasAskedForIsKept(t *testing.T) {
	var log []string
	root := newTagged(asked{MetricsHandler: client.MetricsNopHandler, log: &log})
	for range 3 {
		one := root.WithTags(map[string]string{"a": "1", "b": "2"})
		one.Counter("n").Inc(1)
		one.Gauge("n").Update(1)
		one.Timer("n").Record(1)
		one.WithTags(map[string]string{"c": "3"}).Counter("n").Inc(1)
		root.WithTags(map[string]string{"a": "1\x00b", "b": "2"}).Counter("n").Inc(1)
		root.Counter("n").Inc(1)
	}
	require.Equal(t, []string{
		"labels", "map[a:1 b:2]counter n", "map[a:1 b:2]gauge n", "map[a:1 b:2]timer n",
		"map[a:1 b:2]labels", "map[a:1 b:2]map[c:3]counter n",
		"labels", "map[a:1\x00b b:2]counter n", "counter n",
	}, log)
}
