package prompts

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"coachline/models/wire"
)

// Workspace is a file under a name that other assistants know too, whose text is added to
// ours as it is.
type Workspace struct {
	Name string
	Text string
}

// Heartbeat is the file that check-ins alone read.
const Heartbeat = "HEARTBEAT"

// maxWorkspace bounds a file, in characters: every request holds it.
const maxWorkspace = 4_000

// WorkspaceNames lists the names of the files without .md, in the order of the request.
func WorkspaceNames() []string {
	return []string{"IDENTITY", "SOUL", "AGENTS", "USER", "MEMORY", Heartbeat}
}

func isWorkspace(file fs.DirEntry) bool {
	name, isText := strings.CutSuffix(file.Name(), ".md")
	return isText && slices.Contains(WorkspaceNames(), name)
}

// ReadWorkspace reads the files of an operator's folder, in the order of the request; those
// that are not there are no error.
func ReadWorkspace(folder fs.FS) ([]Workspace, error) {
	var out []Workspace
	for _, name := range WorkspaceNames() {
		raw, err := fs.ReadFile(folder, name+".md")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading workspace file: %w", err)
		}
		text := strings.TrimSpace(topHeading.ReplaceAllString(strings.ReplaceAll(string(raw), "\r\n", "\n"), "## "))
		if text == "" || utf8.RuneCountInString(text) > maxWorkspace {
			return nil, fmt.Errorf("%s.md: want a text of at most %d characters", name, maxWorkspace)
		}
		out = append(out, Workspace{Name: name, Text: text})
	}
	return out, nil
}

// Workspace lists the files that are in every request, Heartbeat aside.
func (l *Library) Workspace() []Workspace {
	return slices.DeleteFunc(slices.Clone(l.workspace), func(w Workspace) bool { return w.Name == Heartbeat })
}

// WorkspaceNames lists the files that were found.
func (l *Library) WorkspaceNames() []string {
	var names []string
	for _, w := range l.workspace {
		names = append(names, w.Name)
	}
	return names
}

// Heartbeat returns the text for check-ins; empty where there is none.
func (l *Library) Heartbeat() string {
	for _, w := range l.workspace {
		if w.Name == Heartbeat {
			return w.Text
		}
	}
	return ""
}

// checkWorkspace reports the first file that asks for a tool which no mode offers.
func (l *Library) checkWorkspace(offers map[wire.Mode]Offer) error {
	var every Offer
	for _, offer := range offers {
		every.Tools = append(every.Tools, offer.Tools...)
		every.Words = append(every.Words, offer.Words...)
	}
	for _, w := range l.workspace {
		if word, bad := badWord(w.Text, every, every.Tools); bad {
			return fmt.Errorf("prompt %s.md names %q, which is not offered where it is used", w.Name, word)
		}
	}
	return nil
}
