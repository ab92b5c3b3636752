package starter

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

// TestProgressRoute: arms and costs are for those who may see them.
func TestProgressRoute(t *testing.T) {
	h := startWithAccess(t, nil)
	h.do(call{method: "POST", path: studiesPath, body: `{"id":"walk-1","name":"Walk","planned":20,"starts_at":"2026-11-20T00:00:00Z","ends_at":"2026-11-30T00:00:00Z",` +
		`"settings":{"arms":[{"name":"calm","weight":1},{"name":"brisk","weight":1}],"randomisation":{"method":"simple"}}}`})
	h.do(call{method: "PUT", path: studiesPath + "/walk-1", body: `{"state":"recruiting"}`})
	enrolled := h.do(call{method: "POST", path: participantsPath, body: `{"phone_number":"+12125550142","study":"walk-1"}`})
	require.Equal(t, http.StatusCreated, enrolled.status, enrolled.raw)

	read := call{method: "GET", path: studiesPath + "/walk-1/progress"}
	all := result[api.StudyProgress](t, h.do(read))
	require.Equal(t, []any{"walk-1", int64(1), 20}, []any{all.Study, all.Enrolled, all.Planned})
	last := all.Recruitment[len(all.Recruitment)-1]
	require.Equal(t, []any{5, "2026-11-24", int64(1)}, []any{len(all.Recruitment), last.Day, last.Enrolled})
	require.InDelta(t, 10, *last.Planned, 1e-9)
	require.Len(t, all.Flow, 8)
	require.Len(t, all.Balance, 1)
	require.NotNil(t, all.Costs)

	_, secret := h.token(auth.StudyRead)
	blind := h.do(withToken(read, secret))
	few := result[api.StudyProgress](t, blind)
	require.NotContains(t, blind.raw, "calm")
	require.NotContains(t, blind.raw, "brisk")
	require.Len(t, few.Flow, 7)
	require.Nil(t, few.Costs)
	require.Nil(t, few.Balance)
	require.Nil(t, few.ArmResponse)
	_, secret = h.token(auth.ParticipantRead)
	h.refused(withToken(read, secret), http.StatusForbidden, "permission study:read is needed")
	h.refused(call{method: "GET", path: studiesPath + "/none/progress"}, http.StatusNotFound, "study not found")
}

func TestRecruitmentCurve(t *testing.T) {
	at := time.Date(2026, 11, 24, 15, 0, 0, 0, time.UTC)
	rows := progressRows{at: at, counts: models.StudyProgress{People: []models.PeopleGroup{{Day: "2026-07-01", People: 3}, {Day: "2026-11-24", People: 4}, {Day: "2026-11-24", People: 1}}}}
	curve := toRecruitment(rows)
	require.Len(t, curve, 49, "147 days, each third one")
	require.Equal(t, api.RecruitmentDay{Day: "2026-11-24", Enrolled: 8}, curve[48])
	require.Equal(t, api.RecruitmentDay{Day: "2026-11-21", Enrolled: 3}, curve[47])
	require.Equal(t, int64(3), curve[0].Enrolled)
	require.Equal(t, []api.RecruitmentDay{{Day: "2026-11-24"}}, toRecruitment(progressRows{at: at}), "no person yet")
}

func TestProgressFigures(t *testing.T) {
	counts := models.StudyProgress{
		People:  []models.PeopleGroup{{Weeks: 2, People: 6, Removed: true}, {Weeks: 1, People: 4}, {Weeks: 0, People: 5}},
		Writers: []models.WeekWriters{{Week: 1, People: 5}},
	}
	weeks := toRetention(counts)
	require.Len(t, weeks, 2)
	require.Equal(t, []any{int64(10), int64(5), 0.5, int64(6), int64(0)}, []any{weeks[0].People, weeks[0].Answered, weeks[0].Share, weeks[1].People, weeks[1].Answered})
	require.Less(t, weeks[0].Low, 0.5)
	require.Greater(t, weeks[0].High, 0.5)

	rows := []models.DayResponse{{Day: 1, Arm: "a", People: 4, Answered: 1}, {Day: 1, Arm: "b", People: 4, Answered: 3}, {Day: 3, People: 2}}
	days := toResponse(rows)
	require.Equal(t, []any{1, int64(8), int64(4), 3, int64(2)}, []any{days[0].Day, days[0].People, days[0].Answered, days[1].Day, days[1].People})
	require.Len(t, toArmResponse(rows), 2)

	texts := []models.TextGroup{}
	for i, status := range []wire.OutboxStatus{
		wire.OutboxDelivered, wire.OutboxRead, wire.OutboxFailed, wire.OutboxUndelivered, wire.OutboxUnknown, wire.OutboxCanceled, wire.OutboxSent,
	} {
		texts = append(texts, models.TextGroup{Status: status, Texts: 1 << i})
	}
	require.Equal(t, api.TextCounts{Delivered: 3, Failed: 12, Unknown: 16, Canceled: 32, Underway: 64}, toTextCounts(texts))

	prompts := toPromptCounts([]models.PromptGroup{{Sent: true, Lateness: 0, Prompts: 5}, {Sent: true, Lateness: 4, Outcome: models.OutcomePartly, Prompts: 1}, {State: models.PromptMissed, Reason: "outage", Prompts: 2}})
	require.Equal(t, int64(6), prompts.Sent)
	require.InDelta(t, 60, *prompts.Lateness[0].AtMostSeconds, 1e-9)
	require.Equal(t, api.LatePrompts{Prompts: 1}, prompts.Lateness[4])
	require.Equal(t, []api.UnsentPrompt{{State: models.PromptMissed, Reason: "outage", Prompts: 2}}, prompts.Unsent)
	require.Equal(t, []api.ReportedPrompts{
		{Outcome: models.OutcomeDone}, {Outcome: models.OutcomePartly, Prompts: 1}, {Outcome: models.OutcomeNotDone}, {Outcome: models.OutcomeUnknown, Prompts: 5},
	}, prompts.Reported)

	costs := toStudyCosts([]models.CostGroupSum{{Kind: models.CostModel, Currency: "USD", Micros: 900, Unpriced: 1}, {Kind: models.CostOutbound, Currency: "USD", Micros: 100}, {Kind: models.CostInbound, Unpriced: 4}}, 10)
	require.Equal(t, []api.StudyCost{{Currency: "USD", Micros: 100}}, costs.PerPerson)
	require.Len(t, costs.Sums, 3)
}
