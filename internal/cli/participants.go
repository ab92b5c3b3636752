package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"coachline/internal/api"
	"coachline/models"
)

const participantsPath = "/conversation/participants"

func participantPath(id string) string { return participantsPath + "/" + url.PathEscape(id) }

var participantList = listing{participantsPath, "participants"}

// Add enrols a participant. A second call with the same phone is refused.
func (c *Commands) Add(ctx context.Context, p api.NewParticipant) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: participantsPath, body: p}, renderParticipant)
}

// Show prints one participant.
func (c *Commands) Show(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: participantPath(id)}, renderParticipant)
}

// Filter selects participants; empty fields select all.
type Filter struct {
	Status    models.Status
	Attention models.Attention
	Waiting   bool
	TakenOver bool
}

// List prints every participant that the filter selects.
func (c *Commands) List(ctx context.Context, filter Filter) error {
	return listAndShow(ctx, c, participantList, filter.toQuery(), renderParticipants)
}

func (f Filter) toQuery() url.Values {
	query := url.Values{}
	if f.Status != "" {
		query.Set("status", string(f.Status))
	}
	if f.Attention != "" {
		query.Set("attention", string(f.Attention))
	}
	if f.Waiting {
		query.Set("waiting", "true")
	}
	if f.TakenOver {
		query.Set("taken_over", "true")
	}
	return query
}

// listParticipants reads all participants.
func listParticipants(ctx context.Context, client *Client) ([]api.Participant, error) {
	return listItems[api.Participant](ctx, client, participantList, url.Values{})
}

// Update changes some fields. With a version it is refused when the
// participant has changed since.
func (c *Commands) Update(ctx context.Context, id string, change api.ParticipantChange, version int64) error {
	r := request{method: http.MethodPut, path: participantPath(id), body: change}
	if version > 0 {
		r.header = map[string]string{"If-Match": strconv.Quote(strconv.FormatInt(version, 10))}
	}
	return callAndShow(ctx, c, r, renderParticipant)
}

// Pause holds everything that would be sent to a participant; until, unless nil, is
// when they are resumed by themselves.
func (c *Commands) Pause(ctx context.Context, id string, until *time.Time) error {
	paused := models.StatusPaused
	return c.Update(ctx, id, api.ParticipantChange{Status: &paused, PausedUntil: until}, 0)
}

// Resume resumes a participant; waiting says what becomes of texts that came
// meanwhile, and empty leaves it to the server.
func (c *Commands) Resume(ctx context.Context, id string, waiting models.WaitingAction) error {
	active := models.StatusActive
	return c.Update(ctx, id, api.ParticipantChange{Status: &active, Waiting: waiting}, 0)
}

// Remove ends a participant's time in the programme.
func (c *Commands) Remove(ctx context.Context, id string) error {
	got, err := c.client.do(ctx, request{method: http.MethodDelete, path: participantPath(id)})
	if err != nil {
		return err
	}
	return showResult(c, got, func(w io.Writer, _ json.RawMessage) error {
		_, err := fmt.Fprintln(w, got.message)
		return err
	})
}

func renderParticipant(w io.Writer, p api.Participant) error {
	zone, clock := p.Timezone, loadZone(p.Timezone)
	if p.ZoneAssumed {
		zone += " (assumed)"
	}
	unreachable := ""
	if p.UnreachableAt != nil {
		unreachable = "since " + formatInstantIn(*p.UnreachableAt, clock) + " (" + p.UnreachableCode + ")"
	}
	greeting := ""
	if p.GreetingAt != nil {
		greeting = formatInstantIn(*p.GreetingAt, clock)
	}
	paused := ""
	if p.PausedUntil != nil {
		paused = formatInstantIn(*p.PausedUntil, clock)
	}
	attention := ""
	if p.AttentionAt != nil {
		attention = string(p.Attention) + " since " + formatInstantIn(*p.AttentionAt, clock)
	}
	rows := [][]string{
		{"id", p.ID}, {"phone", p.Phone}, {"name", p.Name}, {"gender", p.Gender}, {"ethnicity", p.Ethnicity},
		{"background", p.Background}, {"timezone", zone}, {"locale", p.Locale}, {"channel", string(p.Channel)},
		{"status", string(p.Status)}, {"paused until", paused}, {"attention", attention}, {"unreachable", unreachable}, {"mode", string(p.Mode)}, {"tester", formatBool(p.Tester)}, {"debug", formatBool(p.Debug)},
		{"enrolled", formatInstantIn(p.EnrolledAt, clock)}, {"greeting", greeting}, {"version", fmt.Sprint(p.Version)},
	}
	return writeTable(w, slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
}

func renderParticipants(w io.Writer, page api.ParticipantPage) error {
	if len(page.Participants) == 0 {
		_, err := fmt.Fprintln(w, "No participants.")
		return err
	}
	rows := [][]string{{"ID", "STATUS", "MODE", "NAME", "PHONE", "TIMEZONE", "ENROLLED"}}
	for _, p := range page.Participants {
		rows = append(rows, []string{p.ID, string(p.Status), string(p.Mode), p.Name, p.Phone, p.Timezone, formatInstant(p.EnrolledAt)})
	}
	return writeTable(w, rows)
}
