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
	"strings"
	"unicode/utf8"

	"coachline/internal/agent/recall"
	"coachline/internal/web"
	"coachline/models"
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

// Config holds the dependencies of a Handler; all of them are required.
type Config struct {
	Web    Web
	Ledger Ledger
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
	text, note := page.Text, ""
	if all := utf8.RuneCountInString(text); all > maxPage {
		text = strings.TrimSpace(string([]rune(text)[:maxPage]))
		note = fmt.Sprintf("\nThis is the beginning of a longer page: %d of %d characters.", maxPage, all)
	}
	return fence(addressMark+given+"\ntitle: "+page.Title+"\n\n"+text) + note, nil
}

// lookalikes are spellings that could pass for a mark of the fence.
var lookalikes = strings.NewReplacer("<<<", "‹‹‹", ">>>", "›››")

func fence(text string) string { return recall.Outside.Wrap(lookalikes.Replace(text)) }

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
