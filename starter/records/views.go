package records

import (
	"slices"
	"time"

	"coachline/internal/api"
	"coachline/internal/sms"
	"coachline/models"
)

func summaryOf(t models.TurnTotals) api.TurnSummary {
	return api.TurnSummary{
		ID: t.Turn.ID, Number: t.Turn.Number, Kind: t.Turn.Kind, Mode: t.Turn.Mode, Outcome: t.Turn.Outcome,
		StartedAt: t.Turn.StartedAt.UTC(), FinishedAt: utc(t.Turn.FinishedAt), PromptVersion: t.Turn.PromptVersion,
		Rounds: t.Rounds, Tools: withoutNil(t.Tools), Tokens: t.Usage,
	}
}

// turnOf builds the view of a turn; it fails where a stored call or result
// cannot be read.
func turnOf(r models.TurnRecord) (api.Turn, error) {
	out := api.Turn{
		Turn: summaryOf(r.Totals), PromptID: r.Totals.Turn.PromptID,
		Rounds: []api.Round{},
		Stages: stagesOf(r.Stages), Sent: []api.Delivery{}, Subagents: []api.Subagent{},
	}
	out.In, out.Out = textsOf(r.Entries)
	var given int64
	for _, step := range r.Steps {
		round, err := roundOf(step, r.Runs)
		if err != nil {
			return api.Turn{}, err
		}
		trace, ok := step.StepTrace()
		if ok && trace.Prepared.Label != "" && (len(out.Rounds) == 0 || trace.Prepared.Newest != given) {
			round.Given, given = givenOf(trace), trace.Prepared.Newest
		}
		out.Rounds = append(out.Rounds, round)
	}
	for _, row := range r.Outbox {
		out.Sent = append(out.Sent, deliveryOf(row))
	}
	for _, sub := range r.Subagents {
		shown, err := subagentOf(sub, r)
		if err != nil {
			return api.Turn{}, err
		}
		out.Subagents = append(out.Subagents, shown)
	}
	return out, nil
}

// textsOf are the words of a turn, without calls and their results.
func textsOf(entries []models.Message) (in, out []api.Text) {
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

func roundOf(step models.Step, runs []models.ToolRun) (api.Round, error) {
	trace, _ := step.StepTrace()
	out := api.Round{
		Number: step.Number, Model: step.Model, Finish: step.FinishReason, Tokens: step.Spent(),
		Stages: stagesOf(trace.Stages), Text: step.Text, Calls: []api.Call{}, At: step.CreatedAt.UTC(),
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

func givenOf(trace models.StepTrace) *api.Given {
	given := &api.Given{
		Tools: withoutNil(trace.Prepared.Allowed), ChosenBy: trace.Prepared.Label, Plan: []string{}, Memory: trace.Prepared.Memory,
	}
	if older := trace.Prepared.Older; older != nil {
		given.Older = &api.Older{Count: older.Count, Text: older.Text}
	}
	for _, step := range trace.Prepared.Plan.Steps {
		given.Plan = append(given.Plan, step.Text)
	}
	return given
}

func stagesOf(rows []models.Stage) []api.Stage {
	out := make([]api.Stage, 0, len(rows))
	for _, row := range rows {
		out = append(out, api.Stage{
			Name: row.Name, Decision: row.Decision, Model: row.Model, Tokens: row.Usage, Millis: row.Millis, At: row.CreatedAt.UTC(),
		})
	}
	return out
}

// ownCodes are the reasons of ours for which a text was not sent, and what
// participants' standings mean as one.
var ownCodes = map[string]string{
	"removed":                      "the participant had been removed",
	"answered":                     "the person had answered before it went out",
	"voided":                       "its prompt no longer counted",
	"superseded":                   "a newer choice or a newer reply had made it pointless",
	"earlier_part":                 "the part before it did not go out",
	"stale":                        "it was too late to send it",
	"arrived":                      "the text had arrived after all",
	"quiet_hours":                  "quiet hours would have made it too late",
	string(models.StatusOptedOut):  "the person had opted out",
	string(models.StatusPaused):    "the participant was paused",
	string(models.StatusCompleted): "the participant had completed the programme",
	string(models.StatusWithdrawn): "the participant had withdrawn",
}

func deliveryOf(row models.Outbox) api.Delivery {
	meaning, ours := ownCodes[row.ErrorCode]
	if !ours {
		meaning = sms.Meaning(row.ErrorCode)
	}
	return api.Delivery{
		ID: row.ID, Part: row.Part, Kind: row.Kind, Text: row.Body, Status: row.Status, ErrorCode: row.ErrorCode, Meaning: meaning,
		Attempts: row.Attempts, At: row.CreatedAt.UTC(), TakenAt: utc(row.AcceptedAt), ChangedAt: row.UpdatedAt.UTC(),
	}
}

func consentsOf(rows []models.Consent) []api.Consent {
	out := make([]api.Consent, 0, len(rows))
	for _, row := range rows {
		out = append(out, api.Consent{
			Action: row.Action, Method: row.Method, At: row.At.UTC(), Actor: row.RecordedBy, Text: row.Text, TurnID: row.TurnID,
		})
	}
	return out
}

// memoryOf leaves out what was blanked by a wish to forget.
func memoryOf(known models.Memory, histories map[string][]models.FactVersion) api.Memory {
	out := api.Memory{Facts: []api.Fact{}, Notes: []api.Note{}}
	for _, fact := range known.Facts {
		out.Facts = append(out.Facts, factOf(fact, histories[fact.ID]))
	}
	for _, note := range known.Notes {
		if note.Text != "" {
			out.Notes = append(out.Notes, api.Note{LocalDate: note.LocalDate, Text: note.Text, At: note.UpdatedAt.UTC()})
		}
	}
	if known.Summary.Text != "" {
		out.Summary = api.Summary{Text: known.Summary.Text, At: utc(&known.Summary.UpdatedAt)}
	}
	return out
}

func factOf(fact models.Fact, versions []models.FactVersion) api.Fact {
	out := api.Fact{
		ID: fact.ID, Kind: fact.Kind, Text: fact.Text, Source: fact.SourceID, TurnID: fact.TurnID,
		Version: fact.Version, At: fact.UpdatedAt.UTC(), Before: []api.FactVersion{},
	}
	for _, old := range versions {
		if old.Version < fact.Version {
			out.Before = append(out.Before, api.FactVersion{
				Version: old.Version, Kind: old.Kind, Text: old.Text, Source: old.SourceID, TurnID: old.TurnID, At: old.At.UTC(),
			})
		}
	}
	return out
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}

// withoutNil returns a list that is never nil, so that lists are lists in JSON
// too.
func withoutNil(list []string) []string { return append([]string{}, list...) }
