package agent

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"coachline/prompts"
)

// Instructions recognises the coach's own instructions in a text. It is safe
// for use by several goroutines.
type Instructions struct {
	runs map[string]bool
	// Text is what the instructions say.
	Text string
}

// repeatedWords is how many words in a row a text has in common with an
// instruction when it repeats it.
const repeatedWords = 10

// instructionTexts returns the names of the texts that no participant is to
// read.
func instructionTexts() []prompts.Name {
	return []prompts.Name{prompts.Persona, prompts.PersonaSmall, prompts.Intake, prompts.Feedback, prompts.Greeting, prompts.CheckIn, prompts.HabitPrompt}
}

// forParticipants finds lines of instructions that may be repeated: emergency
// numbers, and the keyword that ends the messages.
var forParticipants = regexp.MustCompile(`\d{3}|\bSTOP\b`)

// sectionTitle is a title of the system message.
var sectionTitle = regexp.MustCompile(`(?m)^\s*#*\s*(?:Persona|Mode: (?:INTAKE|FEEDBACK)|Task: (?:greeting|habit prompt|check-in)|Profile status|Outstanding prompt)\s*$`)

// quotedWords are examples of what to say.
var quotedWords = regexp.MustCompile(`"[^"]*"`)

// NewInstructions reads the prompt texts of a library. It fails when a text
// cannot be rendered.
func NewInstructions(lib *prompts.Library, programme string) (*Instructions, error) {
	out := &Instructions{runs: map[string]bool{}}
	for _, name := range instructionTexts() {
		for _, tools := range []prompts.ToolNames{nil, prompts.EveryTool()} {
			text, err := lib.Render(name, prompts.PersonaData{Programme: programme, Tools: tools})
			if err != nil {
				return nil, fmt.Errorf("rendering %s: %w", name, err)
			}
			out.addText(text)
		}
	}
	for _, file := range lib.Workspace() {
		out.addText(file.Text)
	}
	out.addText(lib.Heartbeat())
	return out, nil
}

// addText adds the word runs of an instruction text.
func (i *Instructions) addText(text string) {
	i.Text += text + "\n"
	for line := range strings.Lines(text) {
		if forParticipants.MatchString(line) {
			continue
		}
		for run := range wordRuns(quotedWords.ReplaceAllString(line, " ")) {
			i.runs[run] = true
		}
	}
}

// isRepeatedIn reports whether a text repeats an instruction or shows a title
// of the system message. It returns false for nil.
func (i *Instructions) isRepeatedIn(text string) bool {
	if i == nil {
		return false
	}
	for run := range wordRuns(text) {
		if i.runs[run] {
			return true
		}
	}
	return sectionTitle.MatchString(text)
}

func wordRuns(text string) func(yield func(string) bool) {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
	return func(yield func(string) bool) {
		for at := 0; at+repeatedWords <= len(words); at++ {
			if !yield(strings.Join(words[at:at+repeatedWords], " ")) {
				return
			}
		}
	}
}
