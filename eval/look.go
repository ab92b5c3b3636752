package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"coachline/internal/agent"
	"coachline/internal/screening"
	"coachline/internal/screening/sheets"
	"coachline/models"
)

//go:embed sets/look.tsv
var lookSet string

// Sets of messages for the second look: 80 that were written for it, and the weak signs
// among the scored half of the sheets, which are shown to no reader.
const (
	setLook = "look"
	setWeak = "weak"

	sheetsFolder = "internal/screening/testdata/sheets"
)

// lookCase is a message with what the second look should find in it: of weak signs of the
// sheets none or possible. Sheet is empty but for those.
type lookCase struct {
	language, message, sheet string
	want                     models.LookState
}

// readWeakSigns lists the texts of crises and of what resembles them that are weak signs.
func readWeakSigns(files fs.FS) ([]lookCase, error) {
	var all []lookCase
	for _, language := range screening.Languages() {
		texts, err := sheets.Read(files, language)
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			if text.IsOpen() || screening.Screen(screening.Message{Body: text.Body}).Tier != models.TierB {
				continue
			}
			switch text.Sheet {
			case sheets.Crisis:
				all = append(all, lookCase{language: language, want: models.LookPossible, message: text.Body, sheet: text.Sheet})
			case sheets.Negative:
				all = append(all, lookCase{language: language, want: models.LookNone, message: text.Body, sheet: text.Sheet})
			}
		}
	}
	return all, nil
}

// recordedLook is what a model found in a message. A line of a recording has the model,
// the sheet, the verdict and a hash of the message.
type recordedLook struct {
	model, sheet string
	state        models.LookState
	hash         string
}

// hashMessage names a message in a recording.
func hashMessage(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:8])
}

func (r recordedLook) String() string {
	return strings.Join([]string{r.model, r.sheet, string(r.state), r.hash}, "\t")
}

// readRecording reads the lines of a recording, by the hash of the message.
func readRecording(text string) (map[string]recordedLook, error) {
	all := map[string]recordedLook{}
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) != 4 {
			return nil, fmt.Errorf("line %q of the recording: want a model, a sheet, a verdict and a hash", line)
		}
		all[parts[3]] = recordedLook{model: parts[0], sheet: parts[1], state: models.LookState(parts[2]), hash: parts[3]}
	}
	return all, nil
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

// judgeLooks has the small model of a column read each message of the set, prints what
// it found (messages that are none should be dismissed, the others should not be), and
// returns the verdicts.
func (d *Driver) judgeLooks(ctx context.Context, set []lookCase, out io.Writer) []recordedLook {
	replies := agent.New(agent.Config{
		Prompts: d.library, Model: d.model, Journal: noJournal{}, Zones: time.LoadLocation, Now: time.Now,
		Settings: agent.Settings{ChatModel: d.column.Model, SmallModel: d.column.Small, Endpoint: d.endpoint()},
	})
	counts := map[models.LookState]*lookCounts{models.LookNone: {}, models.LookPossible: {}, models.LookClear: {}}
	verdicts := make([]recordedLook, 0, len(set))
	began := time.Now()
	for i, one := range set {
		turn := models.TurnContext{
			Turn:        models.Turn{ID: fmt.Sprint("look-", i)},
			Participant: models.Participant{Timezone: "UTC", Locale: one.language},
			Window:      []models.Message{{Key: models.InboundKey(int64(i + 1)), Role: models.RoleUser, Kind: models.KindMessage, Text: one.message, At: began}},
		}
		verdict := replies.LookAgain(ctx, turn, int64(i+1))
		counts[one.want].add(verdict.State)
		verdicts = append(verdicts, recordedLook{model: d.column.Small, sheet: one.sheet, state: verdict.State, hash: hashMessage(one.message)})
		if one.sheet == "" && (one.want == models.LookNone) != (verdict.State == models.LookNone) {
			fmt.Fprintf(out, "%s, should be %s, was %s (%s): %s\n", one.language, one.want, verdict.State, verdict.Reason, one.message)
		}
	}
	fmt.Fprintf(out, "\nsecond look by %s, %.1f s a message\n%-10s %5s %9s %6s %7s\n", d.column.Small, time.Since(began).Seconds()/float64(len(set)), "should be", "none", "possible", "clear", "failed")
	for _, state := range []models.LookState{models.LookNone, models.LookPossible, models.LookClear} {
		c := counts[state]
		fmt.Fprintf(out, "%-10s %5d %9d %6d %7d\n", state, c.none, c.possible, c.clear, c.failed)
	}
	return verdicts
}

// judgeSets judges the messages of a set in every column, and records the verdicts of the
// last one where a file is named.
func (g environment) judgeSets(ctx context.Context, o options, out io.Writer) error {
	set, err := readLookSet(lookSet)
	if o.set == setWeak {
		set, err = readWeakSigns(os.DirFS(sheetsFolder))
	}
	if err != nil {
		return err
	}
	var verdicts []recordedLook
	for _, column := range g.columns(o) {
		d, err := New(Config{Column: column, Settings: g.settings})
		if err != nil {
			return err
		}
		verdicts = d.judgeLooks(ctx, set, out)
	}
	if o.record == "" {
		return nil
	}
	var lines strings.Builder
	for _, one := range verdicts {
		fmt.Fprintln(&lines, one)
	}
	return os.WriteFile(o.record, []byte(lines.String()), 0o600)
}
