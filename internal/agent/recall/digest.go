package recall

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"coachline/internal/text"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/prompts"
)

// Sizes in characters.
const (
	// rawBelow is the length from which on a digest is worth a model call.
	rawBelow = 400
	// memoryBatch and toolBatch are the most that one call reads; memoryAnswer
	// and toolAnswer the most that it may answer.
	memoryBatch  = 2000
	memoryAnswer = 500
	toolBatch    = 2500
	toolAnswer   = 600
	// memoryRaw is what is kept of a block whose digest failed.
	memoryRaw = 1500
)

// IsDigestEnabled reports whether a digest runs: a nil setting means that it
// does for small models.
func IsDigestEnabled(setting *bool, size models.ModelSize) bool {
	if setting != nil {
		return *setting
	}
	switch size {
	case models.SizeSmall:
		return true
	case models.SizeLarge:
	}
	return false
}

// DigestPlan says what a digest asks. Without Batches there is nothing to ask and
// Raw is the result.
type DigestPlan struct {
	// Raw is the material as it was.
	Raw string
	// Batches are the materials of one call each, in order.
	Batches []string

	fence Fence
}

// DigestAnswer is what the model said to one batch. Failed: it gave no answer in
// time, or none at all.
type DigestAnswer struct {
	Text   string
	Failed bool
}

// Digest is what a digest came to. Decision is a short code with the lengths
// before and after; it holds no personal data.
type Digest struct {
	Text     string
	Decision string
}

// answerText returns an answer without its thinking.
func answerText(answer string) string {
	return text.WithoutThinking(strings.ToValidUTF8(answer, ""))
}

// isNone reports whether an answer says that nothing is relevant.
func isNone(answer string) bool {
	switch strings.ToUpper(strings.TrimSuffix(strings.Trim(strings.TrimSpace(answer), "\"'*`"), ".")) {
	case "NONE", "(NONE)", "[NONE]", "N/A", "NIL":
		return true
	}
	return false
}

// readAnswers divides the answers to a plan's batches. An answer that is
// missing or blank has failed.
func readAnswers(batches []string, answers []DigestAnswer, limit int) (texts []string, failed []bool) {
	texts, failed = make([]string, len(batches)), make([]bool, len(batches))
	for i := range batches {
		var body string
		if i < len(answers) && !answers[i].Failed {
			body = answerText(answers[i].Text)
		}
		failed[i] = body == ""
		if !isNone(body) {
			texts[i] = text.Truncate(body, limit)
		}
	}
	return texts, failed
}

func countChars(text string) int { return utf8.RuneCountInString(text) }

// EstimateTokens estimates the length of a text: 2.5 characters a token,
// rounded up.
func EstimateTokens(text string) int { return (countChars(text)*2 + 4) / 5 }

// joinParts joins parts to batches of at most limit characters; a longer part is
// a batch of its own.
func joinParts(parts []string, separator string, limit int) []string {
	var batches []string
	var size int // of the newest batch
	for _, part := range parts {
		joined := size + countChars(separator) + countChars(part)
		if newest := len(batches) - 1; newest >= 0 && joined <= limit {
			batches[newest] += separator + part
			size = joined
			continue
		}
		batches = append(batches, part)
		size = countChars(part)
	}
	return batches
}

// DigestInput is what a digest is asked.
type DigestInput struct {
	// Query is the person's text.
	Query string
	// Batch is one of a plan's batches.
	Batch string
	Model string
}

func (a DigestInput) renderBatch(lib *prompts.Library, name prompts.Name, limit int) (models.ChatRequest, error) {
	return renderRequest(lib, name, prompts.StageData{Query: a.Query, Material: a.Batch, Limit: limit}, a.Model)
}

// renderRequest makes a request of one system message and one user message, since
// strict chat templates refuse a request without the latter.
func renderRequest(lib *prompts.Library, name prompts.Name, data prompts.StageData, model string) (models.ChatRequest, error) {
	text, err := lib.Render(name, data)
	if err != nil {
		return models.ChatRequest{}, err
	}
	user := data.Query
	if strings.TrimSpace(user) == "" {
		user = "Go ahead."
	}
	return models.ChatRequest{Model: model, Messages: []models.ChatMessage{
		{Role: "system", Content: text},
		{Role: "user", Content: user},
	}}, nil
}

// dropBlank returns the parts that are not blank.
func dropBlank(parts []string) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return strings.TrimSpace(part) == "" })
}

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
	return req, wrap.Error(err, "rendering memory digest")
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
	return req, wrap.Error(err, "rendering messages digest")
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

// Sizes of the activity that a stopped turn is described from, and of its
// digest, in characters.
const (
	activityChars = 2000
	excerptChars  = 300
	argumentChars = 120
	rowChars      = 200
	limitAnswer   = 800
)

// TurnActivity describes what a turn did, from the messages it added to its
// requests in any protocol: one line for each call, result and text, oldest
// first. When they are more than 2,000 characters, the newest stay. It is empty
// when the turn did nothing; then ask no model.
func TurnActivity(messages []models.ChatMessage) string {
	var lines []string
	names := map[string]string{}
	for _, message := range messages {
		switch message.Role {
		case "assistant":
			lines = appendLine(lines, "said: ", answerText(message.Content), excerptChars)
			for _, call := range message.ToolCalls {
				names[call.ID] = call.Name
				lines = appendLine(lines, "called ", call.Name+" "+text.Truncate(text.OneLine(call.Arguments), argumentChars), excerptChars)
			}
		case "tool":
			lines = appendLine(lines, "result of "+orTool(names[message.ToolCallID])+": ", message.Content, excerptChars)
		case "user":
			lines = appendLine(lines, "", message.Content, rowChars)
		}
	}
	first, size := len(lines), 0
	for first > 0 && size+countChars(lines[first-1])+1 <= activityChars+1 {
		first--
		size += countChars(lines[first]) + 1
	}
	return strings.Join(lines[first:], "\n")
}

func orTool(name string) string {
	if name == "" {
		return "a tool"
	}
	return name
}

func appendLine(lines []string, label, body string, limit int) []string {
	if body = text.OneLine(body); body == "" {
		return lines
	}
	return append(lines, label+text.Truncate(body, limit))
}

// LimitAsk is what the digest of a stopped turn is asked with. Activity is as
// TurnActivity makes it; Language the person's locale, empty for that of Query.
type LimitAsk struct {
	Query    string
	Activity string
	Language string
	Model    string
}

// LimitRequest asks for a short reply that begins with a caveat. It
// fails only when the prompt cannot be rendered; then count the digest as
// failed.
func LimitRequest(lib *prompts.Library, ask LimitAsk) (models.ChatRequest, error) {
	data := prompts.StageData{Query: ask.Query, Material: ask.Activity, Language: ask.Language}
	req, err := renderRequest(lib, prompts.LimitDigest, data, ask.Model)
	return req, wrap.Error(err, "rendering limit digest")
}

// LimitReply returns the reply of a turn that was stopped: the digest, at most
// 800 characters, or else the newest of the candidates, which are the texts
// that the turn had for the person, oldest first. ok is false when there is
// none; then apologise in a fixed text and flag the turn.
func LimitReply(answer DigestAnswer, candidates []string) (reply string, ok bool) {
	if !answer.Failed {
		if body := answerText(answer.Text); body != "" && !isNone(body) {
			return text.Truncate(body, limitAnswer-1), true
		}
	}
	for _, candidate := range slices.Backward(candidates) {
		if text := answerText(candidate); text != "" {
			return text, true
		}
	}
	return "", false
}
