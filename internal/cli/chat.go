package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

// chatConfig says who talks to the coach and through which simulated phone
// network.
type chatConfig struct {
	// Sim is the base address of the simulated phone network.
	Sim   string
	Phone string
	Name  string
	// Channel is how lines reach the coach: ChannelSMS through the simulated
	// phone network, ChannelChat through the API.
	Channel wire.Channel
	// Poll is how often new entries are looked for; Wait how long an answer to
	// the last text is waited for once the input has ended.
	Poll time.Duration
	Wait time.Duration
}

type chat struct {
	*program
	cfg  chatConfig
	who  api.Participant
	seen map[string]bool
	// sent counts texts, heard those that the conversation shows; last is who
	// spoke last in it.
	sent, heard int
	last        models.Role
}

// isWaiting reports that an answer is still to come.
func (c *chat) isWaiting() bool { return c.sent > c.heard || c.last != models.RoleAssistant }

// runChat sends each line of the input as a text from the phone and prints what the
// coach answers, until it ends and the last text is answered, or ctx ends. The
// phone becomes a test participant; one that belongs to a real participant is
// refused. A line that begins with a slash is an operator's command and never
// reaches the coach.
func runChat(ctx context.Context, p *program, cfg chatConfig) error {
	c := &chat{program: p, cfg: cfg, seen: map[string]bool{}}
	if err := c.enrolPhone(ctx); err != nil {
		return err
	}
	if err := c.exchangeTexts(ctx); !errors.Is(err, errQuit) {
		return err
	}
	return nil
}

// enrolPhone enrols the phone, which is answered with a greeting, or finds the
// tester that it belongs to and passes over what was said before.
func (c *chat) enrolPhone(ctx context.Context) error {
	body := api.NewParticipant{Phone: c.cfg.Phone, PersonTexts: models.PersonTexts[string]{Name: c.cfg.Name}, Tester: true, Signup: true}
	got, err := c.client.do(ctx, request{method: http.MethodPost, path: participantsPath, body: body})
	var refused *APIError
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return c.findTester(ctx)
	}
	if err != nil {
		return err
	}
	if err := got.decodeInto(&c.who); err != nil {
		return err
	}
	return nil
}

func (c *chat) findTester(ctx context.Context) error {
	all, err := listParticipants(ctx, c.client)
	if err != nil {
		return err
	}
	for _, p := range all {
		if !strings.HasSuffix(p.Phone, keepDigits(c.cfg.Phone)) {
			continue
		}
		if !p.Tester {
			return errors.New("this phone belongs to a participant who is not a tester")
		}
		c.who = p
		_, err := c.readNew(ctx)
		c.last = models.RoleAssistant // what was left open before is not waited for
		return err
	}
	return errors.New("this phone is enrolled, but not found; write it with + and the country code")
}

func (c *chat) exchangeTexts(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := readLines(ctx, c.in)
	tick := time.NewTicker(c.cfg.Poll)
	defer tick.Stop()
	var giveUp <-chan time.Time
	for {
		if lines == nil && !c.isWaiting() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case line, more := <-lines:
			if !more {
				lines, giveUp = nil, time.After(c.cfg.Wait)
				continue
			}
			if err := c.handleLine(ctx, line); err != nil {
				return err
			}
		case <-tick.C:
			if err := c.printNew(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		case <-giveUp:
			return fmt.Errorf("no answer within %s", c.cfg.Wait)
		}
	}
}

// readLines returns the lines that are not blank; the channel closes at the end.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			line := strings.TrimSpace(scanner.Text())
			if line == "" {
				continue
			}
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// sendSMS sends a line as the phone would.
func (c *chat) sendSMS(ctx context.Context, body string) error {
	raw, err := json.Marshal(api.ChatMessage{Body: body})
	if err != nil {
		return fmt.Errorf("encoding the text: %w", err)
	}
	target := strings.TrimRight(c.cfg.Sim, "/") + "/sim/phones/" + url.PathEscape(c.who.Phone) + "/messages"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("texting: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.client.http.Do(req)
	if err != nil {
		return fmt.Errorf("texting through the simulated network at %s: %w", c.cfg.Sim, unwrapURL(err))
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the simulated network at %s refused the text: HTTP %d", c.cfg.Sim, res.StatusCode)
	}
	c.sent++
	return nil
}

// readNew lists the entries that were not seen before, oldest first.
func (c *chat) readNew(ctx context.Context) ([]models.HistoryEntry, error) {
	got, err := c.client.do(ctx, request{participant: c.who.ID, path: "/history"})
	if err != nil {
		return nil, err
	}
	var all, fresh []models.HistoryEntry
	if err := got.decodeInto(&all); err != nil {
		return nil, err
	}
	for _, e := range all {
		key := fmt.Sprint(e.At.UnixNano(), e.Role, e.Kind, e.Text)
		if !c.seen[key] {
			c.seen[key] = true
			fresh = append(fresh, e)
		}
	}
	return fresh, nil
}

func (c *chat) printNew(ctx context.Context) error {
	fresh, err := c.readNew(ctx)
	if err != nil {
		return err
	}
	for _, e := range fresh {
		if c.last = e.Role; e.Role == models.RoleUser {
			c.heard++
		}
		if err := c.printEntry(e); err != nil {
			return err
		}
	}
	return nil
}

func (c *chat) printEntry(e models.HistoryEntry) error {
	if c.json {
		return json.NewEncoder(c.out).Encode(e)
	}
	if e.Role != models.RoleAssistant {
		return nil // the person sees the own line already
	}
	_, err := fmt.Fprintf(c.out, "%s (%s):\n%s\n", writerOf(e), e.Kind, indentText(e.Text))
	return err
}

// writerOf names who wrote an entry: the coach, or the operator or carer in its place.
func writerOf(e models.HistoryEntry) string {
	_, name, isUser := strings.Cut(e.By, ":")
	switch {
	case e.By == "":
		return "coach"
	case isUser:
		return replaceControls(name)
	}
	return "team"
}
