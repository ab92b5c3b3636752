package browse

import (
	"strings"

	"coachline/models"
)

// addressMark begins the lines of a result that hold an address. No other line
// of it can begin so: titles and snippets are on one line with marks of their
// own.
const addressMark = "url: "

// isKnownAddress reports whether an address stands in a result of a search or
// in a text of the person, among the entries of the conversation or in this
// turn.
func isKnownAddress(turn models.TurnContext, address string) bool {
	wanted := plain(address)
	if wanted == "" {
		return false
	}
	var known []string
	for _, entry := range turn.Window {
		switch {
		case entry.Role == models.RoleUser:
			known = append(known, strings.Fields(entry.Text)...)
		case entry.Kind == models.KindToolResult:
			known = append(known, foundAddresses(models.ToolRun{Result: entry.Text})...)
		}
	}
	for _, run := range turn.Runs {
		known = append(known, foundAddresses(run)...)
	}
	for _, one := range known {
		if plain(one) == wanted {
			return true
		}
	}
	return false
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
			out = append(out, address)
		}
	}
	return out
}

// plain is an address as it is compared: without the marks around it, its
// scheme, its fragment and a last slash, with the host in lower case. It is
// empty for what is no address.
func plain(address string) string {
	address = strings.Trim(strings.TrimSpace(address), `<>()[]{}"'“”‘’,;:!?.`)
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
	address = strings.TrimSpace(address)
	if strings.Contains(address, "://") {
		return address
	}
	return "https://" + address
}
