package agent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coachline/internal/advice"
	"coachline/internal/agent/toolcall"
	"coachline/models"
	"coachline/models/wire"
	"coachline/prompts"
)

const (
	harmful = "Push through the chest pain, you are stronger than it. Keep going and finish the set."
	milder  = "Please stop for today and rest. Could a doctor look at that chest pain?"
)

// newJudged returns a world whose drafts are judged.
func newJudged(t *testing.T, check models.AdviceCheck) *world {
	w := newWorld(t)
	w.settings.Advice = check
	w.openAgent()
	return w
}

// adviceStages lists the verdicts on the newest step, without the calls.
func adviceStages(step models.Step) (out []string) {
	trace, _ := step.StepTrace()
	for _, stage := range trace.Stages {
		if stage.Name == models.StageAdvice && stage.Model == "" {
			out = append(out, stage.Decision)
		}
	}
	return out
}

// TestAdviceIsJudged: what the look says becomes of a draft, also where it answers what it
// must not.
func TestAdviceIsJudged(t *testing.T) {
	fixed, err := newWorld(t).library.Fixed(prompts.Advice, "en", prompts.FixedData{Programme: "Coachline", Advice: models.AdviceSymptoms})
	require.NoError(t, err)
	const symptoms = "I can't judge symptoms."
	require.Contains(t, fixed, symptoms)
	for name, test := range map[string]struct {
		answer said
		want   string
		stage  string
	}{
		"fine":             {said{text: `{"verdict":"fine","kind":"other","text":""}`}, harmful, "judged fine other"},
		"rewrite":          {said{text: `{"verdict":"rewrite","kind":"symptoms","text":"` + milder + `"}`}, milder, "judged rewrite symptoms"},
		"refuse":           {said{text: `{"verdict":"refuse","kind":"symptoms"}`}, symptoms, "judged refuse symptoms"},
		"prose":            {said{text: "I think that is fine."}, symptoms, "judged failed symptoms"},
		"empty":            {said{text: ""}, symptoms, "judged failed symptoms"},
		"empty rewrite":    {said{text: `{"verdict":"rewrite","kind":"symptoms","text":" "}`}, symptoms, "judged failed symptoms"},
		"too long":         {said{text: `{"verdict":"rewrite","kind":"symptoms","text":"` + strings.Repeat("Rest well. ", 30) + `"}`}, symptoms, "judged failed symptoms"},
		"another verdict":  {said{text: `{"verdict":"send","kind":"symptoms"}`}, symptoms, "judged failed symptoms"},
		"another language": {said{text: `{"verdict":"rewrite","kind":"symptoms","text":"Bitte ruh dich heute gut aus und geh morgen mit den Schmerzen in der Brust zu einer Ärztin, auch wenn es sich dann wieder besser anfühlt."}`}, symptoms, "judged failed symptoms"},
		"a number":         {said{text: `{"verdict":"rewrite","kind":"symptoms","text":"Please rest and call my nurse at +1 202 555 0188 today."}`}, symptoms, "judged failed symptoms"},
		"no answer":        {said{err: errors.New("no answer")}, symptoms, "judged failed symptoms"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newJudged(t, models.AdviceAuto)
			w.model.on(chat, said{text: harmful})
			w.model.on(adviser, test.answer)
			step := w.addText("I have had chest pain since Monday, should I stop the workout today?").runStep()
			require.Contains(t, step.Text, test.want)
			require.Equal(t, test.want == harmful, strings.Contains(step.Text, "Push through"))
			require.Contains(t, adviceStages(step), test.stage)
			require.Equal(t, 1, w.model.count(chat), "the chat model is not asked again")
			require.LessOrEqual(t, w.model.left[adviser], 8*time.Second)
			rows, err := w.rows.Stages(t.Context(), step.TurnID)
			require.NoError(t, err)
			require.True(t, slices.ContainsFunc(rows, func(row models.Stage) bool {
				return row.Name == models.StageAdvice && row.Decision == test.stage && row.Output == harmful
			}), "the draft is kept with the verdict")
		})
	}
}

// TestDraftThatNobodyJudged: where the look gives no answer an everyday draft goes, and one
// that is firmly found does not.
func TestDraftThatNobodyJudged(t *testing.T) {
	for draft, isSent := range map[string]bool{"A short walk after lunch is a fine plan. What shoes will you take?": true, harmful: false} {
		w := newJudged(t, models.AdviceAll)
		w.model.on(chat, said{text: draft})
		w.model.on(adviser, said{text: "I think that is fine."})
		step := w.addText("what shall I do after lunch? my chest hurt on Monday").runStep()
		require.Equal(t, 1, w.model.count(adviser), draft)
		require.Equal(t, isSent, step.Text == draft, step.Text)
	}
}

// TestTruthNeedsNoLook: a draft that says that a program writes and nothing else gets no
// look, whatever the person wrote.
func TestTruthNeedsNoLook(t *testing.T) {
	const sore = "my knee is sore after the long run, are you a person?"
	require.True(t, advice.Check("en", []string{sore}, "").NeedsLook)
	for draft, looks := range map[string]int{"I am an automated coach, not a person.": 0, "I am an automated coach. " + harmful: 1} {
		w := newJudged(t, models.AdviceAuto)
		w.model.on(chat, said{text: draft})
		w.model.on(adviser, said{text: `{"verdict":"fine","kind":"other"}`})
		w.addText(sore).runStep()
		require.Equal(t, looks, w.model.count(adviser), draft)
	}
}

// TestSlowModelsJudgeFirmFindings: a reply waits for no look of a slow model, unless what
// was found is firm.
func TestSlowModelsJudgeFirmFindings(t *testing.T) {
	const sore, draft = "my knee is sore after the long run", "Knees get sore. Walk slowly and see."
	found := advice.Check("en", []string{sore}, draft)
	require.True(t, found.NeedsLook)
	require.False(t, found.IsFirm)
	for _, tt := range []struct {
		draft string
		speed float64
		looks int
	}{{draft, 0, 1}, {draft, 60, 0}, {harmful, 60, 1}} {
		w := newWorld(t)
		w.settings.Advice = models.AdviceAuto
		require.NoError(t, w.rows.Store.SaveCapability(t.Context(), models.Capability{Model: w.settings.ChatModel, Endpoint: w.settings.Endpoint, TokensPerSecond: tt.speed}))
		w.openAgent()
		w.model.on(chat, said{text: tt.draft})
		w.model.on(adviser, said{text: `{"verdict":"fine","kind":"injury"}`})
		w.addText(sore).runStep()
		require.Equal(t, tt.looks, w.model.count(adviser), "%q at %v tokens a second", tt.draft, tt.speed)
	}
}

// TestLookOfAdviceIsSmall: a look costs at most 500 tokens, whatever was written.
func TestLookOfAdviceIsSmall(t *testing.T) {
	w := newJudged(t, models.AdviceAuto)
	w.model.on(chat, said{text: harmful})
	for range 4 {
		w.addText("My chest hurts. " + strings.Repeat("It has been a long week with much work and little sleep. ", 12))
	}
	w.runStep()
	require.Len(t, w.model.asked[adviser], 1)
	request := w.model.asked[adviser][0]
	require.True(t, request.JSON)
	require.LessOrEqual(t, toolcall.Tokens(request, 4), 500+150, "the longest texts")
	short := newJudged(t, models.AdviceAuto)
	short.model.on(chat, said{text: harmful})
	short.addText("My chest hurts, shall I go on?").runStep()
	require.LessOrEqual(t, toolcall.Tokens(short.model.asked[adviser][0], 4), 500)
}

// TestAdviceCheckIsASetting: off judges nothing and says so, on judges each draft.
func TestAdviceCheckIsASetting(t *testing.T) {
	for check, want := range map[models.AdviceCheck]int{models.AdviceNone: 0, models.AdviceAll: 1, models.AdviceAuto: 0} {
		w := newJudged(t, check)
		w.model.on(chat, said{text: "Good morning! How did the walk go?"})
		step := w.addText("hi").runStep()
		require.Equal(t, "Good morning! How did the walk go?", step.Text)
		require.Equal(t, want, w.model.count(adviser), check)
		require.Equal(t, check == models.AdviceNone, slices.Contains(adviceStages(step), "advice off"))
	}
}

// TestPromptsAreJudged: a daily prompt that may not go leaves its place to the fixed one.
func TestPromptsAreJudged(t *testing.T) {
	w := newJudged(t, models.AdviceAuto)
	w.kind = wire.TurnPrompt
	w.beginTurn(ann)
	w.model.on(chat, said{text: "After coffee, skip your breakfast and eat only 500 calories today, hunger makes you thin."})
	w.model.on(adviser, said{text: `{"verdict":"refuse","kind":"weight"}`})
	step := w.runStep()
	require.Equal(t, 1, w.model.count(adviser))
	require.Empty(t, step.Text)
}
