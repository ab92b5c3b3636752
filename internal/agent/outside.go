package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"coachline/internal/agent/plan"
	"coachline/internal/agent/recall"
	"coachline/models"
)

// outsideTools is the fence around text from outside, in the form that a cut
// needs.
var outsideTools = plan.Fence(recall.Outside)

// Of a context that is known, text from outside in one result may take a
// quarter; a token is about two and a half characters.
const contextShare, halfTokens = 4, 5

// shortenResults returns the results of the turn so far as the model is given
// them: text from outside is cut to what the context holds, and digested where
// that is on. The rows keep what the tools returned. The last step reports
// what was done and reads no result whole, so nothing is asked for it.
func (a *Agent) shortenResults(ctx context.Context, tr *trace, t turn, last bool) []models.ToolRun {
	runs := slices.Clone(t.context.Runs)
	for i, run := range runs {
		result, err := run.ToolResult()
		if err != nil || result.Failed || !slices.Contains(t.offer.Outside, result.Name) {
			continue
		}
		if tokens := t.capability.ContextTokens; tokens > 0 {
			result.Content = plan.CutFenced(result.Content, plan.Caps{EntryChars: tokens * halfTokens / 2 / contextShare, Fence: outsideTools})
		}
		if !last {
			result.Content = a.resultDigest(ctx, tr, t, result)
		}
		if text, err := json.Marshal(result); err == nil {
			runs[i].Result = string(text)
		}
	}
	return runs
}

// resultDigest returns what of a result matters to the text, or the result as
// it is where no digest is made, none comes in time or none says anything. One
// batch that fails ends it, so that the person waits for one time limit.
func (a *Agent) resultDigest(ctx context.Context, tr *trace, t turn, result models.ToolResult) string {
	if !makesDigests(a.Settings.ToolDigests, t.capability) {
		return result.Content
	}
	drawn := recall.PlanTool(recall.ToolInput{Result: result, Compact: t.offer.Compact, Fence: recall.Outside})
	var answers []recall.DigestAnswer
	for i, batch := range drawn.Batches {
		if source, _, _ := strings.Cut(drawn.Batches[0], "\n"); i > 0 {
			// What is not named in a batch cannot be named as its source.
			batch = source + "\n\n" + batch
		}
		request, err := recall.ToolDigestRequest(a.Prompts, recall.DigestInput{Query: t.queryText(), Batch: batch, Model: a.Settings.SmallModel})
		var text string
		if err == nil {
			text, err = a.askSmallModel(ctx, tr, question{stage: models.StageDigest, request: request, limit: smallLimit})
		}
		answers = append(answers, recall.DigestAnswer{Text: text, Failed: err != nil})
		if err != nil {
			break
		}
	}
	out := drawn.Tool(answers)
	tr.note(models.StageDigest, "tool "+out.Decision)
	return out.Text
}
