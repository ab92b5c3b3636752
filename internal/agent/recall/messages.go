package recall

import (
	"fmt"
	"slices"
	"strings"

	"coachline/internal/text"
	"coachline/models"
	"coachline/prompts"
)

// Sizes of the digest of a turn's older messages, in characters.
const (
	messagesBatch  = 6000
	messagesCalls  = 8
	messagesAnswer = 1200
	// leastMessage is what stays of each message when there are very many.
	leastMessage = 12
	bullet       = "- "
)

// PlanMessages plans the digest of messages that one person sent in a row, oldest
// first. Every message is in a batch, with its beginning at least: the more there
// are, the less of each.
func PlanMessages(texts []string) DigestPlan {
	lines := make([]string, 0, len(texts))
	for _, body := range texts {
		if line := text.OneLine(body); line != "" {
			lines = append(lines, line)
		}
	}
	most := lengthFor(lines, messagesBatch*(messagesCalls-1))
	for i, line := range lines {
		lines[i] = bullet + text.Truncate(line, most)
	}
	return DigestPlan{Raw: strings.Join(lines, "\n"), Batches: joinParts(lines, "\n", messagesBatch)}
}

// lengthFor returns the length to which lines are cut so that all of them fit,
// and leastMessage at least. Short lines leave their share to the others.
func lengthFor(lines []string, budget int) int {
	lengths := make([]int, 0, len(lines))
	for _, line := range lines {
		lengths = append(lengths, countChars(line))
	}
	slices.Sort(lengths)
	for i, length := range lengths {
		share := budget/(len(lengths)-i) - countChars(bullet) - 2
		if length > share {
			return max(leastMessage, share)
		}
		budget -= length + countChars(bullet) + 1
	}
	return messagesBatch
}

// MessagesDigestRequest asks for what one batch of messages says. It fails only
// when the prompt cannot be rendered; then count the batch as failed.
func MessagesDigestRequest(lib *prompts.Library, batch, model string) (models.ChatRequest, error) {
	req, err := renderRequest(lib, prompts.MessagesDigest, prompts.StageData{Material: batch, Limit: messagesAnswer}, model)
	if err != nil {
		return models.ChatRequest{}, fmt.Errorf("rendering messages digest: %w", err)
	}
	return req, nil
}

// Messages returns what a plan of messages and its answers, in the order of the
// batches, come to, within a number of characters. A batch without an answer,
// or whose answer says that there is nothing in it, is replaced by the first
// words of each message.
func (p DigestPlan) Messages(answers []DigestAnswer, budget int) Digest {
	texts, failed := readAnswers(p.Batches, answers, messagesAnswer)
	lost := 0
	for i, text := range texts {
		if failed[i] = failed[i] || text == ""; failed[i] {
			lost += strings.Count(p.Batches[i], "\n") + 1
		}
		budget -= countChars(text) + 1
	}
	code := "digest"
	for i, batch := range p.Batches {
		if !failed[i] {
			continue
		}
		code = "digest failed"
		lines := strings.Split(batch, "\n")
		texts[i] = firstWords(lines, budget*len(lines)/lost)
	}
	text := strings.Join(texts, "\n")
	return Digest{Text: text, Decision: fmt.Sprintf("%s %d to %d", code, countChars(p.Raw), countChars(text))}
}

// firstWords shortens messages to their beginnings, within a number of
// characters; where those of all do not fit, it writes how many more there are.
func firstWords(lines []string, budget int) string {
	const separator = " / "
	most := max(leastMessage, lengthFor(lines, budget)-countChars(separator))
	var out []string
	for i, line := range lines {
		line = text.Truncate(strings.TrimPrefix(line, bullet), most)
		if budget -= countChars(line) + countChars(separator); budget < 0 && i > 0 {
			out = append(out, fmt.Sprintf("and %d more", len(lines)-i))
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, separator)
}
