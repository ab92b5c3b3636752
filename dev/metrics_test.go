package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models/wire"
)

var (
	// figureLabel is a label of a line in Prometheus's text format.
	figureLabel = regexp.MustCompile(`[{,](\w+)="((?:[^"\\]|\\.)*)"`)
	// anybody matches what would point at a person or a single thing of theirs.
	anybody = regexp.MustCompile(`\d{7,}|conv_|participant-|-t\d+|[0-9a-f]{8}-[0-9a-f]{4}|@`)
)

// TestOneScrapeShowsBothRoles: worker and starter of one process count into one
// registry, each thing once, with the Temporal SDK's own figures beside it.
func TestOneScrapeShowsBothRoles(t *testing.T) {
	t.Parallel()
	r := launchIn(t, []string{"COACH_DEBOUNCE=0"}, "--ephemeral")
	p := &person{t: t, number: ada, r: r}
	require.Equal(t, http.StatusCreated, p.enroll("Ada", "UTC"))
	p.next(soon)
	p.says("hi")
	p.says("a short walk")
	p.text("STOP") // The carrier answers it, and refuses our confirmation.
	want := []string{
		`coachline_inbound_texts_total{reason="",verdict="accepted"} 3`,
		`coachline_inbound_texts_total{reason="",verdict="duplicate"} 0`,
		`coachline_webhook_duration_seconds_count{code="200",hook="inbound"} 3`,
		`coachline_consent_changes_total{action="opt_out",method="keyword"} 1`,
		`coachline_turns_total{kind="greeting",outcome="step"} 1`,
		`coachline_turns_total{kind="reply",outcome="step"} 2`,
		`coachline_turns_total{kind="consent",outcome="fixed"} 1`,
		`coachline_turn_duration_seconds_count 2`,
		`coachline_turn_texts_sum 2`,
		`coachline_sends_total{class="",kind="reply",status="accepted"} 2`,
		`coachline_sends_total{class="consent",kind="consent",status="failed"} 1`,
		`coachline_workflow_calls_total{call="signal",outcome="told"} 2`,
		`coachline_notices_waiting 0`,
	}
	var text string
	has := func() bool {
		text = "\n" + string(fetch(t, r.table["API"]+"/metrics"))
		for _, line := range want {
			if !strings.Contains(text, "\n"+line+"\n") {
				return false
			}
		}
		return true
	}
	// What is counted after the text is on the phone takes a moment.
	if !waits(soon, has) {
		for _, line := range want {
			require.Contains(t, text, "\n"+line+"\n")
		}
	}
	require.Contains(t, text, "\ntemporal_workflow_task_schedule_to_start_latency_seconds_bucket{")
	for _, queue := range []string{wire.QueueCoach, wire.QueueModel, wire.QueueSMS} {
		require.Regexp(t, `temporal_worker_task_slots_available\{[^}]*task_queue="`+queue+`"`, text, "the queues are told apart")
	}
	labels := 0
	for _, pair := range figureLabel.FindAllStringSubmatch(text, -1) {
		labels++
		if pair[1] != "le" {
			require.NotRegexp(t, anybody, pair[2], pair[1])
			require.NotContains(t, strings.ToLower(pair[2]), "ada", pair[1])
		}
	}
	require.Greater(t, labels, 500)
}

// waits asks until it is so or the time is over.
func waits(within time.Duration, so func() bool) bool {
	over := time.After(within)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-over:
			return false
		}
	}
	return true
}
