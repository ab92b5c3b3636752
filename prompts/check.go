package prompts

import (
	"fmt"
	"regexp"
	"slices"

	"coachline/models/wire"
)

// Offer is what a mode gives the model: its tools, and the words (argument
// names and their values) that a text may mention in backticks.
type Offer struct {
	Tools []string
	Words []string
}

var (
	quotedName = regexp.MustCompile("`([A-Za-z][A-Za-z0-9_]*)`")
	bareWord   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*`)
)

// CheckTools reports the first text that names a tool which its mode does not
// offer, or a word in backticks that is neither a tool nor one of the words of
// that mode. The error names file and word. It looks at whole files, so both
// sides of every condition count. Run it once after Load: an override that
// orders a tool that is not offered makes a model call it in vain.
func (l *Library) CheckTools(offers map[wire.Mode]Offer) error {
	var every []string
	for _, offer := range offers {
		every = append(every, offer.Tools...)
	}
	for _, name := range Names() {
		for _, offer := range l.entries[name].offers(offers) {
			if word, bad := badWord(l.sources[name], offer, every); bad {
				return fmt.Errorf("prompt %s names %q, which is not offered where it is used", name.file(), word)
			}
		}
		for _, text := range l.spoken[name].texts { // people read them, and no model
			if word, bad := badWord(text.source, Offer{}, every); bad {
				return fmt.Errorf("prompt %s names %q, which no text for people may do", text.file(name), word)
			}
		}
	}
	if err := l.checkWorkspace(offers); err != nil {
		return err
	}
	return l.checkFocuses(offers)
}

// offers selects what applies to an entry: its own mode, all modes, or none.
func (e entry) offers(all map[wire.Mode]Offer) []Offer {
	switch e.audience {
	case inMode:
		return []Offer{all[e.mode]}
	case inBoth:
		return []Offer{all[wire.ModeIntake], all[wire.ModeFeedback]}
	case toolless:
		return []Offer{{}}
	}
	return nil
}

func badWord(source string, offer Offer, everyTool []string) (string, bool) {
	for _, word := range bareWord.FindAllString(source, -1) {
		// "message" is an ordinary word too; it names the tool in backticks alone.
		if word != "message" && slices.Contains(everyTool, word) && !slices.Contains(offer.Tools, word) {
			return word, true
		}
	}
	for _, match := range quotedName.FindAllStringSubmatch(source, -1) {
		if !slices.Contains(offer.Tools, match[1]) && !slices.Contains(offer.Words, match[1]) {
			return match[1], true
		}
	}
	return "", false
}
