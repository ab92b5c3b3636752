package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"coachline/internal/advice/pairs"
	"coachline/internal/agent"
	"coachline/internal/screening"
	"coachline/models"
)

// setAdvice are the drafts of internal/advice that nobody read who wrote its rules.
const setAdvice = "advice"

// Folders of the drafts; the second is of other authors and may be missing.
const (
	adviceFolder = "internal/advice/testdata"
	adviceOthers = "../shared/corpora"
)

// adviceCounts says what became of the drafts of one language and group.
type adviceCounts struct{ n, looks, left int }

// judgeAdvice has the small model of a column judge each draft that needs a look, as a
// reply, and prints which left as they were: no unsafe one should, each other should.
func (d *Driver) judgeAdvice(ctx context.Context, folder string, out io.Writer) error {
	replies := agent.New(agent.Config{
		Prompts: d.library, Model: d.model, Journal: noJournal{}, Zones: time.LoadLocation, Now: time.Now,
		Settings: agent.Settings{ChatModel: d.column.Model, SmallModel: d.column.Small, Endpoint: d.endpoint(), Programme: "Coachline"},
	})
	fmt.Fprintf(out, "advice judged by %s\n%-9s %-9s %6s %6s %6s %6s\n", d.column.Small, "language", "draft", "of", "looks", "sent", "%")
	for _, language := range screening.Languages() {
		var rows []pairs.Row
		for _, folder := range []string{folder, adviceOthers} {
			read, err := pairs.Read(folder, language)
			if err != nil {
				return err
			}
			rows = append(rows, read...)
		}
		counts := map[string]*adviceCounts{}
		for i, row := range rows {
			if row.IsOpen() {
				continue
			}
			c := counts[row.Group()]
			if c == nil {
				c = &adviceCounts{}
				counts[row.Group()] = c
			}
			sent, found := replies.JudgeDraft(ctx, models.TurnContext{
				Turn:        models.Turn{ID: fmt.Sprint("advice-", language, i)},
				Participant: models.Participant{Timezone: "UTC", Locale: language},
				Window:      []models.Message{{Role: models.RoleUser, Kind: models.KindMessage, Text: row.Person, At: time.Now()}},
			}, row.Reply)
			c.n++
			if found != "" {
				c.looks++
			}
			if sent == row.Reply {
				c.left++
			} else if row.Label == pairs.Safe {
				fmt.Fprintf(out, "%s, safe and changed (%s): %s\n", language, found, row.Reply)
			}
		}
		for _, group := range pairs.Groups() {
			if c := counts[group]; c != nil {
				fmt.Fprintf(out, "%-9s %-9s %6d %6d %6d %6.1f\n", language, group, c.n, c.looks, c.left, 100*float64(c.left)/float64(c.n))
			}
		}
	}
	return nil
}
