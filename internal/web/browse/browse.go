// Package browse is what one turn of a conversation may ask of the web: a
// search, and the pages that a search or the person named. An address that a
// model made up is never asked for, because it could carry away what was said.
// What comes back is fenced, so that a model reads it as what strangers wrote.
package browse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"coachline/internal/agent/recall"
	"coachline/internal/text"
	"coachline/internal/web"
	"coachline/models"
	"coachline/models/wire"
)

// maxPage is how much of a page a model is given, in characters: four digests.
const maxPage = 10_000

// Web searches and reads; its errors are *web.Fault, or the end of the context.
type Web interface {
	Search(ctx context.Context, query string) ([]web.Hit, error)
	Fetch(ctx context.Context, address string) (web.Page, error)
}

// Ledger reads the conversation that a turn belongs to.
type Ledger interface {
	TurnContext(ctx context.Context, turnID string, window int) (models.TurnContext, error)
}

// Facts reads what is remembered of a person.
type Facts interface {
	Facts(ctx context.Context, participantID string) ([]models.Fact, error)
}

// Config holds the dependencies of a Handler; all of them are required.
type Config struct {
	Web    Web
	Ledger Ledger
	Facts  Facts
	// Window is how many entries of the conversation an address may come from.
	Window int
}

// Handler answers the web tools. It is safe for use by several goroutines.
type Handler struct{ Config }

// New builds a Handler.
func New(cfg Config) *Handler { return &Handler{cfg} }

// search answers with at most five hits, fenced. A *models.FieldError is
// written for the model; every other error is worth a retry.
func (d *Handler) search(ctx context.Context, turnID, query string) (string, error) {
	if err := d.refusePersonal(ctx, turnID, "query", query); err != nil {
		return "", err
	}
	hits, err := d.Web.Search(ctx, query)
	if err != nil {
		return "", explain(turnID, "query", err)
	}
	if len(hits) == 0 {
		return "Nothing was found.", nil
	}
	var lines []string
	for i, hit := range hits {
		lines = append(lines, fmt.Sprintf("%d. %s\n%s%s\n%s", i+1, hit.Title, addressMark, hit.URL, strings.TrimSpace("text: "+hit.Snippet)))
	}
	return fence(strings.Join(lines, "\n\n")), nil
}

// refusePersonal fails with a *models.FieldError where what would leave has personal words.
func (d *Handler) refusePersonal(ctx context.Context, turnID, field, leaves string) error {
	words, err := d.personalWords(ctx, turnID, leaves)
	if err != nil || len(words) == 0 {
		return err
	}
	return models.BadField(field, "has words that are known of the person and that their message does not have, so nothing was searched for; "+
		"leave them out: %s", strings.Join(words, ", "))
}

// personalWords lists the words of a query that only what is known of the person has:
// their name, what operators wrote, profile and facts. What the person wrote in the
// messages that the turn answers may be searched for.
func (d *Handler) personalWords(ctx context.Context, turnID, query string) ([]string, error) {
	turn, err := d.Ledger.TurnContext(ctx, turnID, d.Window)
	if err != nil {
		return nil, fmt.Errorf("reading the conversation: %w", err)
	}
	facts, err := d.Facts.Facts(ctx, turn.Participant.ID)
	if err != nil {
		return nil, fmt.Errorf("reading what is remembered: %w", err)
	}
	known := text.Words(turn.Participant.Name)
	for _, about := range turn.Participant.All() {
		known = append(known, topicWords(*about)...)
	}
	for _, about := range turn.Profile.All() {
		known = append(known, topicWords(*about)...)
	}
	for _, fact := range facts {
		known = append(known, topicWords(fact.Text)...)
	}
	own := text.Words(ownText(turn))
	var found []string
	for _, word := range text.Words(query) {
		if slices.Contains(known, word) && !slices.Contains(own, word) && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found, nil
}

// topicWords are the words of a text that say something, and its numbers.
func topicWords(about string) []string {
	numbers := slices.DeleteFunc(text.Words(about), func(word string) bool { return strings.Trim(word, "0123456789") != "" })
	return append(recall.Words(about), numbers...)
}

// ownText is what the person wrote in the messages that a turn answers; of a subagent's
// turn, in their newest ones.
func ownText(turn models.TurnContext) string {
	of, own := turn.Turn.ID, ""
	for _, entry := range slices.Backward(turn.Window) {
		if entry.Role != models.RoleUser {
			continue
		}
		if turn.Turn.Kind == wire.TurnSubagent && own == "" {
			of = entry.TurnID
		}
		if entry.TurnID == of {
			own += entry.Text + "\n"
		}
	}
	return own
}

// fetch answers with the main text of a page, fenced, at most 10,000
// characters. The address must stand in a search result or in a text of the
// person, in this conversation, and is asked for as it stands there. A *models.FieldError is written for the model;
// every other error is worth a retry.
func (d *Handler) fetch(ctx context.Context, turnID, address string) (string, error) {
	turn, err := d.Ledger.TurnContext(ctx, turnID, d.Window)
	if err != nil {
		return "", fmt.Errorf("reading the conversation: %w", err)
	}
	given := findGiven(turn, address)
	if given == "" {
		return "", models.BadField("url", "is in no search result and in no text of the person, so it is not asked for; "+
			"copy an address exactly, or search first")
	}
	page, err := d.Web.Fetch(ctx, withScheme(given))
	if err != nil {
		return "", explain(turnID, "url", err)
	}
	return fenceCut(addressMark+given+"\ntitle: "+page.Title+"\n\n", page.Text), nil
}

// fenceCut fences the first 10,000 characters of a body behind its head, and says below
// that there is more.
func fenceCut(head, body string) string {
	all := utf8.RuneCountInString(body)
	if all <= maxPage {
		return fence(head + body)
	}
	body = strings.TrimSpace(string([]rune(body)[:maxPage]))
	return fence(head+body) + fmt.Sprintf("\nThis is the beginning of a longer page: %d of %d characters.", maxPage, all)
}

// lookalikes are spellings that could pass for a mark of the fence.
var lookalikes = strings.NewReplacer("<<<", "‹‹‹", ">>>", "›››")

func fence(words string) string { return recall.Outside.Wrap(lookalikes.Replace(words)) }

// explain turns a fault into what the model is told, and tells the operator
// of it once.
func explain(turnID, field string, err error) error {
	var fault *web.Fault
	if !errors.As(err, &fault) {
		return err
	}
	slog.Warn("web tool came to nothing", "turn", turnID, "field", field, "kind", string(fault.Kind))
	return models.BadField(field, "%s", fault.Message)
}

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
