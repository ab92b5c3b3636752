package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"coachline/internal/advice"
	"coachline/internal/agent/outgoing"
	"coachline/internal/agent/toolcall"
	"coachline/internal/text"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

const (
	// adviceChars bounds a rewritten text.
	adviceChars = 300
	// adviceTexts and adviceSaid bound what the look reads of the person: the newest texts
	// and their characters.
	adviceTexts, adviceSaid = 3, 200
	// adviceDraft bounds what it reads of the draft.
	adviceDraft = 500
)

// judgeAdvice judges a draft before it is sent: rules and a score decide whether it needs
// a look, and a look says whether it goes as it is, rewritten, or not at all. In place of
// a reply that does not go stands the fixed text of its kind; of anything else nothing,
// so that its own fixed text stands in. Where a look gives no answer a draft goes unless
// the finding is firm: a model that cannot judge would silence the coach. A slow one
// judges firm findings only. What subagents write is read by a model.
func (r *runningStep) judgeAdvice(ctx context.Context, verdict toolcall.Verdict) toolcall.Verdict {
	check := r.agent.Settings.Advice
	if verdict.Judgment != toolcall.Words || r.input.Kind == wire.TurnSubagent {
		return verdict
	}
	if check == models.AdviceNone {
		r.trace.note(models.StageAdvice, "advice off")
		return verdict
	}
	said := tail(participantTexts(r.turn.context.Window), adviceTexts)
	draft := outgoing.WithoutTruth(verdict.Text)
	found := advice.Check(languageOf(r.turn.context.Participant.Locale), said, draft)
	needsLook := found.NeedsLook && draft != "" && (found.IsFirm || !isSlow(r.turn.capability))
	if !needsLook && check != models.AdviceAll {
		return verdict
	}
	judged := r.lookAtAdvice(ctx, said, verdict.Text)
	isUnjudged := judged.verdict == models.AdviceFailed
	if judged.kind == "" {
		judged.kind = found.Kind
	}
	if judged.verdict == models.AdviceRewrite && !r.maySend(judged.text, verdict.Text) {
		judged.verdict = models.AdviceFailed
	}
	r.keepVerdict(ctx, judged, verdict.Text)
	if isUnjudged && !found.IsFirm {
		return verdict
	}
	return r.applyAdvice(judged, verdict)
}

// applyAdvice is the draft, its rewrite or the fixed text, as a look at it says.
func (r *runningStep) applyAdvice(judged judgedAdvice, verdict toolcall.Verdict) toolcall.Verdict {
	switch judged.verdict {
	case models.AdviceFine:
		return verdict
	case models.AdviceRewrite:
		verdict.Text = judged.text
		return verdict
	case models.AdviceRefuse, models.AdviceFailed:
	}
	return r.adviceText(judged.kind)
}

// keepVerdict notes a verdict on the step, and keeps it with the draft, for people and for
// the share of a study's drafts that are changed. What cannot be kept is said on the step.
func (r *runningStep) keepVerdict(ctx context.Context, judged judgedAdvice, draft string) {
	decision := models.DescribeAdvice(judged.verdict, judged.kind)
	r.trace.note(models.StageAdvice, decision)
	hash, err := hashOf([]any{r.input.TurnID, r.input.Step, decision, draft})
	if err == nil {
		err = r.agent.Journal.SaveStage(ctx, models.Stage{
			TurnID: r.input.TurnID, Number: stageNumber(hash), Name: models.StageAdvice, Decision: decision, InputHash: hash,
			Output: draft, CreatedAt: r.agent.Now().UTC(),
		})
	}
	if err != nil {
		r.trace.note(models.StageAdvice, "advice not kept")
	}
}

// judgedAdvice is what a look at a draft found. Text is empty but for a rewrite.
type judgedAdvice struct {
	verdict models.AdviceVerdict
	kind    models.AdviceKind
	text    string
}

// lookAtAdvice has the small model judge a draft. No answer within its time, and one that
// cannot be read, are AdviceFailed.
func (r *runningStep) lookAtAdvice(ctx context.Context, said []string, draft string) judgedAdvice {
	failed := judgedAdvice{verdict: models.AdviceFailed}
	var before []string
	for _, one := range said {
		before = append(before, text.Truncate(text.OneLine(one), adviceSaid))
	}
	system, err := r.agent.Prompts.Render(prompts.AdviceLook, prompts.StageData{
		Dialogue: before, Language: r.turn.context.Participant.Locale,
	})
	if err != nil {
		r.trace.noteError(models.StageAdvice, err)
		return failed
	}
	request := models.ChatRequest{
		Model: r.agent.Settings.SmallModel, JSON: true,
		Messages: []models.ChatMessage{{Role: roleSystem, Content: system}, {Role: roleUser, Content: text.Truncate(draft, adviceDraft)}},
	}
	answer, err := r.agent.askSmallModel(ctx, r.trace, question{stage: models.StageAdvice, request: request, limit: smallLimit})
	if err != nil {
		return failed
	}
	judged, err := parseAdvice(answer)
	if err != nil {
		r.trace.note(models.StageAdvice, "advice unreadable")
		return failed
	}
	return judged
}

// parseAdvice reads the answer of a look. An error says what it lacks; it quotes nothing.
func parseAdvice(answer string) (judgedAdvice, error) {
	var raw struct{ Verdict, Kind, Text string }
	if !text.FirstObject(answer, &raw) {
		return judgedAdvice{}, errors.New("no JSON object")
	}
	out := judgedAdvice{verdict: models.AdviceVerdict(plainWord(raw.Verdict)), kind: models.AdviceKind(plainWord(raw.Kind)), text: strings.TrimSpace(raw.Text)}
	if !slices.Contains(models.AdviceKinds(), out.kind) {
		out.kind = ""
	}
	switch out.verdict {
	case models.AdviceFine, models.AdviceRefuse:
		out.text = ""
		return out, nil
	case models.AdviceRewrite:
		if out.text != "" && utf8.RuneCountInString(out.text) <= adviceChars {
			return out, nil
		}
		return judgedAdvice{}, errors.New("the rewritten text is empty or too long")
	case models.AdviceFailed:
	}
	return judgedAdvice{}, errors.New("verdict is none of the three")
}

// maySend reports whether a text that the look wrote in place of a draft passes the guards
// and is in its language.
func (r *runningStep) maySend(words, draft string) bool {
	why := r.checkReply(words, true)
	if why == "" && outgoing.AreOfTwoLanguages(words, draft) {
		why = outgoing.Language
	}
	if why != "" {
		r.trace.note(models.StageGuard, "guard "+string(why))
		return false
	}
	return r.screenText(words) != ""
}

// adviceText returns the fixed text of a kind in place of a reply, and no words in place
// of anything else.
func (r *runningStep) adviceText(kind models.AdviceKind) toolcall.Verdict {
	if r.input.Kind != wire.TurnReply {
		return toolcall.Verdict{Judgment: toolcall.Malformed}
	}
	words, err := r.agent.Prompts.Fixed(prompts.Advice, r.turn.context.Participant.Locale, prompts.FixedData{
		Programme: r.agent.Settings.Programme, Advice: kind, Lines: r.turn.lines,
	})
	if err != nil {
		r.trace.noteError(models.StageAdvice, err)
		return toolcall.Verdict{Judgment: toolcall.Malformed}
	}
	return toolcall.Verdict{Judgment: toolcall.Words, Text: words}
}

func languageOf(locale string) string {
	language, _, _ := strings.Cut(locale, "-")
	return strings.ToLower(language)
}

// JudgeDraft judges a draft as a reply to the newest text of a turn's window, and returns
// what is sent in its place, which may be the draft, and what was found; empty for a draft
// that needed no look. What cannot be redacted is judged as failed.
func (a *Agent) JudgeDraft(ctx context.Context, c models.TurnContext, draft string) (sent, found string) {
	written := participantTexts(c.Window)
	c, err := a.clean.Turn(c)
	if err != nil {
		return "", models.DescribeAdvice(models.AdviceFailed, "")
	}
	r := runningStep{
		agent: a, trace: &trace{turnID: c.Turn.ID, now: a.Now}, input: wire.CallModelInput{TurnID: c.Turn.ID, Kind: wire.TurnReply},
		turn: turn{context: c, kind: wire.TurnReply, now: a.Now(), written: written, lines: a.Settings.Helplines.Find(c.Participant.Phone, c.Participant.Locale)},
	}
	verdict := r.judgeAdvice(ctx, toolcall.Verdict{Judgment: toolcall.Words, Text: draft})
	for _, stage := range r.trace.stages {
		if _, _, ok := stage.Advice(); ok {
			found = stage.Decision
		}
	}
	return verdict.Text, found
}
