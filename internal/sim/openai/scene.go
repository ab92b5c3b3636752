package openai

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// parsedRequest is what the script reads of a request: the sections of the system
// message by title, and the turn that is to be answered.
type parsedRequest struct {
	sections map[string]string
	// asked is what the coach wrote last, said what the person wrote since; a yes to
	// whose number it is stands for what they wrote before.
	asked string
	said  string
	// steps are the tool calls of this turn so far.
	steps [][]completedCall
	tools []string
}

type completedCall struct {
	id     string
	name   string
	args   map[string]any
	raw    string
	result map[string]any // nil when the result is no JSON object
}

// saying is an answer of the script.
type saying struct {
	text  string
	calls []call
}

// call is one the script asks for; args is encoded to JSON.
type call struct {
	name string
	args map[string]any
}

func say(format string, args ...any) saying { return saying{text: fmt.Sprintf(format, args...)} }

func callTools(calls ...call) saying { return saying{calls: calls} }

func (s saying) toolCalls(id string) []ToolCall {
	out := make([]ToolCall, len(s.calls))
	for i, c := range s.calls {
		out[i] = ToolCall{
			ID: fmt.Sprintf("call_%s_%d", id, i), Type: "function",
			Function: Function{Name: c.name, Arguments: encode(c.args)},
		}
	}
	return out
}

func readScene(ask Request) parsedRequest {
	sc := parsedRequest{sections: map[string]string{}}
	var said []string
	before := ""
	for _, m := range ask.Messages {
		text := strings.TrimSpace(string(m.Content))
		switch {
		case m.Role == "system":
			sc.readSections(text)
		case m.Role == "user":
			// Hints, tasks and notes are the program's words, not the person's.
			words, notes, found := strings.Cut(text, notesMark)
			if text = strings.TrimSpace(words); found {
				sc.readSections(notes)
			}
			if text != "" && !cue.MatchString(text) {
				said = append(said, written.ReplaceAllString(text, ""))
			}
		case m.Role == "tool":
			sc.addResult(m.ToolCallID, text)
		case len(m.ToolCalls) > 0:
			sc.addStep(m.ToolCalls)
		case text != "":
			before, sc.asked, said, sc.steps = strings.Join(said, " "), text, nil, nil
		}
	}
	sc.said = strings.Join(said, " ")
	if strings.Contains(sc.asked, personAsked) && isAgreement(sc.said) {
		sc.said = before
	}
	if sc.asked == "" {
		sc.asked = sc.leadText()
	}
	sc.tools = ask.offeredTools()
	return sc
}

// notesMark begins what the program adds behind the person's words.
const notesMark = "[notes of the programme]"

var cue = regexp.MustCompile(`^\[(hint|task)\] `)

// written is what the program writes before the person's words: when they came, and which
// question they answer.
var written = regexp.MustCompile(`(?m)^\[(?:(?:asked (?:on|from) )?\w{3} \d{4}-\d\d-\d\d[^"\[\]\n]*)?(?:to your question "[^"\n]*")?\] `)

// offeredTools names the tools that may be called.
func (ask Request) offeredTools() []string {
	if string(ask.ToolChoice) == `"none"` {
		return nil
	}
	var names []string
	for _, tool := range ask.Tools {
		names = append(names, tool.Function.Name)
	}
	return names
}

func (sc *parsedRequest) readSections(system string) {
	title := ""
	for line := range strings.Lines(system) {
		line = strings.TrimRight(line, "\r\n")
		if name, opens := strings.CutPrefix(line, "# "); opens {
			title = name
			sc.sections[title] = ""
			continue
		}
		sc.sections[title] += line + "\n"
	}
	for name, body := range sc.sections {
		sc.sections[name] = strings.TrimSpace(body)
	}
}

func (sc *parsedRequest) addStep(calls []ToolCall) {
	var step []completedCall
	for _, c := range calls {
		d := completedCall{id: c.ID, name: c.Function.Name}
		_ = json.Unmarshal([]byte(c.Function.Arguments), &d.args) // Bad arguments of ours are empty ones.
		step = append(step, d)
	}
	sc.steps = append(sc.steps, step)
}

func (sc *parsedRequest) addResult(id, content string) {
	for _, step := range slices.Backward(sc.steps) {
		for i := range step {
			if step[i].id == id {
				step[i].raw = content
				// Advice may follow the result; anything else stays in raw.
				_ = json.NewDecoder(strings.NewReader(content)).Decode(&step[i].result)
				return
			}
		}
	}
}

// leadText is what the coach wrote before a window that starts at the person's
// words; empty when the system message does not say.
func (sc parsedRequest) leadText() string {
	const mark = "Just before the first message below you wrote: "
	for line := range strings.Lines(sc.sections["Now"]) {
		if text, found := strings.CutPrefix(line, mark); found {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

func (sc parsedRequest) hasSection(section string) bool {
	_, found := sc.sections[section]
	return found
}

func (sc parsedRequest) inFeedback() bool { return sc.hasSection("Mode: FEEDBACK") }

func (sc parsedRequest) value(section, name string) string {
	for line := range strings.Lines(sc.sections[section]) {
		if rest, found := strings.CutPrefix(line, name+": "); found {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// outstanding is the text of the prompt that waits for an answer; empty when
// none does.
func (sc parsedRequest) outstanding() string { return firstLine(sc.sections["Outstanding prompt"]) }

// missing lists the profile fields to ask for: as the newest result of this
// turn has them, or else as the system message does.
func (sc parsedRequest) missing() []string {
	if d, found := sc.newest("missing"); found {
		list, _ := d.result["missing"].([]any)
		var names []string
		for _, one := range list {
			if name, isText := one.(string); isText {
				names = append(names, name)
			}
		}
		return names
	}
	list, found := strings.CutPrefix(firstLine(sc.sections["Profile status"]), "Missing:")
	if !found {
		return nil
	}
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '.' })
}

// profile is a field as the newest result of this turn has it, or else as the
// system message does.
func (sc parsedRequest) profile(field string) string {
	if d, found := sc.newest("profile"); found {
		if profile, isObject := d.result["profile"].(map[string]any); isObject {
			text, _ := profile[field].(string)
			return text
		}
	}
	return sc.value("Profile", field)
}

// newest is this turn's newest result that has a field of that name.
func (sc parsedRequest) newest(field string) (completedCall, bool) {
	for _, step := range slices.Backward(sc.steps) {
		for _, d := range slices.Backward(step) {
			if _, found := d.result[field]; found {
				return d, true
			}
		}
	}
	return completedCall{}, false
}

func (sc parsedRequest) hasSchedule() bool {
	list := sc.sections["Schedules"]
	return list != "" && firstLine(list) != "None."
}

// failure is what a result says went wrong; false when it was done.
func (d completedCall) failure() (string, bool) {
	if problem := d.text("error"); problem != "" {
		return problem, true
	}
	if ok, given := d.result["ok"].(bool); given && !ok {
		return "the tool did not say why", true
	}
	if d.result == nil {
		return clipText(d.raw, 160), strings.Contains(strings.ToLower(d.raw), "error")
	}
	return "", false
}

func (d completedCall) text(field string) string {
	text, _ := d.result[field].(string)
	return text
}

func (d completedCall) arg(name string) string {
	text, _ := d.args[name].(string)
	return text
}

// clipText cuts a text to at most n characters.
func clipText(s string, n int) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) <= n {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:n])) + "..."
}
