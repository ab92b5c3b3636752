package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"coachline/models"
)

// slashes are the commands of a chat: operators' verbs on the participant
// who chats. quit has no verb.
var slashes = []struct {
	name, about string
	run         func(c *Console, ctx context.Context, id string) error
}{
	{"timers", "what is due, and when", (*Console).Timers},
	{"state", "the participant", (*Console).Show},
	{"history", "the newest entries of the conversation", func(c *Console, ctx context.Context, id string) error {
		return c.Transcript(ctx, id, slashEntries)
	}},
	{"turns", "what the newest turns did", func(c *Console, ctx context.Context, id string) error {
		return c.Turns(ctx, id, slashEntries)
	}},
	{"memories", "what is remembered", (*Console).Memories},
	{quitSlash, "end the chat", nil},
}

const (
	quitSlash    = "quit"
	slashEntries = 20
)

// errQuit ends the chat without waiting for an answer.
var errQuit = errors.New("quit")

// line sends a line to the coach, or carries out the command that it is. What the
// API refuses of a command is printed, and the chat goes on.
func (c *chat) line(ctx context.Context, line string) error {
	name, slash := strings.CutPrefix(line, "/")
	switch {
	case !slash && c.cfg.Channel == models.ChannelChat:
		return c.post(ctx, line)
	case !slash:
		return c.text(ctx, line)
	}
	name, _, _ = strings.Cut(name, " ")
	for _, known := range slashes {
		if known.name != name {
			continue
		}
		if known.run == nil {
			return errQuit
		}
		if err := known.run(New(c.cfg.Client, c.cfg.Out, c.cfg.JSON), ctx, c.who.ID); err != nil {
			_, err = fmt.Fprintf(c.cfg.Out, "/%s: %s\n", known.name, err)
			return err
		}
		return nil
	}
	return c.listSlashes()
}

func (c *chat) listSlashes() error {
	rows := [][]string{}
	for _, known := range slashes {
		rows = append(rows, []string{"/" + known.name, known.about})
	}
	return table(c.cfg.Out, rows)
}

// post sends a line through the API. The key makes a repeated request one text.
func (c *chat) post(ctx context.Context, body string) error {
	_, err := c.cfg.Client.do(ctx, request{
		method: http.MethodPost, path: one(c.who.ID) + "/chat", body: map[string]string{"body": body},
		header: map[string]string{"Idempotency-Key": rand.Text()},
	})
	if err == nil {
		c.sent++
	}
	return err
}
