package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

// TestStudyProgressVerb prints each figure, and leaves out what is not for the caller.
func TestStudyProgressVerb(t *testing.T) {
	half := api.Proportion{People: 10, Answered: 5, Share: 0.5, Low: 0.132, High: 0.868}
	planned, minute := 12.5, 60.0
	all := api.StudyProgress{
		Study: "walk-1", At: time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC), Recruitment: []api.RecruitmentDay{{Day: "2026-11-24", Enrolled: 10, Planned: &planned}},
		Flow: []api.FlowStep{{Step: "enrolled", People: 10}}, Retention: []api.WeekRetention{{Week: 1, Proportion: half}}, Response: []api.StudyDay{{Day: 3, Proportion: half}},
		ArmResponse: []api.ArmStudyDay{{Arm: "calm", StudyDay: api.StudyDay{Day: 3, Proportion: half}}},
		Prompts:     api.PromptCounts{Sent: 7, Lateness: []api.LatePrompts{{AtMostSeconds: &minute, Prompts: 6}, {Prompts: 1}}, Unsent: []api.UnsentPrompt{{State: models.PromptMissed, Reason: "outage", Prompts: 2}}, Reported: []api.ReportedPrompts{{Outcome: models.OutcomeNotDone, Prompts: 3}}},
		Texts:       api.TextCounts{Delivered: 20, Unknown: 1}, Balance: []models.ArmBalance{{Stratum: `{"site":"north"}`, Arm: "calm", People: 4}},
		Decisions: api.DecisionCounts{Points: 9, Available: 8, Unavailable: []api.Unavailable{{Reason: "paused", Points: 1}}},
		Costs:     &api.StudyCosts{Sums: []api.StudyCost{{Kind: models.CostModel, Currency: "USD", Micros: 1_500_000, Unpriced: 2}}, PerPerson: []api.StudyCost{{Currency: "USD", Micros: 150_000}}},
		Attention: []api.AttentionCount{{Kind: wire.AttentionCrisis, People: 1}}, Alerts: 3,
	}
	few := all
	few.ArmResponse, few.Balance, few.Costs, few.Decisions = nil, nil, nil, api.DecisionCounts{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]any{"status": "ok", "result": all}
		if r.URL.Path != "/studies/walk-1/progress" {
			answer["result"] = few
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	environ := []string{"COACH_HTTP_ADDR=" + strings.TrimPrefix(server.URL, "http://")}
	show := func(study string) string {
		code, out, complaint := call(t, environ, "study", "progress", study)
		require.Equal(t, exitDone, code, complaint)
		return strings.Join(strings.Fields(out), " ")
	}
	shown := show("walk-1")
	for _, text := range []string{
		"2026-11-24 10 12.5", "reported as not done 3", "enrolled 10", "WEEK PEOPLE WROTE SHARE 95% AT ALL LOOKS 1 10 5 50.0% 13.2-86.8%", "ANSWERED SHARE 95% AT ALL LOOKS 3 10 5 50.0%", "calm, 3 10 5 50.0%",
		"sent at most 1m after the target 6", "sent later than that 1", "missed: outage 2", "delivered 20", "unknown 1", `{"site":"north"} calm 4`, "available 8", "not available: paused 1",
		"model 1.50 USD 2", "a person 0.15 USD", "crisis 1", "alerts not acknowledged 3",
	} {
		require.Contains(t, shown, text)
	}
	shown = show("other")
	for _, text := range []string{"calm", "STRATUM", "COST", "DECISION"} {
		require.NotContains(t, shown, text)
	}
}
