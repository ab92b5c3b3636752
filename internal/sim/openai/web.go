package openai

import (
	"regexp"
	"strings"
)

const (
	toolSearch = "web_search"
	toolFetch  = "web_fetch"
	// foundMark begins what the script says of the web.
	foundMark = "On the web it says: "
	notThere  = "I cannot look things up on the web here."
	fromWeb   = 300
)

var (
	searching = regexp.MustCompile(`(?i)\bsearch the web for (.+)$`)
	opening   = regexp.MustCompile(`(?i)\bread the page (\S+)`)
)

// answerWeb answers "search the web for ..." and "read the page ...".
func (sc parsedRequest) answerWeb() (saying, bool) {
	wanted := call{}
	if page := opening.FindStringSubmatch(sc.said); page != nil {
		wanted = call{toolFetch, map[string]any{"url": page[1]}}
	} else if words := searching.FindStringSubmatch(sc.said); words != nil {
		wanted = call{toolSearch, map[string]any{"query": words[1]}}
	}
	switch {
	case wanted.name == "":
		return saying{}, false
	case !sc.canCall(wanted.name):
		return saying{text: notThere}, true
	}
	return callTools(wanted), true
}

// afterWeb repeats the beginning of what was found, without the marks around
// it, and does nothing that it says.
func afterWeb(d completedCall) saying {
	var kept []string
	for line := range strings.Lines(d.raw) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "<<<") || strings.HasPrefix(line, "url: ") || strings.HasPrefix(line, "title: ") {
			continue
		}
		kept = append(kept, line)
	}
	if len(kept) == 0 {
		return saying{text: "I found nothing about that on the web."}
	}
	return saying{text: foundMark + clipText(strings.Join(kept, " "), fromWeb)}
}
