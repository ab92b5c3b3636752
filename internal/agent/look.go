package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coachline/internal/agent/plan"
	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

const (
	// lookKindChars and lookReasonChars bound what is kept of a second look.
	lookKindChars   = 20
	lookReasonChars = 120
)

// LookAgain has the small model read a message once more that carries a weak sign of
// danger, with the six texts before it. A failure, a refusal, an answer of another
// shape and one that takes more than 8 s are LookFailed, which counts as possible. A
// retry with the same message reads the stored answer.
func (a *Agent) LookAgain(ctx context.Context, c models.TurnContext, inboundID int64) models.LookVerdict {
	tr := &trace{turnID: c.Turn.ID, now: a.Now}
	verdict := a.askForLook(ctx, tr, c, inboundID)
	decision := "look " + string(verdict.State)
	if verdict.About != "" {
		decision += " " + verdict.About
	}
	tr.note(models.StageLook, decision)
	if err := a.saveStages(ctx, tr); err != nil {
		return verdict // the alert keeps the decision too
	}
	return verdict
}

func (a *Agent) askForLook(ctx context.Context, tr *trace, c models.TurnContext, inboundID int64) models.LookVerdict {
	failed := models.LookVerdict{State: models.LookFailed}
	clean, err := a.clean.Turn(c)
	if err != nil {
		tr.noteError(models.StageLook, err)
		return failed
	}
	at := slices.IndexFunc(clean.Window, func(entry models.Message) bool { return entry.Key == models.InboundKey(inboundID) })
	if at < 0 {
		tr.note(models.StageLook, "look without message")
		return failed
	}
	t := turn{context: clean, now: a.Now(), zone: a.zoneOf(tr, &clean.Participant)}
	system, err := a.Prompts.Render(prompts.SecondLook, prompts.StageData{
		Query: clean.Window[at].Text, Dialogue: plan.Dialogue(clean.Window[:at]), Context: t.momentLine(), Language: clean.Participant.Locale,
	})
	if err != nil {
		tr.noteError(models.StageLook, err)
		return failed
	}
	request := models.ChatRequest{
		Model: a.Settings.SmallModel, JSON: true,
		Messages: []models.ChatMessage{{Role: roleSystem, Content: system}, {Role: roleUser, Content: clean.Window[at].Text}},
	}
	answer, err := a.askSmallModel(ctx, tr, question{stage: models.StageLook, request: request, limit: smallLimit})
	if err != nil {
		return failed
	}
	verdict, err := parseLook(answer)
	if err != nil {
		tr.note(models.StageLook, "look unreadable")
		return failed
	}
	return verdict
}

// parseLook reads the answer of the second look. An error says what it lacks; it quotes
// nothing.
func parseLook(answer string) (models.LookVerdict, error) {
	var raw struct {
		Danger, About, Kind, Reason string
	}
	if !text.FirstObject(answer, &raw) {
		return models.LookVerdict{}, fmt.Errorf("no JSON object")
	}
	verdict := models.LookVerdict{
		State: models.LookState(plainWord(raw.Danger)), About: plainWord(raw.About),
		Kind: text.Truncate(plainWord(raw.Kind), lookKindChars), Reason: text.Truncate(strings.Join(strings.Fields(raw.Reason), " "), lookReasonChars),
	}
	if !slices.Contains([]models.LookState{models.LookNone, models.LookPossible, models.LookClear}, verdict.State) {
		return models.LookVerdict{}, fmt.Errorf("danger is none of the three")
	}
	if !slices.Contains([]string{"self", "another", "general"}, verdict.About) {
		return models.LookVerdict{}, fmt.Errorf("about is none of the three")
	}
	return verdict, nil
}

func plainWord(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
