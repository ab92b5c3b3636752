package models_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestFallbackReason(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	failed := func(after time.Duration, err models.ModelError) models.Stage {
		return models.Stage{Name: models.StageModel, Decision: models.DescribeFailure(&err), CreatedAt: noon.Add(after)}
	}
	guarded := func(after time.Duration, decisions ...string) models.Step {
		var trace models.StepTrace
		for _, decision := range decisions {
			trace.Stages = append(trace.Stages, models.Stage{Name: models.StageGuard, Decision: decision})
		}
		text, err := json.Marshal(trace)
		require.NoError(t, err)
		return models.Step{Trace: string(text), CreatedAt: noon.Add(after)}
	}
	busy := models.ModelError{Class: models.ModelBusy, Message: "status 503 Service Unavailable"}
	late := models.ModelError{Class: models.ModelBusy, Message: "no answer in time", TimedOut: true}
	for name, tt := range map[string]struct {
		steps        []models.Step
		stages       []models.Stage
		kind, detail string
	}{
		"nothing on record": {nil, nil, "other", ""},
		"the newest":        {nil, []models.Stage{failed(time.Minute, late), failed(0, busy)}, "time_out", "model failed time_out: no answer in time"},
		"the guard":         {[]models.Step{guarded(time.Minute, "guard promise", "guard again promise")}, []models.Stage{failed(0, busy)}, "guard", "guard promise, guard again promise"},
		"an older guard":    {[]models.Step{guarded(0, "guard promise")}, []models.Stage{failed(time.Minute, busy)}, "busy", "model failed busy: status 503 Service Unavailable"},
		"another stage":     {nil, []models.Stage{{Name: models.StageModel, Decision: "model native"}}, "other", ""},
	} {
		t.Run(name, func(t *testing.T) {
			kind, detail := models.FallbackReason(tt.steps, tt.stages)
			require.Equal(t, tt.kind, kind)
			require.Equal(t, tt.detail, detail)
		})
	}
}
