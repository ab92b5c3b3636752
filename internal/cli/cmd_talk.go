package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"coachline/models"
)

func (p *program) sendCommand() *cobra.Command {
	var key string
	c := &cobra.Command{Use: "send ID TEXT", Short: "Send an operator's message", Args: exactArgs(2)}
	c.Flags().StringVar(&key, "key", "", "idempotency key: calls with an equal key are one message")
	c.RunE = func(c *cobra.Command, args []string) error {
		commands, id, err := p.commandsFor(c.Context(), args[0])
		if err != nil {
			return err
		}
		return commands.Send(c.Context(), id, args[1], key)
	}
	return c
}

func (p *program) transcriptCommand() *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "transcript ID", Short: "Print the conversation, oldest first", Args: exactArgs(1)}
	c.Flags().IntVar(&limit, "limit", 100, "newest entries to print")
	c.RunE = func(c *cobra.Command, args []string) error {
		if limit < 1 {
			return usageError{errors.New("--limit must be at least 1")}
		}
		commands, id, err := p.commandsFor(c.Context(), args[0])
		if err != nil {
			return err
		}
		return commands.Transcript(c.Context(), id, limit)
	}
	return c
}

func (p *program) timersCommand() *cobra.Command {
	return p.onID("timers", "Print what is due, and when", (*Commands).Timers)
}

func (p *program) chatCommand() *cobra.Command {
	chat := ChatConfig{In: p.in, Out: p.out, Poll: 500 * time.Millisecond}
	c := &cobra.Command{
		Use: "chat", Short: "Talk to the coach as a test participant", Args: exactArgs(0),
		Long: "Each line is a text from the test participant's phone, sent through the simulated phone network that dev runs,\n" +
			"or with --channel chat a text through the API. Lines that begin with / are commands; /help lists them.",
	}
	flags := c.Flags()
	flags.StringVar(&chat.Phone, "phone", "+15550001234", "the test participant's phone")
	flags.StringVar(&chat.Name, "name", "Tester", "name to enrol with")
	flags.StringVar(&chat.Sim, "sim", "http://127.0.0.1:8090", "address of the simulated phone network")
	flags.StringVar((*string)(&chat.Channel), "channel", string(models.ChannelSMS), "sms, or chat")
	flags.DurationVar(&chat.Wait, "wait", 30*time.Second, "how long to wait for the last answer")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if !chat.Channel.HasInbound() {
			return usageError{errors.New("--channel must be sms or chat")}
		}
		client, err := p.newClient()
		if err != nil {
			return err
		}
		chat.Client, chat.JSON = client, p.json
		return Chat(c.Context(), chat)
	}
	return c
}
