package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

func sendCommand(p *program) *cobra.Command {
	var key string
	var force bool
	c := &cobra.Command{Use: "send ID TEXT", Short: "Send an operator's message", Args: exactArgs(2)}
	c.Flags().StringVar(&key, "key", "", "idempotency key: calls with an equal key are one message")
	c.Flags().BoolVar(&force, "force", false, "also when another operator has the conversation, or has just written")
	c.RunE = func(c *cobra.Command, args []string) error {
		r := request{method: http.MethodPost, participant: args[0], path: "/messages", body: api.NewMessage{Body: args[1], Force: force}}
		if key != "" {
			r.header = map[string]string{"Idempotency-Key": key}
		}
		return callAndShow(c.Context(), p, r, renderQueued)
	}
	return c
}

func transcriptCommand(p *program) *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "transcript ID", Short: "Print the conversation, oldest first", Args: exactArgs(1)}
	c.Flags().IntVar(&limit, "limit", 100, "newest entries to print")
	c.RunE = func(c *cobra.Command, args []string) error {
		if limit < 1 {
			return usageError{errors.New("--limit must be at least 1")}
		}
		return printTranscript(c.Context(), p, args[0], limit)
	}
	return c
}

func timersCommand(p *program) *cobra.Command {
	return verb("timers ID", "Print what is due, and when", func(c *cobra.Command, args []string) error {
		return printTimers(c.Context(), p, args[0])
	})
}

func chatCommand(p *program) *cobra.Command {
	chat := chatConfig{Poll: 500 * time.Millisecond}
	c := &cobra.Command{
		Use: "chat", Short: "Talk to the coach as a test participant", Args: exactArgs(0),
		Long: "Each line is a text from the test participant's phone, sent through the simulated phone network that dev runs,\n" +
			"or with --channel chat a text through the API. Lines that begin with / are commands; /help lists them.",
	}
	flags := c.Flags()
	flags.StringVar(&chat.Phone, "phone", "+15550001234", "the test participant's phone")
	flags.StringVar(&chat.Name, "name", "Tester", "name to enrol with")
	flags.StringVar(&chat.Sim, "sim", "http://127.0.0.1:8090", "address of the simulated phone network")
	flags.StringVar((*string)(&chat.Channel), "channel", string(wire.ChannelSMS), "sms, or chat")
	flags.DurationVar(&chat.Wait, "wait", 30*time.Second, "how long to wait for the last answer")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if !models.HasInbound(chat.Channel) {
			return usageError{errors.New("--channel must be sms or chat")}
		}
		return runChat(c.Context(), p, chat)
	}
	return c
}

// printTranscript prints the newest limit entries of the conversation, oldest
// first; with a limit above the API's page it asks for more pages.
func printTranscript(ctx context.Context, p *program, id string, limit int) error {
	const most = 500
	all := []json.RawMessage{}
	query := url.Values{}
	for len(all) < limit {
		size := min(limit-len(all), most)
		query.Set("limit", strconv.Itoa(size))
		got, err := p.client.do(ctx, request{participant: id, path: "/history", query: query})
		if err != nil {
			return err
		}
		older, oldest, err := decodeHistory(got)
		if err != nil {
			return err
		}
		all = append(older, all...)
		if len(older) < size {
			break
		}
		query.Set("before", oldest.UTC().Format(time.RFC3339Nano))
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding the conversation: %w", err)
	}
	return showResult(p, result{raw: raw}, func(w io.Writer, list []models.HistoryEntry) error {
		return renderTranscript(w, list, p.client.zoneOf(ctx, id))
	})
}

// decodeHistory returns the entries as they came, and the instant of the oldest.
func decodeHistory(r result) (list []json.RawMessage, oldest time.Time, err error) {
	var entries []models.HistoryEntry
	if err := errors.Join(r.decodeInto(&entries), r.decodeInto(&list)); err != nil {
		return nil, oldest, err
	}
	if len(entries) > 0 {
		oldest = entries[0].At
	}
	return list, oldest, nil
}

func renderQueued(w io.Writer, q api.QueuedMessage) error {
	return writeTable(w, [][]string{{"id", q.ID}, {"status", string(q.Status)}})
}

func renderTranscript(w io.Writer, list []models.HistoryEntry, zone *time.Location) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "Nothing was said yet.")
		return err
	}
	for _, e := range list {
		head := formatInstantIn(e.At, zone) + "  " + string(e.Role) + "  " + string(e.Kind)
		if e.Channel.Name() != wire.ChannelSMS {
			head += "  " + string(e.Channel)
		}
		if e.Delivery != "" {
			head += "  " + string(e.Delivery)
		}
		if e.Danger != models.DangerNone {
			head += "  danger: " + string(e.Danger)
		}
		if e.TurnID != "" {
			head += "  " + e.TurnID
		}
		if _, err := fmt.Fprintf(w, "%s\n%s\n", head, indentText(e.Text)); err != nil {
			return err
		}
	}
	return nil
}

func renderWaiting(w io.Writer, list []models.WaitingMessage) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No messages wait.")
		return err
	}
	for _, m := range list {
		head := formatInstant(m.At) + "  " + string(m.Channel)
		if m.Danger != models.DangerNone {
			head += "  danger: " + string(m.Danger)
		}
		if _, err := fmt.Fprintf(w, "%s\n%s\n", head, indentText(m.Text)); err != nil {
			return err
		}
	}
	return nil
}
