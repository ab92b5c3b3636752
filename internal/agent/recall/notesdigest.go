package recall

import (
	"fmt"
	"slices"
	"strings"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

// PlanMemory plans the digest of remembered snippets, newest first:
// nothing to ask below 400 characters, one call up to 2,000, and above that
// batches of whole snippets. A snippet that is longer than a batch stays
// whole.
func PlanMemory(snippets []string) DigestPlan {
	snippets = dropBlank(snippets)
	plan := DigestPlan{Raw: strings.Join(snippets, "\n")}
	if countChars(plan.Raw) >= rawBelow {
		plan.Batches = joinParts(snippets, "\n", memoryBatch)
	}
	return plan
}

// MemoryDigestRequest asks for what of a batch bears on the person's text. It
// fails only when the prompt cannot be rendered; then count the batch as
// failed.
func MemoryDigestRequest(lib *prompts.Library, ask DigestInput) (models.ChatRequest, error) {
	req, err := ask.renderBatch(lib, prompts.MemoryDigest, memoryAnswer)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering memory digest: %w", err)
	}
	return req, nil
}

// Memory returns the memory block that a plan and its answers, in the order of
// the batches, come to. Only the answer that nothing is relevant drops a batch;
// one that failed stays as it was, all of those together within 1,500
// characters, so that memory is never lost to a slow model.
func (p DigestPlan) Memory(answers []DigestAnswer) Digest {
	if len(p.Batches) == 0 {
		return Digest{Text: p.Raw, Decision: fmt.Sprintf("digest raw %d", countChars(p.Raw))}
	}
	texts, failed := readAnswers(p.Batches, answers, memoryAnswer)
	code, failures := "digest", 0
	for _, one := range failed {
		if one {
			code = "digest failed"
			failures++
		}
	}
	for i, batch := range p.Batches {
		if failed[i] {
			texts[i] = text.Truncate(batch, memoryRaw/failures-1)
		}
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	if len(texts) == 0 {
		return Digest{Decision: fmt.Sprintf("digest none %d", countChars(p.Raw))}
	}
	text := strings.Join(texts, "\n")
	return Digest{Text: text, Decision: fmt.Sprintf("%s %d to %d", code, countChars(p.Raw), countChars(text))}
}
