package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/reflect/protoreflect"

	"coachline/internal/seal"
	"coachline/models"
)

// tape reads the histories of a running dev with the key of its data folder.
type tape struct {
	t      *testing.T
	client client.Client
	codec  converter.PayloadCodec
	// seen is the run and its length when quiet looked last.
	seen string
}

func openTape(t *testing.T, r *running) *tape {
	t.Helper()
	folder, _, _ := strings.Cut(r.table["Data"], " ")
	key, err := os.ReadFile(filepath.Join(folder, keyFile))
	require.NoError(t, err)
	ring, err := seal.Parse(strings.TrimSpace(string(key)))
	require.NoError(t, err)
	return &tape{t: t, client: dialTemporal(t, r), codec: ring.Codec()}
}

// runs are the histories of a participant's runs that were open after since,
// the oldest first, as files for the replayer.
func (p *tape) runs(id string, since time.Time) [][]byte {
	p.t.Helper()
	var files [][]byte
	for run := ""; ; {
		events := p.history(id, run)
		if events[len(events)-1].GetEventTime().AsTime().Before(since) {
			break
		}
		files = append(files, p.encode(events))
		run = events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
		if run == "" {
			break
		}
	}
	slices.Reverse(files)
	return files
}

func (p *tape) history(id, run string) []*history.HistoryEvent {
	p.t.Helper()
	var events []*history.HistoryEvent
	pages := p.client.GetWorkflowHistory(p.t.Context(), models.WorkflowID(id), run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for pages.HasNext() {
		event, err := pages.Next()
		require.NoError(p.t, err)
		events = append(events, event)
	}
	require.NotEmpty(p.t, events)
	return events
}

// encode opens the payloads, forgets which machine it was, and writes one
// event a line, so that a changed recording can be read as a difference.
func (p *tape) encode(events []*history.HistoryEvent) []byte {
	p.t.Helper()
	var out bytes.Buffer
	out.WriteString("{\"events\":[\n")
	for i, event := range events {
		require.NoError(p.t, proxy.VisitPayloads(context.Background(), event, proxy.VisitPayloadsOptions{
			SkipSearchAttributes: true, // never sealed
			Visitor: func(_ *proxy.VisitPayloadsContext, sealed []*common.Payload) ([]*common.Payload, error) {
				return p.codec.Decode(sealed)
			},
		}))
		forget(event.ProtoReflect())
		line, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(event)
		require.NoError(p.t, err)
		if i > 0 {
			out.WriteString(",\n")
		}
		require.NoError(p.t, json.Compact(&out, line))
	}
	out.WriteString("\n]}\n")
	return out.Bytes()
}

// forget clears every field called identity: a process and a host's name.
func forget(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Name() == "identity":
			m.Clear(field)
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				forget(value.List().Get(i).Message())
			}
		default:
			forget(value.Message())
		}
		return true
	})
}

// quiet: nothing of the workflow is being worked on, and nothing happened since
// the call before. A run that has only begun is not quiet: the server holds the
// first task of a run back while the run before it was a very short one.
func (p *tape) quiet(id string) bool {
	got, err := p.client.DescribeWorkflowExecution(context.Background(), models.WorkflowID(id), "")
	if err != nil {
		return false
	}
	info := got.GetWorkflowExecutionInfo()
	before := p.seen
	p.seen = fmt.Sprint(info.GetExecution().GetRunId(), info.GetHistoryLength())
	running := info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	begun := info.GetHistoryLength() > 3
	return begun && p.seen == before && (!running || got.PendingWorkflowTask == nil && len(got.PendingActivities) == 0)
}
