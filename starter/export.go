package starter

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/auth"
	"coachline/internal/wrap"
	"coachline/models"
	"coachline/prompts"
)

const zipType = "application/zip"

func (h *memoryRoutes) registerExport(router huma.API) {
	r := route{method: http.MethodGet, path: participantPath + "/memory/export", id: "export-memory", needs: auth.MemoryRead, reads: readExport,
		summary: "What is remembered of the person, as files in a zip archive", errors: []int{http.StatusNotFound}}
	register(router, r, h.exportMemory)
	// A file, where the library documents JSON.
	answers := router.OpenAPI().Paths[r.path].Get.Responses[strconv.Itoa(http.StatusOK)]
	answers.Content = map[string]*huma.MediaType{zipType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
}

type fileAnswer struct {
	Type        string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func (h *memoryRoutes) exportMemory(ctx context.Context, in *personRequest) (*fileAnswer, error) {
	raw, err := h.zipMemory(ctx, in.ID)
	return &fileAnswer{Type: zipType, Disposition: `attachment; filename="memory.zip"`, Body: raw}, h.toFailure("export-memory", err)
}

// zipMemory writes a zip archive of what the coach goes by with a person: USER.md with
// the profile and MEMORY.md with the facts, each behind the operator's file of that name,
// the operator's other files, a file for each day that has a note, and summaries.md
// where there is a summary. The same rows give the same bytes. Days are the
// person's own, all other dates are UTC. models.ErrNotFound for a participant
// who is unknown or removed.
func (h *memoryRoutes) zipMemory(ctx context.Context, id string) ([]byte, error) {
	known, versions, err := h.readMemory(ctx, id, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	profile, err := h.people.Profile(ctx, id)
	if err != nil && !errors.Is(err, models.ErrNotFound) { // nothing learnt yet
		return nil, fmt.Errorf("reading a profile: %w", err)
	}
	workspace, err := h.readWorkspace(ctx, id)
	if err != nil {
		return nil, err
	}
	return zipFiles(memoryExport{profile: profile, known: known, versions: versions, workspace: workspace}.listFiles())
}

// readWorkspace reads the files of the person's study, or else the installation's.
func (h *memoryRoutes) readWorkspace(ctx context.Context, id string) ([]prompts.Workspace, error) {
	p, err := h.people.Participant(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading a participant: %w", err)
	}
	settings, err := h.resolver.Resolve(ctx, p.StudyID, p.Arm)
	if err != nil {
		return nil, fmt.Errorf("reading a study: %w", err)
	}
	dir := cmp.Or(settings.PromptsDir, h.promptsDir)
	if dir == "" {
		return nil, nil
	}
	files, err := prompts.ReadWorkspace(os.DirFS(dir))
	return files, wrap.Errorf(err, "%s", dir)
}

// memoryExport is what is exported of one person. It holds personal data.
type memoryExport struct {
	profile  models.Profile
	known    models.Memory
	versions map[string][]models.FactVersion
	// workspace are the operator's files.
	workspace []prompts.Workspace
}

type file struct{ name, text string }

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

// listFiles leaves out notes and summaries that were erased.
func (m memoryExport) listFiles() []file {
	var out []file
	own := map[string]string{"USER": m.writeProfile(), "MEMORY": m.writeFacts()}
	for _, name := range prompts.WorkspaceNames() {
		text := own[name]
		for _, theirs := range m.workspace {
			if theirs.Name == name {
				text = strings.TrimSpace(theirs.Text+"\n\n"+text) + "\n"
			}
		}
		if text != "" {
			out = append(out, file{name + ".md", text})
		}
	}
	for i := len(m.known.Notes) - 1; i >= 0; i-- { // oldest first
		note := m.known.Notes[i]
		if note.Text == "" {
			continue
		}
		day := strings.ReplaceAll(note.LocalDate, "-", "")
		out = append(out, file{
			fmt.Sprintf("memory/%.6s/%s.md", day, day), fmt.Sprintf("# %s\n\n%s\n", note.LocalDate, strings.TrimSpace(note.Text)),
		})
	}
	if s := m.known.Summary; s.Text != "" {
		out = append(out, file{"summaries.md", fmt.Sprintf("# Summary of the conversation, %s\n\n%s\n", formatDate(s.UpdatedAt), strings.TrimSpace(s.Text))})
	}
	return out
}

func (m memoryExport) writeProfile() string {
	if lines := listProfile(m.profile); len(lines) > 0 {
		return "# Profile\n\n" + strings.Join(lines, "\n") + "\n"
	}
	return ""
}

func (m memoryExport) writeFacts() string {
	text := "# Memory\n"
	for _, kind := range models.FactKinds() {
		if lines := m.listFacts(kind); len(lines) > 0 {
			text += fmt.Sprintf("\n## Facts: %s\n\n%s\n", kind, strings.Join(lines, "\n"))
		}
	}
	if text == "# Memory\n" {
		text += "\nNo fact is remembered of this person.\n"
	}
	return text
}

// listFacts lists those of a kind in the order they have, each with what it said
// before.
func (m memoryExport) listFacts(kind models.FactKind) []string {
	var lines []string
	for _, fact := range m.known.Facts {
		if fact.Kind != kind {
			continue
		}
		lines = append(lines, "- "+formatFact(toFactVersion(fact)))
		for _, old := range m.versions[fact.ID] {
			if old.Version < fact.Version {
				lines = append(lines, "  - before: "+formatFact(old))
			}
		}
	}
	return lines
}

func toFactVersion(fact models.Fact) models.FactVersion {
	return models.FactVersion{
		FactID: fact.ID, Text: fact.Text, SourceID: fact.SourceID, TurnID: fact.TurnID, Version: fact.Version, At: fact.UpdatedAt,
	}
}

func formatFact(v models.FactVersion) string {
	return fmt.Sprintf("[%s] %s (%s, version %d, turn %s, entry %d)",
		formatDate(v.At), joinLines(v.Text), v.FactID, v.Version, cmp.Or(v.TurnID, "unknown"), v.SourceID)
}

func listProfile(p models.Profile) []string {
	var lines []string
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, "- "+label+": "+joinLines(value))
		}
	}
	for field, text := range p.All() {
		add(field.Label, *text)
	}
	add("Tone", strings.Join(p.Tone.Tags, ", "))
	return lines
}

func formatDate(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// joinLines keeps what a person wrote from opening a section.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }
