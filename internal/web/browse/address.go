package browse

import (
	"strings"

	"coachline/models"
)

// addressMark begins the lines of a result that hold an address. No other line
// of it can begin so: titles and snippets are on one line with marks of their
// own.
const addressMark = "url: "

// findGiven returns the address of a search result or of a text of the person
// that a model means, spelled as it was given; of several, the one spelled
// alike. It is empty where none was given. Only this spelling may leave, because
// a model's own can carry what was said.
func findGiven(turn models.TurnContext, address string) string {
	wanted := compared(trimmed(address))
	if wanted == "" {
		return ""
	}
	found := ""
	for _, one := range givenAddresses(turn) {
		switch {
		case one == address:
			return one
		case found == "" && compared(one) == wanted:
			found = one
		}
	}
	return found
}

// givenAddresses are the addresses among the entries of the conversation and in
// this turn's results; the person's without the marks around them. They include
// words that are no address.
func givenAddresses(turn models.TurnContext) []string {
	var given []string
	for _, entry := range turn.Window {
		switch {
		case entry.Role == models.RoleUser:
			for word := range strings.FieldsSeq(entry.Text) {
				given = append(given, trimmed(word))
			}
		case entry.Kind == models.KindToolResult:
			given = append(given, foundAddresses(models.ToolRun{Result: entry.Text})...)
		}
	}
	for _, run := range turn.Runs {
		given = append(given, foundAddresses(run)...)
	}
	return given
}

// foundAddresses are the addresses in a result of a search; none in any other,
// because the text of a page is not to be believed.
func foundAddresses(run models.ToolRun) []string {
	result, err := run.ToolResult()
	if err != nil || result.Failed || result.Name != searchTool {
		return nil
	}
	var out []string
	for line := range strings.Lines(result.Content) {
		if address, ok := strings.CutPrefix(line, addressMark); ok {
			out = append(out, strings.TrimSpace(address))
		}
	}
	return out
}

// trimmed is a word without the marks of a sentence around it; a closing
// parenthesis stays where the word opens one.
func trimmed(word string) string {
	const marks = `<>[]{}"'“”‘’,;:!?.`
	word = strings.TrimLeft(strings.TrimSpace(word), marks+"()")
	for {
		word = strings.TrimRight(word, marks)
		if !strings.HasSuffix(word, ")") || strings.Count(word, "(") >= strings.Count(word, ")") {
			return word
		}
		word = strings.TrimSuffix(word, ")")
	}
}

// compared is an address as it is compared: without its scheme, its fragment and
// a last slash, with the host in lower case. It is empty for what is no address.
func compared(address string) string {
	if i := strings.Index(address, "://"); i >= 0 {
		scheme := strings.ToLower(address[:i])
		if scheme != "http" && scheme != "https" {
			return ""
		}
		address = address[i+len("://"):]
	}
	address, _, _ = strings.Cut(address, "#")
	host, path, _ := strings.Cut(address, "/")
	if !strings.Contains(host, ".") || strings.Contains(host, "@") {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(host)+"/"+path, "/")
}

// withScheme is an address that can be asked for; people leave the scheme out.
func withScheme(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "https://" + address
}
