package agent

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"coachline/internal/agent/marks"
	"coachline/internal/redact"
	"coachline/models"
)

const (
	// MaxText bounds a person's text, in characters.
	MaxText = 4000
	// kept is how many texts a worker redacts once.
	kept = 8192
)

// Cleaner redacts, each text once as long as it remembers it. It is safe for
// use by several goroutines.
type Cleaner struct {
	done *lru.Cache[original, string]
}

// original names a text to redact, and how, without holding it.
type original struct {
	sum   [sha256.Size]byte
	limit int
	form  textForm
}

type textForm int

const (
	plainText textForm = iota
	// messageText is what a person wrote, in which marks of ours are disarmed.
	messageText
	jsonText
)

// NewCleaner returns a Cleaner that remembers nothing yet.
func NewCleaner() *Cleaner {
	done, err := lru.New[original, string](kept)
	if err != nil { // for sizes below one only
		panic(err)
	}
	return &Cleaner{done: done}
}

// Text returns a text as a model may see it; limit is that of redact.Text, or
// none at 0.
func (c *Cleaner) Text(text string, limit int) string { return c.cleanText(text, limit, plainText) }

func (c *Cleaner) cleanText(text string, limit int, as textForm) string {
	if text == "" {
		return ""
	}
	key := original{sum: sha256.Sum256([]byte(text)), limit: limit, form: as}
	if clean, ok := c.done.Get(key); ok {
		return clean
	}
	if as == messageText {
		text = marks.NeutraliseMessage(text)
	}
	var clean string
	text = marks.Neutralise(text)
	if limit > 0 {
		clean = redact.Text(text, limit).Text
	} else {
		clean = redact.Scrub(text)
	}
	c.done.Add(key, clean)
	return clean
}

// cleanJSON returns JSON as a model may see it.
func (c *Cleaner) cleanJSON(text string) (string, error) {
	key := original{sum: sha256.Sum256([]byte(text)), form: jsonText}
	if clean, ok := c.done.Get(key); ok {
		return clean, nil
	}
	clean, err := redact.JSON([]byte(marks.Neutralise(text)))
	if err != nil {
		return "", err
	}
	c.done.Add(key, string(clean))
	return string(clean), nil
}

// Turn returns a turn as a model may see it. An error means that nothing of it
// may be sent to a model.
func (c *Cleaner) Turn(turn models.TurnContext) (models.TurnContext, error) {
	turn = turn.WithoutPerson()
	turn.Window = slices.Clone(turn.Window)
	for i := range turn.Window {
		text, err := c.cleanEntry(turn.Window[i])
		if err != nil {
			return turn, err
		}
		turn.Window[i].Text = text
	}
	turn.Runs = slices.Clone(turn.Runs)
	for i := range turn.Runs {
		clean, err := c.cleanJSON(turn.Runs[i].Result)
		if err != nil {
			return turn, fmt.Errorf("redacting a tool's result: %w", err)
		}
		turn.Runs[i].Result = clean
	}
	for field, text := range turn.Participant.Texts() {
		if field.IsToldToModel {
			*text = c.cleanText(*text, 0, messageText)
		}
	}
	known := &turn.Profile
	for _, text := range known.All() {
		*text = c.Text(*text, 0)
	}
	known.LastHabitPrompt = c.Text(known.LastHabitPrompt, 0)
	turn.Recent = slices.Clone(turn.Recent)
	for i := range turn.Recent {
		turn.Recent[i].Text = c.Text(turn.Recent[i].Text, 0)
	}
	return turn, nil
}

// cleanEntry returns the text of an entry as a model may see it.
func (c *Cleaner) cleanEntry(m models.Message) (string, error) {
	switch {
	case m.Kind == models.KindToolCall || m.Kind == models.KindToolResult:
		clean, err := c.cleanJSON(m.Text)
		if err != nil {
			return "", fmt.Errorf("redacting a tool row: %w", err)
		}
		return clean, nil
	case m.Role == models.RoleUser:
		return c.cleanText(m.Text, MaxText, messageText), nil
	}
	return c.Text(m.Text, 0), nil
}

// Calls masks the arguments of calls before they are stored.
// Arguments that cannot be judged are replaced by none.
func Calls(calls []models.ToolCall) []models.ToolCall {
	out := slices.Clone(calls)
	for i := range out {
		clean, err := redact.JSON([]byte(out[i].Arguments))
		if err != nil || !json.Valid(clean) && json.Valid([]byte(out[i].Arguments)) {
			clean = []byte("{}")
		}
		out[i].Arguments = string(clean)
	}
	return out
}
