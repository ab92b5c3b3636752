package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"coachline/internal/api"
)

// Memories prints what is remembered of a participant.
func (c *Commands) Memories(ctx context.Context, id string) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: participantPath(id) + "/memories"}, renderMemories)
}

// Export writes what is remembered of a participant as a zip archive, the same
// bytes for the same memory.
func (c *Commands) Export(ctx context.Context, id string, to io.Writer, progress Progress) error {
	raw, err := c.client.downloadFile(ctx, participantPath(id)+"/memory/export", progress)
	if err != nil {
		return err
	}
	if _, err := to.Write(raw); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	return nil
}

// Forget erases a fact, or with an empty fact everything that is remembered.
// Safe to repeat.
func (c *Commands) Forget(ctx context.Context, id, fact string) error {
	path := participantPath(id) + "/memories"
	if fact != "" {
		path += "/" + url.PathEscape(fact)
	}
	return callAndShow(ctx, c, request{method: http.MethodDelete, path: path}, func(w io.Writer, f api.Forgotten) error {
		text := "Forgotten: " + fact + "."
		if fact == "" {
			text = fmt.Sprintf("Forgotten: %d facts, the notes and the summary.", f.Facts)
		}
		_, err := fmt.Fprintln(w, text)
		return err
	})
}

func renderMemories(w io.Writer, m api.Memory) error {
	p := &printer{w: w}
	if len(m.Facts)+len(m.Notes) == 0 && m.Summary.Text == "" {
		p.writeLine("Nothing is remembered.")
		return p.err
	}
	if len(m.Facts) > 0 {
		rows := [][]string{{"FACT", "VERSION", "KIND", "STORED", "TURN", "TEXT"}}
		for _, f := range m.Facts {
			rows = append(rows, []string{f.ID, fmt.Sprint(f.Version), string(f.Kind), formatInstant(f.At), f.TurnID, f.Text})
			for _, old := range f.Before {
				rows = append(rows, []string{"  before", fmt.Sprint(old.Version), string(old.Kind), formatInstant(old.At), old.TurnID, old.Text})
			}
		}
		p.writeTable(rows)
	}
	for _, note := range m.Notes {
		p.writeBlock("\nNOTE "+replaceControls(note.LocalDate), note.Text)
	}
	p.writeBlock("\nSUMMARY", m.Summary.Text)
	return p.err
}
