package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coachline/internal/agent"
	"coachline/models"
)

//go:embed sets/look.tsv
var lookSet string

// setLook names the set of messages for the second look.
const setLook = "look"

// lookCase is a message with what the second look should find in it.
type lookCase struct {
	language, message string
	want              models.LookState
}

// readLookSet reads the lines of the set: language, verdict, message.
func readLookSet(set string) ([]lookCase, error) {
	var all []lookCase
	for i, line := range strings.Split(strings.TrimSpace(set), "\n") {
		parts := strings.Split(line, "\t")
		if len(parts) != 3 || !slices.Contains([]models.LookState{models.LookNone, models.LookPossible, models.LookClear}, models.LookState(parts[1])) {
			return nil, fmt.Errorf("line %d of the set: want a language, none, possible or clear, and a message", i+1)
		}
		all = append(all, lookCase{language: parts[0], want: models.LookState(parts[1]), message: parts[2]})
	}
	return all, nil
}

// noJournal keeps no answer, so that each message is asked for.
type noJournal struct{}

func (noJournal) StageBy(context.Context, string, models.StageName, string) (models.Stage, error) {
	return models.Stage{}, models.ErrNotFound
}

func (noJournal) SaveStage(context.Context, models.Stage) error { return nil }

func (noJournal) Capability(context.Context, string, string) (models.Capability, error) {
	return models.Capability{}, models.ErrNotFound
}

func (noJournal) SaveCapability(context.Context, models.Capability) error { return nil }

// lookCounts is how a model judged the messages with one right verdict.
type lookCounts struct{ none, possible, clear, failed int }

func (c *lookCounts) add(state models.LookState) {
	switch state {
	case models.LookNone:
		c.none++
	case models.LookPossible:
		c.possible++
	case models.LookClear:
		c.clear++
	case models.LookFailed, models.LookDue, models.LookUnneeded:
		c.failed++
	}
}

// judgeLooks has the small model of a column read each message of the set, and prints
// what it found: messages that are none should be dismissed, the others should not be.
func (d *Driver) judgeLooks(ctx context.Context, out io.Writer) error {
	set, err := readLookSet(lookSet)
	if err != nil {
		return err
	}
	replies := agent.New(agent.Config{
		Prompts: d.library, Model: d.model, Journal: noJournal{}, Zones: time.LoadLocation, Now: time.Now,
		Settings: agent.Settings{ChatModel: d.column.Model, SmallModel: d.column.Small, Endpoint: d.endpoint()},
	})
	counts := map[models.LookState]*lookCounts{models.LookNone: {}, models.LookPossible: {}, models.LookClear: {}}
	began := time.Now()
	for i, one := range set {
		turn := models.TurnContext{
			Turn:        models.Turn{ID: fmt.Sprint("look-", i)},
			Participant: models.Participant{Timezone: "UTC", Locale: one.language},
			Window:      []models.Message{{Key: models.InboundKey(int64(i + 1)), Role: models.RoleUser, Kind: models.KindMessage, Text: one.message, At: began}},
		}
		verdict := replies.LookAgain(ctx, turn, int64(i+1))
		counts[one.want].add(verdict.State)
		if (one.want == models.LookNone) != (verdict.State == models.LookNone) {
			fmt.Fprintf(out, "%s, should be %s, was %s (%s): %s\n", one.language, one.want, verdict.State, verdict.Reason, one.message)
		}
	}
	fmt.Fprintf(out, "\nsecond look by %s, %.1f s a message\n%-10s %5s %9s %6s %7s\n", d.column.Small, time.Since(began).Seconds()/float64(len(set)), "should be", "none", "possible", "clear", "failed")
	for _, state := range []models.LookState{models.LookNone, models.LookPossible, models.LookClear} {
		c := counts[state]
		fmt.Fprintf(out, "%-10s %5d %9d %6d %7d\n", state, c.none, c.possible, c.clear, c.failed)
	}
	return nil
}

// judgeSets judges the messages of a set in every column.
func (g environment) judgeSets(ctx context.Context, o options, out io.Writer) error {
	for _, column := range g.columns(o) {
		d, err := New(Config{Column: column, Settings: g.settings})
		if err != nil {
			return err
		}
		if err := d.judgeLooks(ctx, out); err != nil {
			return err
		}
	}
	return nil
}
