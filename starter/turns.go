package starter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/sms"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

// recordRoutes answers what is recorded of turns and of consents.
type recordRoutes struct {
	base
	records *store.Records
}

func (h *recordRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: participantPath + "/turns", id: "list-turns", needs: auth.TurnRead,
		summary: "Turns, newest first", errors: []int{http.StatusNotFound}}, h.listTurns)
	register(router, route{method: http.MethodGet, path: participantPath + "/turns/{number}", id: "get-turn", needs: auth.TurnRead, reads: readConversation,
		summary: "Why the coach said what it said", errors: []int{http.StatusNotFound}}, h.getTurn)
	h.registerConsents(router)
}

func (h *recordRoutes) listTurns(ctx context.Context, in *models.TurnQuery) (*answer[api.TurnPage], error) {
	query := *in
	query.Limit++
	rows, err := h.records.Turns(ctx, query)
	if err != nil {
		return nil, h.toFailure("list-turns", err)
	}
	page := api.TurnPage{Turns: make([]models.TurnSummary, 0, len(rows))}
	if len(rows) > in.Limit {
		rows = rows[:in.Limit]
		page.NextBefore = &rows[in.Limit-1].Number
	}
	for _, row := range rows {
		page.Turns = append(page.Turns, toTurnSummary(row))
	}
	return newAnswer("", page), nil
}

type turnRequest struct {
	ID     string `path:"id" maxLength:"64"`
	Number int    `path:"number" minimum:"0" doc:"Number of the turn; the end of its id."`
}

// getTurn shows everything that is known of a turn, redacted as it was stored.
// There is nothing to show after a participant was removed.
func (h *recordRoutes) getTurn(ctx context.Context, in *turnRequest) (*answer[api.Turn], error) {
	record, err := h.records.Turn(ctx, in.ID, in.Number)
	if errors.Is(err, models.ErrNotFound) {
		return nil, newFailure(http.StatusNotFound, "no turn %d of this participant; coachline participant turns lists them", in.Number)
	}
	if err != nil {
		return nil, h.toFailure("get-turn", err)
	}
	turn, err := toTurn(record)
	if err != nil {
		return nil, h.toFailure("get-turn", fmt.Errorf("reading turn %s: %w", record.Totals.ID, err))
	}
	return newAnswer("", turn), nil
}

func toTurnSummary(t models.TurnSummary) models.TurnSummary {
	t.Tools = copyNonNil(t.Tools)
	return t
}

// toTurn builds the API's record of a turn; it fails where a stored call or result
// cannot be read.
func toTurn(r models.TurnRecord) (api.Turn, error) {
	out := api.Turn{
		Turn: toTurnSummary(r.Totals), PromptID: r.Totals.PromptID,
		Steps:  []api.Round{},
		Stages: toStages(r.Stages), Sent: []api.Delivery{}, Subagents: []api.Subagent{},
	}
	if r.Totals.Outcome == string(wire.SourceFallback) {
		kind, detail := models.FallbackReason(r.Steps, r.Stages)
		out.Reason = cmp.Or(detail, kind)
	}
	out.In, out.Out = splitTexts(r.Entries)
	var given int64
	for _, step := range r.Steps {
		shown, err := toStep(step, r.Runs)
		if err != nil {
			return api.Turn{}, err
		}
		trace, ok := step.StepTrace()
		if ok && trace.Prepared.Label != "" && (len(out.Steps) == 0 || trace.Prepared.Newest != given) {
			shown.Given, given = toGiven(trace), trace.Prepared.Newest
		}
		out.Steps = append(out.Steps, shown)
	}
	for _, row := range r.Outbox {
		out.Sent = append(out.Sent, toDelivery(row))
	}
	for _, sub := range r.Subagents {
		shown, err := toSubagent(sub, r)
		if err != nil {
			return api.Turn{}, err
		}
		out.Subagents = append(out.Subagents, shown)
	}
	return out, nil
}

// splitTexts lists what a turn answered and what it said, without calls and their
// results.
func splitTexts(entries []models.Message) (in, out []api.Text) {
	in, out = []api.Text{}, []api.Text{}
	for _, entry := range entries {
		text := api.Text{Kind: entry.Kind, Text: entry.Text, At: entry.At.UTC()}
		switch entry.Role {
		case models.RoleUser:
			in = append(in, text)
		case models.RoleAssistant:
			if entry.Kind != models.KindToolCall {
				out = append(out, text)
			}
		case models.RoleTool: // shown with its call
		}
	}
	return in, out
}

func toStep(step models.Step, runs []models.ToolRun) (api.Round, error) {
	trace, _ := step.StepTrace()
	out := api.Round{
		Number: step.Number, Model: step.Model, Finish: step.FinishReason, Tokens: step.Spent(),
		Stages: toStages(trace.Stages), Text: step.Text, Calls: []api.Call{}, At: step.CreatedAt.UTC(),
	}
	calls, err := step.ToolCalls()
	if err != nil {
		return out, err
	}
	for i, call := range calls {
		at := slices.IndexFunc(runs, func(run models.ToolRun) bool { return run.Step == step.Number && run.Call == i })
		answered := api.Call{Name: call.Name, Arguments: call.Arguments, State: api.CallOpen}
		if at >= 0 {
			result, err := runs[at].ToolResult()
			if err != nil {
				return out, err
			}
			answered.State, answered.Result = api.CallDone, result.Content
			if runs[at].Failed {
				answered.State = api.CallFailed
			}
		}
		if call.Refused != "" {
			answered.State, answered.Result = api.CallRefused, call.Refused
		}
		out.Calls = append(out.Calls, answered)
	}
	return out, nil
}

func toGiven(trace models.StepTrace) *api.Given {
	given := &api.Given{
		Tools: copyNonNil(trace.Prepared.Allowed), ChosenBy: trace.Prepared.Label, Plan: []string{}, Memory: trace.Prepared.Memory,
	}
	if older := trace.Prepared.Older; older != nil {
		given.Older = &api.Older{Count: older.Count, Text: older.Text}
	}
	for _, step := range trace.Prepared.Plan.Steps {
		given.Plan = append(given.Plan, step.Text)
	}
	return given
}

func toStages(rows []models.Stage) []api.Stage {
	out := make([]api.Stage, 0, len(rows))
	for _, row := range rows {
		stage := api.Stage{
			Name: row.Name, Decision: row.Decision, Model: row.Model, Tokens: row.Usage, Millis: row.Millis, At: row.CreatedAt.UTC(),
		}
		if row.Name == models.StageAdvice && row.Model == "" {
			stage.Text = row.Output
		}
		out = append(out, stage)
	}
	return out
}

// codeMeanings says what our own codes mean: why a text was not sent, and a
// participant's status as such a reason.
var codeMeanings = map[string]string{
	"removed":                    "the participant had been removed",
	"answered":                   "the person had answered before it went out",
	"voided":                     "its prompt no longer counted",
	"superseded":                 "a newer choice or a newer reply had made it pointless",
	"earlier_part":               "the part before it did not go out",
	"stale":                      "it was too late to send it",
	"arrived":                    "the text had arrived after all",
	"study_over":                 "the study was over",
	"moved":                      "another time zone or time took its day",
	"quiet_hours":                "quiet hours would have made it too late",
	string(wire.StatusOptedOut):  "the person had opted out",
	string(wire.StatusPaused):    "the participant was paused",
	string(wire.StatusCompleted): "the participant had completed the programme",
	string(wire.StatusWithdrawn): "the participant had withdrawn",
}

// explainCode says what a code of a message means and what an operator can do
// about it. There is nothing to do about our own codes.
func explainCode(code string) (meaning, nextStep string) {
	if meaning, ours := codeMeanings[code]; ours {
		return meaning, ""
	}
	return sms.Meaning(code), sms.NextStep(code)
}

func toDelivery(row models.Outbox) api.Delivery {
	meaning, nextStep := explainCode(row.ErrorCode)
	return api.Delivery{
		ID: row.ID, Part: row.Part, Kind: row.Kind, Text: row.Body, Status: row.Status, ErrorCode: row.ErrorCode, Meaning: meaning, NextStep: nextStep,
		Attempts: row.Attempts, At: row.CreatedAt.UTC(), TakenAt: toUTC(row.AcceptedAt), ChangedAt: row.UpdatedAt.UTC(),
	}
}

// toUTC returns an instant in UTC; nil stays nil.
func toUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}

// copyNonNil returns a copy that is never nil, so that an empty list is [] in
// JSON.
func copyNonNil[T any](list []T) []T { return append([]T{}, list...) }

// toSubagent shows a subagent with the call that it was started by; the
// task is what that call was given.
func toSubagent(sub, parent models.TurnRecord) (api.Subagent, error) {
	out := api.Subagent{Turn: toTurnSummary(sub.Totals), Steps: []api.Round{}}
	origin, _ := models.ParseSubagentTurnID(sub.Totals.ID)
	out.Origin = api.Origin{
		Workflow: models.WorkflowID(sub.Totals.ParticipantID), Channel: parent.Channel, Turn: origin.TurnID, Step: origin.Step, Call: origin.Call,
	}
	for _, step := range parent.Steps {
		calls, err := step.ToolCalls()
		if err != nil {
			return out, err
		}
		if step.Number != origin.Step || origin.Call >= len(calls) {
			continue
		}
		call := calls[origin.Call]
		out.Origin.Tool = call.Name
		var given struct{ Task, Label string }
		if json.Unmarshal([]byte(call.Arguments), &given) == nil {
			out.Task, out.Label = given.Task, given.Label
		}
	}
	for _, step := range sub.Steps {
		step, err := toStep(step, sub.Runs)
		if err != nil {
			return out, err
		}
		out.Steps = append(out.Steps, step)
	}
	return out, nil
}
