package consort_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/consort"
	"coachline/models"
	"coachline/models/wire"
)

// TestFlow: each person is counted once by how they ended, and testers never.
func TestFlow(t *testing.T) {
	var flow consort.Flow
	gone := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for _, p := range []models.StudyPerson{
		{Arm: "a", Status: wire.StatusActive}, {Arm: "b", Status: wire.StatusPaused}, {Status: wire.StatusCompleted, RemovedAt: &gone},
		{Arm: "a", Status: wire.StatusOptedOut, Withdrew: true}, {Arm: "a", Status: wire.StatusOptedOut}, {Status: wire.StatusActive, RemovedAt: &gone},
		{Arm: "a", Tester: true},
	} {
		flow.Add(p, 2)
	}
	want := []consort.Step{
		{Name: "enrolled", People: 12}, {Name: "allocated", People: 8}, {Name: "allocated to a", People: 6}, {Name: "allocated to b", People: 2},
		{Name: "withdrew consent", People: 2}, {Name: "opted out of texts", People: 2}, {Name: "removed", People: 2}, {Name: "completed", People: 2},
		{Name: "still taking part", People: 4},
	}
	require.Equal(t, want, flow.Steps(true))
	require.Len(t, flow.Steps(false), 7)
	require.Equal(t, int64(12), flow.Enrolled())
}

// TestDiagram: the drawing is well-formed also where an arm has an odd name.
func TestDiagram(t *testing.T) {
	var drawn strings.Builder
	require.NoError(t, consort.WriteDiagram(&drawn, []consort.Step{{Name: "enrolled", People: 3}, {Name: `allocated to <a> & "b"`, People: 1}}))
	var read struct {
		Boxes []struct{} `xml:"rect"`
		Texts []string   `xml:"text"`
	}
	require.NoError(t, xml.Unmarshal([]byte(drawn.String()), &read))
	require.Len(t, read.Boxes, 2)
	require.Equal(t, []string{"enrolled (n = 3)", `allocated to <a> & "b" (n = 1)`}, read.Texts)
}
