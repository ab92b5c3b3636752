package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"coachline/internal/api"
	"coachline/models"
)

// slashCommands are the commands of a chat: operators' verbs on the participant
// who chats. quit has no verb.
var slashCommands = []struct {
	name, about string
	run         func(ctx context.Context, p *program, id string) error
}{
	{"timers", "what is due, and when", printTimers},
	{"state", "the participant", printParticipant},
	{"history", "the newest entries of the conversation", func(ctx context.Context, p *program, id string) error {
		return printTranscript(ctx, p, id, slashEntries)
	}},
	{"turns", "what the newest turns did", func(ctx context.Context, p *program, id string) error {
		return printTurns(ctx, p, id, slashEntries)
	}},
	{"memories", "what is remembered", printMemories},
	{quitSlash, "end the chat", nil},
}

const (
	quitSlash    = "quit"
	slashEntries = 20
)

// errQuit ends the chat without waiting for an answer.
var errQuit = errors.New("quit")

// handleLine sends a line to the coach, or carries out the command that it is.
// What the API refuses of a command is printed, and the chat goes on.
func (c *chat) handleLine(ctx context.Context, line string) error {
	name, slash := strings.CutPrefix(line, "/")
	switch {
	case !slash && !models.ChannelSpecOf(c.cfg.Channel).ViaCarrier:
		return c.sendChat(ctx, line)
	case !slash:
		return c.sendSMS(ctx, line)
	}
	name, _, _ = strings.Cut(name, " ")
	for _, known := range slashCommands {
		if known.name != name {
			continue
		}
		if known.run == nil {
			return errQuit
		}
		if err := known.run(ctx, c.program, c.who.ID); err != nil {
			_, err = fmt.Fprintf(c.out, "/%s: %s\n", known.name, err)
			return err
		}
		return nil
	}
	return c.listSlashCommands()
}

func (c *chat) listSlashCommands() error {
	rows := [][]string{}
	for _, known := range slashCommands {
		rows = append(rows, []string{"/" + known.name, known.about})
	}
	return writeTable(c.out, rows)
}

// sendChat sends a line through the API. The key makes a repeated request one
// text.
func (c *chat) sendChat(ctx context.Context, body string) error {
	_, err := c.client.do(ctx, request{
		method: http.MethodPost, participant: c.who.ID, path: "/chat", body: api.ChatMessage{Body: body},
		header: map[string]string{"Idempotency-Key": rand.Text()},
	})
	if err == nil {
		c.sent++
	}
	return err
}
