package records

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"coachline/models"
)

// Profiles reads what the coach has learnt of a person's habit.
type Profiles interface {
	Profile(ctx context.Context, participantID string) (models.Profile, error)
}

// bundle is what is exported of one person. It holds personal data.
type bundle struct {
	profile  models.Profile
	known    models.Memory
	versions map[string][]models.FactVersion
}

// file is one file of an export.
type file struct{ name, text string }

// Export writes what is remembered of a person as a zip archive: MEMORY.md with
// profile and facts, a file for each day that has a note, and summaries.md where
// there is a summary. The same rows give the same bytes. Days are the
// person's own, all other dates are UTC. models.ErrNotFound for a participant
// who is unknown or removed.
func (r *Room) Export(ctx context.Context, in *PersonRequest) ([]byte, error) {
	known, versions, err := r.recall(ctx, in.ID, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	profile, err := r.cfg.Profiles.Profile(ctx, in.ID)
	if err != nil && !errors.Is(err, models.ErrNotFound) { // nothing learnt yet
		return nil, fmt.Errorf("reading a profile: %w", err)
	}
	return zipFiles(bundle{profile: profile, known: known, versions: versions}.files())
}

// zipFiles stores files without compression, whose bytes could change with the
// library, and with one instant for all, since zip has no empty one.
func zipFiles(files []file) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, one := range files {
		w, err := archive.CreateHeader(&zip.FileHeader{
			Name: one.name, Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			return nil, fmt.Errorf("adding %s to an archive: %w", one.name, err)
		}
		if _, err := w.Write([]byte(one.text)); err != nil {
			return nil, fmt.Errorf("writing %s to an archive: %w", one.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("closing an archive: %w", err)
	}
	return out.Bytes(), nil
}

// files leaves out what was blanked by a wish to forget.
func (b bundle) files() []file {
	out := []file{{"MEMORY.md", b.memory()}}
	for i := len(b.known.Notes) - 1; i >= 0; i-- { // oldest first
		note := b.known.Notes[i]
		if note.Text == "" {
			continue
		}
		day := strings.ReplaceAll(note.LocalDate, "-", "")
		out = append(out, file{
			fmt.Sprintf("memory/%.6s/%s.md", day, day), fmt.Sprintf("# %s\n\n%s\n", note.LocalDate, strings.TrimSpace(note.Text)),
		})
	}
	if s := b.known.Summary; s.Text != "" {
		out = append(out, file{"summaries.md", fmt.Sprintf("# Summary of the conversation, %s\n\n%s\n", date(s.UpdatedAt), strings.TrimSpace(s.Text))})
	}
	return out
}

func (b bundle) memory() string {
	var text strings.Builder
	text.WriteString("# Memory\n")
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&text, "\n## %s\n\n%s\n", title, strings.Join(lines, "\n"))
		}
	}
	section("Profile", profileLines(b.profile))
	for _, kind := range models.FactKinds() {
		section("Facts: "+string(kind), b.facts(kind))
	}
	if text.Len() == len("# Memory\n") {
		text.WriteString("\nNothing is remembered of this person.\n")
	}
	return text.String()
}

// facts lists those of a kind in the order they have, each with what it said
// before.
func (b bundle) facts(kind models.FactKind) []string {
	var lines []string
	for _, fact := range b.known.Facts {
		if fact.Kind != kind {
			continue
		}
		lines = append(lines, "- "+factLine(versionOf(fact)))
		for _, old := range b.versions[fact.ID] {
			if old.Version < fact.Version {
				lines = append(lines, "  - before: "+factLine(old))
			}
		}
	}
	return lines
}

func versionOf(fact models.Fact) models.FactVersion {
	return models.FactVersion{
		FactID: fact.ID, Text: fact.Text, SourceID: fact.SourceID, TurnID: fact.TurnID, Version: fact.Version, At: fact.UpdatedAt,
	}
}

func factLine(v models.FactVersion) string {
	return fmt.Sprintf("[%s] %s (%s, version %d, turn %s, entry %d)",
		date(v.At), oneLine(v.Text), v.FactID, v.Version, cmp.Or(v.TurnID, "unknown"), v.SourceID)
}

func profileLines(p models.Profile) []string {
	var lines []string
	for _, field := range []struct{ name, value string }{
		{"Habit", p.HabitDomain},
		{"Motivation", p.MotivationalFrame},
		{"Preferred time", p.PreferredTime},
		{"Anchor", p.PromptAnchor},
		{"More", p.AdditionalInfo},
		{"Last success with", p.LastSuccessfulPrompt},
		{"Last barrier", p.LastBarrier},
		{"Last motivator", p.LastMotivator},
		{"Last change", p.LastTweak},
		{"Tone", strings.Join(p.Tone.Tags, ", ")},
	} {
		if field.value != "" {
			lines = append(lines, "- "+field.name+": "+oneLine(field.value))
		}
	}
	return lines
}

func date(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// oneLine keeps a person's words from opening a section.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
