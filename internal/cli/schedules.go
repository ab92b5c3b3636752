package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"coachline/internal/api"
)

func schedulesPath(id string) string { return participantPath(id) + "/schedules" }

func schedulePath(id, schedule string) string {
	return schedulesPath(id) + "/" + url.PathEscape(schedule)
}

// ListSchedules prints a participant's daily prompts.
func (c *Commands) ListSchedules(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: schedulesPath(id)}, renderDailyPrompts)
}

// AddSchedule adds a daily prompt.
func (c *Commands) AddSchedule(ctx context.Context, id string, body api.NewSchedule) error {
	return c.changeSchedule(ctx, request{method: http.MethodPost, path: schedulesPath(id), body: body})
}

// ReplaceSchedule gives a daily prompt other times.
func (c *Commands) ReplaceSchedule(ctx context.Context, id, schedule string, body api.NewSchedule) error {
	return c.changeSchedule(ctx, request{method: http.MethodPut, path: schedulePath(id, schedule), body: body})
}

// MovePrompt moves the next prompt of a schedule alone.
func (c *Commands) MovePrompt(ctx context.Context, id, schedule string, body api.PromptMove) error {
	return c.changeSchedule(ctx, request{method: http.MethodPost, path: schedulePath(id, schedule) + "/move", body: body})
}

// RemoveSchedule removes a daily prompt.
func (c *Commands) RemoveSchedule(ctx context.Context, id, schedule string) error {
	return c.changeSchedule(ctx, request{method: http.MethodDelete, path: schedulePath(id, schedule)})
}

// changeSchedule prints what the server says of a change, then the schedule.
func (c *Commands) changeSchedule(ctx context.Context, r request) error {
	got, err := c.client.do(ctx, r)
	if err != nil {
		return err
	}
	return showResult(c, got, func(w io.Writer, s api.Schedule) error {
		if _, err := fmt.Fprintln(w, got.message); err != nil {
			return err
		}
		return renderDailyPrompts(w, []api.Schedule{s})
	})
}

func renderDailyPrompts(w io.Writer, list []api.Schedule) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No daily prompts.")
		return err
	}
	return renderSchedules(w, list)
}
